/* Lists the steps that a world can take next, and takes one. The explorers choose among them. */
#ifndef SG_VERIFY_STEPS_H
#define SG_VERIFY_STEPS_H

#include "verify/world.h"

enum sg_explore_step_kind {
    SG_STEP_ARRIVE, /* flight at `index` in live */
    SG_STEP_REPEAT, /* the same, and a copy of the flight stays */
    SG_STEP_LOSE,
    SG_STEP_NOTICE, /* watch `id` of endpoint `index` */
    SG_STEP_ENTER,  /* process `index` starts polling */
    SG_STEP_POST,   /* process `index` posts */
    SG_STEP_CALL,   /* process `index` calls */
    SG_STEP_DRAIN,
    SG_STEP_FIRE /* timer `id` of endpoint `index` */
};

struct sg_explore_step {
    uint8_t kind; /* enum sg_explore_step_kind */
    uint8_t id;
    uint16_t index;
    /* an earlier flight of its kind between the same endpoints is still on its way */
    bool overtakes;
};

#define SG_EXPLORE_STEPS_MAX                                                                       \
    (SG_EXPLORE_FLIGHTS_MAX +                                                                      \
     SG_EXPLORE_NODES_MAX * (1 + SG_EXPLORE_COMMS_MAX * (SG_TIMERS + SG_WATCHES)))

/* Selects the steps that are listed. */
struct sg_explore_view {
    bool reorder; /* later messages may arrive first */
    bool held;    /* held processes and delayed flights stay so */
    /* a process may poll whenever it computes: covers all modes of progress, without a separate
     * step for entering */
    bool always;
};

/* Lists ARRIVE in the order of sending, NOTICE, and steps of processes. Returns their number. */
uint32_t sg_explore_steps(const struct sg_explore_world *world, const struct sg_explore_view *view,
                          struct sg_explore_step *steps);
/* Lists the set timers that a process would notice. */
uint32_t sg_explore_timers(const struct sg_explore_world *world, const struct sg_explore_view *view,
                           struct sg_explore_step *steps);
/* Makes a fair choice: alternately the oldest flight and the processes; if there is neither, the
 * timer that is due first. `scratch` has SG_EXPLORE_STEPS_MAX elements. False: no step is
 * possible. */
bool sg_explore_fair(const struct sg_explore_world *world, const struct sg_explore_view *view,
                     struct sg_explore_step *scratch, struct sg_explore_step *step);
void sg_explore_take(struct sg_explore_world *world, const struct sg_explore_step *step);
/* True when all calls have been made, nothing is in flight and nothing outstanding. */
bool sg_explore_over(struct sg_explore_world *world);

#endif
