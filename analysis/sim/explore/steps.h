/* Which steps a world can take next, and taking one. Whoever explores decides. */
#ifndef SG_SIM_EXPLORE_STEPS_H
#define SG_SIM_EXPLORE_STEPS_H

#include "sim/explore/world.h"

enum sg_explore_step_kind {
    SG_STEP_ARRIVE, /* flight `index` */
    SG_STEP_REPEAT, /* ... and another copy of it stays */
    SG_STEP_LOSE,
    SG_STEP_NOTICE, /* watch `id` of endpoint `index` */
    SG_STEP_ENTER,  /* process `index` looks what has arrived */
    SG_STEP_CALL,   /* ... and calls */
    SG_STEP_DRAIN,
    SG_STEP_FIRE /* timer `id` of endpoint `index` */
};

struct sg_explore_step {
    uint8_t kind; /* enum sg_explore_step_kind */
    uint8_t id;
    uint16_t index;
    bool overtakes; /* something sent earlier is still on its way */
};

#define SG_EXPLORE_STEPS_MAX                                                                       \
    (SG_EXPLORE_FLIGHTS_MAX +                                                                      \
     SG_EXPLORE_NODES_MAX * (1 + SG_EXPLORE_COMMS_MAX * (SG_TIMERS + SG_WATCHES)))

/* How a world is looked at. */
struct sg_explore_view {
    bool reorder; /* what is sent later may come earlier */
    bool held;    /* what is held or delayed stays so */
    bool always;  /* a process may look for messages whenever it computes: the union of all modes
                     of progress, without a step of its own for entering */
};

/* ARRIVE, in the order of sending, NOTICE, and what processes do. Returns their number. */
uint32_t sg_explore_steps(const struct sg_explore_world *world, const struct sg_explore_view *view,
                          struct sg_explore_step *steps);
/* Timers that are set where somebody would see to them. */
uint32_t sg_explore_timers(const struct sg_explore_world *world, const struct sg_explore_view *view,
                           struct sg_explore_step *steps);

/* A fair choice: what was sent first and the processes take turns, and where there is neither, the
 * timer that is due first. `scratch` has room for SG_EXPLORE_STEPS_MAX. False: nothing is possible.
 */
bool sg_explore_fair(const struct sg_explore_world *world, const struct sg_explore_view *view,
                     struct sg_explore_step *scratch, struct sg_explore_step *step);

void sg_explore_take(struct sg_explore_world *world, const struct sg_explore_step *step);

/* Every call made, nothing in flight and nothing outstanding. */
bool sg_explore_over(struct sg_explore_world *world);

#endif
