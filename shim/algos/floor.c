#include "algos/floor.h"

#include "algos/emit.h"
#include "algos/tree.h"

static bool is_after(uint32_t seq, uint32_t other)
{
    return (int32_t)(seq - other) > 0;
}

void sg_floor_init(struct sg_floor *floor, const struct sg_algo_setup *setup, int degree,
                   uint32_t credits)
{
    floor->rank = setup->rank;
    floor->size = setup->size;
    floor->degree = (uint8_t)degree;
    floor->credits = (uint8_t)credits;
}

bool sg_floor_allows(const struct sg_floor *floor, uint32_t seq)
{
    return !is_after(seq, floor->floor + floor->credits);
}

void sg_floor_enter(struct sg_floor *floor, uint32_t seq, bool synchronises)
{
    if (synchronises) {
        floor->run = 0;
        floor->moot = seq - 1;
    } else {
        floor->run++;
    }
}

void sg_floor_synchronised(struct sg_floor *floor, uint32_t seq)
{
    if (is_after(seq - 1, floor->floor))
        floor->floor = seq - 1;
}

static void raise_floor(struct sg_floor *floor, uint32_t seq, struct sg_actions *actions)
{
    struct sg_header header = {.seq = seq, .kind = SG_FLOOR_RAISED};
    int children = sg_branch_children(floor->rank, floor->size, floor->degree);

    for (int i = 0; i < children; i++)
        sg_emit_send(actions, sg_branch_child(floor->rank, floor->size, floor->degree, i), &header);
    if (is_after(seq, floor->floor))
        floor->floor = seq;
}

/* From this endpoint, or from a child for all below it. */
static void report(struct sg_floor *floor, uint32_t seq, struct sg_actions *actions)
{
    struct sg_header header = {.seq = seq, .kind = SG_FLOOR_REPORT};
    uint32_t due = (uint32_t)sg_branch_children(floor->rank, floor->size, floor->degree) + 1;
    int at = -1;

    /* A synchronising instance has overtaken it. */
    if (!is_after(seq, floor->moot) || !is_after(seq, floor->floor))
        return;
    for (int i = 0; i < SG_FLOOR_REPORTS_MAX; i++) {
        if (floor->reports[i].count > 0 && floor->reports[i].seq == seq) {
            at = i;
            break;
        }
        if (floor->reports[i].count == 0 || !is_after(floor->reports[i].seq, floor->moot))
            at = i;
    }
    if (at < 0)
        __builtin_trap(); /* no more than three are due within the credits */
    if (floor->reports[at].seq != seq) {
        floor->reports[at].seq = seq;
        floor->reports[at].count = 0;
    }
    if (++floor->reports[at].count < due)
        return;
    floor->reports[at].count = 0;
    if (floor->rank == 0)
        raise_floor(floor, seq, actions);
    else
        sg_emit_send(actions, sg_branch_parent(floor->rank, floor->size, floor->degree), &header);
}

void sg_floor_finished(struct sg_floor *floor, uint32_t seq, struct sg_actions *actions)
{
    if (floor->size > 1 && floor->run % (floor->credits / 2u) == 0)
        report(floor, seq, actions);
    else if (floor->size == 1)
        floor->floor = seq;
}

void sg_floor_message(struct sg_floor *floor, const struct sg_header *header,
                      struct sg_actions *actions)
{
    if (header->kind == SG_FLOOR_REPORT)
        report(floor, header->seq, actions);
    else
        raise_floor(floor, header->seq, actions);
}
