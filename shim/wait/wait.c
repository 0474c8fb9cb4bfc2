#include "wait/wait.h"

#include "core/clock.h"
#include "core/cpu/cpu.h"
#include "mpi/real.h"
#include "wait/processors.h"
#include "wait/turn.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* A build with 0 shows that a test of the progress rule fails without pokes. */
#ifndef SG_WAIT_POKES
#define SG_WAIT_POKES 1
#endif

/* Steps on the first rung. With a processor for every rank waits are short, and yielding would only
 * cost; otherwise a late rank may need this very processor. */
#define SPINS_ALONE 4000u
#define SPINS_CONTESTED 4u
/* Steps between pokes: some 10 us in a wait that has just begun; fewer in a long one, so that an
 * operation on this rank's window takes as long as in MPICH; and for one step per test. */
#define POKE_STEPS 500u
#define POKE_STEPS_LATER 4u
#define POKE_STEPS_BRIEF 4u
#define YIELDS_PER_POKE 16u
/* Pokes at every step after one that has found something: the next event comes within a round trip.
 * Also after a sleep, which ends in a poke that may have answered another rank; that rank may need
 * this processor next. */
#define LIVELY_POKES 64u
#define WOKEN_POKES 8u
#define LIVELY_POKES_PER_YIELD 8u
/* A poke that takes longer than the shortest by half and this may have found something. */
#define POKE_SLACK_NS 100u
#define POKE_MAX_NS UINT64_C(1000)
#define YIELD_NS UINT64_C(200000)
/* ... if yields may reach no other rank, and a sleeper is woken. */
#define YIELD_APART_NS UINT64_C(5000)
#define SLEEP_NS UINT64_C(100000)
/* With more ranks than this for each processor, whose yields reach no other rank soon, a rank
 * sleeps at once. Its sleep is long: a wake-up by the timer costs 15 us of a processor, and all
 * sleepers together may take a few percent of it (docs/decisions/08). */
#define CROWD_MIN 8
#define CROWD_SLEEP_NS UINT64_C(250000) /* for each rank of a processor */
#define CROWD_SLEEP_MAX_NS UINT64_C(50000000)
#define CROWD_WOKEN_POKES 2u
/* A sleep stands for this many of the steps that are counted until a poke. */
#define CROWD_STEPS 8u
/* In the number of sleepers: some may sleep for long. Stays. */
#define LONG_SLEEPERS UINT32_C(0x80000000)
/* Limit of the kernel's delay in waking a sleeper (timer_slack_ns). */
#define SLACK_NS UINT64_C(60000)

/* This thread's state for driving MPICH, over all its waits: large operands have many. */
struct driving {
    uint32_t steps;    /* since the last poke */
    uint32_t lively;   /* remaining pokes at every step */
    bool is_cold;      /* another thread has had the processor since the last poke */
    uint64_t quiet_ns; /* shortest poke in this wait */
};

static __thread struct driving driving;
static MPI_Comm poked;

void sg_wait_start(MPI_Comm world)
{
    poked = world;
}

/* True: the hook has counted events. */
static bool poke(void)
{
    uint32_t events = sg_turns.events;
    bool before, found;
    int flag;

    driving.steps = 0;
    if (!SG_WAIT_POKES) {
        driving.lively = 0;
        return false;
    }
    before = sg_turn_begin_own();
    sg_real.Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, poked, &flag, MPI_STATUS_IGNORE);
    sg_turn_end_own(before);
    found = sg_turns.events != events;
    if (found)
        driving.lively = LIVELY_POKES;
    else if (driving.lively > 0)
        driving.lively--;
    return found;
}

/* Hooks do not see the events of MPICH's own shared memory, but a poke's time shows them. One poke
 * may be slow for other reasons: this then pokes more often, and counts the second slow one. */
static bool poke_timed(void)
{
    uint32_t lively = driving.lively;
    uint64_t begin_ns = sg_clock_ns(), poke_ns;

    if (poke())
        return true;
    poke_ns = sg_clock_ns() - begin_ns;
    if (driving.is_cold) {
        driving.is_cold = false;
        return false;
    }
    if (poke_ns < driving.quiet_ns)
        driving.quiet_ns = poke_ns;
    if (poke_ns <= driving.quiet_ns + driving.quiet_ns / 2 + POKE_SLACK_NS)
        return false;
    driving.lively = lively > WOKEN_POKES ? LIVELY_POKES : 2 * WOKEN_POKES;
    return lively > WOKEN_POKES;
}

bool sg_wait_is_crowded(const struct sg_wait_queue *queue)
{
    return queue->is_always_woken && sg_processors_crowd() > CROWD_MIN &&
           sg_processors_keep_apart() && sg_turn_mode() != SG_WAIT_YIELD;
}

static uint64_t longest_ns(void)
{
    uint64_t time_ns = (uint64_t)sg_processors_crowd() * CROWD_SLEEP_NS;

    return time_ns < CROWD_SLEEP_MAX_NS ? time_ns : CROWD_SLEEP_MAX_NS;
}

/* Returns the length of a sleep, limited by the waiter's timer; 0: no sleep. */
static uint64_t sleep_ns(const struct sg_wait_queue *queue, uint64_t now_ns)
{
    /* Relaxed: a timer that is set meanwhile is late by one sleep. */
    uint64_t timer_ns =
        queue->timer_ns == NULL ? 0 : atomic_load_explicit(queue->timer_ns, memory_order_relaxed);

    if (timer_ns == 0 || timer_ns >= now_ns + SLEEP_NS + SLACK_NS)
        return SLEEP_NS;
    return timer_ns > now_ns + SLACK_NS ? timer_ns - now_ns - SLACK_NS : 0;
}

/* Announces a sleep: returns its length. The first long one of a queue has to be short: until it
 * ends, other ranks may not know yet that there are long ones. */
static uint64_t announce(const struct sg_wait_queue *queue, uint64_t now_ns)
{
    uint64_t time_ns = sleep_ns(queue, now_ns);

    if (time_ns == 0)
        return 0;
    if (sg_wait_is_crowded(queue)) {
        if ((atomic_load_explicit(queue->sleepers, memory_order_relaxed) & LONG_SLEEPERS) != 0)
            time_ns = longest_ns();
        else
            atomic_fetch_or(queue->sleepers, LONG_SLEEPERS);
    }
    /* Acquire and release: the addition of a waker (sg_wait_has_sleepers) is before, and the last
     * check of `ready` sees its change; or behind, and counts this thread. */
    atomic_fetch_add_explicit(queue->sleepers, 1, memory_order_acq_rel);
    return time_ns;
}

/* True: it has slept, and no other rank has woken it. */
static bool sleep_on(struct sg_wait *wait, const struct sg_wait_queue *queue, bool (*ready)(void *),
                     void *context)
{
    bool is_woken = true;
    uint64_t begin_ns = sg_clock_ns();
    struct timespec timeout = {0, (long)announce(queue, begin_ns)};
    uint32_t seen;

    if (timeout.tv_nsec == 0) {
        sg_turn_yield();
        return false;
    }
    /* Acquire: if it is a waker's, `ready` sees what that one has done. */
    seen = atomic_load_explicit(queue->wake, memory_order_acquire);
    if (!ready(context)) {
        is_woken = syscall(SYS_futex, queue->wake, FUTEX_WAIT, seen, &timeout, NULL, 0) == 0;
        wait->is_woken = is_woken;
        sg_turn_slept(sg_clock_ns() - begin_ns);
    }
    /* Relaxed: a waker that counts this thread for longer wakes nobody. */
    atomic_fetch_sub_explicit(queue->sleepers, 1, memory_order_relaxed);
    return !is_woken;
}

/* True if the thread keeps its processor in this step, as always if no other thread wants it. */
static bool spins(const struct sg_wait *wait)
{
    enum sg_wait_mode mode = sg_turn_mode();
    bool is_contested = sg_turn_is_contested();

    return mode == SG_WAIT_SPIN || (mode == SG_WAIT_AUTO && !is_contested) ||
           wait->steps < (is_contested ? SPINS_CONTESTED : SPINS_ALONE);
}

static uint32_t steps_per_poke(uint32_t steps)
{
    return driving.lively > 0 ? 1 : steps;
}

/* Looks for contention in a long wait: others may want this processor by now. */
static void look(const struct sg_wait *wait)
{
    if (wait->steps % SPINS_ALONE == 0)
        sg_turn_look();
}

static bool spin(struct sg_wait *wait)
{
    uint32_t steps = wait->steps < POKE_STEPS ? POKE_STEPS : POKE_STEPS_LATER;

    sg_cpu_pause();
    if (++driving.steps >= steps_per_poke(steps))
        poke();
    if (wait->steps % POKE_STEPS != 0)
        return false;
    if (wait->begin_ns == 0)
        wait->begin_ns = sg_clock_ns();
    look(wait);
    return true;
}

static uint64_t yields_for_ns(void)
{
    return sg_processors_keep_apart() ? YIELD_APART_NS : YIELD_NS;
}

static void begin_yields(struct sg_wait *wait, uint64_t now_ns)
{
    wait->yields_ns = now_ns;
    driving.quiet_ns = POKE_MAX_NS;
    sg_turn_look();
}

/* Leaves the processor to the next rank until this one is woken. */
static bool make_room(struct sg_wait *wait, const struct sg_wait_queue *queue,
                      bool (*ready)(void *), void *context)
{
    driving.steps += CROWD_STEPS;
    if (driving.steps >= 2 * YIELDS_PER_POKE && poke())
        return true;
    if (wait->begin_ns == 0)
        wait->begin_ns = sg_clock_ns();
    if (sleep_on(wait, queue, ready, context))
        driving.lively = CROWD_WOKEN_POKES;
    driving.is_cold = true;
    return true;
}

/* Yields until nothing has happened for long, then sleeps. */
static bool give_way(struct sg_wait *wait, const struct sg_wait_queue *queue, bool (*ready)(void *),
                     void *context)
{
    bool found, slow = wait->steps % YIELDS_PER_POKE == 0;
    uint64_t now_ns;

    if (driving.lively == 0 && sg_wait_is_crowded(queue))
        return make_room(wait, queue, ready, context);
    if (++driving.steps < steps_per_poke(2 * YIELDS_PER_POKE) && !slow) {
        driving.is_cold |= sg_turn_yield();
        return false;
    }
    found = poke_timed();
    now_ns = sg_clock_ns();
    /* A caller that has advanced a step resets it to 0. */
    if (wait->begin_ns == 0 && slow)
        wait->begin_ns = now_ns;
    if (wait->yields_ns == 0 && slow)
        begin_yields(wait, now_ns);
    else if (found)
        wait->yields_ns = now_ns;
    if (driving.lively % LIVELY_POKES_PER_YIELD != 0) {
        sg_cpu_pause();
    } else if (driving.lively > 0 || wait->yields_ns == 0 || sg_turn_mode() == SG_WAIT_YIELD ||
               now_ns - wait->yields_ns <= yields_for_ns()) {
        driving.is_cold = sg_turn_yield();
    } else {
        driving.lively = sleep_on(wait, queue, ready, context) ? WOKEN_POKES : 1;
        driving.is_cold = true;
        slow = true;
    }
    return slow;
}

bool sg_wait_step(struct sg_wait *wait, const struct sg_wait_queue *queue, bool (*ready)(void *),
                  void *context)
{
    wait->steps++;
    return spins(wait) ? spin(wait) : give_way(wait, queue, ready, context);
}

void sg_wait_brief(struct sg_wait *wait)
{
    uint32_t steps = YIELDS_PER_POKE;

    wait->steps++;
    if (spins(wait)) {
        sg_cpu_pause();
        steps = POKE_STEPS_BRIEF;
    } else {
        sg_turn_yield();
    }
    look(wait);
    if (++driving.steps >= steps_per_poke(steps))
        poke();
}

uint64_t sg_wait_elapsed_ns(const struct sg_wait *wait)
{
    return wait->begin_ns == 0 ? 0 : sg_clock_ns() - wait->begin_ns;
}

bool sg_wait_has_sleepers(const struct sg_wait_queue *queue)
{
    /* Relaxed: a full barrier here would be in every call. A sleeper that is missed sleeps for
     * SLEEP_NS only, unless LONG_SLEEPERS has been there for as long. */
    uint32_t sleepers = atomic_load_explicit(queue->sleepers, memory_order_relaxed);

    if (__builtin_expect(sleepers == 0, 1))
        return false;
    if ((sleepers & LONG_SLEEPERS) == 0)
        return true;
    /* An addition, with acquire and release: a sleeper either counts here, or counts itself later,
     * and then sees the caller's change in its last check. */
    return (atomic_fetch_add_explicit(queue->sleepers, 0, memory_order_acq_rel) & ~LONG_SLEEPERS) !=
           0;
}

static void wake(const struct sg_wait_queue *queue, int count)
{
    if (!sg_wait_has_sleepers(queue))
        return;
    /* Release: a sleeper that sees the new value sees the change. */
    atomic_fetch_add_explicit(queue->wake, 1, memory_order_release);
    syscall(SYS_futex, queue->wake, FUTEX_WAKE, count, NULL, NULL, 0);
}

void sg_wait_wake(const struct sg_wait_queue *queue)
{
    wake(queue, INT_MAX);
}

void sg_wait_wake_first(const struct sg_wait_queue *queue, int count)
{
    bool is_long =
        (atomic_load_explicit(queue->sleepers, memory_order_relaxed) & LONG_SLEEPERS) != 0;

    wake(queue, is_long ? count : INT_MAX);
}
