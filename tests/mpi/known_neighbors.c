/* Neighborhood collectives with a late neighbor, on 4 ranks, for tests/report/test_known_waits.py.
 *
 * Rank 0 computes until the others are about to call, and for LATE_S; it calls in late_*. The rank
 * that receives data from rank 0 calls it in beside_*, ranks unconnected to rank 0 in away_*. The
 * topologies: a line of the ranks (rank 1 beside), a graph (rank 2) and a distributed graph (rank
 * 3) of rank 0 and one neighbor. Each is used ROUNDS times; barriers separate them.
 */
#include "known.h"

#define ROUNDS 10

static int rank;
static int own[4], theirs[4];
static MPI_Comm comm;
static MPI_Request request;

/* The asm keeps functions of the same calls apart, and their last call from being a jump. */
#define ONE(who, name, begin, end)                                                                 \
    NOINLINE static void who##_##name(void)                                                        \
    {                                                                                              \
        begin;                                                                                     \
        end;                                                                                       \
        __asm__ volatile("# " #who #name);                                                         \
    }

/* A kind of call as each of the ranks makes it. */
#define KIND(name, begin, end)                                                                     \
    ONE(late, name, begin, end)                                                                    \
    ONE(beside, name, begin, end)                                                                  \
    ONE(away, name, begin, end)                                                                    \
    static void name(int beside)                                                                   \
    {                                                                                              \
        for (int i = 0; i < ROUNDS; i++) {                                                         \
            MPI_Barrier(MPI_COMM_WORLD);                                                           \
            hold_back(0);                                                                          \
            if (rank == 0)                                                                         \
                late_##name();                                                                     \
            else if (rank == beside)                                                               \
                beside_##name();                                                                   \
            else                                                                                   \
                away_##name();                                                                     \
        }                                                                                          \
    }

#define GATHER own, 1, MPI_INT, theirs, 1, MPI_INT, comm
KIND(line, MPI_Neighbor_allgather(GATHER), )
KIND(exchange, MPI_Neighbor_alltoall(GATHER), )
KIND(posted, MPI_Ineighbor_allgather(GATHER, &request), MPI_Wait(&request, IGNORE))
KIND(graph, MPI_Neighbor_alltoall(GATHER), )
KIND(edges, MPI_Neighbor_allgather(GATHER), )

#if MPI_VERSION >= 4
KIND(started, MPI_Start(&request), MPI_Wait(&request, IGNORE))

static void prepare(void)
{
    MPI_Neighbor_alltoall_init(GATHER, MPI_INFO_NULL, &request);
    started(1);
    MPI_Request_free(&request);
}
#endif

/* A line has no neighbors at its ends. */
static void on_line(void)
{
    static const int size[1] = {4}, is_periodic[1] = {0};

    MPI_Cart_create(MPI_COMM_WORLD, 1, size, is_periodic, 0, &comm);
    line(1);
    exchange(1);
    posted(1);
#if MPI_VERSION >= 4
    prepare();
#endif
    MPI_Comm_free(&comm);
}

static void on_graph(void)
{
    static const int ends[4] = {1, 1, 2, 2}, edges_of[2] = {2, 0};

    MPI_Graph_create(MPI_COMM_WORLD, 4, ends, edges_of, 0, &comm);
    graph(2);
    MPI_Comm_free(&comm);
}

static void on_edges(void)
{
    static const int from[1] = {0}, to[1] = {3};

    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, rank == 3, from, MPI_UNWEIGHTED, rank == 0, to,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
    edges(3);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    known_init(&argc, &argv, &rank);
    on_line();
    on_graph();
    on_edges();
    known_finalize();
    return 0;
}
