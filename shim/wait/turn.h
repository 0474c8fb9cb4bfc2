/* Turns of MPICH's progress: where MPICH waits, it goes round in them, and one in which nothing
 * happened is a step on a ladder of spinning, yielding and sleeping.
 *
 * Turns follow each other closely while a thread waits; a turn that takes longer than those before
 * it has done something, or the application has, and the ladder begins anew. (MPICH says nothing of
 * what its own shared memory brings.) Between two sleeps there is a turn that is measured, so a
 * wait in which something happens all the time never sleeps for long.
 *
 * Any thread; not from a signal handler. errno stays.
 */
#ifndef SG_WAIT_TURN_H
#define SG_WAIT_TURN_H

#include "core/waiting.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A thread's turns. */
struct sg_turns {
    uint32_t idle;      /* of a wait, in a row */
    uint32_t seen;      /* turns of the network library that a hook has seen */
    uint32_t events;    /* those of them in which something happened */
    uint32_t tested;    /* of tests, in a row */
    bool testing;       /* in a call that tests or probes */
    uint32_t looked;    /* what is counted until processors are looked at again */
    bool own;           /* in a call of the library's own, which has a ladder of its own */
    uint32_t contested; /* idle turns for which others want the processor, as far as can be told */
    uint32_t lively;    /* turns in a row that seem to have done something */
    uint32_t settled;   /* since the processor was last given away */
    uint32_t vain;      /* yields of a wait in a row that have given it to nobody */
    uint64_t begin_ns, last_ns; /* of the slow turns: the first, and when the last one ended */
    uint64_t quiet_ns;          /* the least that one took */
    uint32_t looks;             /* whether the kernel has taken the processor; at the last one: */
    long slept;                 /* how often the thread had given it away by itself */
    uint64_t away_ns;           /* how long it had not been on one, from any time on */
};

extern __thread struct sg_turns sg_turns;

/* In nanoseconds, and how often, since the start, over all threads. */
struct sg_turn_times {
    uint64_t yields, yield_ns, sleeps, sleep_ns;
};

/* From now on; before, threads spin. threads: several may call MPI at a time, and MPICH may hold
 * its lock in a turn: none sleeps. */
enum sg_wait_mode sg_turn_mode(void);
void sg_turn_start(enum sg_wait_mode mode, bool threads);
/* Whether the calling thread's processor is wanted by others: there are fewer than ranks, or the
 * kernel has taken it from the thread of late, since the last look. */
bool sg_turn_is_contested(void);
void sg_turn_look(void);

/* Of all threads: whether they spin, but for those whose processors are contested. */
extern atomic_bool sg_turn_spins;
/* Idle turns, where every rank has a processor, after which is looked whether it has. */
#define SG_TURNS_PER_LOOK 1024u

/* One in which nothing happened. */
void sg_turn_idle_slowly(void);
static inline void sg_turn_idle(void)
{
    struct sg_turns *turns = &sg_turns;

    if (!atomic_load_explicit(&sg_turn_spins, memory_order_relaxed) || turns->contested > 0 ||
        ++turns->looked % SG_TURNS_PER_LOOK == 0)
        sg_turn_idle_slowly();
}
/* One in which something did. */
static inline void sg_turn_busy(void)
{
    sg_turns.idle = sg_turns.tested = 0;
}

/* After a turn of the network library, whether or not it counts as idle. */
static inline void sg_turn_seen(bool has_events)
{
    sg_turns.seen++;
    sg_turns.events += has_events;
}

/* Around a call of the application's that tests or probes: it does not wait, but its program may,
 * by nothing but such calls. */
static inline void sg_turn_begin_test(void)
{
    sg_turns.testing = true;
}
static inline void sg_turn_end_test(void)
{
    sg_turns.testing = false;
}
/* Where the application calls what waits: what came before is no part of it. */
static inline void sg_turn_begin_wait(void)
{
    sg_turns.idle = 0;
    sg_turns.testing = sg_turns.own = false; /* an error handler may have left one by a jump */
}

/* Gives the processor away, outside turns. True: somebody has taken it. */
bool sg_turn_yield(void);
/* A thread has slept, outside turns. */
void sg_turn_slept(uint64_t time_ns);

/* Around the library's own calls of MPICH while it waits; what begin returns is given to end. */
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
