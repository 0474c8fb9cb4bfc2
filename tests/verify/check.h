/* Invariants of a run, checked after every event and at the end. The first violation is recorded in
 * the world. */
#ifndef SG_VERIFY_CHECK_H
#define SG_VERIFY_CHECK_H

#include "verify/world.h"

/* Checks that a handler's actions are within bounds. */
bool sg_explore_check_actions(struct sg_explore_world *world,
                              const struct sg_explore_endpoint *endpoint);
/* Checks an endpoint after its actions have been carried out. */
void sg_explore_check_endpoint(struct sg_explore_world *world,
                               const struct sg_explore_endpoint *endpoint);
/* COMPLETE: checks that the call may end, and its result. */
void sg_explore_check_complete(struct sg_explore_world *world,
                               const struct sg_explore_endpoint *endpoint);
/* FINISH: likewise; also records it. */
void sg_explore_check_finish(struct sg_explore_world *world, struct sg_explore_endpoint *endpoint,
                             uint32_t seq);
/* Empties the result buffer for `seq` unless another instance uses it. Called when a call begins,
 * or when an instance that used the buffer finishes. */
void sg_explore_claim_result(struct sg_explore_endpoint *endpoint, uint32_t seq);
/* True if an instance awaits a result in the buffer. */
bool sg_explore_owns_result(const struct sg_explore_world *world,
                            const struct sg_explore_endpoint *endpoint, uint32_t index);
/* Checks a result that another endpoint writes into the buffer: NULL, or what is wrong. */
const char *sg_explore_check_put(const struct sg_explore_world *world,
                                 const struct sg_explore_endpoint *target, uint32_t index);
/* Maximum number of messages in flight from one endpoint to another, without those that timers
 * cause. */
uint32_t sg_explore_queue_limit(const struct sg_algo_parameters *parameters);
/* Checks the queue after a message has been sent. */
void sg_explore_check_queue(struct sg_explore_world *world,
                            const struct sg_explore_endpoint *endpoint, int32_t to);
/* Checks the world when no step is possible. */
void sg_explore_check_end(struct sg_explore_world *world);
/* For a REDUCE: checks that a user-defined operation could run here now. NULL, or what is wrong. */
const char *sg_explore_check_user(const struct sg_explore_world *world,
                                  const struct sg_explore_endpoint *endpoint, uint32_t seq);

#endif
