/* Sessions: "only" never calls MPI_Init, "mixed" uses the world and a session side by side. Counts
 * the world's collectives; prints "session ok" if the session's results were right.
 */
#include "mpi_test.h"

static void collectives(MPI_Comm comm)
{
    int rank, size, mine, sum;

    MUST(MPI_Comm_rank(comm, &rank));
    MUST(MPI_Comm_size(comm, &size));
    mine = rank + 1;
    MUST(MPI_Barrier(comm));
    MUST(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm));
    REQUIRE(sum == size * (size + 1) / 2);
    MUST(MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_MAX, 0, comm));
    REQUIRE(rank != 0 || sum == size);
    MUST(MPI_Barrier(comm));
}

static void session(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm, copy;
    int rank;

    MUST(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session));
    MUST(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    MUST(MPI_Comm_create_from_group(group, "org.stagger.test", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL,
                                    &comm));
    MUST(MPI_Group_free(&group));
    collectives(comm);
    MUST(MPI_Comm_dup(comm, &copy));
    collectives(copy);
    MUST(MPI_Comm_rank(comm, &rank));
    MUST(MPI_Comm_free(&copy));
    MUST(MPI_Comm_free(&comm));
    MUST(MPI_Session_finalize(&session));
    if (rank == 0)
        printf("session ok\n");
}

int main(int argc, char **argv)
{
    struct own_counts counts = {0};
    bool mixed = argc > 1 && strcmp(argv[1], "mixed") == 0;
    int rank = 0;

    if (mixed) {
        MUST(MPI_Init(&argc, &argv));
        MUST(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
        COUNTED(counts.barrier, MPI_Barrier(MPI_COMM_WORLD));
    }
    session();
    if (mixed) {
        COUNTED(counts.barrier, MPI_Barrier(MPI_COMM_WORLD));
        MUST(MPI_Finalize());
        print_counts(rank, &counts);
    }
    return 0;
}
