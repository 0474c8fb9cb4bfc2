#include "engine/pool.h"

#include "engine/placement.h"
#include "engine/real.h"
#include "node/segment.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

static int node_size(int node, int size)
{
    int count = 0;

    for (int rank = node; rank < size; rank++)
        count += sg_placement_node(rank) == node;
    return count;
}

static bool wants_pool(const struct sg_exchange *exchange)
{
    int node = sg_placement_node(exchange->rank);
    int level = MPI_THREAD_MULTIPLE;

    sg_real.Query_thread(&level);
    return level != MPI_THREAD_MULTIPLE && node_size(node, exchange->size) > 1;
}

/* Every node's first rank makes a segment; the others open it. */
static enum sg_status map_pool(const struct sg_exchange *exchange, void **segment)
{
    int node = sg_placement_node(exchange->rank);
    size_t count = (size_t)exchange->size;
    size_t size_bytes = (size_t)node_size(node, exchange->size) * sizeof *pool;
    struct sg_segment_ticket own = {0};
    size_t *sizes = calloc(count, sizeof *sizes);
    void *tickets = NULL;
    size_t tickets_bytes = count * sizeof own;
    enum sg_status made = SG_OK;
    enum sg_status status = SG_ERR_MEMORY;
    int first_failed, error;

    if (node == exchange->rank)
        made = sg_segment_create(size_bytes, segment, &own);
    error = errno;
    if (sizes != NULL)
        status = exchange->gather(exchange->context, &own, sizeof own, &tickets, sizes);
    free(sizes);
    if (status == SG_OK)
        status = sg_exchange_share(exchange, &tickets, &tickets_bytes);
    if (status == SG_OK && node != exchange->rank) {
        struct sg_segment_ticket ticket;

        memcpy(&ticket, (char *)tickets + (size_t)node * sizeof ticket, sizeof ticket);
        made = ticket.size_bytes == size_bytes ? sg_segment_open(&ticket, segment) : SG_ERR_MISSING;
        error = errno;
    }
    free(tickets);
    if (status == SG_OK)
        status = sg_exchange_agree(exchange, made == SG_OK, &first_failed);
    if (node == exchange->rank && own.size_bytes > 0)
        sg_segment_seal(&own);
    errno = error;
    if (status == SG_OK && first_failed >= 0) {
        if (first_failed == exchange->rank)
            sg_log("rank %d: no shared buffers for large messages (%m): they go through small ones",
                   exchange->rank);
        if (made == SG_OK)
            sg_segment_unmap(*segment, size_bytes);
        return SG_ERR_MISSING;
    }
    return status;
}

enum sg_status sg_pool_start(const struct sg_exchange *exchange)
{
    void *segment = NULL;
    int first_unwilling;
    enum sg_status status = sg_exchange_agree(exchange, wants_pool(exchange), &first_unwilling);

    own_rank = exchange->rank;
    if (status != SG_OK || first_unwilling >= 0)
        return status;
    status = map_pool(exchange, &segment);
    if (status == SG_OK)
        pool = segment;
    return status == SG_ERR_MISSING ? SG_OK : status;
}

struct sg_pool_rank *sg_pool_of(int world_rank)
{
    if (pool == NULL || sg_placement_node(world_rank) != sg_placement_node(own_rank))
        return NULL;
    return &pool[number_of(world_rank)];
}
