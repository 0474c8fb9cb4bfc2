/* Partial results of one instance, and the combining of local ranks.
 *
 * An endpoint of a tree holds its own operand and its children's contributions, the items 0 ..
 * items-1 in order of rank, and folds them as soon as their association allows.
 *
 *   balanced  SG_SHAPE_BINOMIAL at root 0 over the items: neighbours, then neighbours of these.
 *             While item j is missing, the partial results on j's way up remain, one per level.
 *   chain     ((0 . 1) . 2) . 3 ...: as stock MPICH's binomial reduce.
 *   any       one running value, in order of arrival.
 *   held      as balanced, but nothing is folded before item 0, the own operand, has arrived: for
 *             a user's operation, which can run only in the call.
 *
 * Item i waits in slot base + i, which also holds the partial result that begins with item i. The
 * own operand stays in place until something is folded with it. If bytes is 0, in a barrier, items
 * are only counted. Part of a protocol's state: no pointers. */
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
    uint64_t in;    /* items that have arrived, as bits */
    uint64_t seq;   /* instance */
    uint32_t bytes; /* bytes of each; 0: no data */
    uint8_t items;
    uint8_t mode;    /* enum sg_partial_results_mode */
    uint8_t folded;  /* chain: number folded, from item 0 on; any: number folded at all */
    uint8_t operand; /* 1: the partial result that begins with item 0 is still the operand itself */
};

void sg_partial_begin(struct sg_partial_results *partial_results, uint64_t seq, int items,
                      enum sg_partial_results_mode mode, uint32_t bytes);
/* Takes an item, whose data is the operand (item 0) or a part of the current message. False: it has
 * arrived before. */
bool sg_partial_add(struct sg_partial_results *partial_results, uint32_t base, int item,
                    struct sg_data data, struct sg_actions *actions);
/* Folds a value that is no item into the running value. Mode any only. */
void sg_partial_merge(struct sg_partial_results *partial_results, uint32_t base,
                      struct sg_data data, struct sg_actions *actions);
/* Missing items, as bits. */
uint64_t sg_partial_missing(const struct sg_partial_results *partial_results);
/* Returns the partial result that begins with item; for item 0 of a complete set, the value. */
struct sg_data sg_partial_value(const struct sg_partial_results *partial_results, uint32_t base,
                                int item);
/* Items [first, first + 2^level), cut off at the end, as bits. */
uint64_t sg_partial_block(int items, int level, int first);

/* ---- combining: the node level in front of a protocol between nodes ----
 *
 * The local ranks of one endpoint arrive in any order, and the last of them feeds the protocol's
 * CALL.
 *
 * As in handoff within nodes (algorithms.md): at each node of SG_SHAPE_DOUBLING over the local
 * ranks, the first arriver leaves its partial result in its slot, and the second folds left (op)
 * right into its own slot and climbs on. So the association is fixed, and late ranks do the work. A
 * rank may run ahead by a ring of `depth` instances.
 *
 * A broadcast has nothing to fold: the root feeds the CALL, or at other endpoints the first arriver
 * does; a rank that arrives after its end finds the data there.
 *
 * A pure state machine like the protocols (algo.h): no I/O, no pointers in its state, one caller at
 * a time. The event loop carries out a step and owns the slots: rank r's slot of instance n is (n
 * modulo depth) * ranks + r. */

#define SG_COMBINING_RANKS_MAX 4096
#define SG_COMBINING_DEPTH_MAX 64
/* Most folds of one arrival: the levels of the shape. */
#define SG_COMBINING_FOLDS_MAX 13

struct sg_combining {
    uint32_t ranks, depth;
    uint32_t completed; /* number of completed instances */
    uint32_t words[];   /* see partial_results.c */
};

enum sg_combining_result {
    /* nothing was done: the rank is `depth` ahead; try again after a complete or, for a broadcast,
     * after an arrival */
    SG_COMBINING_FULL,
    SG_COMBINING_LEAVES, /* its call returns now */
    SG_COMBINING_WAITS,  /* its call returns when the instance is complete */
    SG_COMBINING_CALLS   /* waits likewise, and feeds the CALL */
};

struct sg_combining_step {
    enum sg_combining_result result;
    uint32_t seq;   /* instance, from 1 */
    uint32_t slot;  /* this rank's slot */
    uint32_t folds; /* folds to carry out, in order */
    struct {
        uint32_t partner; /* slot of the other partial result */
        bool right;       /* own is the right operand; left (op) right goes into the own slot */
    } fold[SG_COMBINING_FOLDS_MAX];
    /* Until the first fold, the own partial result is the rank's operand. True: no fold, copy the
     * operand into the own slot. In the step that CALLS, the own partial result is the endpoint's
     * contribution: its slot or, with no fold, its operand. */
    bool store;
};

/* Returns the size of the state; 0: too many ranks or instances. */
uint32_t sg_combining_bytes(uint32_t ranks, uint32_t depth);
void sg_combining_init(struct sg_combining *combining, uint32_t ranks, uint32_t depth);
/* Local rank `rank` makes its next call. root: local rank of a reduce's or broadcast's root; -1 for
 * other operations, or if the root is at another endpoint. */
void sg_combining_arrive(struct sg_combining *combining, uint32_t rank, enum sg_operation operation,
                         int32_t root, struct sg_combining_step *step);
/* The CALL that was fed is complete: the ranks that wait for it leave. (No other CALL can be due,
 * because the rank that fed it waited, too.) */
void sg_combining_complete(struct sg_combining *combining);

#endif
