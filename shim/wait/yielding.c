#include "wait/yielding.h"

#include "core/clock.h"
#include "mpi/real.h"
#include "wait/processors.h"
#include "wait/turn.h"

#include <sched.h>
#include <time.h>

/* Events in flight between processors arrive within this many looks. Ranks that share a processor
 * wait for one that is not running. */
#define LOOKS_BEFORE_YIELD 200
#define LOOKS_BEFORE_YIELD_SHORT 20

#define LOOKS_PER_WATCH 256

/* After this many yields in succession that no thread has taken, yields reach no other rank: each
 * has a scheduling group of its own. The ranks then sleep, and all of them together look so often
 * that it takes a part of a processor only. */
#define VAIN_YIELDS 20
#define SLEEP_NS_PER_RANK 10000
#define SLEEP_NS_MAX 10000000
/* A yield of this length was taken. */
#define SWITCH_NS 1000u

static void (*watch)(void);

void sg_yielding_watch(void (*look)(void))
{
    watch = look;
}

void sg_yielding_look(void)
{
    if (watch != NULL)
        watch();
}

/* The state of one wait. */
struct patience {
    int looks, vain;
};

static void sleep_long(void)
{
    long sleep_ns = (long)sg_processors_found().ranks * SLEEP_NS_PER_RANK;
    const struct timespec time = {0, sleep_ns < SLEEP_NS_MAX ? sleep_ns : SLEEP_NS_MAX};

    nanosleep(&time, NULL);
    sg_yielding_look();
}

static void wait_a_little(struct patience *patience)
{
    bool is_short = sg_processors_are_short();
    uint64_t begin_ns;

    if (patience->looks++ < (is_short ? LOOKS_BEFORE_YIELD_SHORT : LOOKS_BEFORE_YIELD))
        return;
    if (patience->looks % LOOKS_PER_WATCH == 0)
        sg_yielding_look();
    begin_ns = sg_clock_ns();
    sched_yield();
    if (!is_short || sg_clock_ns() - begin_ns > SWITCH_NS)
        patience->vain = 0;
    else if (++patience->vain > VAIN_YIELDS)
        sleep_long();
}

/* Completes a request. status: returned by the call that began it. */
static int complete(int status, MPI_Request *request)
{
    bool before = sg_turn_begin_own();
    struct patience patience = {0};
    int done = 0;

    while (status == MPI_SUCCESS) {
        status = sg_real.Test(request, &done, MPI_STATUS_IGNORE);
        if (done)
            break;
        wait_a_little(&patience);
    }
    sg_turn_end_own(before);
    return status;
}

int sg_yielding_allreduce(const void *from, void *into, int count, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm)
{
    MPI_Request request;

    return complete(sg_real.Iallreduce(from, into, count, type, op, comm, &request), &request);
}

int sg_yielding_alltoallv(const void *from, void *into, const int *counts, const int *starts,
                          MPI_Datatype type, MPI_Comm comm)
{
    MPI_Request request;

    return complete(
        sg_real.Ialltoallv(from, counts, starts, type, into, counts, starts, type, comm, &request),
        &request);
}

int sg_yielding_barrier(MPI_Comm comm)
{
    MPI_Request request;

    return complete(sg_real.Ibarrier(comm, &request), &request);
}

int sg_yielding_bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    MPI_Request request;

    return complete(sg_real.Ibcast(data, count, type, root, comm, &request), &request);
}

int sg_yielding_dup(MPI_Comm comm, MPI_Comm *out)
{
    MPI_Request request;

    return complete(sg_real.Comm_idup(comm, out, &request), &request);
}

int sg_yielding_allgather(const void *from, int count, MPI_Datatype type, void *into, MPI_Comm comm)
{
    MPI_Request request;

    return complete(sg_real.Iallgather(from, count, type, into, count, type, comm, &request),
                    &request);
}

int sg_yielding_gather(const void *from, int count, MPI_Datatype type, void *into, int root,
                       MPI_Comm comm)
{
    MPI_Request request;

    return complete(sg_real.Igather(from, count, type, into, count, type, root, comm, &request),
                    &request);
}

int sg_yielding_gatherv(const void *from, int count, void *into, const int *counts,
                        const int *starts, MPI_Datatype type, int root, MPI_Comm comm)
{
    MPI_Request request;

    return complete(
        sg_real.Igatherv(from, count, type, into, counts, starts, type, root, comm, &request),
        &request);
}

int sg_yielding_probe(int from, int tag, MPI_Comm comm)
{
    bool before = sg_turn_begin_own();
    struct patience patience = {0};
    int there = 0, status;

    for (;;) {
        status = sg_real.Iprobe(from, tag, comm, &there, MPI_STATUS_IGNORE);
        if (there || status != MPI_SUCCESS)
            break;
        wait_a_little(&patience);
    }
    sg_turn_end_own(before);
    return status;
}
