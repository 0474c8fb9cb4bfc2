/* Counts the context switches of ranks that make many collective calls: switches CALLS.
 *
 * For each operation rank 0 prints "OPERATION RANKS CALLS SWITCHES MS": the voluntary switches of
 * all ranks, and the time of all calls. Results are checked.
 */
#include "mpi_test.h"

#include <sys/resource.h>

static int rank, ranks;

static void run(const char *operation, int call)
{
    double value = rank + call, result = -1;

    if (strcmp(operation, "barrier") == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
        return;
    }
    if (strcmp(operation, "allreduce") == 0)
        MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    else if (strcmp(operation, "reduce") == 0)
        MPI_Reduce(&value, &result, 1, MPI_DOUBLE, MPI_SUM, call % ranks, MPI_COMM_WORLD);
    else
        MPI_Bcast(&value, 1, MPI_DOUBLE, call % ranks, MPI_COMM_WORLD);
    if (strcmp(operation, "bcast") == 0)
        REQUIRE(value == call % ranks + call);
    else if (strcmp(operation, "allreduce") == 0 || rank == call % ranks)
        REQUIRE(result == ranks * call + ranks * (ranks - 1) / 2.0);
}

static long voluntary(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nvcsw;
}

static void count(const char *operation, int calls)
{
    long before, all = 0;
    double begin_s;

    for (int call = 0; call < 40; call++)
        run(operation, call);
    MPI_Barrier(MPI_COMM_WORLD);
    before = voluntary();
    begin_s = MPI_Wtime();
    for (int call = 0; call < calls; call++)
        run(operation, call);
    MPI_Barrier(MPI_COMM_WORLD);
    before = voluntary() - before;
    begin_s = MPI_Wtime() - begin_s;
    MPI_Reduce(&before, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s %d %d %ld %.0f\n", operation, ranks, calls, all, begin_s * 1e3);
}

int main(int argc, char **argv)
{
    static const char *const operations[] = {"barrier", "allreduce", "reduce", "bcast"};

    START(rank, ranks);
    REQUIRE(argc == 2);
    for (int i = 0; i < 4; i++)
        count(operations[i], atoi(argv[1]));
    MPI_Finalize();
    return 0;
}
