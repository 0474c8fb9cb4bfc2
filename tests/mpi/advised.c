/* A pattern for advice: in each round all come to a reduce to rank 0 at once, but for the last
 * rank, which computes for so long before:
 *
 *     advised MS ROUNDS
 *
 * Of a binomial tree the rank between those two waits for what it only passes on.
 */
#include "mpi_test.h"

#include <stdlib.h>
#include <time.h>

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void compute(double ms)
{
    double end_s = now_s() + ms * 1e-3;

    while (now_s() < end_s)
        ;
}

__attribute__((noinline)) static void sum_up(int value, int rank, int ranks)
{
    double mine = value + rank, sum = 0;

    MUST(MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD));
    REQUIRE(rank != 0 || sum == ranks * value + ranks * (ranks - 1) / 2);
}

int main(int argc, char **argv)
{
    int rank, ranks;

    REQUIRE(argc == 3);
    MUST(MPI_Init(&argc, &argv));
    MUST(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    MUST(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    for (int round = 0; round < atoi(argv[2]); round++) {
        MUST(PMPI_Barrier(MPI_COMM_WORLD)); /* not one that is observed */
        if (rank == ranks - 1)
            compute(atof(argv[1]));
        sum_up(round, rank, ranks);
    }
    MUST(MPI_Finalize());
    return 0;
}
