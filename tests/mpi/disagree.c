/* Ranks that make different calls in one instance of a collective:
 *
 *     disagree sites ROUNDS   rank 0 from one call site, the others from another: legal
 *     disagree operation      rank 0 in a barrier, the others in an allreduce
 *     disagree bytes          rank 0 with 8 bytes, the others with 16
 *     disagree root           rank 0 reduces to rank 0, the others to rank 1
 *     disagree place COUNT    rank 0 with MPI_IN_PLACE, the others without: COUNT doubles
 *     disagree late FILE      the last rank comes only when there is a file of that name
 */
#include "mpi_test.h"

static int rank, ranks;

static void first_site(const double *mine, double *sum, int count)
{
    MUST(MPI_Allreduce(mine, sum, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
}

static void second_site(const double *mine, double *sum, int count)
{
    MUST(MPI_Allreduce(mine, sum, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
}

static void sites(int rounds)
{
    double mine[600], sum[600];

    for (int round = 0; round < rounds; round++) {
        int count = 1 + round % 600;

        for (int i = 0; i < count; i++)
            mine[i] = rank + i + round;
        if (rank == 0)
            first_site(mine, sum, count);
        else
            second_site(mine, sum, count);
        for (int i = 0; i < count; i++)
            REQUIRE(sum[i] == ranks * (ranks - 1) / 2.0 + ranks * (i + round));
    }
}

static void place(int count)
{
    double *mine = calloc((size_t)count, sizeof *mine), *sum = calloc((size_t)count, sizeof *sum);

    REQUIRE(mine != NULL && sum != NULL);
    first_site(mine, sum, 1);
    if (rank == 0)
        first_site(MPI_IN_PLACE, sum, count);
    else
        second_site(mine, sum, count);
    free(mine);
    free(sum);
}

static void disagree(const char *way, const char *argument)
{
    double mine[2] = {1, 2}, sum[2] = {0, 0};
    int root = rank == 0 ? 0 : 1;

    if (strcmp(way, "sites") == 0) {
        sites(atoi(argument));
    } else if (strcmp(way, "operation") == 0) {
        if (rank == 0)
            MUST(MPI_Barrier(MPI_COMM_WORLD));
        else
            first_site(mine, sum, 1);
    } else if (strcmp(way, "bytes") == 0) {
        if (rank == 0)
            first_site(mine, sum, 1);
        else
            second_site(mine, sum, 2);
    } else if (strcmp(way, "root") == 0) {
        MUST(MPI_Reduce(mine, sum, 1, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD));
        MUST(MPI_Barrier(MPI_COMM_WORLD));
    } else if (strcmp(way, "place") == 0) {
        place(atoi(argument));
    } else {
        MUST(PMPI_Barrier(MPI_COMM_WORLD)); /* the others enter well before the first has stalled */
        if (rank == ranks - 1)
            wait_for_file(argument);
        first_site(mine, sum, 1);
        REQUIRE(sum[0] == ranks);
    }
}

int main(int argc, char **argv)
{
    REQUIRE(argc >= 2);
    START(rank, ranks);
    disagree(argv[1], argc > 2 ? argv[2] : "");
    MUST(MPI_Finalize());
    if (rank == 0)
        printf("finished\n");
    return 0;
}
