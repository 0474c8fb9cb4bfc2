/* Iterations ("turns") of MPICH's progress loop. While MPICH waits, it iterates, and an iteration
 * without an event is a step on a wait ladder of spinning, yielding and sleeping.
 *
 * Iterations follow each other closely while a thread waits. One that takes longer than those
 * before it has done something, or the application has, and the ladder restarts. (MPICH does not
 * report the events of its own shared memory.) Between two sleeps one iteration is measured, so a
 * wait with continuous events never sleeps for long.
 *
 * Any thread; not from a signal handler. errno is preserved.
 */
#ifndef SG_WAIT_TURN_H
#define SG_WAIT_TURN_H

#include "core/waiting.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A thread's iterations. */
struct sg_turns {
    uint32_t idle;              /* idle ones of a wait, in succession */
    uint32_t seen;              /* iterations of the network library, counted by a hook */
    uint32_t events;            /* those of them with events */
    uint32_t tested;            /* idle ones of tests, in succession */
    bool testing;               /* in a call that tests or probes */
    uint32_t looked;            /* counts until the next look at processors */
    bool waiting;               /* in an application's call that waits */
    bool own;                   /* in a call of the library, which has its own wait ladder */
    uint32_t contested;         /* idle ones left for which others seem to want the processor */
    uint32_t lively;            /* iterations in succession that seem to have done something */
    uint32_t settled;           /* iterations since the processor was last yielded */
    uint32_t vain;              /* yields of a wait in succession that no thread has taken */
    uint64_t begin_ns, last_ns; /* slow iterations: begin of the first, end of the last */
    uint64_t quiet_ns;          /* shortest slow iteration */
    uint32_t looks;             /* looks for preemption by the kernel; at the last one: */
    long slept;                 /* voluntary context switches of the thread */
    uint64_t away_ns;           /* time off any processor, from an arbitrary origin */
};

extern __thread struct sg_turns sg_turns;

/* Numbers and times in nanoseconds, since the start, over all threads. */
struct sg_turn_times {
    uint64_t yields, yield_ns, sleeps, sleep_ns;
};

/* The wait mode; until sg_turn_start, threads spin. threads: several may call MPI at a time, and
 * MPICH may hold its lock in an iteration: none sleeps. */
enum sg_wait_mode sg_turn_mode(void);
void sg_turn_start(enum sg_wait_mode mode, bool threads);
/* True if others want the calling thread's processor: there are fewer processors than ranks, or the
 * kernel has recently preempted the thread, by the last look. */
bool sg_turn_is_contested(void);
void sg_turn_look(void);

/* True if all threads spin, except those with contested processors. */
extern atomic_bool sg_turn_spins;
/* Idle iterations between looks for contention, if every rank has a processor. */
#define SG_TURNS_PER_LOOK 1024u

/* Called after an iteration without events. */
void sg_turn_idle_slowly(void);
static inline void sg_turn_idle(void)
{
    struct sg_turns *turns = &sg_turns;

    if (!atomic_load_explicit(&sg_turn_spins, memory_order_relaxed) || turns->contested > 0 ||
        ++turns->looked % SG_TURNS_PER_LOOK == 0)
        sg_turn_idle_slowly();
}
/* Called after an iteration with events. */
static inline void sg_turn_busy(void)
{
    sg_turns.idle = sg_turns.tested = 0;
}

/* Called after an iteration of the network library, whether or not it counts as idle. */
static inline void sg_turn_seen(bool has_events)
{
    sg_turns.seen++;
    sg_turns.events += has_events;
}

/* Enclose an application call that tests or probes. It does not wait, but its program may wait by
 * repeating such calls. */
static inline void sg_turn_begin_test(void)
{
    sg_turns.testing = true;
}
static inline void sg_turn_end_test(void)
{
    sg_turns.testing = false;
}
/* Called when the application enters a call that waits: earlier iterations do not count. */
static inline void sg_turn_begin_wait(void)
{
    sg_turns.idle = 0;
    sg_turns.testing = sg_turns.own = false; /* an error handler may have left one by a jump */
}

/* True if the calling thread may sleep in MPICH when its iterations are idle. */
bool sg_turn_lets_sleep(void);
/* Yields the processor, outside the progress loop. True: another thread has taken it. */
bool sg_turn_yield(void);
/* Records a sleep outside the progress loop. */
void sg_turn_slept(uint64_t time_ns);

/* Enclose the library's own MPICH calls while it waits; pass begin's return value to end. */
static inline bool sg_turn_begin_own(void)
{
    bool before = sg_turns.own;

    sg_turns.own = true;
    return before;
}
static inline void sg_turn_end_own(bool before)
{
    sg_turns.own = before;
}

struct sg_turn_times sg_turn_times(void);

#endif
