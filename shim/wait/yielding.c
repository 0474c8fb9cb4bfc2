#include "wait/yielding.h"

#include "mpi/real.h"
#include "wait/turn.h"

#include <sched.h>

/* Events in flight between processors arrive within this many looks. */
#define LOOKS_BEFORE_YIELD 200

#define LOOKS_PER_WATCH 256

static void (*watch)(void);

void sg_yielding_watch(void (*look)(void))
{
    watch = look;
}

static void wait_a_little(int looks)
{
    if (looks < LOOKS_BEFORE_YIELD)
        return;
    if (watch != NULL && looks % LOOKS_PER_WATCH == 0)
        watch();
    sched_yield();
}

/* Completes a request. status: returned by the call that began it. */
static int complete(int status, MPI_Request *request)
{
    bool before = sg_turn_begin_own();
    int done = 0;

    for (int looks = 0; status == MPI_SUCCESS; looks++) {
        status = sg_real.Test(request, &done, MPI_STATUS_IGNORE);
        if (done)
            break;
        wait_a_little(looks);
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
    int there = 0, status;

    for (int looks = 0;; looks++) {
        status = sg_real.Iprobe(from, tag, comm, &there, MPI_STATUS_IGNORE);
        if (there || status != MPI_SUCCESS)
            break;
        wait_a_little(looks);
    }
    sg_turn_end_own(before);
    return status;
}
