/* Runs a program under buffered coscheduling (paper 001, section 4), slice by slice.
 *
 * A slice is computed at its boundary: the descriptors posted before it, their matches, and the
 * length of each microphase, message by message. The times are those of the protocol (shim/bcs)
 * without jitter, and tests compare them. Two things differ: a message moves as a whole, not chunk
 * by chunk, and process 0 exchanges messages when its strobe has reached the others, not at once. A
 * blocking send returns when its data have been fetched and the sender has been notified. Each
 * process is an endpoint.
 *
 * A slice begins at the first boundary after the end of the last one. If the network has query_us,
 * hardware reports that all are done, at a multiple of it after the microphase's begin; otherwise
 * DONE climbs the tree. The agent takes agent_us for a descriptor, a process post_us to post one.
 */
#ifndef SG_BCS_PROGRAM_SLICES_H
#define SG_BCS_PROGRAM_SLICES_H

#include "bcs/program_run.h"
#include "core/status.h"

/* On failure one line has been logged. */
enum sg_status sg_sliced_run(const struct sg_sliced_setup *setup, const struct sg_program *program,
                             struct sg_program_result *result);

#endif
