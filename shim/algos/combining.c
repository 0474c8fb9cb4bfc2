#include "algos/combining.h"

#include "algos/shape.h"

#include <string.h>

/* Words: how many calls each rank has made; then, for each position of the ring, its instance and
 * at each meeting (numbered from 1, as shape.h does) the first arriver + 1. */
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

/* Up to where this rank is the first. False: it is that nowhere, and so the last of all. */
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

/* Instances that are over: complete, and each rank has come to them. The latter follows from the
 * former but for broadcasts. */
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
