/* Calls that create communicators, and collectives on those. */
#include "all_calls.h"

static int copies;

static int on_copy(MPI_Comm comm, int key, void *extra, void *in, void *copy, int *flag)
{
    copies++;
    *(void **)copy = in;
    *flag = 1;
    return MPI_SUCCESS;
}

void try_communicators(void)
{
    MPI_Comm copy, half, halves, both, group_comm, nodes;
    MPI_Group group, other;
    int keyval, flag, value = 7, result;
    void *found;

    MPI_Comm_create_keyval(on_copy, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, &value);
    tell("comm_dup", MPI_Comm_dup(MPI_COMM_WORLD, &copy), &copies, sizeof copies);
    MPI_Comm_get_attr(copy, keyval, &found, &flag);
    MPI_Comm_compare(copy, MPI_COMM_WORLD, &result);
    fprintf(out, "%d comm_dup: attribute %d, %d\n", rank, flag && found == &value,
            result == MPI_CONGRUENT);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval);
    MPI_Comm_free_keyval(&keyval);
    try_collectives(copy);

    tell("comm_split", MPI_Comm_split(copy, rank % 2, -rank, &half), NULL, 0);
    try_collectives(half);
    MPI_Comm_group(copy, &group);
    MPI_Group_excl(group, 1, (int[1]){0}, &other);
    tell("comm_create", MPI_Comm_create(copy, other, &group_comm), NULL, 0);
    if (group_comm != MPI_COMM_NULL) {
        try_collectives(group_comm);
        MPI_Comm_free(&group_comm);
        tell("comm_create_group", MPI_Comm_create_group(copy, other, 5, &group_comm), NULL, 0);
        MPI_Comm_free(&group_comm);
    }
    MPI_Group_free(&group);
    MPI_Group_free(&other);
    tell("comm_split_type",
         MPI_Comm_split_type(copy, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &nodes), NULL, 0);
    MPI_Comm_free(&nodes);

    if (size > 1) {
        int in[COUNT], all[RANKS_MAX * COUNT] = {0}, remote;
        int root = rank % 2 ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;

        fill(in, COUNT, rank, 33);
        tell("intercomm_create",
             MPI_Intercomm_create(half, 0, MPI_COMM_WORLD,
                                  rank % 2 ? (size - 1) / 2 * 2 : (size - 2) / 2 * 2 + 1, 9,
                                  &halves),
             NULL, 0);
        MPI_Comm_remote_size(halves, &remote);
        MPI_Comm_rank(half, &result);
        root = rank % 2 ? 0 : result == 0 ? MPI_ROOT : MPI_PROC_NULL;
        tell("bcast between groups", MPI_Bcast(in, COUNT, MPI_INT, root, halves), in, sizeof in);
        tell("allgather between groups",
             MPI_Allgather(in, COUNT, MPI_INT, all, COUNT, MPI_INT, halves), all, sizeof all);
        tell("allreduce between groups", MPI_Allreduce(in, all, COUNT, MPI_INT, MPI_SUM, halves),
             all, sizeof all);
        tell("barrier between groups", MPI_Barrier(halves), &remote, sizeof remote);
        tell("comm_dup between groups", MPI_Comm_dup(halves, &both), NULL, 0);
        MPI_Comm_free(&both);
        tell("intercomm_merge", MPI_Intercomm_merge(halves, rank % 2, &both), NULL, 0);
        try_collectives(both);
        MPI_Comm_free(&both);
        MPI_Comm_free(&halves);
    }
    MPI_Comm_free(&half);
    MPI_Comm_free(&copy);
}
