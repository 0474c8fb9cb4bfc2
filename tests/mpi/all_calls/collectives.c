/* Collectives on any communicator, and neighborhood collectives. */
#include "all_calls.h"

#include <stdlib.h>
#include <string.h>

void try_collectives(MPI_Comm comm)
{
    enum { VALUES = 1000 };
    static double values[VALUES], sums[VALUES];
    int ranks, me, counts[RANKS_MAX], starts[RANKS_MAX], bytes[RANKS_MAX], total = 0;
    int *from;
    MPI_Datatype types[RANKS_MAX];

    MPI_Comm_size(comm, &ranks);
    MPI_Comm_rank(comm, &me);
    for (int i = 0; i < ranks; i++) {
        counts[i] = i % 5;
        starts[i] = total;
        bytes[i] = total * (int)sizeof(int);
        types[i] = MPI_INT;
        total += counts[i];
    }
    size_t room = (size_t)ranks * COUNT * sizeof *from;
    from = malloc(room);
    int *into = calloc(1, room);
    fill(from, ranks * COUNT, me, 20);
    TRY(MPI_Barrier(comm));
    for (int root = 0; root<ranks; root += ranks> 1 ? ranks - 1 : 1) {
        TRY((memcpy(into, from, room), MPI_Bcast(into, COUNT, MPI_INT, root, comm)));
        TRY(MPI_Gather(from, COUNT, MPI_INT, into, COUNT, MPI_INT, root, comm));
        TRY(MPI_Gather(me == root ? MPI_IN_PLACE : from, COUNT, MPI_INT, into, COUNT, MPI_INT, root,
                       comm));
        TRY(MPI_Gatherv(from, counts[me], MPI_INT, into, counts, starts, MPI_INT, root, comm));
        TRY(MPI_Scatter(from, COUNT, MPI_INT, into, COUNT, MPI_INT, root, comm));
        TRY(MPI_Scatterv(from, counts, starts, MPI_INT, into, counts[me], MPI_INT, root, comm));
        TRY(MPI_Reduce(from, into, COUNT, MPI_INT, MPI_SUM, root, comm));
    }
    TRY(MPI_Allgather(from, COUNT, MPI_INT, into, COUNT, MPI_INT, comm));
    TRY((memcpy(into, from, room),
         MPI_Allgather(MPI_IN_PLACE, COUNT, MPI_INT, into, COUNT, MPI_INT, comm)));
    TRY(MPI_Allgatherv(from, counts[me], MPI_INT, into, counts, starts, MPI_INT, comm));
    TRY(MPI_Alltoall(from, COUNT, MPI_INT, into, COUNT, MPI_INT, comm));
    TRY((memcpy(into, from, room),
         MPI_Alltoall(MPI_IN_PLACE, COUNT, MPI_INT, into, COUNT, MPI_INT, comm)));
    for (int i = 0; i < ranks; i++) {
        counts[i] = (i + me) % 3;
        starts[i] = 3 * i;
        bytes[i] = 3 * i * (int)sizeof(int);
    }
    TRY(MPI_Alltoallv(from, counts, starts, MPI_INT, into, counts, starts, MPI_INT, comm));
    TRY(MPI_Alltoallw(from, counts, bytes, types, into, counts, bytes, types, comm));
    for (int i = 0; i < ranks; i++)
        counts[i] = i % 4;
    TRY(MPI_Reduce_scatter(from, into, counts, MPI_INT, MPI_SUM, comm));
    TRY(MPI_Reduce_scatter_block(from, into, 3, MPI_INT, MPI_MAX, comm));
    TRY(MPI_Scan(from, into, COUNT, MPI_INT, MPI_SUM, comm));
    TRY((memset(into, 0, room),
         MPI_Exscan(from, into, me == 0 ? COUNT : COUNT, MPI_INT, MPI_MAX, comm)));
    TRY(MPI_Allreduce(from, into, COUNT, MPI_INT, MPI_BXOR, comm));
    TRY((memcpy(into, from, room),
         MPI_Allreduce(MPI_IN_PLACE, into, COUNT, MPI_INT, MPI_MIN, comm)));
    TRY(MPI_Allreduce(from, into, 0, MPI_INT, MPI_SUM, comm));
    TRY(MPI_Bcast(into, 0, MPI_INT, 0, comm));
    /* Their last bits tell in which order they were added. */
    for (int i = 0; i < VALUES; i++)
        values[i] = 1.0 / (1 + i + 7 * me);
    tell("reduce of doubles",
         MPI_Reduce(values, sums, VALUES, MPI_DOUBLE, MPI_SUM, ranks - 1, comm), sums,
         me == ranks - 1 ? sizeof sums : 0);
    tell("allreduce of doubles", MPI_Allreduce(values, sums, VALUES, MPI_DOUBLE, MPI_SUM, comm),
         sums, sizeof sums);
    tell("scan of doubles", MPI_Scan(values, sums, VALUES, MPI_DOUBLE, MPI_SUM, comm), sums,
         sizeof sums);
    tell("reduce_scatter_block of doubles",
         MPI_Reduce_scatter_block(values, sums, VALUES / ranks, MPI_DOUBLE, MPI_SUM, comm), sums,
         (size_t)(VALUES / ranks) * sizeof *sums);
    free(from);
    free(into);
}

void try_neighbours(void)
{
    int dims[1] = {size}, periods[1] = {1}, from[2 * COUNT], into[2 * COUNT];
    int counts[2] = {3, 5}, starts[2] = {0, 8}, right = (rank + 1) % size;
    int left = (rank + size - 1) % size;
    MPI_Aint bytes[2] = {0, 40};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    MPI_Comm ring, graph;
    const size_t room = sizeof into;

    fill(from, 2 * COUNT, rank, 30);
    tell("cart_create", MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &ring), NULL, 0);
    tell("dist_graph_create_adjacent",
         MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right,
                                        MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph),
         NULL, 0);
    TRY(MPI_Neighbor_allgather(from, COUNT, MPI_INT, into, COUNT, MPI_INT, ring));
    TRY(MPI_Neighbor_allgatherv(from, 3, MPI_INT, into, (int[2]){3, 3}, starts, MPI_INT, ring));
    TRY(MPI_Neighbor_alltoall(from, COUNT, MPI_INT, into, COUNT, MPI_INT, ring));
    TRY(MPI_Neighbor_alltoallv(from, counts, starts, MPI_INT, into, (int[2]){5, 3}, starts, MPI_INT,
                               ring));
    TRY(MPI_Neighbor_alltoallw(from, counts, bytes, types, into, (int[2]){5, 3}, bytes, types,
                               ring));
    TRY(MPI_Neighbor_allgather(from, COUNT, MPI_INT, into, COUNT, MPI_INT, graph));
    MPI_Comm_free(&ring);
    MPI_Comm_free(&graph);
}
