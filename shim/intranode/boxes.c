#include "intranode/boxes.h"

#include "intranode/memory.h"

#include <stdlib.h>

struct sg_boxes {
    struct sg_outbox outbox;
    struct sg_node *node;
    struct sg_box *of[]; /* by rank */
};

static struct sg_box *make(void *context)
{
    struct sg_boxes *boxes = context;
    struct sg_node_box *own = sg_node_box(boxes->node, boxes->node->rank);
    struct sg_box *box;
    void *segment;

    if (sg_memory_create(SG_BOX_BYTES, "a rank that is far ahead", &segment, &own->ticket) != SG_OK)
        return NULL;
    box = segment;
    box->nonce = own->ticket.nonce;
    box->data_bytes = SG_BOX_BYTES - sizeof *box;
    /* Release: the ticket comes before; relaxed: see has_boxes in node.c. */
    atomic_store_explicit(&own->is_made, 1, memory_order_release);
    atomic_store_explicit(&boxes->node->header->has_boxes, 1, memory_order_relaxed);
    return box;
}

static struct sg_box *open_other(void *context, int rank)
{
    struct sg_boxes *boxes = context;
    struct sg_node_box *other = sg_node_box(boxes->node, rank);
    void *segment;

    /* Acquire: pairs with make. */
    if (atomic_load_explicit(&other->is_made, memory_order_acquire) == 0 ||
        sg_segment_open(&other->ticket, &segment) != SG_OK)
        return NULL;
    if (((struct sg_box *)segment)->nonce == other->ticket.nonce)
        return segment;
    sg_segment_unmap(segment, SG_BOX_BYTES);
    return NULL;
}

struct sg_boxes *sg_boxes_create(struct sg_node *node)
{
    struct sg_boxes *boxes =
        calloc(1, sizeof *boxes + (size_t)node->ranks * sizeof(struct sg_box *));

    if (boxes == NULL)
        return NULL;
    boxes->outbox =
        (struct sg_outbox){.make = make, .open = open_other, .context = boxes, .boxes = boxes->of};
    boxes->node = node;
    node->outbox = &boxes->outbox;
    return boxes;
}

void sg_boxes_free(struct sg_boxes *boxes)
{
    const struct sg_node *node;

    if (boxes == NULL)
        return;
    node = boxes->node;
    for (int rank = 0; rank < node->ranks; rank++) {
        if (boxes->of[rank] == NULL)
            continue;
        sg_memory_free(boxes->of[rank], SG_BOX_BYTES, rank == node->rank);
        if (rank == node->rank)
            sg_segment_seal(&sg_node_box(node, rank)->ticket);
    }
    free(boxes);
}
