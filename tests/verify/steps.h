/* Which steps a world can take next, and taking one. The explorers choose among them. */
#ifndef SG_VERIFY_STEPS_H
#define SG_VERIFY_STEPS_H

#include "verify/world.h"

enum sg_explore_step_kind {
    SG_STEP_ARRIVE, /* flight `index` */
    SG_STEP_REPEAT, /* ... and another copy of it stays */
    SG_STEP_LOSE,
    SG_STEP_NOTICE, /* watch `id` of endpoint `index` */
    SG_STEP_ENTER,  /* process `index` polls */
    SG_STEP_POST,   /* ... posts */
    SG_STEP_CALL,   /* ... and calls */
    SG_STEP_DRAIN,
    SG_STEP_FIRE /* timer `id` of endpoint `index` */
};

struct sg_explore_step {
    uint8_t kind; /* enum sg_explore_step_kind */
    uint8_t id;
    uint16_t index;
    bool overtakes; /* something sent earlier is still in flight */
};

#define SG_EXPLORE_STEPS_MAX                                                                       \
    (SG_EXPLORE_FLIGHTS_MAX +                                                                      \
     SG_EXPLORE_NODES_MAX * (1 + SG_EXPLORE_COMMS_MAX * (SG_TIMERS + SG_WATCHES)))

/* Which steps are listed. */
struct sg_explore_view {
    bool reorder; /* what is sent later may arrive earlier */
    bool held;    /* what is held or delayed stays so */
    /* a process may poll whenever it computes: covers all modes of progress, without a separate
     * step for entering */
    bool always;
};

/* Lists ARRIVE in the order of sending, NOTICE, and steps of processes. Returns their number. */
uint32_t sg_explore_steps(const struct sg_explore_world *world, const struct sg_explore_view *view,
                          struct sg_explore_step *steps);
/* Lists the timers that are set where a process would notice them. */
uint32_t sg_explore_timers(const struct sg_explore_world *world, const struct sg_explore_view *view,
                           struct sg_explore_step *steps);
/* A fair choice: first what was sent first, and the processes in turn; when there is neither, the
 * timer that is due first. `scratch` has room for SG_EXPLORE_STEPS_MAX. False: nothing is possible.
 */
bool sg_explore_fair(const struct sg_explore_world *world, const struct sg_explore_view *view,
                     struct sg_explore_step *scratch, struct sg_explore_step *step);
void sg_explore_take(struct sg_explore_world *world, const struct sg_explore_step *step);
/* All calls have been made, nothing is in flight and nothing outstanding. */
bool sg_explore_over(struct sg_explore_world *world);

#endif
