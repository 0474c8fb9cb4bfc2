/* The ring: layout, credits, chunks. A call of any size is a sequence of chunks, each an instance
 * of its own; a rank that only contributes (reduce, not root) runs ahead as far as its credits
 * reach. Also the recovery of ranks whose calls differ, the exchange of costs for `auto`, and the
 * memory of boxes. */
#include "intranode/node.h"

#include "core/account.h"
#include "intranode/memory.h"
#include "intranode/ring.h"

#include <stdlib.h>
#include <string.h>

/* Instances between refreshes of a ring slot, less 1; with it a power of two. */
#define REFRESH_MASK UINT64_C(0xfffff)

static size_t slot_stride(uint32_t slot_bytes)
{
    return 2 * SG_NODE_LINE_BYTES + slot_bytes;
}

static size_t instance_bytes(int ranks, uint32_t slot_bytes)
{
    return sg_ring_words(ranks) * SG_NODE_LINE_BYTES + (size_t)ranks * slot_stride(slot_bytes);
}

size_t sg_node_bytes(int ranks, uint32_t depth, uint32_t slot_bytes)
{
    return sizeof(struct sg_node_header) + (size_t)ranks * sizeof(struct sg_node_control) +
           depth * instance_bytes(ranks, slot_bytes) +
           (size_t)ranks *
               (SG_LEARN_PLACES * 2 * sizeof(struct sg_node_told) + sizeof(struct sg_node_box));
}

struct sg_node_box *sg_node_box(const struct sg_node *node, int rank)
{
    struct sg_node_told *told =
        (struct sg_node_told *)(node->instances + node->depth * node->instance_bytes);

    return (struct sg_node_box *)(told + node->ranks * SG_LEARN_PLACES * 2) + rank;
}

void sg_node_format(void *segment, int ranks, uint32_t depth, uint32_t slot_bytes, uint64_t nonce)
{
    struct sg_node_header *header = segment;

    header->nonce = nonce;
    header->size_bytes = sg_node_bytes(ranks, depth, slot_bytes);
    header->ranks = (uint32_t)ranks;
    header->depth = depth;
    header->slot_bytes = slot_bytes;
    header->magic = SG_NODE_MAGIC;
}

bool sg_node_attach(struct sg_node *node, void *segment, int rank, uint64_t nonce)
{
    struct sg_node_header *header = segment;

    if (header->magic != SG_NODE_MAGIC || header->nonce != nonce)
        return false;
    memset(node, 0, sizeof *node);
    node->header = header;
    node->rank = rank;
    node->ranks = (int)header->ranks;
    node->depth = header->depth;
    node->position = node->known_finished = header->first;
    node->slot_bytes = header->slot_bytes;
    node->slot_stride = slot_stride(header->slot_bytes);
    node->instance_bytes = instance_bytes(node->ranks, header->slot_bytes);
    node->instances = (unsigned char *)(sg_ring_control(node, node->ranks));
    return true;
}

/* Leaves an instance's words as if all ranks had left it and it had used every word. */
static void leave_words(const struct sg_node *node, uint64_t position)
{
    struct sg_node_word *words = (struct sg_node_word *)sg_ring_instance(node, position);

    for (size_t i = 0; i < sg_ring_words(node->ranks); i++)
        atomic_init(&words[i].word, sg_ring_tag(position, 0));
    for (int rank = 0; rank < node->ranks; rank++)
        atomic_init(&sg_ring_line(node, position, rank)->sequence, (uint32_t)(position + 1));
}

void sg_node_count_from(void *segment, uint64_t first)
{
    struct sg_node_header *header = segment;
    struct sg_node node;

    header->first = first;
    if (first == 0 || !sg_node_attach(&node, segment, 0, header->nonce))
        return;
    for (int rank = 0; rank < node.ranks; rank++)
        atomic_init(&sg_ring_control(&node, rank)->finished, first);
    for (uint64_t back = 1; back <= node.depth; back++)
        leave_words(&node, first - back);
}

/* Returns the number of instances that every rank has left. */
static uint64_t find_finished(struct sg_node *node)
{
    uint64_t least = UINT64_MAX;

    for (int rank = 0; rank < node->ranks; rank++) {
        /* Acquire: that rank's reads of the old instance came before. */
        uint64_t finished =
            atomic_load_explicit(&sg_ring_control(node, rank)->finished, memory_order_acquire);

        if (finished < least)
            least = finished;
    }
    node->known_finished = least;
    return least;
}

/* True if every rank has left the instance whose ring slot `position` reuses. A rank that is so far
 * ahead that it must check continues only when half of the ring is free: otherwise it would check
 * in every call, and take the line from a rank that is writing it. The others can finish all
 * instances before this one without it, so this wait ends. */
static bool has_credit(struct sg_node *node, uint64_t position)
{
    uint64_t needed = position - node->depth / 2;
    _Atomic uint64_t *awaited = &node->header->awaited;
    uint64_t seen;

    if (position < node->depth + node->known_finished || find_finished(node) >= needed)
        return true;
    seen = atomic_load_explicit(awaited, memory_order_relaxed);
    while (seen == 0 || seen > needed) {
        /* Acquire and release: a rank that looks for this number later sees it; of one that has
         * looked before (sg_node_frees_slot) this rank sees that it has left. */
        if (atomic_compare_exchange_weak_explicit(awaited, &seen, needed, memory_order_acq_rel,
                                                  memory_order_relaxed))
            return find_finished(node) >= needed;
    }
    return false;
}

bool sg_node_frees_slot(struct sg_node *node)
{
    _Atomic uint64_t *awaited = &node->header->awaited;
    /* Acquire and release, by an addition: see has_credit. */
    uint64_t seen = atomic_fetch_add_explicit(awaited, 0, memory_order_acq_rel);

    return seen != 0 && node->position >= seen && find_finished(node) >= seen &&
           atomic_compare_exchange_strong_explicit(awaited, &seen, 0, memory_order_acq_rel,
                                                   memory_order_relaxed);
}

bool sg_node_have_left(struct sg_node *node, uint64_t position)
{
    if (position < node->known_finished)
        return true;
    for (int rank = 0; rank < node->ranks; rank++) {
        if (sg_ring_left(node, rank) <= position)
            return false;
    }
    return true;
}

/* This rank has left the instance at position and all before it. */
static void leave(struct sg_node *node, uint64_t position)
{
    /* Release: this rank's reads of the instance come before its slot is reused. */
    atomic_store_explicit(&sg_ring_control(node, node->rank)->finished, position + 1,
                          memory_order_release);
}

/* As leave, for a reduce, in which ranks may poll `finished` for slots: every store to it would
 * cost them a line transfer. It is stored as often as a rank that waits for half of the ring needs.
 */
static void leave_reduce(struct sg_node *node, uint64_t position)
{
    if (((position + 1) & (node->depth / 2 - 1)) == 0)
        leave(node, position);
    else /* Release: this rank's costs (sg_tell_put) were written before. */
        atomic_store_explicit(&sg_ring_control(node, node->rank)->left, position + 1,
                              memory_order_release);
}

const struct sg_call_info *sg_node_call_info(const struct sg_node *node, uint64_t position,
                                             int rank)
{
    const struct sg_node_line *line = sg_ring_line(node, position, rank);

    const struct sg_box_entry *entry;

    /* Acquire: the rank described its call before. */
    if (atomic_load_explicit(&line->sequence, memory_order_acquire) != (uint32_t)(position + 1)) {
        entry = sg_outbox_find(node, position, rank);
        return entry != NULL ? &entry->info : NULL;
    }
    return sg_ring_call_info(node, position, rank);
}

static size_t next_chunk(const struct sg_node_op *op)
{
    size_t left = op->call.count - op->done_count;
    size_t room = op->call.element_bytes > 0 ? op->node->slot_bytes / op->call.element_bytes : 0;

    bool whole = op->call.method == SG_NODE_CHUNKS || op->call.method == SG_NODE_SINGLE ||
                 op->call.method == SG_NODE_PULL;

    return whole || left < room ? left : room;
}

void sg_node_begin(struct sg_node_op *op, struct sg_node *node)
{
    /* Sets each member by name: zeroing the whole first takes longer than a barrier's exchange. */
    op->node = node;
    op->position = node->position;
    op->signature = sg_op_signature(&op->call);
    op->state = SG_OP_START;
    op->done_count = 0;
    op->seen_ranks = 0;
    memset(op->stage_count, 0, sizeof op->stage_count);
    op->own_in_slot = false;
    op->told = 0;
    op->failed = false;
    op->stalled = false;
    op->skew_known = false;
    op->skew_ns = 0;
    op->stalls = 0;
    op->late = 0;
    op->early = 0;
    op->copies = 0;
    op->mismatch_rank = -1;
    op->chunk_count = next_chunk(op);
}

static enum sg_node_step poll_chunk(struct sg_node_op *op)
{
    if (op->state == SG_OP_START && !has_credit(op->node, op->position)) {
        if (!op->stalled)
            op->stalled_at = op->node->known_finished;
        op->stalls += !op->stalled;
        op->stalled = true;
        if (!sg_outbox_put(op))
            return SG_NODE_WAIT;
        op->told |= SG_TOLD | SG_TOLD_BOX;
        return SG_NODE_DONE;
    }
    if (op->stalled)
        sg_account_mark(SG_ACCOUNT_SLOT);
    op->stalled = false;
    switch (op->call.method) {
    case SG_NODE_FLAT:
        return sg_flat_poll(op);
    case SG_NODE_HANDOFF:
        return sg_handoff_poll(op);
    case SG_NODE_GROUPS:
        return sg_groups_poll(op);
    case SG_NODE_CHUNKS:
        return sg_chunks_poll(op);
    case SG_NODE_BROADCAST:
        return sg_broadcast_poll(op);
    case SG_NODE_PULL:
        return sg_pull_poll(op);
    default:
        return sg_single_poll(op);
    }
}

/* True if all ranks have entered the instance, which is complete on this rank; all have then left
 * the instances before it. A reduce's root has every rank's operand. */
static bool have_all_entered(const struct sg_node_op *op)
{
    return sg_operation_synchronises(op->call.operation) ||
           (op->call.operation == SG_OPERATION_REDUCE && op->node->rank == op->call.root);
}

/* Relaxed: a box that is missed is seen later; is_made, an acquire, guards its mapping. */
static bool has_boxes(const struct sg_node *node)
{
    return __builtin_expect(
        atomic_load_explicit(&node->header->has_boxes, memory_order_relaxed) != 0, 0);
}

bool sg_node_goes_on(struct sg_node_op *op)
{
    uint64_t finished = find_finished(op->node);
    bool is_stuck = finished == op->stalled_at;

    op->stalled_at = finished;
    if (is_stuck)
        op->node->waits_no_more = finished + 1;
    return is_stuck;
}

enum sg_node_step sg_node_poll(struct sg_node_op *op)
{
    for (;;) {
        enum sg_node_step step = poll_chunk(op);

        if (step == SG_NODE_WAIT && has_boxes(op->node))
            step = sg_outbox_look(op);
        if (op->mismatch_rank >= 0)
            return SG_NODE_MISMATCH;
        if (step == SG_NODE_AGAIN)
            continue;
        if (step != SG_NODE_DONE)
            return step;
        if (have_all_entered(op))
            op->node->known_finished = op->position;
        if (op->call.operation == SG_OPERATION_REDUCE)
            leave_reduce(op->node, op->position);
        else
            leave(op->node, op->position);
        op->position++;
        op->node->position = op->position;
        op->done_count += op->chunk_count;
        if (op->done_count == op->call.count)
            return SG_NODE_DONE;
        op->chunk_count = next_chunk(op);
        op->state = SG_OP_START;
    }
}

bool sg_node_choose(struct sg_node *node, uint32_t choice, uint32_t *chosen, int *chooser)
{
    _Atomic uint64_t *word = sg_ring_choice(node, node->position);
    uint64_t seen, wanted;

    if (!has_credit(node, node->position))
        return false;
    /* Relaxed, all: the word carries all the data. */
    seen = atomic_load_explicit(word, memory_order_relaxed);
    /* The value holds choice and chooser, 14 bits each. */
    wanted = sg_ring_tag(node->position, choice << 14 | (uint32_t)(node->rank & 0x3fff));
    while (!sg_ring_is(seen, node->position)) {
        if (atomic_compare_exchange_weak_explicit(word, &seen, wanted, memory_order_relaxed,
                                                  memory_order_relaxed))
            seen = wanted;
    }
    *chosen = sg_ring_value(seen) >> 14;
    *chooser = (int)(sg_ring_value(seen) & 0x3fff);
    return true;
}

/* A line's sequence has only the low bits of the position: a line that is not written for 2^32
 * instances would look current. This writes it periodically, in instances that do not use it. */
static void refresh_line(struct sg_node *node)
{
    if ((node->position & REFRESH_MASK) >= node->depth || !has_credit(node, node->position))
        return;
    atomic_store_explicit(&sg_ring_line(node, node->position, node->rank)->sequence,
                          (uint32_t)(node->position + 1), memory_order_relaxed);
}

void sg_node_skip(struct sg_node *node)
{
    refresh_line(node);
    leave(node, node->position);
    node->position++;
}

/* Ranks whose calls at one position differ. If errors are not fatal, the call fails and the program
 * continues, so all ranks have to reach their next call at one position.
 *
 * Calls that wait for nobody (a broadcast's root, a contribution to a reduce) have left without
 * noticing, after the number of instances that their size needs. A rank that notices skips the same
 * number. A broadcast's receiver takes what its root sends. Other calls wait until all ranks have
 * come, as they would have done in any case, so that all of them decide by the same facts.
 */

/* True for a broadcast from the same root: the ranks wait for the root alone. */
static bool is_sibling(const struct sg_node_op *op, int rank)
{
    const struct sg_call_info *info = sg_node_call_info(op->node, op->position, rank);

    return op->call.operation == SG_OPERATION_BCAST && rank != op->call.root && info != NULL &&
           info->operation == SG_OPERATION_BCAST && info->root == op->call.root;
}

bool sg_node_disagrees(struct sg_node_op *op)
{
    if (op->state == SG_OP_START) /* other ranks do not see this rank's call yet */
        return false;
    for (int rank = 0; rank < op->node->ranks && op->mismatch_rank < 0; rank++) {
        sg_op_sees(op, rank);
        if (op->mismatch_rank >= 0 && is_sibling(op, rank))
            op->mismatch_rank = -1;
    }
    return op->mismatch_rank >= 0;
}

/* ---- a broadcast's receiver ---- */

size_t sg_node_broadcast_bytes(const struct sg_node_op *op)
{
    const struct sg_call_info *root = sg_node_call_info(op->node, op->position, op->mismatch_rank);

    return op->call.operation == SG_OPERATION_BCAST && op->mismatch_rank == op->call.root &&
                   root != NULL && root->operation == SG_OPERATION_BCAST &&
                   root->root == op->call.root
               ? (size_t)root->bytes
               : 0;
}

/* This rank's line stays unchanged: the root skips a rank that differs from it. */
void sg_node_conform(struct sg_node_op *op, void *buffer)
{
    const struct sg_call_info *root = sg_node_call_info(op->node, op->position, op->call.root);

    op->call.method = (enum sg_node_method)root->method;
    op->call.receive = buffer;
    op->call.count = (size_t)root->bytes;
    op->call.element_bytes = 1;
    op->signature = sg_op_signature(&op->call);
    op->mismatch_rank = -1;
    op->state = SG_OP_ARRIVED;
    op->chunk_count = op->call.count;
    if (op->call.method == SG_NODE_PULL)
        sg_stage_begin(op);
    else if (op->chunk_count > op->node->slot_bytes)
        op->chunk_count = op->node->slot_bytes;
}

/* ---- other calls ---- */

/* Elements fill slots without a remainder. */
static uint64_t instances_of(const struct sg_node *node, const struct sg_call_info *info)
{
    bool whole = info->method == SG_NODE_CHUNKS || info->method == SG_NODE_SINGLE;

    return whole || info->bytes <= node->slot_bytes
               ? 1
               : (info->bytes + node->slot_bytes - 1) / node->slot_bytes;
}

/* True if the call does not wait for all ranks. */
static bool goes_on(const struct sg_call_info *info, int rank)
{
    return info->operation == SG_OPERATION_BCAST ||
           (info->operation == SG_OPERATION_REDUCE && info->root != rank);
}

bool sg_node_have_come(const struct sg_node_op *op)
{
    const struct sg_node *node = op->node;

    if (goes_on(sg_node_call_info(node, op->position, node->rank), node->rank))
        return true;
    for (int rank = 0; rank < node->ranks; rank++) {
        if (sg_node_call_info(node, op->position, rank) == NULL)
            return false;
    }
    return true;
}

/* The ranks that do not wait decide, and must agree; without any, the shortest call decides. 0:
 * there is no common number. */
static uint64_t common_instances(const struct sg_node_op *op)
{
    const struct sg_node *node = op->node;
    uint64_t least = UINT64_MAX, fixed = 0;

    for (int rank = 0; rank < node->ranks; rank++) {
        const struct sg_call_info *info = sg_node_call_info(node, op->position, rank);
        uint64_t instances = instances_of(node, info);

        /* This method's readers count their reads. */
        if (info->method == SG_NODE_PULL)
            return 0;
        if (goes_on(info, rank)) {
            if (fixed != 0 && fixed != instances)
                return 0;
            fixed = instances;
        }
        least = instances < least ? instances : least;
    }
    return fixed != 0 ? fixed : least;
}

bool sg_node_step_over(struct sg_node_op *op)
{
    struct sg_node *node = op->node;
    const struct sg_call_info *own = sg_node_call_info(node, op->position, node->rank);
    uint64_t instances;

    if (op->done_count > 0)
        return false;
    instances = goes_on(own, node->rank) ? instances_of(node, own) : common_instances(op);
    if (instances == 0 || own->method == SG_NODE_PULL)
        return false;
    for (; instances > 0; instances--)
        sg_node_skip(node);
    return true;
}

/* ---- a call that failed on this rank alone ---- */

const struct sg_call_info *sg_node_others_call(const struct sg_node *node, bool *all_look)
{
    const struct sg_call_info *found = NULL;
    int others = 0;

    for (int rank = 0; rank < node->ranks && found == NULL; rank++) {
        if (rank == node->rank)
            continue;
        found = sg_node_call_info(node, node->position, rank);
        /* Relaxed: a rank that is missed is seen at the next look. */
        others += atomic_load_explicit(&sg_ring_control(node, rank)->unmet, memory_order_relaxed) ==
                  node->position + 1;
    }
    *all_look = found == NULL && others == node->ranks - 1;
    return found;
}

/* A rank's cost line for a learning slot, after the ring. */
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

    /* Relaxed, here and below: leaving the instance is the release; seeing that all have left it is
     * the acquire. */
    for (int i = 0; i < SG_LEARN_ARMS_MAX; i++)
        atomic_store_explicit(&own->numbers[i], told->numbers[i], memory_order_relaxed);
}

struct sg_learn_told sg_tell_get(const struct sg_node *node, int place, uint32_t turn)
{
    struct sg_learn_told all = {0};

    for (int rank = 0; rank < node->ranks; rank++) {
        const struct sg_node_told *other = line(node, rank, place, turn);

        for (int i = 0; i < SG_LEARN_ARMS_MAX; i++)
            all.numbers[i] += atomic_load_explicit(&other->numbers[i], memory_order_relaxed);
    }
    return all;
}

_Static_assert(SG_LEARN_ARMS_MAX <= sizeof(struct sg_node_told) / sizeof(uint64_t), "a line");

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
    /* Release: the ticket comes before. Relaxed: see has_boxes. */
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
