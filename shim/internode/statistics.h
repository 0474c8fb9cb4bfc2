/* What the events at an endpoint come to, for the trace. Under the endpoint's lock, in a signal
 * handler too, but for sg_span_tell.
 */
#ifndef SG_INTERNODE_STATISTICS_H
#define SG_INTERNODE_STATISTICS_H

#include "internode/communicator.h"
#include "mpi/observer.h"

/* What an event has changed in an object's head. */
void sg_span_count(struct sg_span_endpoint *endpoint, const struct sg_algo_head *before,
                   const struct sg_algo_head *after, uint64_t marks);

/* A contribution that was late: before its actions are carried out, which may end the instance, and
 * after. False: its instance is not known. */
bool sg_span_begin_late(struct sg_span *span, uint32_t object, const struct sg_event *event,
                        struct sg_late *late);
void sg_span_end_late(struct sg_span *span, struct sg_late *late);

/* At a call's end, without the lock: what has been counted since the last time. */
void sg_span_tell(struct sg_span *span, struct sg_outcome *outcome);

#endif
