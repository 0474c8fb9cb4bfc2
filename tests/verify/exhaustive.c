#include "verify/exhaustive.h"

#include "core/status.h"
#include "verify/automaton.h"
#include "verify/check.h"
#include "verify/snapshot.h"
#include "verify/steps.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- the scenarios: two instances of one protocol on one communicator, with the parameters that
 * change its behaviour and limits as small as possible */

#define BYTES 8
#define EAGER_BYTES 64
#define LARGE_BYTES (4 * EAGER_BYTES)
/* Credits for handoff: as many as two instances need to do without done cells. In that case, and if
 * operands are not read ahead, all orders of four processes can be walked; both exceptions have
 * their own variants. */
#define HANDOFF_CREDITS 5
#define BIT(operation) (1u << SG_OPERATION_##operation)
#define ALL_BITS (BIT(BARRIER) | BIT(REDUCE) | BIT(ALLREDUCE) | BIT(BCAST))
#define DATA_BITS (BIT(REDUCE) | BIT(ALLREDUCE))
#define MULTICAST (1u << SG_FAULT_LOSS | 1u << SG_FAULT_REPEAT)

/* Excludes adaptive's prediction, which begins with a third instance. */
struct variant {
    const char *name;
    const struct sg_algo *only; /* NULL: every protocol */
    uint32_t operations;        /* 1 << enum sg_operation: operations that the variant affects */
    uint32_t bytes, flags;
    struct sg_algo_parameters parameters;
    bool roots;       /* the second instance has another root than the first */
    uint8_t messages; /* number of messages, followed by one instance; 0: two instances */
    /* maximum number of nodes, beyond which there are too many orders; 0: none */
    int32_t nodes_most;
    int32_t nodes_few; /* number of nodes from which `few` limits the faults; 0: never */
    /* 1 << enum sg_explore_fault: faults with which the orders are few enough */
    uint32_t few;
};

static const struct variant variants[] = {
    {"in order", NULL, ALL_BITS, .bytes = BYTES},
    {"roots that change", NULL, BIT(REDUCE) | BIT(BCAST), BYTES, SG_CALL_COMMUTATIVE,
     .roots = true},
    {"... in order", NULL, BIT(REDUCE), BYTES, .roots = true},
    {"arrival order", NULL, DATA_BITS, BYTES, SG_CALL_COMMUTATIVE,
     .parameters = {.arrival_order = 1}},
    {"split", &sg_algo_bypass, BIT(REDUCE), BYTES, SG_CALL_SPLIT, .parameters = {.split = 1}},
    {"split", &sg_algo_handoff, BIT(REDUCE), LARGE_BYTES, SG_CALL_SPLIT,
     .parameters = {.split = 1}},
    {"split", &sg_algo_srm, BIT(REDUCE), BYTES, SG_CALL_SPLIT, .parameters = {.split = 1}},
    {"split", &sg_algo_srm, BIT(BCAST), BYTES, SG_CALL_SPLIT, .parameters = {.split = 1},
     .roots = true},
    {"split", &sg_algo_srm, BIT(BARRIER) | BIT(ALLREDUCE), BYTES, SG_CALL_SPLIT,
     .parameters = {.split = 1}, .nodes_most = 3},
    {"chunks", &sg_algo_srm, BIT(ALLREDUCE) | BIT(BCAST), .bytes = LARGE_BYTES},
    {"chunks side by side", &sg_algo_srm, BIT(ALLREDUCE) | BIT(BCAST), LARGE_BYTES, SG_CALL_SPLIT,
     .parameters = {.split = 1}, .nodes_most = 3},
    {"pulled", &sg_algo_bypass, BIT(REDUCE), LARGE_BYTES, .parameters = {.pool = 1}},
    {"lingering", &sg_algo_bypass, BIT(REDUCE), BYTES, .parameters = {.linger_ns = 100},
     .roots = true},
    {"two tokens", &sg_algo_adaptive, ALL_BITS, BYTES, .parameters = {.tokens = 2}, .nodes_few = 4,
     .few = MULTICAST},
    {"binomial", &sg_algo_tree, DATA_BITS, BYTES, .parameters = {.degree = 1}},
    {"Fibonacci", &sg_algo_tree, BIT(BCAST), BYTES,
     .parameters = {.shape = SG_TREE_SHAPE_FIBONACCI}, .roots = true},
    {"restart=slice", &sg_algo_bcs, ALL_BITS, BYTES, .parameters = {.restart_slice = 1},
     .roots = true},
    {"microphases apart", &sg_algo_bcs, ALL_BITS, BYTES, .parameters = {.microphases_separate = 1},
     .roots = true},
    {"a message", &sg_algo_bcs, BIT(BARRIER), .parameters = {.posts = 4}, .messages = 1},
    {"two messages", &sg_algo_bcs, BIT(BARRIER), .parameters = {.posts = 4}, .messages = 2},
    {"... in chunks", &sg_algo_bcs, BIT(BARRIER), .bytes = 2500,
     .parameters = {.posts = 4, .budget_bytes = 1024}, .messages = 1, .nodes_most = 3},
    {"... restart=slice", &sg_algo_bcs, BIT(BARRIER),
     .parameters = {.posts = 4, .restart_slice = 1}, .messages = 2, .nodes_most = 3},
    {"... apart", &sg_algo_bcs, BIT(BARRIER), .parameters = {.posts = 4, .microphases_separate = 1},
     .messages = 2, .nodes_most = 3},
    {"ring used up", &sg_algo_handoff, BIT(REDUCE), LARGE_BYTES, .parameters = {.credits = 2},
     .roots = true, .nodes_most = 3},
    {"read ahead", &sg_algo_handoff, ALL_BITS, BYTES, .parameters = {.credits = 5}, .roots = true,
     .nodes_most = 3},
};
#define VARIANTS (sizeof variants / sizeof *variants)

static void set_call(struct sg_algo_call *call, const struct variant *variant, uint32_t operation,
                     uint32_t bytes, int32_t root)
{
    *call = (struct sg_algo_call){
        .operation = (enum sg_operation)operation,
        .flags =
            operation == SG_OPERATION_BARRIER ? variant->flags & SG_CALL_SPLIT : variant->flags,
        .bytes = operation == SG_OPERATION_BARRIER ? 0 : bytes,
        .root = sg_operation_has_root((enum sg_operation)operation) ? root : -1,
    };
}

static void add_post(struct sg_explore_scenario *scenario, int32_t rank, int32_t before,
                     struct sg_algo_post post)
{
    post.handle = (uint32_t)scenario->posts;
    post.number = scenario->parameters.first + post.handle + 1;
    scenario->post[scenario->posts++] = (struct sg_explore_post){0, rank, before, post};
}

/* The last endpoints send to the first, whose receives take any source; the last message is
 * received after the instance. */
static void set_messages(const struct variant *variant, struct sg_explore_scenario *scenario)
{
    uint32_t bytes = variant->bytes > 0 ? variant->bytes : BYTES;

    scenario->instances = 1;
    scenario->messages = variant->messages;
    for (int32_t i = 0; i < scenario->messages; i++) {
        struct sg_algo_post send = {.kind = SG_POST_SEND, .bytes = bytes};
        struct sg_algo_post receive = {
            .kind = SG_POST_RECEIVE, .peer = SG_ANY, .tag = SG_ANY, .bytes = bytes};
        bool is_last = i == scenario->messages - 1;

        add_post(scenario, 0, is_last && i > 0, receive);
        add_post(scenario, scenario->nodes - 1 - i % (scenario->nodes - 1), 0, send);
    }
}

static void set_case(const struct sg_algo *algo, int32_t nodes, const struct variant *variant,
                     uint32_t operation, struct sg_explore_scenario *scenario)
{
    bool never_ahead = algo == &sg_algo_handoff && variant->only == NULL;
    uint32_t bytes = never_ahead ? LARGE_BYTES : variant->bytes;

    memset(scenario, 0, sizeof *scenario);
    scenario->algo = algo;
    scenario->nodes = nodes;
    scenario->comms = 1;
    scenario->instances = 2;
    scenario->parameters = variant->parameters;
    if (scenario->parameters.credits == 0)
        scenario->parameters.credits = algo == &sg_algo_handoff ? HANDOFF_CREDITS : 2;
    scenario->parameters.eager_bytes = EAGER_BYTES;
    scenario->parameters.chunk_bytes = EAGER_BYTES;
    scenario->parameters.timeout_ns = 1000;
    /* The second instance's number has more than 32 bits. */
    scenario->parameters.first = UINT32_MAX - 1;
    if (scenario->parameters.degree == 0)
        scenario->parameters.degree = 2;
    scenario->comm[0].size = nodes;
    for (int32_t rank = 0; rank < nodes; rank++)
        scenario->comm[0].process[rank] = rank;
    set_call(&scenario->instance[0].call, variant, operation, bytes,
             variant->roots ? nodes - 1 : 0);
    set_call(&scenario->instance[1].call, variant, operation, bytes,
             variant->roots ? nodes / 2 : 0);
    if (variant->messages > 0)
        set_messages(variant, scenario);
}

/* Case `index` of a protocol for this number of processes, with a name to print. Removes from
 * *faults those that would give too many orders. False: there are no more cases. */
static bool get_case(const struct sg_algo *algo, int32_t nodes, uint32_t index,
                     struct sg_explore_scenario *scenario, const char **name, uint32_t *faults)
{
    for (size_t i = 0; i < VARIANTS; i++) {
        const struct variant *variant = &variants[i];

        if ((variant->only && variant->only != algo) ||
            (variant->nodes_most && nodes > variant->nodes_most))
            continue;
        for (uint32_t operation = 0; operation < SG_OPERATION_COUNT; operation++) {
            if (!(algo->operations & variant->operations & 1u << operation) || index-- > 0)
                continue;
            set_case(algo, nodes, variant, operation, scenario);
            *name = variant->name;
            if (variant->nodes_few && nodes >= variant->nodes_few)
                *faults &= variant->few;
            return true;
        }
    }
    return false;
}

/* ---- walking the scenarios */

/* The faults of which at most one may happen. */
#define WALKED (1u << SG_FAULT_LOSS | 1u << SG_FAULT_REPEAT | 1u << SG_FAULT_TIMERS)

struct walking {
    struct sg_explore_world *world;
    const struct sg_walk *walk;
    void *state;
    FILE *out;
};

static void report(const struct walking *walking, const char *name)
{
    struct sg_explore_world *world = walking->world;
    char violation[SG_EXPLORE_VIOLATION_BYTES];

    memcpy(violation, world->violation, sizeof violation);
    fprintf(walking->out, "violation: %s\n", violation);
    sg_explore_describe(world->scenario, walking->out);
    walking->walk->show(walking->state, walking->out);
    fprintf(walking->out, "      %s (case \"%s\")\n", violation, name);
}

static bool walk_case(const struct walking *walking, const struct sg_explore_scenario *scenario,
                      const char *name, uint32_t faults)
{
    char text[SG_EXPLORE_FAULTS_BYTES];
    struct sg_explore_world *world = walking->world;
    struct sg_explore_counts counts;
    bool enough;

    if (!sg_explore_world_open(world, scenario))
        return scenario->algo->needs == NULL;
    enough = walking->walk->run(walking->state, faults, &counts);
    if (!enough)
        sg_log("sim: %s", sg_status_text(SG_ERR_MEMORY));
    fprintf(walking->out,
            "%-14s %-10s %d nodes  %-18s %-18s %10" PRIu64 " states %11" PRIu64 " steps %6" PRIu64
            " ends %016" PRIx64 "\n",
            scenario->algo->name, sg_operation_names[scenario->instance[0].call.operation],
            scenario->nodes, name, sg_explore_faults_text(faults, ',', text), counts.states,
            counts.steps, counts.ends, counts.ends_sum);
    fflush(walking->out);
    if (world->violation[0] == '\0')
        return enough;
    report(walking, name);
    return false;
}

bool sg_explore_exhaustive(struct sg_explore_world *world, const struct sg_algo *algo,
                           int32_t nodes, uint32_t faults, bool unreduced, FILE *out)
{
    struct walking walking = {
        .world = world,
        .walk = unreduced ? &sg_walk_unreduced : &sg_walk_reduced,
        .out = out,
    };
    struct sg_explore_scenario scenario;
    const char *name;
    bool well;

    walking.state = walking.walk->create(world);
    well = walking.state != NULL;
    if (!well)
        sg_log("sim: %s", sg_status_text(SG_ERR_MEMORY));
    for (uint32_t i = 0; well; i++) {
        uint32_t walked = faults & WALKED;

        if (!get_case(algo, nodes, i, &scenario, &name, &walked))
            break;
        well = walk_case(&walking, &scenario, name, walked);
    }
    walking.walk->destroy(walking.state);
    return well;
}

/* ---- the unreduced walk */

#define DEPTH_MAX 1024
#define FRAME_STEPS_MAX 256
/* Follows one in this many states in fair order to its end, which must be near. */
#define FOLLOW_ONE_IN 64
#define FOLLOW_STEPS 2000

static const struct sg_explore_view view = {.reorder = true, .always = true};

/* A state on the path, with its steps that remain to be walked. */
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
    uint32_t faults; /* 1 << enum sg_explore_fault: faults, one of which may happen */
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

/* Lists the steps from the world's state. Timers fire when no other step is possible; an earlier
 * one counts as a fault, like a lost or repeated multicast. */
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

/* Checks that everything ends soon from here. */
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

/* Makes the world's state the next frame, if it is new. */
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
