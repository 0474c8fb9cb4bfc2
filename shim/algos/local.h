/* The node level in front of a protocol between nodes: the local ranks of one endpoint arrive in
 * any order, and the last of them feeds the protocol's CALL.
 *
 * As handoff within nodes (algorithms.md): at each node of SG_SHAPE_DOUBLING over the local ranks
 * the first arriver leaves its partial in its slot, the second folds left (op) right into its own
 * slot and climbs on. So the association is fixed, and whoever is late does the work. A rank may
 * run ahead by a ring of `depth` instances.
 *
 * A pure state machine like the protocols (algo.h): no I/O, no pointers in its state, one caller at
 * a time. The host carries out what a step says and keeps the slots: rank r's of instance n is (n
 * modulo depth) * ranks + r.
 */
#ifndef SG_ALGOS_LOCAL_H
#define SG_ALGOS_LOCAL_H

#include "core/operation.h"

#include <stdbool.h>
#include <stdint.h>

#define SG_LOCAL_RANKS_MAX 4096
#define SG_LOCAL_DEPTH_MAX 64
/* Most folds of one arrival: the levels of the shape. */
#define SG_LOCAL_FOLDS_MAX 13

struct sg_local {
    uint32_t ranks, depth;
    uint32_t completed; /* instances */
    uint32_t words[];   /* local.c */
};

enum sg_local_outcome {
    SG_LOCAL_FULL,   /* nothing has happened: the rank is `depth` ahead; again after a complete */
    SG_LOCAL_LEAVES, /* its call returns now */
    SG_LOCAL_WAITS,  /* its call returns when the instance is complete */
    SG_LOCAL_CALLS   /* waits likewise, and feeds the CALL */
};

struct sg_local_step {
    enum sg_local_outcome outcome;
    uint32_t seq;   /* the instance, from 1 */
    uint32_t slot;  /* this rank's */
    uint32_t folds; /* to carry out in their order: */
    struct {
        uint32_t partner; /* the slot of the other one's partial */
        bool right;       /* own is the right operand; left (op) right goes into own slot */
    } fold[SG_LOCAL_FOLDS_MAX];
    /* The own partial is the rank's operand until the first fold. True: with no fold, it has to be
     * copied into the own slot. Else the last of all; its partial is the endpoint's contribution:
     * its slot, or with no fold its operand. */
    bool store;
};

/* 0: more ranks or instances than there may be. */
uint32_t sg_local_bytes(uint32_t ranks, uint32_t depth);
void sg_local_init(struct sg_local *local, uint32_t ranks, uint32_t depth);

/* Local rank `rank` makes its next call. root: the local rank that gets a reduce's result; -1 for
 * other operations, or where the root is at another endpoint. */
void sg_local_arrive(struct sg_local *local, uint32_t rank, enum sg_operation operation,
                     int32_t root, struct sg_local_step *step);

/* The CALL that was fed is complete: who waits for it leaves. (No other can be due: the rank that
 * fed it waited, too.) */
void sg_local_complete(struct sg_local *local);

#endif
