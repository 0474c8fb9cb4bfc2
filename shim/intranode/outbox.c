#include "intranode/outbox.h"

#include "intranode/ring.h"

#include <string.h>

#define PLACE_BITS 24
#define PLACE_MASK ((UINT64_C(1) << PLACE_BITS) - 1)

static unsigned char *data_of(struct sg_box *box)
{
    return (unsigned char *)(box + 1);
}

static struct sg_box_entry *entry_at(struct sg_box *box, uint64_t at)
{
    return (struct sg_box_entry *)(data_of(box) + at % box->data_bytes);
}

static _Atomic uint64_t *word_of(struct sg_box *box, uint64_t position)
{
    return &box->index[position % SG_BOX_PLACES];
}

/* ---- own box ---- */

static struct sg_box *own_box(const struct sg_node *node)
{
    struct sg_outbox *outbox = node->outbox;

    if (outbox->boxes[node->rank] == NULL && !outbox->is_refused) {
        outbox->boxes[node->rank] = outbox->make(outbox->context);
        outbox->is_refused = outbox->boxes[node->rank] == NULL;
    }
    return outbox->boxes[node->rank];
}

/* Returns the number of instances that all other ranks have left. */
static uint64_t find_left(const struct sg_node *node)
{
    uint64_t least = UINT64_MAX;

    for (int rank = 0; rank < node->ranks; rank++) {
        uint64_t left = rank != node->rank ? sg_ring_left(node, rank) : UINT64_MAX;

        least = left < least ? left : least;
    }
    return least;
}

/* Frees the entries that all others have left. */
static void give_back(const struct sg_node *node, struct sg_box *box)
{
    struct sg_outbox *outbox = node->outbox;
    uint64_t left = find_left(node);

    while (outbox->tail < outbox->head) {
        const struct sg_box_entry *entry = entry_at(box, outbox->tail);

        if (entry->position != UINT64_MAX) {
            if (entry->position >= left)
                return;
            /* Relaxed: no rank looks for it any more. */
            atomic_store_explicit(word_of(box, entry->position), 0, memory_order_relaxed);
        }
        outbox->tail += entry->length;
    }
}

/* Allocates an entry; NULL: the box is full. */
static struct sg_box_entry *take_entry(const struct sg_node *node, struct sg_box *box,
                                       uint64_t position, uint32_t length)
{
    struct sg_outbox *outbox = node->outbox;
    uint64_t to_end = box->data_bytes - outbox->head % box->data_bytes;
    uint64_t rest = to_end < length ? to_end : 0;
    struct sg_box_entry *entry;

    if (outbox->head + rest + length - outbox->tail > box->data_bytes ||
        atomic_load_explicit(word_of(box, position), memory_order_relaxed) != 0)
        return NULL;
    if (rest > 0) {
        entry = entry_at(box, outbox->head);
        entry->position = UINT64_MAX;
        entry->length = (uint32_t)rest;
        outbox->head += rest;
    }
    entry = entry_at(box, outbox->head);
    outbox->head += length;
    return entry;
}

/* True if the call only leaves an operand in a slot. */
static bool only_gives(const struct sg_node_op *op)
{
    bool is_root = op->node->rank == op->call.root;

    switch (op->call.method) {
    case SG_NODE_FLAT:
    case SG_NODE_HANDOFF:
        return op->call.operation == SG_OPERATION_REDUCE && !is_root;
    case SG_NODE_BROADCAST:
        return is_root;
    default:
        return false;
    }
}

bool sg_outbox_put(struct sg_node_op *op)
{
    struct sg_node *node = op->node;
    size_t bytes = sg_op_chunk_bytes(op);
    uint32_t length =
        (uint32_t)(sizeof(struct sg_box_entry) +
                   (bytes + SG_NODE_LINE_BYTES - 1) / SG_NODE_LINE_BYTES * SG_NODE_LINE_BYTES);
    struct sg_box_entry *entry;
    struct sg_box *box;
    uint64_t place;

    if (node->outbox == NULL || !only_gives(op) || node->waits_no_more != node->known_finished + 1)
        return false;
    box = own_box(node);
    if (box == NULL)
        return false;
    give_back(node, box);
    entry = take_entry(node, box, op->position, length);
    if (entry == NULL)
        return false;
    entry->position = op->position;
    entry->arrival_ns = op->call.arrival_ns;
    entry->length = length;
    entry->bytes = (uint32_t)bytes;
    entry->signature = op->signature;
    sg_call_info_write(&entry->info, &op->call);
    if (bytes > 0)
        memcpy(entry + 1, sg_op_own(op), bytes);
    op->copies++;
    place = (uint64_t)((unsigned char *)entry - data_of(box)) / SG_NODE_LINE_BYTES + 1;
    /* Release: publishes the whole entry. */
    atomic_store_explicit(word_of(box, op->position), op->position << PLACE_BITS | place,
                          memory_order_release);
    return true;
}

bool sg_outbox_is_empty(struct sg_node *node)
{
    struct sg_outbox *outbox = node->outbox;

    if (outbox == NULL || outbox->tail == outbox->head)
        return true;
    give_back(node, outbox->boxes[node->rank]);
    return outbox->tail == outbox->head;
}

/* ---- other ranks' boxes ---- */

const struct sg_box_entry *sg_outbox_find(const struct sg_node *node, uint64_t position, int rank)
{
    struct sg_outbox *outbox = node->outbox;
    struct sg_box *box;
    uint64_t word;

    if (outbox == NULL)
        return NULL;
    if (outbox->boxes[rank] == NULL && rank != node->rank)
        outbox->boxes[rank] = outbox->open(outbox->context, rank);
    box = outbox->boxes[rank];
    if (box == NULL)
        return NULL;
    /* Acquire: pairs with sg_outbox_put. */
    word = atomic_load_explicit(word_of(box, position), memory_order_acquire);
    if ((word & PLACE_MASK) == 0 || word >> PLACE_BITS != (position & (UINT64_MAX >> PLACE_BITS)))
        return NULL;
    return entry_at(box, ((word & PLACE_MASK) - 1) * SG_NODE_LINE_BYTES);
}

/* The root arrives in the instance on behalf of the rank that has left the entry. */
static __attribute__((noinline)) void arrive_as(struct sg_node_op *op, int rank,
                                                const struct sg_box_entry *entry)
{
    struct sg_node node = *op->node;
    struct sg_node_op other = {.node = &node,
                               .call = op->call,
                               .position = op->position,
                               .signature = entry->signature,
                               .chunk_count = op->chunk_count,
                               .mismatch_rank = -1};

    node.rank = rank;
    other.call.send = entry + 1;
    other.call.receive = NULL;
    other.call.arrival_ns = entry->arrival_ns;
    other.call.site = entry->info.site;
    other.call.site_offset = entry->info.offset;
    other.call.site_module = entry->info.module;
    if (op->call.method == SG_NODE_FLAT)
        sg_flat_poll(&other);
    else
        sg_handoff_poll(&other);
    op->mismatch_rank = other.mismatch_rank;
}

static enum sg_node_step look_for_contributions(struct sg_node_op *op)
{
    enum sg_node_step step = SG_NODE_WAIT;

    for (int rank = 0; rank < op->node->ranks && op->mismatch_rank < 0; rank++) {
        const struct sg_box_entry *entry;

        if (rank == op->node->rank || sg_op_sees(op, rank))
            continue;
        entry = sg_outbox_find(op->node, op->position, rank);
        if (entry == NULL)
            continue;
        if (entry->signature != op->signature)
            op->mismatch_rank = rank;
        else
            arrive_as(op, rank, entry);
        step = SG_NODE_AGAIN;
    }
    return step;
}

static enum sg_node_step look_for_data(struct sg_node_op *op)
{
    const struct sg_box_entry *entry = sg_outbox_find(op->node, op->position, op->call.root);

    if (entry == NULL)
        return SG_NODE_WAIT;
    if (entry->signature != op->signature) {
        if (op->state == SG_OP_START) /* other ranks do not see this rank's call yet */
            return SG_NODE_WAIT;
        op->mismatch_rank = op->call.root;
        return SG_NODE_MISMATCH;
    }
    memcpy(sg_op_target(op), entry + 1, entry->bytes);
    op->copies++;
    op->early += op->done_count == 0 && op->call.arrival_ns != 0;
    return SG_NODE_DONE;
}

enum sg_node_step sg_outbox_look(struct sg_node_op *op)
{
    bool is_root = op->node->rank == op->call.root;

    if (op->call.method == SG_NODE_BROADCAST && !is_root)
        return look_for_data(op);
    if (op->call.operation == SG_OPERATION_REDUCE && is_root && op->state != SG_OP_START &&
        (op->call.method == SG_NODE_FLAT || op->call.method == SG_NODE_HANDOFF))
        return look_for_contributions(op);
    return SG_NODE_WAIT;
}
