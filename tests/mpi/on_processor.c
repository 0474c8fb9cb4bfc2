/* All ranks bind themselves to one processor before MPI_Init, so that they share it; between
 * barriers they compute and sleep. Each measures by its own clocks how long it was outside of MPI,
 * and on the processor meanwhile. Rank 0 prints "OUTSIDE_NS CPU_NS" for each rank.
 */
#define _GNU_SOURCE
#include "clock.h"
#include "mpi_test.h"

#include <inttypes.h>
#include <sched.h>

enum { ROUNDS = 6, COMPUTE_NS = 10000000, SLEEP_NS = 10000000, RANKS_MAX = 8 };

static uint64_t cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Binds to the first of the processors that the process may use. */
static void bind_to_first(void)
{
    cpu_set_t may, one;

    REQUIRE(sched_getaffinity(0, sizeof may, &may) == 0);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++) {
        if (CPU_ISSET(i, &may))
            CPU_SET(i, &one);
    }
    REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
}

int main(int argc, char **argv)
{
    uint64_t sums[2] = {0}, all[2 * RANKS_MAX];
    int rank, ranks;

    bind_to_first();
    MUST(MPI_Init(&argc, &argv));
    MUST(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    MUST(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    REQUIRE(ranks <= RANKS_MAX);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t from_ns = now_ns(), from_cpu_ns = cpu_ns();

        while (cpu_ns() < from_cpu_ns + COMPUTE_NS)
            ;
        sleep_until(now_ns() + SLEEP_NS);
        sums[0] += now_ns() - from_ns;
        sums[1] += cpu_ns() - from_cpu_ns;
        MUST(MPI_Barrier(MPI_COMM_WORLD));
    }
    MUST(MPI_Gather(sums, 2, MPI_UINT64_T, all, 2, MPI_UINT64_T, 0, MPI_COMM_WORLD));
    MUST(MPI_Finalize());
    for (int i = 0; rank == 0 && i < ranks; i++)
        printf("%" PRIu64 " %" PRIu64 "\n", all[2 * i], all[2 * i + 1]);
    return 0;
}
