/* Flow control of a protocol in which nothing else bounds how far an endpoint runs ahead: a bound,
 * the instance that all endpoints are known to have finished. An endpoint that enters instances
 * only up to `credits` above the bound never sends to an endpoint that has no room in its ring of
 * `credits` instances.
 *
 * A collective that synchronises raises the bound without messages. Otherwise, every credits/2
 * instances, reports climb the tree of rank 0, and rank 0 sends the new bound down. Part of a
 * protocol's state.
 */
#ifndef SG_ALGOS_FLOW_CONTROL_H
#define SG_ALGOS_FLOW_CONTROL_H

#include "algos/algo.h"

#define SG_FLOW_REPORTS_MAX 4

/* Header.kind. For the second kind who passes a message on is interrupted. */
enum sg_flow_kind {
    SG_FLOW_REPORT = 32,
    SG_FLOW_RAISED,
    SG_FLOW_SOLICITED_REPORT,
    SG_FLOW_SOLICITED_RAISED
};

struct sg_flow {
    int32_t rank, size;
    uint64_t floor; /* all endpoints have finished up to here */
    uint64_t moot;  /* reports up to here are not needed: a synchronising instance came after */
    uint64_t run;   /* instances since the last that synchronised */
    uint8_t degree; /* of the tree; 1: binomial */
    uint8_t credits;
    uint8_t kind; /* of its reports; that of what is raised follows it */
    struct {
        uint64_t seq;
        uint32_t count; /* children's and the own */
    } reports[SG_FLOW_REPORTS_MAX];
};

void sg_flow_init(struct sg_flow *flow, const struct sg_algo_setup *setup, int degree,
                  uint32_t credits, enum sg_flow_kind kind);

/* May instance seq take part here yet? */
bool sg_flow_allows(const struct sg_flow *flow, uint64_t seq);
/* Instance seq takes part. Not before it may: while it waits, reports still count. */
void sg_flow_enter(struct sg_flow *flow, uint64_t seq, bool synchronises);

/* Instance seq, which does not synchronise, is finished here. */
void sg_flow_finished(struct sg_flow *flow, uint64_t seq, struct sg_actions *actions);
/* All have entered instance seq. */
void sg_flow_synchronised(struct sg_flow *flow, uint64_t seq);
/* A REPORT or RAISED came. */
void sg_flow_message(struct sg_flow *flow, const struct sg_header *header,
                     struct sg_actions *actions);

#endif
