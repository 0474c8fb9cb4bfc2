/* What must hold after every event and at the end. The first violation is recorded in the world. */
#ifndef SG_VERIFY_CHECK_H
#define SG_VERIFY_CHECK_H

#include "verify/world.h"

/* After a handler has written its actions: are they within bounds? */
bool sg_explore_check_actions(struct sg_explore_world *world,
                              const struct sg_explore_endpoint *endpoint);
/* After its actions have been carried out. */
void sg_explore_check_endpoint(struct sg_explore_world *world,
                               const struct sg_explore_endpoint *endpoint);
/* COMPLETE: may this call end, and is this its result? */
void sg_explore_check_complete(struct sg_explore_world *world,
                               const struct sg_explore_endpoint *endpoint);
/* FINISH, likewise; records it. */
void sg_explore_check_finish(struct sg_explore_world *world, struct sg_explore_endpoint *endpoint,
                             uint32_t seq);
/* When a call begins, or an instance that had its result buffer finishes: empties the buffer for
 * `seq` unless another instance uses it. */
void sg_explore_claim_result(struct sg_explore_endpoint *endpoint, uint32_t seq);
/* Whether an instance awaits a result in the buffer. */
bool sg_explore_owns_result(const struct sg_explore_world *world,
                            const struct sg_explore_endpoint *endpoint, uint32_t index);
/* Another endpoint writes a result there: NULL, or what is wrong with it. */
const char *sg_explore_check_put(const struct sg_explore_world *world,
                                 const struct sg_explore_endpoint *target, uint32_t index);
/* The most messages that one endpoint may have in flight to another, without those that timers
 * caused. */
uint32_t sg_explore_queue_limit(const struct sg_algo_parameters *parameters);
/* After a message has been sent. */
void sg_explore_check_queue(struct sg_explore_world *world,
                            const struct sg_explore_endpoint *endpoint, int32_t to);
/* When nothing more can happen. */
void sg_explore_check_end(struct sg_explore_world *world);
/* Of a REDUCE: whether an operation of the user's could be run here now. NULL, or what is wrong. */
const char *sg_explore_check_user(const struct sg_explore_world *world,
                                  const struct sg_explore_endpoint *endpoint, uint32_t seq);

#endif
