#include "intranode/mpi/pool.h"

#include "intranode/memory.h"
#include "intranode/placement.h"
#include "mpi/real.h"

#include <errno.h>

static struct sg_pool_rank *pool; /* this node's, by rank in the node; NULL: none */
static int own_rank;

/* A rank's number among those of its node. */
static int number_of(int world_rank)
{
    int node = sg_placement_node(world_rank);
    int number = 0;

    for (int other = node; other < world_rank; other++)
        number += sg_placement_node(other) == node;
    return number;
}

static bool can_have_pool(const struct sg_exchange *exchange)
{
    int level = MPI_THREAD_MULTIPLE;

    sg_real.Query_thread(&level);
    return level != MPI_THREAD_MULTIPLE &&
           sg_placement_node_size(sg_placement_node(exchange->rank), exchange->size) > 1;
}

enum sg_status sg_pool_start(const struct sg_exchange *exchange, bool is_wanted)
{
    int node = sg_placement_node(exchange->rank);
    void *segment = NULL;
    int first;
    enum sg_status status;

    own_rank = exchange->rank;
    if (!is_wanted || !sg_memory_is_shared())
        return SG_OK;
    status = sg_exchange_agree(exchange, can_have_pool(exchange), &first);
    if (status != SG_OK || first >= 0)
        return status;
    status = sg_memory_map(exchange, node,
                           (size_t)sg_placement_node_size(node, exchange->size) * sizeof *pool,
                           "large operands", &segment, &first);
    if (status == SG_OK)
        pool = segment;
    if (status == SG_ERR_MISSING && first == exchange->rank && errno != 0)
        sg_log("rank %d: no shared buffers for large messages (%m): they go through small ones",
               exchange->rank);
    return status == SG_ERR_MISSING ? SG_OK : status;
}

bool sg_pool_is_there(void)
{
    return pool != NULL;
}

struct sg_pool_rank *sg_pool_of(int world_rank)
{
    if (pool == NULL || sg_placement_node(world_rank) != sg_placement_node(own_rank))
        return NULL;
    return &pool[number_of(world_rank)];
}
