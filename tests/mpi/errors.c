/* Wrong arguments under MPI_ERRORS_RETURN: prints the error class of each call, for comparison
 * between runs with and without the library. One rank alone makes some of the wrong calls, as the
 * first call on their communicator; they must return and not wait for the others.
 */
#include "mpi_test.h"

/* Handles that are none. */
#define NO_TYPE ((MPI_Datatype)12345)
#define NO_OPERATION ((MPI_Op)12345)

static int rank;

static void show(const char *what, int error)
{
    int class;

    MUST(MPI_Error_class(error, &class));
    printf("rank %d: %s: class %d\n", rank, what, class);
    fflush(stdout);
}

static void wrong_calls(MPI_Comm comm)
{
    int mine = 1, sum = 0, size;

    MUST(MPI_Comm_size(comm, &size));
    show("root too large", MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_SUM, size, comm));
    show("root negative", MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_SUM, -5, comm));
    show("large count, root too large", MPI_Reduce_c(&mine, &sum, 1, MPI_INT, MPI_SUM, size, comm));
    show("no operation to reduce by", MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_OP_NULL, 0, comm));
    show("operation of windows", MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_REPLACE, comm));
    show("type without operations", MPI_Allreduce(&mine, &sum, 1, MPI_WCHAR, MPI_SUM, comm));
    show("no datatype", MPI_Allreduce(&mine, &sum, 1, MPI_DATATYPE_NULL, MPI_SUM, comm));
    show("not a datatype", MPI_Allreduce(&mine, &sum, 1, NO_TYPE, MPI_SUM, comm));
    show("not an operation", MPI_Reduce(&mine, &sum, 1, MPI_INT, NO_OPERATION, 0, comm));
    show("no operation", MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_OP_NULL, comm));
    show("operation not for type", MPI_Allreduce(&mine, &sum, 1, MPI_FLOAT, MPI_BAND, comm));
    show("no send buffer", MPI_Allreduce(NULL, &sum, 1, MPI_INT, MPI_SUM, comm));
    show("same buffer twice", MPI_Allreduce(&mine, &mine, 1, MPI_INT, MPI_SUM, comm));
}

static void on_error(MPI_Comm *comm, int *error, ...)
{
    show("the communicator's handler", *error);
}

/* Wrong arguments are the affair of the communicator's handler, and of no other: that of
 * MPI_COMM_WORLD ends the program. */
static void handled(MPI_Comm comm)
{
    MPI_Errhandler handler;

    MUST(MPI_Comm_create_errhandler(on_error, &handler));
    MUST(MPI_Comm_set_errhandler(comm, handler));
    MUST(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
    wrong_calls(comm);
    MUST(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    MUST(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    MUST(MPI_Errhandler_free(&handler));
}

int main(int argc, char **argv)
{
    struct own_counts counts = {0};
    MPI_Comm comm, fresh, null = MPI_COMM_NULL;
    int mine = 1, sum = 0, size;

    START(rank, size);
    MUST(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MUST(MPI_Comm_dup(MPI_COMM_WORLD, &fresh));

    show("barrier on null", MPI_Barrier(MPI_COMM_NULL));
    show("allreduce on null", MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_NULL));
    show("free of null", MPI_Comm_free(&null));
    show("free of world", MPI_Comm_free(&(MPI_Comm){MPI_COMM_WORLD}));
    wrong_calls(comm);
    if (rank == size - 1)
        wrong_calls(fresh);

    COUNTED(counts.barrier, MPI_Barrier(fresh));
    COUNTED(counts.allreduce, MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, fresh));
    REQUIRE(sum == size);
    COUNTED(counts.barrier, MPI_Barrier(comm));
    handled(comm);
    COUNTED(counts.barrier, MPI_Barrier(comm));
    MUST(MPI_Comm_free(&comm));
    MUST(MPI_Comm_free(&fresh));
    MUST(MPI_Finalize());
    print_counts(rank, &counts);
    return 0;
}
