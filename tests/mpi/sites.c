/* Calls from sites whose lines the tests find by comments: a line marked SITE: name makes the calls
 * of that name. Built optimised and position-independent, and once more stripped.
 */
#include "mpi_test.h"
#include "sites_library.h"

__attribute__((noinline)) static void in_a_function(void)
{
    MUST(MPI_Barrier(MPI_COMM_WORLD)); /* SITE: function */
    MUST(MPI_Barrier(MPI_COMM_WORLD)); /* SITE: second-in-function */
}

static inline __attribute__((always_inline)) void inlined(int root)
{
    int mine = 1, sum;

    MUST(MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD)); /* SITE: inlined */
}

static int (*volatile through_pointer)(MPI_Comm) = MPI_Barrier;

__attribute__((noinline)) static void helper(void)
{
    int mine = 1, sum;

    MUST(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD)); /* SITE: helper */
}

__attribute__((noinline)) static void first_path(void)
{
    helper();                 /* SITE: first-helper */
    REQUIRE(MPI_Wtime() > 0); /* keeps the call above from being a tail call */
}

__attribute__((noinline)) static void second_path(void)
{
    helper();
    REQUIRE(MPI_Wtime() > 0);
}

int main(int argc, char **argv)
{
    int rank;

    MUST(MPI_Init(&argc, &argv));
    MUST(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    for (int i = 0; i < 4; i++)
        MUST(MPI_Barrier(MPI_COMM_WORLD)); /* SITE: loop */
    in_a_function();
    inlined(0);
    MUST(through_pointer(MPI_COMM_WORLD)); /* SITE: pointer */
    library_barrier();
    library_allreduce();
    first_path(); /* SITE: first */
    second_path();
    MUST(MPI_Finalize());
    return 0;
}
