/* A nonblocking collective as a request. */
#ifndef SG_INTERNODE_COLLECTIVE_REQUEST_H
#define SG_INTERNODE_COLLECTIVE_REQUEST_H

#include "internode/internode.h"
#include "internode/request.h"

/* When the request is completed: once, by the thread that waits or tests. */
typedef void (*sg_request_completed)(void *context, const struct sg_request_times *times);

/* Starts the call and sets *call->request. If it returns an error nothing has been started, and no
 * error handler has been called. completed may be NULL. */
int sg_request_start(const struct sg_call *call, const struct sg_internode_plan *plan,
                     sg_request_completed completed, void *context,
                     struct sg_call_statistics *statistics);

#endif
