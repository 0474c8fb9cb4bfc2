/* Makes every C form of the three recorded collectives and checks each result: plain and
 * large-count, MPI_IN_PLACE, count 0, every root, communicators of every origin and size. Calls
 * made while recording is off are not counted.
 */
#include "mpi_test.h"

static struct own_counts counts;

static void reduce_at_every_root(MPI_Comm comm)
{
    int rank, size;

    MUST(MPI_Comm_rank(comm, &rank));
    MUST(MPI_Comm_size(comm, &size));
    for (int root = 0; root < size; root++) {
        int mine[3] = {rank, 1, root}, sum[3] = {-1, -1, -1};

        COUNTED(counts.reduce, MPI_Reduce(mine, sum, 3, MPI_INT, MPI_SUM, root, comm));
        if (rank == root)
            REQUIRE(sum[0] == size * (size - 1) / 2 && sum[1] == size && sum[2] == root * size);
        else
            REQUIRE(sum[0] == -1);

        const void *send = rank == root ? MPI_IN_PLACE : (void *)mine;
        COUNTED(counts.reduce, MPI_Reduce(send, mine, 3, MPI_INT, MPI_SUM, root, comm));
        if (rank == root)
            REQUIRE(mine[0] == size * (size - 1) / 2 && mine[1] == size);
    }
}

static void all_forms(MPI_Comm comm)
{
    int rank, size;
    double mine[2], sum[2];

    MUST(MPI_Comm_rank(comm, &rank));
    MUST(MPI_Comm_size(comm, &size));
    COUNTED(counts.barrier, MPI_Barrier(comm));

    mine[0] = rank + 1.0;
    mine[1] = -2.0;
    COUNTED(counts.allreduce, MPI_Allreduce(mine, sum, 2, MPI_DOUBLE, MPI_SUM, comm));
    REQUIRE(sum[0] == size * (size + 1) / 2.0 && sum[1] == -2.0 * size);
    COUNTED(counts.allreduce, MPI_Allreduce(MPI_IN_PLACE, mine, 2, MPI_DOUBLE, MPI_MAX, comm));
    REQUIRE(mine[0] == size && mine[1] == -2.0);

    COUNTED(counts.allreduce, MPI_Allreduce(NULL, NULL, 0, MPI_DOUBLE, MPI_SUM, comm));
    COUNTED(counts.reduce, MPI_Reduce(NULL, NULL, 0, MPI_DOUBLE, MPI_SUM, size - 1, comm));
    reduce_at_every_root(comm);
}

static void large_count_forms(MPI_Comm comm)
{
    int rank, size;
    long mine, result = -1;

    MUST(MPI_Comm_rank(comm, &rank));
    MUST(MPI_Comm_size(comm, &size));
    mine = rank;
    COUNTED(counts.allreduce, MPI_Allreduce_c(&mine, &result, 1, MPI_LONG, MPI_SUM, comm));
    REQUIRE(result == (long)size * (size - 1) / 2);
    result = -1;
    COUNTED(counts.reduce, MPI_Reduce_c(&mine, &result, 1, MPI_LONG, MPI_MAX, size - 1, comm));
    REQUIRE(result == (rank == size - 1 ? size - 1 : -1));
}

static void larger_messages(MPI_Comm comm)
{
    enum { VALUES = 20000 };
    static int mine[VALUES], sum[VALUES];
    int size;

    MUST(MPI_Comm_size(comm, &size));
    for (int i = 0; i < VALUES; i++)
        mine[i] = i;
    COUNTED(counts.allreduce, MPI_Allreduce(mine, sum, VALUES, MPI_INT, MPI_SUM, comm));
    for (int i = 0; i < VALUES; i++)
        REQUIRE(sum[i] == i * size);
}

static void made_communicators(int rank)
{
    MPI_Comm duplicate, half, alone, none;
    MPI_Group group, first;
    int zero = 0;

    MUST(MPI_Comm_dup(MPI_COMM_WORLD, &duplicate));
    all_forms(duplicate);

    MUST(MPI_Comm_split(duplicate, rank % 2, -rank, &half));
    MUST(MPI_Comm_set_name(half, "half"));
    all_forms(half);

    MUST(MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &alone));
    all_forms(alone);
    large_count_forms(alone);

    MUST(MPI_Comm_group(MPI_COMM_WORLD, &group));
    MUST(MPI_Group_incl(group, 1, &zero, &first));
    MUST(MPI_Comm_create(MPI_COMM_WORLD, first, &none));
    if (none != MPI_COMM_NULL) {
        COUNTED(counts.barrier, MPI_Barrier(none));
        MUST(MPI_Comm_free(&none));
    }
    MUST(MPI_Group_free(&first));
    MUST(MPI_Group_free(&group));
    MUST(MPI_Comm_free(&alone));
    MUST(MPI_Comm_disconnect(&half));
    MUST(MPI_Comm_free(&duplicate));
}

static void recording_off(void)
{
    MUST(MPI_Pcontrol(0));
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    MUST(MPI_Pcontrol(1));
    COUNTED(counts.barrier, MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    int rank;

    MUST(MPI_Init(&argc, &argv));
    MUST(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    all_forms(MPI_COMM_WORLD);
    large_count_forms(MPI_COMM_WORLD);
    larger_messages(MPI_COMM_WORLD);
    all_forms(MPI_COMM_SELF);
    made_communicators(rank);
    recording_off();
    MUST(MPI_Finalize());
    print_counts(rank, &counts);
    return 0;
}
