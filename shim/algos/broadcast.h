/* Broadcasts along a tree, shared by the protocols that have them: tree and bypass.
 *
 * The root sends its data to its children in the tree relative to it, and an endpoint that gets
 * them passes them on to its own. Data of a call that has not been made here wait in a slot. With
 * `bypass` they are passed on at once, by whoever delivers them, as contributions are combined in a
 * reduce (paper "Application-Bypass Reduction", section II, and the broadcast that it cites);
 * otherwise in the call.
 *
 * Broadcasts have numbers, alike at every endpoint: instances, or a count of their own. Data of
 * number n wait at n modulo `credits`. So a root may only begin n when all endpoints have finished
 * n - credits, which is its protocol's business (flow_control.h); nobody else ever waits for
 * anything but the data. Part of a protocol's state: no pointers.
 */
#ifndef SG_ALGOS_BROADCAST_H
#define SG_ALGOS_BROADCAST_H

#include "algos/algo.h"

/* Header.kind of the data; a protocol's own are below. */
#define SG_BROADCAST_DATA 48

struct sg_broadcast {
    int32_t rank, size;
    uint32_t base, stride; /* slot of place p: base + p * stride */
    uint64_t called;       /* number of the last call */
    uint8_t credits;
    uint8_t degree;  /* of the tree (sg_branch_*) */
    bool bypass;     /* what comes before its call is passed on at once */
    bool is_waiting; /* the call under way, for its data */
    uint64_t here;   /* places where data wait, by bit: of the next number that belongs there */
};

void sg_broadcast_init(struct sg_broadcast *broadcast, const struct sg_algo_setup *setup,
                       int degree, bool bypass, uint32_t base, uint32_t stride);

/* Call of instance head->seq, with this number. At the root: sends. True: it is complete, with the
 * result of an endpoint that is not the root there. */
bool sg_broadcast_call(struct sg_broadcast *broadcast, struct sg_algo_head *head, uint64_t number,
                       const struct sg_algo_call *call, struct sg_actions *actions);

/* Data came; last: the number of the last call, broadcast or not. True: the call under way is
 * complete. */
bool sg_broadcast_take(struct sg_broadcast *broadcast, struct sg_algo_head *head, uint64_t last,
                       const struct sg_message *message, struct sg_actions *actions);

/* Whether this endpoint passes data of that root on. */
bool sg_broadcast_passes_on(const struct sg_broadcast *broadcast, int32_t root);

#endif
