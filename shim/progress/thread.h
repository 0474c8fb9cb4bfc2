/* The helper thread of this process: sleeps until a sender rings it or a check is due. */
#ifndef SG_PROGRESS_THREAD_H
#define SG_PROGRESS_THREAD_H

#include "progress/progress_table.h"

#include <pthread.h>

/* look: called each time the thread is rung or due; signals_too: a signal has found no thread.
 * due_ns: time of the next check without a ring; UINT64_MAX: never. False: errno has the reason. */
bool sg_progress_thread_start(struct sg_process_slot *own, void (*look)(bool signals_too),
                              uint64_t (*due_ns)(void));
void sg_progress_thread_stop(struct sg_process_slot *own);

/* Makes the helper thread of that process check. Async-signal-safe. */
void sg_progress_thread_ring(struct sg_process_slot *slot);

/* Creates a thread that takes no signal: the application's signals are for its own threads. Returns
 * 0 or an errno. */
int sg_progress_thread_create(pthread_t *thread, void *(*run)(void *context), void *context,
                              const char *name);

#endif
