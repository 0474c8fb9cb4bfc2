/* Makes rounds of collectives and checks each result: past_ends ROUNDS. */
#include "mpi_test.h"

#define LARGE 5000

static int rank, ranks;

static double operand(int of, int round, int i)
{
    return (double)(of + 1) * 1000 + round + i;
}

static double sum_of(int round, int i)
{
    double sum = 0;

    for (int of = 0; of < ranks; of++)
        sum += operand(of, round, i);
    return sum;
}

static void reduce(int round, int count)
{
    static double own[LARGE], sum[LARGE];
    int root = round % ranks;

    for (int i = 0; i < count; i++) {
        own[i] = operand(rank, round, i);
        sum[i] = -1;
    }
    MUST(MPI_Reduce(own, sum, count, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD));
    for (int i = 0; i < count && rank == root; i++)
        REQUIRE(sum[i] == sum_of(round, i));
    MUST(MPI_Allreduce(own, sum, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    for (int i = 0; i < count; i++)
        REQUIRE(sum[i] == sum_of(round, i));
}

static void begin_and_end(int round)
{
    double own = operand(rank, round, 0), sum[2] = {-1, -1};
    MPI_Request requests[3];

    MUST(MPI_Ireduce(&own, &sum[0], 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD, &requests[0]));
    MUST(MPI_Iallreduce(&own, &sum[1], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &requests[1]));
    MUST(MPI_Ibarrier(MPI_COMM_WORLD, &requests[2]));
    for (int i = 0; i < 3; i++)
        MUST(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
    REQUIRE(sum[1] == sum_of(round, 0) && (rank != 0 || sum[0] == sum[1]));
}

static void broadcast(int round)
{
    int root = round % ranks;
    double value = rank == root ? round : -1;

    MUST(MPI_Bcast(&value, 1, MPI_DOUBLE, root, MPI_COMM_WORLD));
    REQUIRE(value == round);
}

int main(int argc, char **argv)
{
    REQUIRE(argc == 2);
    int rounds = atoi(argv[1]);
    START(rank, ranks);
    MUST(MPI_Barrier(MPI_COMM_WORLD)); /* the first is MPICH's own */
    for (int round = 0; round < rounds; round++) {
        MUST(MPI_Barrier(MPI_COMM_WORLD));
        reduce(round, round % 50 == 0 ? LARGE : 1 + round % 3);
        begin_and_end(round);
        broadcast(round);
    }
    MUST(MPI_Finalize());
    printf("rank %d finished\n", rank);
    return 0;
}
