/* Arming and ringing of endpoints' doorbells, for the other files of progress. */
#ifndef SG_PROGRESS_DOORBELL_H
#define SG_PROGRESS_DOORBELL_H

#include "progress/progress.h"
#include "progress/progress_table.h"

/* Before any doorbell is armed. */
void sg_progress_doorbell_start(struct sg_progress_table *table, uint32_t own);
void sg_progress_take_arithmetic(const struct sg_progress_float *kept);
/* A doorbell that this process armed for a signal is armed for that mode instead; poll: not at all.
 */
void sg_progress_doorbell_replace_signal(struct sg_doorbell *doorbell, enum sg_progress_mode by);
/* Whether it is armed for a signal, by any process. */
bool sg_progress_doorbell_is_for_signal(const struct sg_doorbell *doorbell);
/* Whether there may be a timer that the helper thread of the process that armed the doorbell does
 * not know of. */
void sg_progress_mind_timer(struct sg_progress_client *client);
/* Something waits, or is to be checked now and then, without anyone who will ring for it. */
bool sg_progress_takes_naps(const struct sg_progress_client *client);
/* When the helper thread of this process is to check the client without a ring: its next timer is
 * due, a nonblocking call waits for a place, or its doorbell is armed for a signal. UINT64_MAX:
 * never. */
uint64_t sg_progress_due_ns(const struct sg_progress_client *client);

/* The clients of this process, which threads and signal handlers visit. */

/* Visits every client, for that kind of progress. Async-signal-safe if visit is. */
void sg_progress_visit(void (*visit)(struct sg_progress_client *client, void *context),
                       void *context, enum sg_progress_by by);

#endif
