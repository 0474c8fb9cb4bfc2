/* Slices of protocols that have them, as they begin and end at an endpoint: which collectives ran
 * in which, and, where EMDS is on, what is told of them (mpi/trace_events.h). Adds what the
 * protocol cannot know: ranks that waited, and processor time by what it went to.
 *
 * With the endpoint's lock, in a signal handler, too.
 */
#ifndef SG_INTERNODE_SLICES_H
#define SG_INTERNODE_SLICES_H

#include "internode/delivery.h"

/* In MPI_Init: whether slices are told of, and the time of handlers is measured. */
void sg_slices_start(bool told, bool timed);

/* Around the handler and the actions of an event. */
void sg_slices_begin_event(struct sg_delivery *delivery);
void sg_slices_end_event(struct sg_delivery *delivery, const struct sg_actions *actions);

/* Carry out BEGIN_SLICE and END_SLICE. */
void sg_slices_begin(const struct sg_delivery *delivery, const struct sg_actions *actions);
void sg_slices_end(struct sg_delivery *delivery, const struct sg_actions *actions);

#endif
