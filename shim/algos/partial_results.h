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
#include "core/text.h"

#include <stdbool.h>
#include <stdint.h>

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

/* The node level in front of a protocol between nodes: the local ranks of one endpoint arrive in
 * any order, and the last of them feeds the protocol's CALL.
 *
 * As handoff within nodes (algorithms.md): at each node of SG_SHAPE_DOUBLING over the local ranks
 * the first arriver leaves its partial in its slot, the second folds left (op) right into its own
 * slot and climbs on. So the association is fixed, and whoever is late does the work. A rank may
 * run ahead by a ring of `depth` instances.
 *
 * In a broadcast there is nothing to fold: the root feeds the CALL, at other endpoints the first
 * to arrive, and who comes after its end finds the data there.
 *
 * A pure state machine like the protocols (algo.h): no I/O, no pointers in its state, one caller at
 * a time. The host carries out what a step says and keeps the slots: rank r's of instance n is (n
 * modulo depth) * ranks + r.
 */

#define SG_COMBINING_RANKS_MAX 4096
#define SG_COMBINING_DEPTH_MAX 64
/* Most folds of one arrival: the levels of the shape. */
#define SG_COMBINING_FOLDS_MAX 13

struct sg_combining {
    uint32_t ranks, depth;
    uint32_t completed; /* instances */
    uint32_t words[];   /* combining.c */
};

enum sg_combining_result {
    /* nothing has happened: the rank is `depth` ahead; again after a complete, or of a broadcast
     * after an arrival */
    SG_COMBINING_FULL,
    SG_COMBINING_LEAVES, /* its call returns now */
    SG_COMBINING_WAITS,  /* its call returns when the instance is complete */
    SG_COMBINING_CALLS   /* waits likewise, and delivers the CALL */
};

struct sg_combining_step {
    enum sg_combining_result result;
    uint32_t seq;   /* the instance, from 1 */
    uint32_t slot;  /* this rank's */
    uint32_t folds; /* to carry out in their order: */
    struct {
        uint32_t partner; /* the slot of the other one's partial */
        bool right;       /* own is the right operand; left (op) right goes into own slot */
    } fold[SG_COMBINING_FOLDS_MAX];
    /* The own partial is the rank's operand until the first fold. True: with no fold, it has to be
     * copied into the own slot. Else the last of all; its partial is the endpoint's contribution:
     * its slot, or with no fold its operand. */
    bool store;
};

/* 0: more ranks or instances than there may be. */
uint32_t sg_combining_bytes(uint32_t ranks, uint32_t depth);
void sg_combining_init(struct sg_combining *combining, uint32_t ranks, uint32_t depth);
/* Local rank `rank` makes its next call. root: the local rank that is the root of a reduce or
 * broadcast; -1 for other operations, or where the root is at another endpoint. */
void sg_combining_arrive(struct sg_combining *combining, uint32_t rank, enum sg_operation operation,
                         int32_t root, struct sg_combining_step *step);
/* The CALL that was fed is complete: who waits for it leaves. (No other can be due: the rank that
 * fed it waited, too.) */
void sg_combining_complete(struct sg_combining *combining);

#endif
