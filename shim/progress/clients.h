/* The clients of this process, which threads and signal handlers visit. */
#ifndef SG_PROGRESS_CLIENTS_H
#define SG_PROGRESS_CLIENTS_H

#include "progress/progress.h"

/* Visits every client, for that kind of progress. Async-signal-safe if visit is. */
void sg_progress_visit(void (*visit)(struct sg_progress_client *client, void *context),
                       void *context, enum sg_progress_by by);

#endif
