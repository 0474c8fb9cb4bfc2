/* Communicators come and go. MPICH gives a freed handle to the next communicator, so state kept by
 * handle would go to the wrong one. Some communicators keep a name, some overlap, some are never
 * freed, and attribute callbacks make their own collectives, at free and inside MPI_Finalize.
 */
#include "mpi_test.h"

static struct own_counts counts;
static int callbacks;

static int on_delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    int mine = 1, sum = 0;

    MUST(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF));
    REQUIRE(sum == 1);
    callbacks++;
    return MPI_SUCCESS;
}

static void use(MPI_Comm comm)
{
    int size, mine = 1, sum = 0;

    MUST(MPI_Comm_size(comm, &size));
    COUNTED(counts.barrier, MPI_Barrier(comm));
    COUNTED(counts.allreduce, MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm));
    REQUIRE(sum == size);
}

static void reuse_handles(int rank, int keyval)
{
    int reused = 0;
    MPI_Comm last = MPI_COMM_NULL;

    for (int i = 0; i < 100; i++) {
        MPI_Comm comm, handle;

        if (i % 2)
            MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        else
            MUST(MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &comm));
        reused += comm == last;
        handle = comm;
        if (i % 10 == 1) {
            char name[32];

            snprintf(name, sizeof name, "named %d", i);
            MUST(MPI_Comm_set_name(comm, name));
        }
        if (i % 7 == 0)
            MUST(MPI_Comm_set_attr(comm, keyval, &callbacks));
        use(comm);
        MUST(MPI_Comm_free(&comm));
        last = handle;
    }
    REQUIRE(reused > 0);
}

static void many_at_once(void)
{
    enum { LIVE = 40 };
    MPI_Comm live[LIVE];

    for (int i = 0; i < LIVE; i++)
        MUST(MPI_Comm_dup(MPI_COMM_WORLD, &live[i]));
    for (int i = LIVE - 1; i >= 0; i--)
        use(live[i]);
    for (int i = 0; i < LIVE / 2; i++)
        MUST(MPI_Comm_free(&live[i]));
    for (int i = LIVE / 2; i < LIVE; i++)
        use(live[i]);
}

int main(int argc, char **argv)
{
    int rank, keyval;

    MUST(MPI_Init(&argc, &argv));
    MUST(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    MUST(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &keyval, NULL));
    reuse_handles(rank, keyval);
    REQUIRE(callbacks == 15);
    many_at_once();
    MUST(MPI_Comm_set_attr(MPI_COMM_SELF, keyval, &callbacks));
    MUST(MPI_Finalize());
    REQUIRE(callbacks == 16);
    print_counts(rank, &counts);
    return 0;
}
