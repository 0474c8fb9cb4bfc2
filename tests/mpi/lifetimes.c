/* Communicators made in every way, many at once and many in succession, and freed during a reduce
 * that other ranks have already left:
 *
 *     lifetimes LIVE CYCLES
 */
#include "mpi_test.h"

static struct own_counts counts;
static int rank, ranks;

/* The first collective of a communicator is MPICH's own; these are the second and following. */
static void use(MPI_Comm comm, int value)
{
    int size, own, mine, sum = -1, root;

    MUST(MPI_Comm_size(comm, &size));
    MUST(MPI_Comm_rank(comm, &own));
    root = value % size;
    mine = value + own;
    COUNTED(counts.allreduce, MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm));
    REQUIRE(sum == size * value + size * (size - 1) / 2);
    sum = -1;
    COUNTED(counts.reduce, MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_MAX, root, comm));
    REQUIRE(sum == (own == root ? value + size - 1 : -1));
    COUNTED(counts.barrier, MPI_Barrier(comm));
}

static void first_use(MPI_Comm comm)
{
    COUNTED(counts.barrier, MPI_Barrier(comm));
}

static MPI_Comm create_group(void)
{
    MPI_Group group, world;
    MPI_Comm comm;
    int range[1][3] = {{ranks - 1, 0, -1}};

    MUST(MPI_Comm_group(MPI_COMM_WORLD, &world));
    MUST(MPI_Group_range_incl(world, 1, range, &group));
    MUST(MPI_Comm_create_group(MPI_COMM_WORLD, group, 7, &comm));
    MUST(MPI_Group_free(&group));
    MUST(MPI_Group_free(&world));
    return comm;
}

static MPI_Comm make(int kind)
{
    MPI_Comm comm;

    switch (kind % 4) {
    case 0:
        MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        break;
    case 1:
        MUST(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comm));
        break;
    case 2:
        comm = create_group();
        break;
    default: /* one rank each */
        MUST(MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &comm));
        break;
    }
    return comm;
}

static void many_at_once(int live)
{
    MPI_Comm *comms = malloc((size_t)live * sizeof *comms);

    REQUIRE(comms != NULL);
    for (int i = 0; i < live; i++) {
        comms[i] = make(i);
        first_use(comms[i]);
    }
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < live; i++)
            use(comms[round % 2 ? live - 1 - i : i], 10 * i + round);
    for (int i = 0; i < live; i++)
        MUST(MPI_Comm_free(&comms[(i * 7) % live]));
    free(comms);
}

static void one_after_another(int cycles)
{
    MPI_Comm last = MPI_COMM_NULL;
    int reused = 0;

    for (int i = 0; i < cycles; i++) {
        MPI_Comm comm = make(i), handle = comm;

        first_use(comm);
        use(comm, i);
        MUST(MPI_Comm_free(&comm));
        reused += handle == last;
        last = handle;
    }
    REQUIRE(cycles < 10 || reused > 0);
}

/* The root comes to the reduce when the others have left it and may have freed the communicator. */
static void freed_early(int rounds)
{
    for (int i = 0; i < rounds; i++) {
        int mine = rank + i, sum = 0, root = i % ranks;
        MPI_Comm comm;

        MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        first_use(comm);
        for (int other = 0; rank == root && other < ranks - 1; other++)
            MUST(MPI_Recv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        COUNTED(counts.reduce, MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_SUM, root, comm));
        if (rank == root)
            REQUIRE(sum == ranks * (ranks - 1) / 2 + ranks * i);
        else
            MUST(MPI_Send(NULL, 0, MPI_INT, root, i, MPI_COMM_WORLD));
        MUST(MPI_Comm_free(&comm));
    }
}

int main(int argc, char **argv)
{
    REQUIRE(argc == 3);
    START(rank, ranks);
    use(MPI_COMM_SELF, 3);
    many_at_once(atoi(argv[1]));
    one_after_another(atoi(argv[2]));
    freed_early(100);
    use(MPI_COMM_WORLD, 5);
    MUST(MPI_Finalize());
    print_counts(rank, &counts);
    return 0;
}
