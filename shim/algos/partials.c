#include "algos/partials.h"

#include "algos/emit.h"

void sg_partials_begin(struct sg_partials *partials, uint32_t seq, int items,
                       enum sg_partials_mode mode, uint32_t bytes)
{
    *partials = (struct sg_partials){
        .bytes = bytes,
        .seq = seq,
        .items = (uint8_t)items,
        .mode = (uint8_t)mode,
    };
}

uint64_t sg_partials_block(int items, int level, int first)
{
    uint64_t width = level < 6 ? (UINT64_C(1) << (1 << level)) - 1 : UINT64_MAX;
    uint64_t all = items < 64 ? (UINT64_C(1) << items) - 1 : UINT64_MAX;

    return width << first & all;
}

uint64_t sg_partials_missing(const struct sg_partials *partials)
{
    return ~partials->in & sg_partials_block(partials->items, 6, 0);
}

struct sg_data sg_partials_value(const struct sg_partials *partials, uint32_t base, int item)
{
    return item == 0 && partials->operand ? sg_data_operand() : sg_data_slot(base + (uint32_t)item);
}

/* Where it is, if that is the operand; else in its slot. */
static void keep(struct sg_partials *partials, uint32_t base, int item, struct sg_data data,
                 struct sg_actions *actions)
{
    if (data.kind == SG_DATA_OPERAND)
        partials->operand = 1;
    else
        sg_emit_copy(actions, data, sg_data_slot(base + (uint32_t)item), partials->bytes);
}

static void fold(struct sg_partials *partials, uint32_t base, int item, struct sg_data left,
                 struct sg_data right, struct sg_actions *actions)
{
    struct sg_data into = sg_data_slot(base + (uint32_t)item);

    sg_emit_reduce(actions, left, right, into, partials->bytes)->data.seq = partials->seq;
    if (item == 0)
        partials->operand = 0;
}

static void add_balanced(struct sg_partials *partials, uint32_t base, int item, struct sg_data data,
                         struct sg_actions *actions)
{
    int first = item;

    for (int level = 0; 1 << level < partials->items; level++) {
        int sibling = first ^ (1 << level);
        uint64_t block;
        struct sg_data other;

        if (sibling >= partials->items)
            continue;
        block = sg_partials_block(partials->items, level, sibling);
        if ((partials->in & block) != block)
            break;
        other = sg_partials_value(partials, base, sibling);
        if (sibling < first) {
            first = sibling;
            fold(partials, base, first, other, data, actions);
        } else {
            fold(partials, base, first, data, other, actions);
        }
        data = sg_data_slot(base + (uint32_t)first);
    }
    if (data.kind != SG_DATA_SLOT)
        keep(partials, base, item, data, actions);
}

static void add_chain(struct sg_partials *partials, uint32_t base, int item, struct sg_data data,
                      struct sg_actions *actions)
{
    if (item != partials->folded) {
        keep(partials, base, item, data, actions);
        return;
    }
    if (item == 0)
        keep(partials, base, item, data, actions);
    else
        fold(partials, base, 0, sg_partials_value(partials, base, 0), data, actions);
    partials->folded++;
    while (partials->in >> partials->folded & 1) {
        fold(partials, base, 0, sg_partials_value(partials, base, 0),
             sg_data_slot(base + partials->folded), actions);
        partials->folded++;
    }
}

void sg_partials_merge(struct sg_partials *partials, uint32_t base, struct sg_data data,
                       struct sg_actions *actions)
{
    if (partials->folded++ == 0)
        keep(partials, base, 0, data, actions);
    else
        fold(partials, base, 0, sg_partials_value(partials, base, 0), data, actions);
}

bool sg_partials_add(struct sg_partials *partials, uint32_t base, int item, struct sg_data data,
                     struct sg_actions *actions)
{
    if (partials->in >> item & 1)
        return false;
    partials->in |= UINT64_C(1) << item;
    if (partials->bytes == 0)
        return true;
    if (partials->mode == SG_PARTIALS_BALANCED)
        add_balanced(partials, base, item, data, actions);
    else if (partials->mode == SG_PARTIALS_CHAIN)
        add_chain(partials, base, item, data, actions);
    else
        sg_partials_merge(partials, base, data, actions);
    return true;
}
