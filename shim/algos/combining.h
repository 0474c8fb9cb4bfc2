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
#ifndef SG_ALGOS_COMBINING_H
#define SG_ALGOS_COMBINING_H

#include "core/operation.h"

#include <stdbool.h>
#include <stdint.h>

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
