#include "wait/wait.h"

#include "core/clock.h"
#include "mpi/real.h"

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
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
#define SPINS_OVERSUBSCRIBED 100u
/* Steps between pokes while spinning: some 20 us. */
#define POKE_STEPS 500u
#define YIELD_NS UINT64_C(200000)
#define YIELDS_PER_POKE 16u
#define SLEEP_NS 100000

static MPI_Comm poked;
static bool oversubscribed;
static cpu_set_t first_mask;
static int machine_ranks;

struct place {
    uint64_t machine;
    cpu_set_t mask;
};

enum sg_status sg_wait_start(const struct sg_exchange *exchange, uint64_t machine, MPI_Comm world)
{
    struct place own = {.machine = machine};
    void *gathered;
    cpu_set_t all;
    enum sg_status status;

    poked = world;
    CPU_ZERO(&own.mask);
    sched_getaffinity(0, sizeof own.mask, &own.mask);
    status = sg_exchange_collect(exchange, &own, sizeof own, &gathered);
    if (status != SG_OK)
        return status;
    CPU_ZERO(&all);
    machine_ranks = 0;
    for (int rank = 0; rank < exchange->size; rank++) {
        const struct place *place = (const struct place *)gathered + rank;

        if (place->machine != machine)
            continue;
        CPU_OR(&all, &all, &place->mask);
        machine_ranks++;
    }
    free(gathered);
    first_mask = own.mask;
    oversubscribed = machine_ranks > CPU_COUNT(&all);
    return SG_OK;
}

/* The application may bind itself after MPI_Init: then its own mask is all we know. */
static void look_again(void)
{
    cpu_set_t mask;

    CPU_ZERO(&mask);
    if (sched_getaffinity(0, sizeof mask, &mask) == 0 && !CPU_EQUAL(&mask, &first_mask)) {
        first_mask = mask;
        oversubscribed = machine_ranks > CPU_COUNT(&mask) && CPU_COUNT(&mask) > 1;
    }
}

static void poke(void)
{
    int flag;

    if (SG_WAIT_POKES)
        sg_real.Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, poked, &flag, MPI_STATUS_IGNORE);
}

static void sleep_on(const struct sg_wait_queue *queue, bool (*ready)(void *), void *context)
{
    static const struct timespec timeout = {0, SLEEP_NS};
    uint32_t seen;

    /* Sequentially consistent, so that the flag is up before we look once more. */
    atomic_fetch_add(queue->sleepers, 1);
    seen = atomic_load(queue->wake);
    /* A release that crosses this, unseen by both sides, costs one sleep: SLEEP_NS. */
    if (!ready(context))
        syscall(SYS_futex, queue->wake, FUTEX_WAIT, seen, &timeout, NULL, 0);
    atomic_fetch_sub(queue->sleepers, 1);
}

bool sg_wait_step(struct sg_wait *wait, const struct sg_wait_queue *queue, bool (*ready)(void *),
                  void *context)
{
    uint32_t spins = oversubscribed ? SPINS_OVERSUBSCRIBED : SPINS_ALONE;
    uint64_t now_ns;

    wait->steps++;
    if (wait->steps < spins) {
        __builtin_ia32_pause();
        if (wait->steps % POKE_STEPS != 0)
            return false;
        poke();
        return true;
    }
    if (wait->steps % YIELDS_PER_POKE != 0) {
        sched_yield();
        return false;
    }
    poke();
    now_ns = sg_clock_ns();
    if (wait->begin_ns == 0) {
        wait->begin_ns = now_ns;
        look_again();
    }
    if (now_ns - wait->begin_ns > YIELD_NS) {
        sleep_on(queue, ready, context);
        /* Every step is slow from here on. */
        wait->steps += YIELDS_PER_POKE - 1;
    }
    return true;
}

void sg_wait_brief(struct sg_wait *wait)
{
    uint32_t steps = ++wait->steps;

    if (steps < (oversubscribed ? SPINS_OVERSUBSCRIBED : SPINS_ALONE))
        __builtin_ia32_pause();
    else
        sched_yield();
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
