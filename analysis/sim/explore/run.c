#include "sim/explore/run.h"

#include "sim/explore/check.h"
#include "sim/explore/steps.h"

/* The odds of faults, each "one in so many". */
#define LOSE_ONE_IN 4
#define REPEAT_ONE_IN 4
#define FIRE_ONE_IN 6
#define HOLD_ONE_IN 24
#define HOLD_STEPS 120
#define DEMOTE_ONE_IN 12
#define JUMP_ONE_IN 20
#define JUMP_NS 4000
#define MOMENT_NS 100

/* Steps to the end after the faults have ended: far above what any protocol needs. */
#define HEALED_STEPS 2000
#define HEALED_STEPS_EACH 400 /* of each call of each process, and of each post */

#define STREAM_CHOICES 1

struct run {
    struct sg_explore_world *world;
    struct sg_explore_random random;
    struct sg_explore_view view;
    uint64_t demoted; /* changes the priorities now and then */
    struct sg_explore_step steps[SG_EXPLORE_STEPS_MAX];
};

static bool has_fault(const struct run *run, enum sg_explore_fault fault)
{
    return run->world->scenario->faults & 1u << fault;
}

static bool healed(const struct run *run)
{
    return run->world->step >= run->world->scenario->steps;
}

/* A process that pauses for a while: before a call or in one. */
static void maybe_hold(struct run *run)
{
    struct sg_explore_world *world = run->world;
    struct sg_explore_process *process;
    bool in_call;

    if (!sg_explore_one_in(&run->random, HOLD_ONE_IN))
        return;
    process = &world->processes[sg_explore_below(&run->random, (uint32_t)world->scenario->nodes)];
    in_call = process->state == SG_PROCESS_IN_CALL;
    if (has_fault(run, in_call ? SG_FAULT_INTERRUPT : SG_FAULT_SLOW))
        process->held_until = world->step + sg_explore_below(&run->random, HOLD_STEPS);
}

/* Steps of one endpoint's process have one priority, and so do messages between the same two
 * endpoints. */
static uint64_t priority(const struct run *run, const struct sg_explore_step *step)
{
    uint64_t class = (uint64_t)step->kind << 32 | step->index;

    if (step->kind == SG_STEP_ARRIVE) {
        const struct sg_explore_flight *flight =
            &run->world->flights[run->world->live[step->index]];

        class = (uint64_t)flight->base.kind << 48 | (uint64_t)flight->comm << 40 |
                (uint64_t)flight->base.from << 20 | (uint64_t)flight->base.to;
    }
    return sg_hash_mix(sg_hash_mix(class) + run->demoted);
}

static uint32_t pick_by_priority(struct run *run, uint32_t count)
{
    uint32_t best = 0;

    if (sg_explore_one_in(&run->random, DEMOTE_ONE_IN))
        run->demoted = sg_explore_next(&run->random);
    for (uint32_t i = 1; i < count; i++) {
        if (priority(run, &run->steps[i]) > priority(run, &run->steps[best]))
            best = i;
    }
    return best;
}

/* A multicast that is about to arrive may be lost or repeated. */
static void maybe_spoil(struct run *run, struct sg_explore_step *step)
{
    const struct sg_explore_flight *flight;

    if (step->kind != SG_STEP_ARRIVE)
        return;
    flight = &run->world->flights[run->world->live[step->index]];
    if (!flight->base.multicast)
        return;
    if (has_fault(run, SG_FAULT_LOSS) && sg_explore_one_in(&run->random, LOSE_ONE_IN))
        step->kind = SG_STEP_LOSE;
    else if (has_fault(run, SG_FAULT_REPEAT) && sg_explore_one_in(&run->random, REPEAT_ONE_IN))
        step->kind = SG_STEP_REPEAT;
}

/* Any choice, as long as there are faults. */
static bool choose(struct run *run, struct sg_explore_step *step)
{
    struct sg_explore_world *world = run->world;
    uint32_t count;

    maybe_hold(run);
    run->view.held = true;
    count = sg_explore_steps(world, &run->view, run->steps);
    if (has_fault(run, SG_FAULT_TIMERS) && sg_explore_one_in(&run->random, FIRE_ONE_IN))
        count += sg_explore_timers(world, &run->view, run->steps + count);
    if (count == 0)
        return false;
    *step = run->steps[world->scenario->priorities ? pick_by_priority(run, count)
                                                   : sg_explore_below(&run->random, count)];
    maybe_spoil(run, step);
    return true;
}

static bool choose_fairly(struct run *run, struct sg_explore_step *step)
{
    run->view.held = false;
    return sg_explore_fair(run->world, &run->view, run->steps, step);
}

static void pass_time(struct run *run)
{
    uint32_t most = sg_explore_one_in(&run->random, JUMP_ONE_IN) ? JUMP_NS : MOMENT_NS;

    run->world->now_ns += sg_explore_below(&run->random, most);
}

bool sg_explore_run(struct sg_explore_world *world, const struct sg_explore_scenario *scenario)
{
    static _Thread_local struct run run;
    uint32_t limit =
        scenario->steps + HEALED_STEPS +
        HEALED_STEPS_EACH * (uint32_t)(scenario->instances * scenario->nodes + scenario->posts);
    struct sg_explore_step step;

    run.world = world;
    run.random = sg_explore_stream(scenario->seed ^ scenario->schedule << 32, STREAM_CHOICES);
    run.demoted = 0;
    if (!sg_explore_world_open(world, scenario))
        return false;
    run.view = (struct sg_explore_view){.reorder = has_fault(&run, SG_FAULT_REORDER)};
    while (world->violation[0] == '\0' && !sg_explore_over(world)) {
        if ((healed(&run) || !choose(&run, &step)) && !choose_fairly(&run, &step))
            break;
        if (world->step == limit) {
            sg_explore_violate(world, NULL, "not everything is over %u steps after faults healed",
                               limit - scenario->steps);
            return true;
        }
        pass_time(&run);
        world->history = sg_hash_mix(world->history + world->now_ns);
        sg_explore_take(world, &step);
    }
    sg_explore_check_end(world);
    return true;
}
