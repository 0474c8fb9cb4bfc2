/* Clients between machines: a thread listens to the descriptors of their adapters. */
#ifndef SG_PROGRESS_ADAPTER_H
#define SG_PROGRESS_ADAPTER_H

#include "progress/progress.h"

/* The thread that listens, unless it is there; look: each time that an adapter tells of something.
 * False: errno tells. */
bool sg_progress_adapter_start(void (*look)(void));
void sg_progress_adapter_stop(void);

/* By a rank that leaves a call, before its last look. */
void sg_progress_adapter_arm(struct sg_progress_client *client);
void sg_progress_adapter_remove(struct sg_progress_client *client);

#endif
