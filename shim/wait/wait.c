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

/* A build with 0 shows that a test of the progress rule fails without it. */
#ifndef SG_WAIT_POKES
#define SG_WAIT_POKES 1
#endif

/* Steps on the first rung: with a processor for every rank waiting is short, and giving it away
 * would only cost; without, whoever is late may need this very processor. */
#define SPINS_ALONE 4000u
#define SPINS_CONTESTED 4u
/* Steps between pokes while spinning: some 20 us. */
#define POKE_STEPS 500u
#define YIELD_NS UINT64_C(200000)
/* ... where yields may reach nobody, and a sleeper is woken. */
#define YIELD_APART_NS UINT64_C(5000)
#define YIELDS_PER_POKE 16u
#define SLEEP_NS UINT64_C(100000)
/* The kernel wakes a sleeper so much later than it is told (timer_slack_ns), or less. */
#define SLACK_NS UINT64_C(60000)

static MPI_Comm poked;

void sg_wait_start(MPI_Comm world)
{
    poked = world;
}

static void poke(void)
{
    bool before;
    int flag;

    if (!SG_WAIT_POKES)
        return;
    before = sg_turn_begin_own();
    sg_real.Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, poked, &flag, MPI_STATUS_IGNORE);
    sg_turn_end_own(before);
}

/* No later than the waiter's timer; 0: not at all. */
static uint64_t sleep_ns(const struct sg_wait_queue *queue, uint64_t now_ns)
{
    /* Relaxed: a timer that is set meanwhile is late by one sleep. */
    uint64_t timer_ns =
        queue->timer_ns == NULL ? 0 : atomic_load_explicit(queue->timer_ns, memory_order_relaxed);

    if (timer_ns == 0 || timer_ns >= now_ns + SLEEP_NS + SLACK_NS)
        return SLEEP_NS;
    return timer_ns > now_ns + SLACK_NS ? timer_ns - now_ns - SLACK_NS : 0;
}

static void sleep_on(const struct sg_wait_queue *queue, bool (*ready)(void *), void *context)
{
    uint64_t begin_ns = sg_clock_ns();
    struct timespec timeout = {0, (long)sleep_ns(queue, begin_ns)};
    uint32_t seen;

    if (timeout.tv_nsec == 0) {
        sg_turn_yield();
        return;
    }
    /* Sequentially consistent, so that the flag is up before we look once more. */
    atomic_fetch_add(queue->sleepers, 1);
    seen = atomic_load(queue->wake);
    /* A release that crosses this, unseen by both sides, costs one sleep: SLEEP_NS. */
    if (!ready(context)) {
        syscall(SYS_futex, queue->wake, FUTEX_WAIT, seen, &timeout, NULL, 0);
        sg_turn_slept(sg_clock_ns() - begin_ns);
    }
    atomic_fetch_sub(queue->sleepers, 1);
}

static uint32_t spins(void)
{
    return sg_turn_is_contested() ? SPINS_CONTESTED : SPINS_ALONE;
}

static uint64_t yields_for_ns(void)
{
    return sg_processors_keep_apart() ? YIELD_APART_NS : YIELD_NS;
}

bool sg_wait_step(struct sg_wait *wait, const struct sg_wait_queue *queue, bool (*ready)(void *),
                  void *context)
{
    enum sg_wait_mode mode = sg_turn_mode();
    uint64_t now_ns;

    wait->steps++;
    if (mode == SG_WAIT_SPIN || wait->steps < spins()) {
        sg_cpu_pause();
        if (wait->steps % POKE_STEPS != 0)
            return false;
        poke();
        if (mode == SG_WAIT_SPIN && wait->begin_ns == 0)
            wait->begin_ns = sg_clock_ns();
        return true;
    }
    if (wait->steps % YIELDS_PER_POKE != 0) {
        sg_turn_yield();
        return false;
    }
    poke();
    now_ns = sg_clock_ns();
    if (wait->begin_ns == 0) {
        wait->begin_ns = now_ns;
        sg_turn_look();
    }
    if (now_ns - wait->begin_ns > yields_for_ns() && mode != SG_WAIT_YIELD) {
        sleep_on(queue, ready, context);
        /* Every step is slow from here on. */
        wait->steps += YIELDS_PER_POKE - 1;
    }
    return true;
}

void sg_wait_brief(struct sg_wait *wait)
{
    uint32_t steps = ++wait->steps;

    if (sg_turn_mode() == SG_WAIT_SPIN || steps < spins())
        sg_cpu_pause();
    else
        sg_turn_yield();
    if (steps % YIELDS_PER_POKE == 0)
        poke();
}

uint64_t sg_wait_elapsed_ns(const struct sg_wait *wait)
{
    return wait->begin_ns == 0 ? 0 : sg_clock_ns() - wait->begin_ns;
}

void sg_wait_wake(const struct sg_wait_queue *queue)
{
    /* Relaxed: a full barrier here would stand in every call; a sleeper that is missed looks again
     * by itself after SLEEP_NS. */
    if (__builtin_expect(atomic_load_explicit(queue->sleepers, memory_order_relaxed) == 0, 1))
        return;
    atomic_fetch_add_explicit(queue->wake, 1, memory_order_relaxed);
    syscall(SYS_futex, queue->wake, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
