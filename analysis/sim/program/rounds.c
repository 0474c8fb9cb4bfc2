#include "sim/program/rounds.h"

#include "algos/tree.h"

/* Rank r sends to r + 2^i and receives from r - 2^i. */
static bool barrier(const struct sg_round_call *call, int round, struct sg_round *out)
{
    int32_t by;

    if (round >= sg_tree_levels(call->size))
        return false;
    by = (int32_t)1 << round;
    out->to = (call->rank + by) % call->size;
    out->from = (call->rank - by + call->size) % call->size;
    return true;
}

/* Of 2 * rest ranks, even ones are folded into their neighbours before, and get the result from
 * them after the doubling among the others. */
static bool allreduce(const struct sg_round_call *call, int round, struct sg_round *out)
{
    int32_t power = sg_tree_power(call->size), rest = call->size - power;
    int levels = sg_tree_levels(power);
    bool folded = call->rank < 2 * rest && call->rank % 2 == 0;
    bool folds = call->rank < 2 * rest && call->rank % 2 == 1;
    int32_t position, partner;

    if (round > levels + 1)
        return false;
    if (round == 0 || round == levels + 1) {
        bool first = round == 0;

        if (folded)
            *(first ? &out->to : &out->from) = call->rank + 1;
        if (folds)
            *(first ? &out->from : &out->to) = call->rank - 1;
        out->folds = folds && first;
        return true;
    }
    if (folded)
        return true;
    position = folds ? call->rank / 2 : call->rank - rest;
    partner = position ^ (int32_t)1 << (round - 1);
    out->to = out->from = partner < rest ? 2 * partner + 1 : partner + rest;
    out->folds = true;
    return true;
}

static bool reduce(const struct sg_round_call *call, int round, struct sg_round *out)
{
    int32_t relative = sg_tree_relative(call->rank, call->root, call->size);
    int32_t bit = (int32_t)1 << round;

    if (round >= sg_tree_levels(call->size) || relative & (bit - 1))
        return false;
    if (relative & bit) {
        out->to = sg_tree_absolute(relative - bit, call->root, call->size);
    } else if (relative + bit < call->size) {
        out->from = sg_tree_absolute(relative + bit, call->root, call->size);
        out->folds = true;
    }
    return true;
}

/* Round 0 receives; then the largest subtree is served first. */
static bool broadcast(const struct sg_round_call *call, int round, struct sg_round *out)
{
    int32_t relative = sg_tree_relative(call->rank, call->root, call->size);
    int levels = relative == 0 ? sg_tree_levels(call->size) : __builtin_ctz((unsigned)relative);
    int32_t bit;

    if (round > levels)
        return false;
    if (round == 0) {
        if (relative > 0)
            out->from = sg_tree_absolute(relative & (relative - 1), call->root, call->size);
        return true;
    }
    bit = (int32_t)1 << (levels - round);
    if (relative + bit < call->size)
        out->to = sg_tree_absolute(relative + bit, call->root, call->size);
    return true;
}

bool sg_round_of(const struct sg_round_call *call, int round, struct sg_round *out)
{
    *out = (struct sg_round){-1, -1, false};
    switch (call->operation) {
    case SG_OPERATION_REDUCE:
        return reduce(call, round, out);
    case SG_OPERATION_ALLREDUCE:
        return allreduce(call, round, out);
    case SG_OPERATION_BCAST:
        return broadcast(call, round, out);
    default:
        return barrier(call, round, out);
    }
}
