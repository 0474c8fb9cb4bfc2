/* What must hold after every event, and at the end. The first violation is noted in the world. */
#ifndef SG_SIM_EXPLORE_CHECK_H
#define SG_SIM_EXPLORE_CHECK_H

#include "sim/explore_world.h"

/* Around every state; a handler that writes there is caught. */
#define SG_EXPLORE_GUARD_BYTES 64
#define SG_EXPLORE_GUARD 0xa5

/* A handler has written its actions: are they within bounds? */
bool sg_explore_check_actions(struct sg_explore_world *world,
                              const struct sg_explore_endpoint *endpoint);
/* Its actions have been carried out. */
void sg_explore_check_endpoint(struct sg_explore_world *world,
                               const struct sg_explore_endpoint *endpoint);
/* COMPLETE: may this call end, and with this result? */
void sg_explore_check_complete(struct sg_explore_world *world,
                               const struct sg_explore_endpoint *endpoint);
/* FINISH, likewise; notes it. */
void sg_explore_check_finish(struct sg_explore_world *world, struct sg_explore_endpoint *endpoint,
                             uint32_t seq);
/* Somebody else puts a result there: NULL, or what is wrong with it. */
const char *sg_explore_check_put(const struct sg_explore_world *world,
                                 const struct sg_explore_endpoint *target, uint32_t index);
/* Messages that one endpoint may have in flight to another, those aside that timers caused. */
uint32_t sg_explore_queue_limit(const struct sg_algo_parameters *parameters);
/* A message has been sent. */
void sg_explore_check_queue(struct sg_explore_world *world,
                            const struct sg_explore_endpoint *endpoint, int32_t to);
/* Whom the protocol may name in the calls of the scenario; then, whether it may name this one. */
void sg_explore_find_peers(struct sg_explore_world *world);
void sg_explore_check_peer(struct sg_explore_world *world,
                           const struct sg_explore_endpoint *endpoint, int32_t to);
/* Nothing more can happen. */
void sg_explore_check_end(struct sg_explore_world *world);

#endif
