#include "profile/topology.h"

#include "mpi/real.h"
#include "profile/groups.h"

#include <stdbool.h>
#include <stdlib.h>

/* MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH; MPI_UNDEFINED: none. */
static int kind_of(MPI_Comm handle)
{
    int kind = MPI_UNDEFINED, is_inter = 1;

    if (sg_real.Comm_test_inter(handle, &is_inter) != MPI_SUCCESS || is_inter != 0 ||
        sg_real.Topo_test(handle, &kind) != MPI_SUCCESS)
        return MPI_UNDEFINED;
    return kind;
}

void sg_topology_degrees(MPI_Comm handle, int rank, int *in, int *out)
{
    int kind = kind_of(handle), dimensions = 0, weighted;

    if (kind == MPI_CART) {
        sg_real.Cartdim_get(handle, &dimensions);
        *in = *out = 2 * dimensions;
    } else if (kind == MPI_GRAPH) {
        sg_real.Graph_neighbors_count(handle, rank, in);
        *out = *in;
    } else if (kind == MPI_DIST_GRAPH) {
        sg_real.Dist_graph_neighbors_count(handle, in, out, &weighted);
    }
}

uint32_t *sg_topology_grid(MPI_Comm handle, uint8_t *dimensions)
{
    uint32_t *grid;
    int *words;
    int count = 0;

    *dimensions = 0;
    if (kind_of(handle) != MPI_CART || sg_real.Cartdim_get(handle, &count) != MPI_SUCCESS ||
        count < 1 || count > UINT8_MAX)
        return NULL;
    grid = malloc(2 * (size_t)count * sizeof *grid);
    words = malloc(3 * (size_t)count * sizeof *words);
    if (grid == NULL || words == NULL ||
        sg_real.Cart_get(handle, count, words, words + count, words + 2 * (size_t)count) !=
            MPI_SUCCESS) {
        free(words);
        free(grid);
        return NULL;
    }
    for (int i = 0; i < count; i++) {
        grid[i] = (uint32_t)words[i];
        grid[count + i] = words[count + i] != 0;
    }
    free(words);
    *dimensions = (uint8_t)count;
    return grid;
}

/* ---- sources ---- */

/* Ranks in the communicator, with MPI_PROC_NULL where a grid ends; false: they are not known. */
static bool find_sources(MPI_Comm handle, int rank, int in, int out, int *sources)
{
    int kind = kind_of(handle);

    if (kind == MPI_GRAPH)
        return sg_real.Graph_neighbors(handle, rank, in, sources) == MPI_SUCCESS;
    if (kind == MPI_DIST_GRAPH) {
        /* Weights are asked for as well: a graph may have them. */
        int *rest = malloc(((size_t)in + 2 * (size_t)out + 1) * sizeof *rest);
        bool is_known =
            rest != NULL && sg_real.Dist_graph_neighbors(handle, in, sources, rest, out, rest + in,
                                                         rest + in + out) == MPI_SUCCESS;

        free(rest);
        return is_known;
    }
    for (int i = 0; i < in / 2; i++) {
        if (sg_real.Cart_shift(handle, i, 1, &sources[2 * i], &sources[2 * i + 1]) != MPI_SUCCESS)
            return false;
    }
    return true;
}

static int compare(const void *a, const void *b)
{
    const int *left = a, *right = b;

    return (*left > *right) - (*left < *right);
}

/* Ranks in MPI_COMM_WORLD, each once, in their order; returns how many there are. */
static int order(int *sources, int count, int rank, const int *world_ranks)
{
    int others = 0, kept = 0;

    for (int i = 0; i < count; i++) {
        if (sources[i] >= 0 && sources[i] != rank)
            sources[others++] = world_ranks[sources[i]];
    }
    qsort(sources, (size_t)others, sizeof *sources, compare);
    for (int i = 0; i < others; i++) {
        if (kept == 0 || sources[kept - 1] != sources[i])
            sources[kept++] = sources[i];
    }
    return kept;
}

uint32_t sg_topology_sources(MPI_Comm handle, int rank, const int *world_ranks)
{
    int in = 0, out = 0, count, number = SG_NO_NUMBER;
    int *sources;

    sg_topology_degrees(handle, rank, &in, &out);
    if (in < 1)
        return 0;
    sources = malloc((size_t)in * sizeof *sources);
    if (sources != NULL && find_sources(handle, rank, in, out, sources)) {
        count = order(sources, in, rank, world_ranks);
        if (count > 0)
            number = sg_group_of_members(sources, count);
    }
    free(sources);
    return (uint32_t)(number + 1);
}
