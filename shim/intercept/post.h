/* Nonblocking collectives in the log: a record and an entry of the statistics from the post to the
 * completion of the request, by whichever thread completes it.
 */
#ifndef SG_INTERCEPT_POST_H
#define SG_INTERCEPT_POST_H

#include "intercept/comm.h"
#include "intercept/site.h"
#include "mpi/call.h"

struct sg_span_plan;

/* sg_request_post, recorded. begin_ns: the call's. */
int sg_post_recorded(struct sg_call *call, const struct sg_span_plan *plan, struct sg_site *site,
                     const struct sg_comm *comm, uint64_t begin_ns);

#endif
