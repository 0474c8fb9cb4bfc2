#include "intranode/tell.h"

#include "intranode/ring.h"

/* Behind the ring. */
static struct sg_node_told *line(const struct sg_node *node, int rank, int place, uint32_t turn)
{
    struct sg_node_told *lines =
        (struct sg_node_told *)(node->instances + node->depth * node->instance_bytes);

    return &lines[(rank * SG_LEARN_PLACES + place) * 2 + (int)(turn & 1)];
}

void sg_tell_put(const struct sg_node *node, int place, uint32_t turn,
                 const struct sg_learn_told *told)
{
    struct sg_node_told *own = line(node, node->rank, place, turn);

    /* Relaxed, here and below: leaving the instance is the release, that all have left it the
     * acquire. */
    for (int i = 0; i < SG_LEARN_ARMS_MAX; i++)
        atomic_store_explicit(&own->ns[i], told->ns[i], memory_order_relaxed);
}

void sg_tell_get(const struct sg_node *node, int place, uint32_t turn, struct sg_learn_told *told)
{
    for (int rank = 0; rank < node->ranks; rank++) {
        const struct sg_node_told *other = line(node, rank, place, turn);

        for (int i = 0; i < SG_LEARN_ARMS_MAX; i++)
            told[rank].ns[i] = atomic_load_explicit(&other->ns[i], memory_order_relaxed);
    }
}

_Static_assert(SG_LEARN_ARMS_MAX <= sizeof(struct sg_node_told) / sizeof(uint64_t), "a line");
