/* Nonblocking calls that cannot get a request (librefused_requests.so refuses them). Each rank gets
 * an error from its own call, with one call of its handler, which may leave the call, and goes on.
 */
#include "mpi_test.h"

#include <setjmp.h>

static jmp_buf back;
static int handled, leaves;

static void on_error(MPI_Comm *comm, int *error, ...)
{
    handled++;
    if (leaves)
        longjmp(back, 1);
}

static void use(MPI_Comm comm, struct own_counts *counts)
{
    int mine = 1, sum = 0, size;

    MUST(MPI_Comm_size(comm, &size));
    COUNTED(counts->allreduce, MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm));
    REQUIRE(sum == size);
}

int main(int argc, char **argv)
{
    struct own_counts counts = {0};
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Errhandler handler;
    MPI_Comm comm;
    int mine = 1, sum = 0, rank;

    leaves = argc > 1 && strcmp(argv[1], "leaves") == 0;
    MUST(MPI_Init(&argc, &argv));
    MUST(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MUST(MPI_Comm_create_errhandler(on_error, &handler));
    MUST(MPI_Comm_set_errhandler(comm, handler));
    use(comm, &counts);
    for (int i = 0; i < 3; i++) {
        if (setjmp(back) == 0) {
            int error = MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm, &request);

            REQUIRE(!leaves && error != MPI_SUCCESS);
        }
        REQUIRE(handled == i + 1);
        use(comm, &counts);
    }
    MUST(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    REQUIRE(MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm, &request) != MPI_SUCCESS);
    use(comm, &counts);
    MUST(MPI_Comm_free(&comm));
    MUST(MPI_Finalize());
    print_counts(rank, &counts);
    return 0;
}
