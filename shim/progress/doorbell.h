/* Arming and ringing of endpoints' doorbells: what the other files of progress need of it. */
#ifndef SG_PROGRESS_DOORBELL_H
#define SG_PROGRESS_DOORBELL_H

#include "progress/progress.h"
#include "progress/table.h"

/* Before any doorbell is armed. */
void sg_progress_doorbell_start(struct sg_progress_table *table, uint32_t own);

/* The modes of arithmetic of this thread, for who handles what arrives in its place. Who takes them
 * leaves them so: a handler's end with it, and a thread of progress sets them for each client. */
void sg_progress_keep_arithmetic(struct sg_progress_float *kept);
void sg_progress_take_arithmetic(const struct sg_progress_float *kept);

/* This process is not rung for the endpoint any more. */
void sg_progress_doorbell_withdraw(struct sg_doorbell *doorbell);

/* What this process armed for a signal is armed for that mode; poll: not at all. */
void sg_progress_doorbell_replace_signal(struct sg_doorbell *doorbell, enum sg_progress_mode by);

/* Armed for a signal, by whomever. */
bool sg_progress_doorbell_is_for_signal(const struct sg_doorbell *doorbell);

/* A timer may have come that the helper thread of whoever armed the doorbell does not know of. */
void sg_progress_mind_timer(struct sg_progress_client *client);

/* Something waits, or is to be looked at now and then: nobody will be rung for it. */
bool sg_progress_takes_naps(const struct sg_progress_client *client);

/* When the helper thread of this process is to look at the client without a ring: its next timer is
 * due, a nonblocking call waits for a place, or its doorbell is armed for a signal. UINT64_MAX:
 * never. */
uint64_t sg_progress_due_ns(const struct sg_progress_client *client);

#endif
