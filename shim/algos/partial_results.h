/* What an endpoint of a tree has of one instance: its own operand and its children's contributions,
 * the items 0 .. items-1 in order of rank, folded as far as their association allows at once.
 *
 *   balanced  SG_SHAPE_BINOMIAL at root 0 over the items: neighbours, then neighbours of these.
 *             While item j is missing, the partial results on j's way up are left, one a level.
 *   chain     ((0 . 1) . 2) . 3 ...: as stock MPICH's binomial reduce.
 *   any       one running value, as they come.
 *
 * held: as balanced, but nothing is folded before item 0 is there, which is the own operand: for a
 * user's operation, which can run only in the call.
 *
 * Item i waits in slot base + i, where the partial result that begins with item i is kept, too. The
 * own operand is used where it is until something is folded with it. With bytes 0, in a barrier,
 * the items are only counted. Part of a protocol's state: no pointers.
 */
#ifndef SG_ALGOS_PARTIAL_RESULTS_H
#define SG_ALGOS_PARTIAL_RESULTS_H

#include "algos/algo.h"

enum sg_partial_results_mode {
    SG_PARTIAL_BALANCED,
    SG_PARTIAL_CHAIN,
    SG_PARTIAL_ANY,
    SG_PARTIAL_HELD
};

struct sg_partial_results {
    uint64_t in;    /* items that are there, by bit */
    uint64_t seq;   /* the instance */
    uint32_t bytes; /* of each; 0: no data */
    uint8_t items;
    uint8_t mode;    /* enum sg_partial_results_mode */
    uint8_t folded;  /* chain: how many from item 0 on; any: how many at all */
    uint8_t operand; /* 1: the partial result that begins with item 0 is the operand itself */
};

void sg_partial_begin(struct sg_partial_results *partial_results, uint64_t seq, int items,
                      enum sg_partial_results_mode mode, uint32_t bytes);

/* Takes item, whose data is the operand (item 0) or a part of the message being handled. False: it
 * is there already. */
bool sg_partial_add(struct sg_partial_results *partial_results, uint32_t base, int item,
                    struct sg_data data, struct sg_actions *actions);

/* Folds something that is no item into the running value. Mode any only. */
void sg_partial_merge(struct sg_partial_results *partial_results, uint32_t base,
                      struct sg_data data, struct sg_actions *actions);

/* By bit. */
uint64_t sg_partial_missing(const struct sg_partial_results *partial_results);

/* The partial result that begins with item; of a complete set, item 0: its value. */
struct sg_data sg_partial_value(const struct sg_partial_results *partial_results, uint32_t base,
                                int item);

/* Items [first, first + 2^level), cut off at the end, by bit. */
uint64_t sg_partial_block(int items, int level, int first);

#endif
