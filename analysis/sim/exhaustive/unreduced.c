#include "sim/exhaustive/walk.h"

#include "sim/exhaustive/keys.h"
#include "sim/exhaustive/snapshot.h"
#include "sim/explore/check.h"
#include "sim/explore/steps.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 1024
#define FRAME_STEPS_MAX 256
/* One state in so many is followed in fair order to its end, which must not be far. */
#define FOLLOW_ONE_IN 64
#define FOLLOW_STEPS 2000

static const struct sg_explore_view view = {.reorder = true, .always = true};

/* A state on the path, and its steps that are still to be walked. */
struct frame {
    struct sg_explore_snapshot snapshot;
    struct sg_explore_step steps[FRAME_STEPS_MAX];
    uint32_t count, next;
    bool fault; /* the one fault has happened */
};

struct unreduced {
    struct sg_explore_world *world;
    struct frame frames[DEPTH_MAX];
    uint32_t depth;
    struct sg_keys seen, ends;
    uint64_t ends_sum;
    struct sg_explore_snapshot follow;
    struct sg_explore_step scratch[SG_EXPLORE_STEPS_MAX];
    uint32_t faults; /* 1 << enum sg_explore_fault: those of which one may happen */
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

    return step->kind == SG_STEP_ARRIVE && flight->base.kind == SG_FLIGHT_MESSAGE &&
           flight->base.multicast && !flight->repeated;
}

/* The steps from the world's state. Timers fire when nothing else is possible; an earlier one
 * counts as a fault, like what happens to multicasts. */
static void list_steps(struct unreduced *walk, struct frame *frame)
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
    if (!quiet && (frame->fault || !(walk->faults & 1u << SG_FAULT_TIMERS)))
        return;
    count = sg_explore_timers(world, &view, walk->scratch);
    for (uint32_t i = 0; i < count; i++)
        add_step(world, frame, &walk->scratch[i], SG_STEP_FIRE);
}

/* Checks that from here everything ends soon. */
static void follow(struct unreduced *walk)
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

static void end(struct unreduced *walk, uint64_t key)
{
    if (sg_keys_add(&walk->ends, key) == 1)
        walk->ends_sum += sg_hash_mix(key);
    sg_explore_check_end(walk->world);
}

/* The world's state becomes the next frame, if it is new. */
static void push(struct unreduced *walk, bool fault)
{
    struct sg_explore_world *world = walk->world;
    struct frame *frame = &walk->frames[walk->depth];
    uint64_t key = sg_explore_key(world) + fault;
    int fresh = sg_keys_add(&walk->seen, key);
    bool quiet;

    if (fresh < 0)
        walk->no_memory = true;
    if (fresh <= 0)
        return;
    if (sg_explore_over(world)) {
        end(walk, key - fault);
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

static void run(struct unreduced *walk)
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

static bool walk_all(void *of, uint32_t faults, struct sg_explore_counts *counts)
{
    struct unreduced *walk = of;

    walk->depth = 0;
    walk->transitions = walk->ends_sum = 0;
    walk->faults = faults;
    sg_keys_clear(&walk->seen);
    sg_keys_clear(&walk->ends);
    run(walk);
    *counts = (struct sg_explore_counts){
        .states = walk->seen.count,
        .steps = walk->transitions,
        .ends = walk->ends.count,
        .ends_sum = walk->ends_sum,
    };
    return !walk->no_memory;
}

static void show(void *of, FILE *out)
{
    struct unreduced *walk = of;
    struct sg_explore_world *world = walk->world;

    sg_explore_world_open(world, world->scenario);
    world->trace = out;
    for (uint32_t i = 0; i < walk->depth; i++)
        sg_explore_take(world, &walk->frames[i].steps[walk->frames[i].next - 1]);
    if (world->violation[0] == '\0')
        follow(walk);
    world->trace = NULL;
}

static void *create(struct sg_explore_world *world)
{
    struct unreduced *walk = calloc(1, sizeof *walk);

    if (walk)
        walk->world = world;
    return walk;
}

static void destroy(void *of)
{
    struct unreduced *walk = of;

    if (walk == NULL)
        return;
    for (uint32_t i = 0; i < DEPTH_MAX; i++)
        sg_explore_snapshot_clear(&walk->frames[i].snapshot);
    sg_explore_snapshot_clear(&walk->follow);
    sg_keys_free(&walk->seen);
    sg_keys_free(&walk->ends);
    free(walk);
}

const struct sg_walk sg_walk_unreduced = {create, destroy, walk_all, show};
