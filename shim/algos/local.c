#include "algos/local.h"

#include "algos/shape.h"

#include <string.h>

/* Words: how many calls each rank has made; then, for each position of the ring, its instance and
 * at each meeting (numbered from 1, as shape.h does) the first arriver + 1. */
static uint32_t *position_at(struct sg_local *local, uint32_t seq)
{
    return &local->words[(1 + seq % local->depth) * local->ranks];
}

uint32_t sg_local_bytes(uint32_t ranks, uint32_t depth)
{
    if (ranks < 1 || ranks > SG_LOCAL_RANKS_MAX || depth < 1 || depth > SG_LOCAL_DEPTH_MAX)
        return 0;
    return (uint32_t)(sizeof(struct sg_local) + sizeof(uint32_t) * (1 + depth) * ranks);
}

void sg_local_init(struct sg_local *local, uint32_t ranks, uint32_t depth)
{
    memset(local, 0, sg_local_bytes(ranks, depth));
    local->ranks = ranks;
    local->depth = depth;
}

static uint32_t slot_of(const struct sg_local *local, uint32_t seq, uint32_t rank)
{
    return seq % local->depth * local->ranks + rank;
}

/* Up to where this rank is the first. False: it is that nowhere, and so the last of all. */
static bool climb(const struct sg_local *local, uint32_t *position, uint32_t rank,
                  struct sg_local_step *step)
{
    struct sg_shape shape = {SG_SHAPE_DOUBLING, (int)local->ranks, 0};
    struct sg_climb climber = sg_climb_start(&shape, (int)rank);
    bool right;
    int node;

    while (sg_climb_step(&shape, &climber, &node, &right)) {
        if (position[node] == 0) {
            position[node] = rank + 1;
            return true;
        }
        step->fold[step->folds].partner = slot_of(local, step->seq, position[node] - 1);
        step->fold[step->folds].right = right;
        step->folds++;
    }
    return false;
}

void sg_local_arrive(struct sg_local *local, uint32_t rank, enum sg_operation operation,
                     int32_t root, struct sg_local_step *step)
{
    uint32_t seq = local->words[rank] + 1;
    uint32_t *position = position_at(local, seq);
    bool first;

    memset(step, 0, sizeof *step);
    step->seq = seq;
    step->slot = slot_of(local, seq, rank);
    if (seq - local->completed > local->depth)
        return;
    local->words[rank] = seq;
    if (position[0] != seq)
        memset(position, 0, sizeof(uint32_t) * local->ranks);
    position[0] = seq;
    first = climb(local, position, rank, step);
    step->store = first && step->folds == 0;
    if (!first)
        step->outcome = SG_LOCAL_CALLS;
    else if (operation == SG_OPERATION_REDUCE && root != (int32_t)rank)
        step->outcome = SG_LOCAL_LEAVES;
    else
        step->outcome = SG_LOCAL_WAITS;
}

void sg_local_complete(struct sg_local *local)
{
    local->completed++;
}
