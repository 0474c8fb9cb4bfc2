#include "algos/partial_results.h"

#include "algos/broadcast.h"
#include "algos/tree.h"

#include <string.h>

void sg_partial_begin(struct sg_partial_results *partial_results, uint64_t seq, int items,
                      enum sg_partial_results_mode mode, uint32_t bytes)
{
    *partial_results = (struct sg_partial_results){
        .bytes = bytes,
        .seq = seq,
        .items = (uint8_t)items,
        .mode = (uint8_t)mode,
    };
}

uint64_t sg_partial_block(int items, int level, int first)
{
    uint64_t width = level < 6 ? (UINT64_C(1) << (1 << level)) - 1 : UINT64_MAX;
    uint64_t all = items < 64 ? (UINT64_C(1) << items) - 1 : UINT64_MAX;

    return width << first & all;
}

uint64_t sg_partial_missing(const struct sg_partial_results *partial_results)
{
    return ~partial_results->in & sg_partial_block(partial_results->items, 6, 0);
}

struct sg_data sg_partial_value(const struct sg_partial_results *partial_results, uint32_t base,
                                int item)
{
    return item == 0 && partial_results->operand ? sg_data_operand()
                                                 : sg_data_slot(base + (uint32_t)item);
}

/* Keeps the operand in place; copies other data to the item's slot. */
static void keep(struct sg_partial_results *partial_results, uint32_t base, int item,
                 struct sg_data data, struct sg_actions *actions)
{
    if (data.kind == SG_DATA_OPERAND)
        partial_results->operand = 1;
    else
        sg_emit_copy(actions, data, sg_data_slot(base + (uint32_t)item), partial_results->bytes);
}

static void fold(struct sg_partial_results *partial_results, uint32_t base, int item,
                 struct sg_data left, struct sg_data right, struct sg_actions *actions)
{
    struct sg_data into = sg_data_slot(base + (uint32_t)item);

    sg_emit_reduce(actions, left, right, into, partial_results->bytes)->data.seq =
        partial_results->seq;
    if (item == 0)
        partial_results->operand = 0;
}

static void add_balanced(struct sg_partial_results *partial_results, uint32_t base, int item,
                         struct sg_data data, struct sg_actions *actions)
{
    int first = item;

    for (int level = 0; 1 << level < partial_results->items; level++) {
        int sibling = first ^ (1 << level);
        uint64_t block;
        struct sg_data other;

        if (sibling >= partial_results->items)
            continue;
        block = sg_partial_block(partial_results->items, level, sibling);
        if ((partial_results->in & block) != block)
            break;
        other = sg_partial_value(partial_results, base, sibling);
        if (sibling < first) {
            first = sibling;
            fold(partial_results, base, first, other, data, actions);
        } else {
            fold(partial_results, base, first, data, other, actions);
        }
        data = sg_data_slot(base + (uint32_t)first);
    }
    if (data.kind != SG_DATA_SLOT)
        keep(partial_results, base, item, data, actions);
}

/* Holds back all items until item 0 arrives, then adds them. */
static void add_held(struct sg_partial_results *partial_results, uint32_t base, int item,
                     struct sg_data data, struct sg_actions *actions)
{
    uint64_t waiting = partial_results->in & ~UINT64_C(1);

    if (!(partial_results->in & 1)) {
        keep(partial_results, base, item, data, actions);
        return;
    }
    if (item != 0) {
        add_balanced(partial_results, base, item, data, actions);
        return;
    }
    partial_results->in = 1;
    add_balanced(partial_results, base, 0, data, actions);
    for (; waiting != 0; waiting &= waiting - 1) {
        item = __builtin_ctzll(waiting);
        partial_results->in |= UINT64_C(1) << item;
        add_balanced(partial_results, base, item, sg_data_slot(base + (uint32_t)item), actions);
    }
}

static void add_chain(struct sg_partial_results *partial_results, uint32_t base, int item,
                      struct sg_data data, struct sg_actions *actions)
{
    if (item != partial_results->folded) {
        keep(partial_results, base, item, data, actions);
        return;
    }
    if (item == 0)
        keep(partial_results, base, item, data, actions);
    else
        fold(partial_results, base, 0, sg_partial_value(partial_results, base, 0), data, actions);
    partial_results->folded++;
    while (partial_results->in >> partial_results->folded & 1) {
        fold(partial_results, base, 0, sg_partial_value(partial_results, base, 0),
             sg_data_slot(base + partial_results->folded), actions);
        partial_results->folded++;
    }
}

void sg_partial_merge(struct sg_partial_results *partial_results, uint32_t base,
                      struct sg_data data, struct sg_actions *actions)
{
    if (partial_results->folded++ == 0)
        keep(partial_results, base, 0, data, actions);
    else
        fold(partial_results, base, 0, sg_partial_value(partial_results, base, 0), data, actions);
}

bool sg_partial_add(struct sg_partial_results *partial_results, uint32_t base, int item,
                    struct sg_data data, struct sg_actions *actions)
{
    if (partial_results->in >> item & 1)
        return false;
    partial_results->in |= UINT64_C(1) << item;
    if (partial_results->bytes == 0)
        return true;
    if (partial_results->mode == SG_PARTIAL_BALANCED)
        add_balanced(partial_results, base, item, data, actions);
    else if (partial_results->mode == SG_PARTIAL_HELD)
        add_held(partial_results, base, item, data, actions);
    else if (partial_results->mode == SG_PARTIAL_CHAIN)
        add_chain(partial_results, base, item, data, actions);
    else
        sg_partial_merge(partial_results, base, data, actions);
    return true;
}

/* Layout of words: the number of calls of each rank; then, for each ring position, its instance
 * and, at each node (numbered from 1, as in tree.h), the first arriver + 1. */
static uint32_t *position_at(struct sg_combining *combining, uint32_t seq)
{
    return &combining->words[(1 + seq % combining->depth) * combining->ranks];
}

uint32_t sg_combining_bytes(uint32_t ranks, uint32_t depth)
{
    if (ranks < 1 || ranks > SG_COMBINING_RANKS_MAX || depth < 1 || depth > SG_COMBINING_DEPTH_MAX)
        return 0;
    return (uint32_t)(sizeof(struct sg_combining) + sizeof(uint32_t) * (1 + depth) * ranks);
}

void sg_combining_init(struct sg_combining *combining, uint32_t ranks, uint32_t depth)
{
    memset(combining, 0, sg_combining_bytes(ranks, depth));
    combining->ranks = ranks;
    combining->depth = depth;
}

static uint32_t slot_of(const struct sg_combining *combining, uint32_t seq, uint32_t rank)
{
    return seq % combining->depth * combining->ranks + rank;
}

/* Climbs to the node where this rank is first. False: it is first nowhere, and so is the last of
 * all. */
static bool climb(const struct sg_combining *combining, uint32_t *position, uint32_t rank,
                  struct sg_combining_step *step)
{
    struct sg_shape shape = {SG_SHAPE_DOUBLING, (int)combining->ranks, 0};
    struct sg_climb climber = sg_climb_start(&shape, (int)rank);
    bool right;
    int node;

    while (sg_climb_step(&shape, &climber, &node, &right)) {
        if (position[node] == 0) {
            position[node] = rank + 1;
            return true;
        }
        step->fold[step->folds].partner = slot_of(combining, step->seq, position[node] - 1);
        step->fold[step->folds].right = right;
        step->folds++;
    }
    return false;
}

/* Returns the number of instances that are over: complete, and entered by every rank. Except for
 * broadcasts, the former implies the latter. */
static uint32_t over(const struct sg_combining *combining)
{
    uint32_t least = combining->completed;

    for (uint32_t rank = 0; rank < combining->ranks; rank++)
        least = combining->words[rank] < least ? combining->words[rank] : least;
    return least;
}

static void arrive_at_broadcast(struct sg_combining *combining, uint32_t rank, int32_t root,
                                struct sg_combining_step *step)
{
    uint32_t *position = position_at(combining, step->seq);
    bool first = position[0] != step->seq;

    position[0] = step->seq;
    if (step->seq <= combining->completed)
        step->result = SG_COMBINING_LEAVES;
    else if (root >= 0 ? root == (int32_t)rank : first)
        step->result = SG_COMBINING_CALLS;
    else
        step->result = SG_COMBINING_WAITS;
}

void sg_combining_arrive(struct sg_combining *combining, uint32_t rank, enum sg_operation operation,
                         int32_t root, struct sg_combining_step *step)
{
    uint32_t seq = combining->words[rank] + 1;
    uint32_t *position = position_at(combining, seq);
    bool first;

    memset(step, 0, sizeof *step);
    step->seq = seq;
    step->slot = slot_of(combining, seq, rank);
    if (seq - over(combining) > combining->depth)
        return;
    combining->words[rank] = seq;
    if (operation == SG_OPERATION_BCAST) {
        arrive_at_broadcast(combining, rank, root, step);
        return;
    }
    if (position[0] != seq)
        memset(position, 0, sizeof(uint32_t) * combining->ranks);
    position[0] = seq;
    first = climb(combining, position, rank, step);
    step->store = first && step->folds == 0;
    if (!first)
        step->result = SG_COMBINING_CALLS;
    else if (operation == SG_OPERATION_REDUCE && root != (int32_t)rank)
        step->result = SG_COMBINING_LEAVES;
    else
        step->result = SG_COMBINING_WAITS;
}

void sg_combining_complete(struct sg_combining *combining)
{
    combining->completed++;
}
