/* Counts the context switches of ranks that make many collective calls: switches CALLS.
 *
 * For each operation rank 0 prints "OPERATION RANKS CALLS SWITCHES MS OWN": the voluntary switches
 * of all ranks, the time of all calls, and rank 0's switches. Results are checked. The root is each
 * rank in turn; of "stream", rank 0.
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
    else if (strcmp(operation, "bcast") == 0)
        MPI_Bcast(&value, 1, MPI_DOUBLE, call % ranks, MPI_COMM_WORLD);
    else
        MPI_Bcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (strcmp(operation, "stream") == 0)
        REQUIRE(value == call);
    else if (strcmp(operation, "bcast") == 0)
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
    long own, all = 0;
    double begin_s;

    for (int call = 0; call < 40; call++)
        run(operation, call);
    MPI_Barrier(MPI_COMM_WORLD);
    own = voluntary();
    begin_s = MPI_Wtime();
    for (int call = 0; call < calls; call++)
        run(operation, call);
    MPI_Barrier(MPI_COMM_WORLD);
    own = voluntary() - own;
    begin_s = MPI_Wtime() - begin_s;
    MPI_Reduce(&own, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s %d %d %ld %.0f %ld\n", operation, ranks, calls, all, begin_s * 1e3, own);
}

int main(int argc, char **argv)
{
    static const char *const operations[] = {"barrier", "allreduce", "reduce", "bcast", "stream"};

    START(rank, ranks);
    REQUIRE(argc == 2);
    for (int i = 0; i < 5; i++)
        count(operations[i], atoi(argv[1]));
    MPI_Finalize();
    return 0;
}
