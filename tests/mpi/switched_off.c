/* Each rank switches recording off and on again, and then off to the end of the run; rank 1 is off
 * for longer, and prints for how long, by its own clock: up to MPI_Finalize, and to its end.
 */
#include "clock.h"
#include "mpi_test.h"

#include <inttypes.h>

static uint64_t off(int rank)
{
    uint64_t from_ns = now_ns();

    MUST(MPI_Pcontrol(0));
    sleep_until(now_ns() + 40000000 * (uint64_t)(1 + rank));
    return from_ns;
}

int main(int argc, char **argv)
{
    uint64_t from_ns, sum_ns, before_ns;
    int rank;

    MUST(MPI_Init(&argc, &argv));
    MUST(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    from_ns = off(rank);
    MUST(MPI_Pcontrol(1));
    sum_ns = now_ns() - from_ns;
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    from_ns = off(rank);
    before_ns = sum_ns + (now_ns() - from_ns);
    MUST(MPI_Finalize());
    if (rank == 1)
        printf("%" PRIu64 " %" PRIu64 "\n", before_ns, sum_ns + (now_ns() - from_ns));
    return 0;
}
