/* Spawns two copies of itself. Parents and children use their own worlds, the intercommunicator
 * between them and the communicator merged from it. The parents print the number of their
 * collectives on communicators of their own world.
 */
#include "mpi_test.h"

static struct own_counts counts;

static void on_world(int repetitions)
{
    int size;

    MUST(MPI_Comm_size(MPI_COMM_WORLD, &size));
    for (int i = 0; i < repetitions; i++) {
        int mine = 2, sum = 0;

        COUNTED(counts.barrier, MPI_Barrier(MPI_COMM_WORLD));
        COUNTED(counts.allreduce, MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        REQUIRE(sum == 2 * size);
    }
}

static void together(MPI_Comm between, int is_child)
{
    MPI_Comm merged;
    int mine = is_child ? 10 : 1, sum = 0, local, remote, size;

    MUST(MPI_Comm_size(between, &local));
    MUST(MPI_Comm_remote_size(between, &remote));
    MUST(MPI_Barrier(between));
    MUST(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, between));
    REQUIRE(sum == (is_child ? 1 : 10) * remote);

    MUST(MPI_Intercomm_merge(between, is_child, &merged));
    MUST(MPI_Comm_size(merged, &size));
    REQUIRE(size == local + remote);
    for (int i = 0; i < 5; i++) {
        MUST(MPI_Barrier(merged));
        MUST(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, merged));
        REQUIRE(sum == (is_child ? 10 * local + remote : local + 10 * remote));
        MUST(MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_MAX, 0, merged));
    }
    MUST(MPI_Comm_free(&merged));
    MUST(MPI_Comm_disconnect(&between));
}

int main(int argc, char **argv)
{
    MPI_Comm parent, children;
    int rank;

    MUST(MPI_Init(&argc, &argv));
    MUST(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    MUST(MPI_Comm_get_parent(&parent));
    on_world(3);
    if (parent == MPI_COMM_NULL) {
        MUST(MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                            MPI_ERRCODES_IGNORE));
        together(children, 0);
        on_world(2);
    } else {
        together(parent, 1);
    }
    MUST(MPI_Finalize());
    if (parent == MPI_COMM_NULL)
        print_counts(rank, &counts);
    return 0;
}
