#include "algos/partial_results.h"

#include "algos/emit.h"

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

/* Where it is, if that is the operand; else in its slot. */
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

/* All that has come before item 0 takes its place with it. */
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
