/* Listens to the adapters of clients between machines: a thread waits for their descriptors. */
#ifndef SG_PROGRESS_ADAPTER_H
#define SG_PROGRESS_ADAPTER_H

#include "progress/progress.h"

/* Starts the thread, unless it is running. look: called each time an adapter signals an event.
 * False: errno has the reason. */
bool sg_progress_adapter_start(void (*look)(void));
void sg_progress_adapter_stop(void);

/* Called by a rank that leaves a call, before its last poll. */
void sg_progress_adapter_arm(struct sg_progress_client *client);
void sg_progress_adapter_remove(struct sg_progress_client *client);

#endif
