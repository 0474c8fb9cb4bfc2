/* Executes the steps of an explorer's world: each delivers an event, or lets an access take effect,
 * and carries out the resulting actions. */
#ifndef SG_VERIFY_SCHEDULE_H
#define SG_VERIFY_SCHEDULE_H

#include "verify/world.h"

/* Turns crashes of protocols into violations from now on. */
void sg_explore_catch_crashes(void);
void sg_explore_call(struct sg_explore_world *world, int32_t process);
/* Makes the process's next post. */
void sg_explore_post(struct sg_explore_world *world, int32_t process);
void sg_explore_drain(struct sg_explore_world *world, int32_t process);
void sg_explore_arrive(struct sg_explore_world *world, uint32_t live, bool keep);
void sg_explore_lose(struct sg_explore_world *world, uint32_t live);
void sg_explore_fire(struct sg_explore_world *world, struct sg_explore_endpoint *endpoint,
                     uint32_t id);
void sg_explore_notice(struct sg_explore_world *world, struct sg_explore_endpoint *endpoint,
                       uint32_t id);

#endif
