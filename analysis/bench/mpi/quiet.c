#include "bench/mpi/quiet.h"

#include "core/clock.h"

#include <errno.h>

#define NS_PER_S UINT64_C(1000000000)
/* How often a waiting rank polls. */
#define LOOK_NS 200000
#define IDLE_LOOK_NS 10000000
/* From the last rank's arrival to the beginning: the agreement takes as many steps as the number of
 * ranks has bits, each of which may have to wait for a poll, and for a processor. */
#define AHEAD_LOOKS 10

uint64_t sg_bench_now_ns(void)
{
    return sg_clock_of_ns(CLOCK_MONOTONIC);
}

void sg_bench_sleep_until(uint64_t deadline_ns)
{
    struct timespec deadline = {(time_t)(deadline_ns / NS_PER_S), (long)(deadline_ns % NS_PER_S)};

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, NULL) == EINTR)
        ;
}

static void complete(MPI_Request *request, uint64_t look_ns)
{
    int done = 0;

    for (;;) {
        PMPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (done)
            return;
        sg_bench_sleep_until(sg_bench_now_ns() + look_ns);
    }
}

void sg_bench_complete_quietly(MPI_Request *request)
{
    complete(request, LOOK_NS);
}

void sg_bench_complete_idly(MPI_Request *request)
{
    complete(request, IDLE_LOOK_NS);
}

uint64_t sg_bench_ahead_ns(int ranks)
{
    uint64_t looks = 0;

    for (int bits = ranks; bits > 0; bits /= 2)
        looks += AHEAD_LOOKS;
    return looks * LOOK_NS;
}

void sg_bench_wait_quietly(MPI_Comm comm)
{
    MPI_Request request;

    PMPI_Ibarrier(comm, &request);
    sg_bench_complete_quietly(&request);
}
