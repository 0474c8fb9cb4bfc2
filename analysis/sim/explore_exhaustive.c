#include "sim/explore_exhaustive.h"

#include "core/status.h"
#include "sim/explore_cases.h"
#include "sim/explore_check.h"
#include "sim/explore_snapshot.h"
#include "sim/explore_step.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 1024
#define FRAME_STEPS_MAX 256
/* A state in so many is followed fairly to its end, which must not be far. */
#define FOLLOW_ONE_IN 64
#define FOLLOW_STEPS 2000

static const struct sg_explore_view view = {.reorder = true, .always = true};

/* A state on the path, and which of the steps from it are still to be walked. */
struct frame {
    struct sg_explore_snapshot snapshot;
    struct sg_explore_step steps[FRAME_STEPS_MAX];
    uint32_t count, next;
    bool fault; /* the one fault has happened */
};

struct walk {
    struct sg_explore_world *world;
    struct frame *frames;
    uint32_t depth;
    struct sg_explore_seen seen;
    struct sg_explore_snapshot follow;
    struct sg_explore_step scratch[SG_EXPLORE_STEPS_MAX];
    uint32_t faults; /* 1 << enum sg_explore_fault: those that may happen, once */
    uint64_t transitions;
    bool no_memory;
};

static bool is_fault(const struct frame *frame, const struct sg_explore_step *step, bool quiet)
{
    return step->kind == SG_STEP_LOSE || step->kind == SG_STEP_REPEAT ||
           (step->kind == SG_STEP_FIRE && !quiet);
}

static void add_step(struct sg_explore_world *world, struct frame *frame,
                     const struct sg_explore_step *step, uint8_t kind)
{
    if (frame->count == FRAME_STEPS_MAX) {
        sg_explore_violate(world, NULL, "more than %d steps are possible at once", FRAME_STEPS_MAX);
        return;
    }
    frame->steps[frame->count] = *step;
    frame->steps[frame->count++].kind = kind;
}

static bool is_multicast(const struct sg_explore_world *world, const struct sg_explore_step *step)
{
    const struct sg_explore_flight *flight = &world->flights[world->live[step->index]];

    return step->kind == SG_STEP_ARRIVE && flight->kind == SG_FLIGHT_MESSAGE &&
           flight->access == SG_ACTION_MULTICAST && !flight->repeated;
}

static bool is_done(struct sg_explore_world *world)
{
    uint32_t live_count = world->live_count;
    bool done;

    world->live_count = 0;
    done = sg_explore_over(world);
    world->live_count = live_count;
    return done;
}

/* The steps from the world's state. Timers fire once nothing else is possible; earlier, and what
 * happens to multicasts, is a fault. */
static void list_steps(struct walk *walk, struct frame *frame)
{
    struct sg_explore_world *world = walk->world;
    uint32_t count = sg_explore_steps(world, &view, walk->scratch);
    bool quiet = count == 0;

    frame->count = frame->next = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct sg_explore_step *step = &walk->scratch[i];

        add_step(world, frame, step, step->kind);
        if (frame->fault || !is_multicast(world, step))
            continue;
        if (walk->faults & 1u << SG_FAULT_LOSS)
            add_step(world, frame, step, SG_STEP_LOSE);
        if (walk->faults & 1u << SG_FAULT_REPEAT)
            add_step(world, frame, step, SG_STEP_REPEAT);
    }
    /* What is still on its way when all is done may come in any one order. */
    if (frame->count > 0 && is_done(world))
        frame->count = 1;
    if (!quiet && (frame->fault || !(walk->faults & 1u << SG_FAULT_TIMERS)))
        return;
    count = sg_explore_timers(world, &view, walk->scratch);
    for (uint32_t i = 0; i < count; i++)
        add_step(world, frame, &walk->scratch[i], SG_STEP_FIRE);
}

/* From here everything ends soon. */
static void follow(struct walk *walk)
{
    struct sg_explore_world *world = walk->world;
    uint32_t left = FOLLOW_STEPS;
    struct sg_explore_step step;

    if (!sg_explore_save(world, &walk->follow)) {
        walk->no_memory = true;
        return;
    }
    while (world->violation[0] == '\0' && !sg_explore_over(world)) {
        if (!sg_explore_fair(world, &view, walk->scratch, &step))
            break;
        if (left-- == 0) {
            sg_explore_violate(world, NULL, "not everything is over %d steps later", FOLLOW_STEPS);
            return;
        }
        sg_explore_take(world, &step);
    }
    sg_explore_check_end(world);
    if (world->violation[0] == '\0')
        sg_explore_restore(world, &walk->follow);
}

/* The world's state becomes the next frame, if it is new. */
static void push(struct walk *walk, bool fault)
{
    struct sg_explore_world *world = walk->world;
    struct frame *frame = &walk->frames[walk->depth];
    uint64_t key = sg_explore_key(world) + fault;
    int fresh = sg_explore_see(&walk->seen, key);
    bool quiet;

    if (fresh < 0)
        walk->no_memory = true;
    if (fresh <= 0)
        return;
    if (sg_explore_over(world)) {
        sg_explore_check_end(world);
        return;
    }
    quiet = sg_explore_steps(world, &view, walk->scratch) == 0;
    if (quiet || key % FOLLOW_ONE_IN == 0)
        follow(walk);
    if (world->violation[0] != '\0')
        return;
    if (walk->depth == DEPTH_MAX - 1) {
        sg_explore_violate(world, NULL, "more than %d steps to the end", DEPTH_MAX);
        return;
    }
    frame->fault = fault;
    list_steps(walk, frame);
    if (!sg_explore_save(world, &frame->snapshot))
        walk->no_memory = true;
    walk->depth++;
}

static void run(struct walk *walk)
{
    struct sg_explore_world *world = walk->world;

    push(walk, walk->faults == 0);
    while (walk->depth > 0 && world->violation[0] == '\0' && !walk->no_memory) {
        struct frame *frame = &walk->frames[walk->depth - 1];
        const struct sg_explore_step *step;
        bool fault;

        if (frame->next == frame->count) {
            walk->depth--;
            continue;
        }
        step = &frame->steps[frame->next++];
        sg_explore_restore(world, &frame->snapshot);
        fault = frame->fault || is_fault(frame, step, frame->steps[0].kind == SG_STEP_FIRE);
        sg_explore_take(world, step);
        walk->transitions++;
        if (world->violation[0] == '\0')
            push(walk, fault);
    }
}

/* The path again, in words. */
static void report(struct walk *walk, const char *name, FILE *out)
{
    struct sg_explore_world *world = walk->world;
    char violation[SG_EXPLORE_VIOLATION_BYTES];

    memcpy(violation, world->violation, sizeof violation);
    fprintf(out, "violation: %s\n", violation);
    sg_explore_describe(world->scenario, out);
    sg_explore_world_open(world, world->scenario);
    world->trace = out;
    for (uint32_t i = 0; i < walk->depth; i++)
        sg_explore_take(world, &walk->frames[i].steps[walk->frames[i].next - 1]);
    if (world->violation[0] == '\0')
        follow(walk);
    world->trace = NULL;
    fprintf(out, "      %s (case \"%s\")\n", violation, name);
}

static bool walk_case(struct walk *walk, const struct sg_explore_scenario *scenario,
                      const char *name, FILE *out)
{
    struct sg_explore_world *world = walk->world;
    bool well;

    walk->depth = 0;
    walk->transitions = 0;
    walk->seen.count = 0;
    if (walk->seen.keys)
        memset(walk->seen.keys, 0, walk->seen.capacity * sizeof *walk->seen.keys);
    if (!sg_explore_world_open(world, scenario))
        return scenario->algo->needs == NULL;
    run(walk);
    if (walk->no_memory)
        sg_log("sim: %s", sg_status_text(SG_ERR_MEMORY));
    fprintf(out, "%-14s %-10s %d nodes  %-18s %10llu states %10llu steps\n", scenario->algo->name,
            sg_operation_names[scenario->instance[0].call.operation], scenario->nodes, name,
            (unsigned long long)walk->seen.count, (unsigned long long)walk->transitions);
    fflush(out);
    well = world->violation[0] == '\0';
    if (!well)
        report(walk, name, out);
    return well && !walk->no_memory;
}

bool sg_explore_exhaustive(struct sg_explore_world *world, const struct sg_algo *algo,
                           int32_t nodes, uint32_t faults, FILE *out)
{
    struct walk *walk = calloc(1, sizeof *walk);
    struct sg_explore_scenario scenario;
    const char *name;
    bool well = true;

    if (walk)
        walk->frames = calloc(DEPTH_MAX, sizeof *walk->frames);
    if (walk == NULL || walk->frames == NULL) {
        sg_log("sim: %s", sg_status_text(SG_ERR_MEMORY));
        free(walk);
        return false;
    }
    walk->world = world;
    walk->faults = faults;
    for (uint32_t i = 0; well && sg_explore_case(algo, nodes, i, &scenario, &name); i++)
        well = walk_case(walk, &scenario, name, out);
    for (uint32_t i = 0; i < DEPTH_MAX; i++)
        sg_explore_snapshot_clear(&walk->frames[i].snapshot);
    sg_explore_snapshot_clear(&walk->follow);
    free(walk->seen.keys);
    free(walk->frames);
    free(walk);
    return well;
}
