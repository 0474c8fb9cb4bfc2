/* The chunks of a call, one after the other or several side by side: when a process goes on to the
 * next one, and when it leaves.
 */
#ifndef SG_SIM_TIMED_CHUNKS_H
#define SG_SIM_TIMED_CHUNKS_H

#include "sim/timed/state.h"

/* The process is through with a chunk at time_ns, but for the wait for its end where chunks go side
 * by side and it stays for that. */
void sg_chunk_left(struct world *world, int32_t process, uint64_t time_ns, bool stays);

/* An instance is finished at this endpoint. */
void sg_chunk_finished(struct world *world, int32_t endpoint, uint32_t seq);

/* Processes that wait for what has been finished go on, at time_ns. */
void sg_chunks_go_on(struct world *world, int32_t endpoint, uint64_t time_ns);

#endif
