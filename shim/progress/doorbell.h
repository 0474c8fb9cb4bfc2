/* Arming and ringing of endpoints' doorbells, and the clients of this process, for the other files
 * of progress. */
#ifndef SG_PROGRESS_DOORBELL_H
#define SG_PROGRESS_DOORBELL_H

#include "progress/progress.h"
#include "progress/progress_table.h"

/* Call it before any doorbell is armed. */
void sg_progress_doorbell_start(struct sg_progress_table *table, uint32_t own);
void sg_progress_take_arithmetic(const struct sg_progress_float *kept);
/* Rearms a doorbell that this process armed for a signal for that mode instead; poll: disarms it.
 */
void sg_progress_doorbell_replace_signal(struct sg_doorbell *doorbell, enum sg_progress_mode by);
/* True if it is armed for a signal, by any process. */
bool sg_progress_doorbell_is_for_signal(const struct sg_doorbell *doorbell);
/* Rings the process that armed the doorbell if its helper thread may not know of the next timer. */
void sg_progress_mind_timer(struct sg_progress_client *client);
/* True if something of the client waits, or needs regular checks, and no sender will ring for it.
 */
bool sg_progress_takes_naps(const struct sg_progress_client *client);
/* Returns the time at which this process's helper thread must check the client without a ring: its
 * next timer, a nonblocking call that waits for a slot, or a doorbell armed for a signal.
 * UINT64_MAX: never. */
uint64_t sg_progress_due_ns(const struct sg_progress_client *client);

/* The clients of this process, which threads and signal handlers visit. */

/* Visits every client, for that kind of progress. Async-signal-safe if visit is. */
void sg_progress_visit(void (*visit)(struct sg_progress_client *client, void *context),
                       void *context, enum sg_progress_by by);

#endif
