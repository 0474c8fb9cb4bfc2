/* A program under buffered coscheduling (paper 001, section 4), slice by slice.
 *
 * What a slice does is computed at its boundary: which descriptors have been posted before it, what
 * of them matches, and how long each microphase takes, message by message. The times are those of
 * the protocol (shim/algos/bcs) without a jitter, which tests compare; but a message moves as a
 * whole, not chunk by chunk, and process 0 exchanges messages when its strobe has come to the
 * others, not at once. A blocking send returns when its data have been fetched and the sender has
 * been told. Each process is an endpoint of its own.
 *
 * A slice begins at the first boundary after the end of the last one. Where the network has
 * query_us, hardware says that all are done, at a multiple of it after the microphase's begin; else
 * DONE climbs the tree. The agent takes agent_us for a descriptor, a process post_us to post one.
 */
#ifndef SG_BCS_PROGRAM_SLICES_H
#define SG_BCS_PROGRAM_SLICES_H

#include "bcs/program_run.h"
#include "core/status.h"

/* One line says what is wrong. */
enum sg_status sg_sliced_run(const struct sg_sliced_setup *setup, const struct sg_program *program,
                             struct sg_program_result *result);

#endif
