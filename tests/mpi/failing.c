/* Reductions in which the user's operation fails (failing_library.c, preloaded behind the library).
 * The rank on which it failed gets the error once, from its call and in its communicator's error
 * handler; the others get the result and no error.
 */
#include "mpi_test.h"

static int handled, handled_error;

static void on_error(MPI_Comm *comm, int *error, ...)
{
    handled++;
    handled_error = *error;
}

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    for (int i = 0; i < *count; i++)
        ((double *)inout)[i] += ((const double *)in)[i];
}

/* True where the call failed. */
static int check(int status, const double *sum, double expected, int count)
{
    REQUIRE(handled == (status != MPI_SUCCESS));
    REQUIRE(status == MPI_SUCCESS || (status == MPI_ERR_OTHER && handled_error == status));
    for (int i = 0; i < count && sum != NULL; i++)
        REQUIRE(sum[i] == expected);
    handled = 0;
    return status != MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    static double mine[50000], sum[50000];
    const int counts[] = {1, 100, 1000, 50000};
    MPI_Errhandler handler;
    MPI_Comm comm;
    MPI_Op op;
    int rank, ranks, failed = 0;

    MUST(MPI_Init(&argc, &argv));
    MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MUST(MPI_Comm_rank(comm, &rank));
    MUST(MPI_Comm_size(comm, &ranks));
    MUST(MPI_Comm_create_errhandler(on_error, &handler));
    MUST(MPI_Comm_set_errhandler(comm, handler));
    MUST(MPI_Op_create(add, 1, &op));
    MUST(MPI_Barrier(comm));
    for (int i = 0; i < 50000; i++)
        mine[i] = rank + 1;
    for (int k = 0; k < 4; k++) {
        const double expected = ranks * (ranks + 1) / 2.0;
        int of_call[2], of_all[2];

        of_call[0] = check(MPI_Allreduce(mine, sum, counts[k], MPI_DOUBLE, op, comm), sum, expected,
                           counts[k]);
        of_call[1] = check(MPI_Reduce(mine, sum, counts[k], MPI_DOUBLE, op, 0, comm),
                           rank == 0 ? sum : NULL, expected, counts[k]);
        MUST(PMPI_Allreduce(of_call, of_all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        REQUIRE(of_all[0] > 0 && of_all[1] > 0);
        failed += of_call[0] + of_call[1];
        /* The next call has no error of this one. */
        MUST(MPI_Allreduce(mine, sum, counts[k], MPI_DOUBLE, MPI_SUM, comm));
    }
    MUST(MPI_Op_free(&op));
    MUST(MPI_Errhandler_free(&handler));
    MUST(MPI_Comm_free(&comm));
    MUST(MPI_Finalize());
    printf("rank %d: %d errors\n", rank, failed);
    return 0;
}
