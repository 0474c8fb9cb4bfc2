/* How far a protocol's endpoints may run ahead of each other where nothing else bounds it: a floor,
 * the instance that all endpoints are known to have finished. Who enters instances only up to
 * `credits` above it never sends to an endpoint that has no room in a ring of `credits` instances.
 *
 * A collective that synchronises raises the floor for nothing. Else, every credits/2 instances,
 * reports climb the tree of rank 0, and rank 0 sends the new floor down. Part of a protocol's
 * state.
 */
#ifndef SG_ALGOS_FLOOR_H
#define SG_ALGOS_FLOOR_H

#include "algos/algo.h"

#define SG_FLOOR_REPORTS_MAX 4

enum sg_floor_kind { SG_FLOOR_REPORT = 32, SG_FLOOR_RAISED };

struct sg_floor {
    int32_t rank, size;
    uint32_t floor; /* all endpoints have finished up to here */
    uint32_t moot;  /* reports up to here are not needed: a synchronising instance came after */
    uint32_t run;   /* instances since the last that synchronised */
    uint8_t degree; /* of the tree; 1: binomial */
    uint8_t credits;
    struct {
        uint32_t seq;
        uint32_t count; /* children's and the own */
    } reports[SG_FLOOR_REPORTS_MAX];
};

void sg_floor_init(struct sg_floor *floor, const struct sg_algo_setup *setup, int degree,
                   uint32_t credits);

/* May instance seq take part here yet? */
bool sg_floor_allows(const struct sg_floor *floor, uint32_t seq);
/* Instance seq takes part. Not before it may: while it waits, reports still count. */
void sg_floor_enter(struct sg_floor *floor, uint32_t seq, bool synchronises);

/* Instance seq, which does not synchronise, is finished here. */
void sg_floor_finished(struct sg_floor *floor, uint32_t seq, struct sg_actions *actions);
/* All have entered instance seq. */
void sg_floor_synchronised(struct sg_floor *floor, uint32_t seq);
/* A REPORT or RAISED came. */
void sg_floor_message(struct sg_floor *floor, const struct sg_header *header,
                      struct sg_actions *actions);

#endif
