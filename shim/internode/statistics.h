/* Counts the effects of the events at an endpoint, for the trace. Under the endpoint's lock, also
 * in a signal handler, except for sg_internode_read_counters.
 */
#ifndef SG_INTERNODE_STATISTICS_H
#define SG_INTERNODE_STATISTICS_H

#include "internode/communicator.h"
#include "mpi/trace_events.h"

/* Adds what an event has changed in a protocol's head. */
void sg_endpoint_count(struct sg_endpoint *endpoint, const struct sg_algo_head *before,
                       const struct sg_algo_head *after, uint64_t marks);

/* A late contribution: before its actions are carried out, which may end the instance, and after.
 * False: its instance is not known. */
bool sg_endpoint_begin_late(struct sg_internode *internode, uint32_t protocol,
                            const struct sg_event *event, struct sg_late *late);
void sg_endpoint_end_late(struct sg_internode *internode, struct sg_late *late);

/* At a call's end, without the lock: the counts since the last time. */
void sg_internode_read_counters(struct sg_internode *internode,
                                struct sg_call_statistics *statistics);

#endif
