#include "advise/replay.h"

#include "algos/partial_results.h"
#include "rule/rule.h"
#include "sim/lists.h"
#include "sim/timed_measure.h"
#include "sim/timed_state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *sg_candidate_stock(enum sg_operation operation);

#define NODE_RANKS_MAX SG_COMBINING_RANKS_MAX /* limit of the simulator */
#define BYTES_MAX (UINT64_C(1) << 26)
#define CHUNKS_MAX 4096 /* with more chunks a replay is refused */
/* Limit of ranks times chunks times instances, for one group and algorithm. */
#define WORK_MAX 400000u

/* ---- which instances are replayed */

static uint32_t ranks_per_node(const struct sg_group *group)
{
    return group->size / group->nodes;
}

/* Returns true if all nodes have the same number of ranks, which the simulator requires. */
static bool is_even(const struct sg_group *group)
{
    uint32_t *counts = calloc(group->nodes, sizeof *counts);
    bool even = counts != NULL && group->size % group->nodes == 0;

    for (uint32_t i = 0; i < group->size && even; i++)
        even = ++counts[group->node[i]] <= ranks_per_node(group);
    free(counts);
    return even;
}

const char *sg_replay_obstacle(const struct sg_group *group)
{
    if (group->nonblocking)
        return "a nonblocking collective is not simulated";
    if (group->size < 2)
        return "a single rank waits for no one";
    if (group->count == 0)
        return "too little memory for its arrivals";
    if (group->most_bytes > BYTES_MAX)
        return "operands of over 64 MiB are not simulated";
    if (!is_even(group))
        return "nodes with different numbers of ranks are not simulated";
    if (group->nodes > 1 && ranks_per_node(group) > NODE_RANKS_MAX)
        return "nodes of over 4096 ranks are not simulated";
    return NULL;
}

uint32_t sg_replay_count(const struct sg_group *group)
{
    uint64_t chunk_bytes = group->nodes > 1 ? SG_PART_DEFAULT : 16384;
    uint64_t each = group->size * (1 + group->most_bytes / chunk_bytes);
    uint64_t most = WORK_MAX / each;

    if (most < SG_SAMPLE_MIN)
        most = SG_SAMPLE_MIN;
    return group->count < most ? group->count : (uint32_t)most;
}

const struct sg_arrival_sample *sg_replay_sample(const struct sg_group *group, uint32_t i)
{
    return &group->samples[(uint64_t)i * group->count / sg_replay_count(group)];
}

/* ---- one algorithm */

/* The simulated layout of a group: each endpoint is a node, or one endpoint holds all ranks, or
 * each rank is an endpoint. */
struct layout {
    int32_t endpoints, ranks_per_endpoint;
    uint32_t chunk_bytes;
    enum sg_node_level node_level;
    const struct sg_network *network;
    struct sg_sim_algo algo;
    enum sg_sim_mode mode;
};

static void lay_out(const struct sg_replay *replay, const struct sg_group *group, int candidate,
                    struct sg_network *oversubscribed, struct layout *out)
{
    const struct sg_machine *machine = replay->machine;
    bool stock = strcmp(sg_candidates[candidate], "mpich") == 0;
    const char *protocol = stock ? sg_candidate_stock(group->operation) : sg_candidates[candidate];

    *out = (struct layout){.endpoints = (int32_t)group->nodes,
                           .ranks_per_endpoint = (int32_t)ranks_per_node(group),
                           .chunk_bytes = stock ? 0 : SG_WORLD_CHUNKS_AUTO,
                           .network = &machine->between,
                           .mode = stock ? SG_SIM_POLL : replay->mode};
    if (stock && !group->several_machines) {
        *oversubscribed = machine->inside;
        oversubscribed->latency_us += sg_machine_turn_us(machine);
        out->network = oversubscribed;
        out->endpoints = (int32_t)group->size;
        out->ranks_per_endpoint = 1;
    } else if (group->nodes == 1) {
        out->node_level =
            strcmp(protocol, "handoff") == 0 ? SG_NODE_LEVEL_CLIMB : SG_NODE_LEVEL_AUTO;
        protocol = "tree"; /* with one endpoint only the node level runs */
    }
    out->algo = sg_sim_algo_of(protocol);
}

/* processes[member] is the member's number in the simulator, where the root is the first of its
 * endpoint. False: out of memory. */
static bool number_processes(const struct sg_group *group, const struct layout *layout,
                             uint32_t root, uint32_t *processes)
{
    uint32_t each = (uint32_t)layout->ranks_per_endpoint;
    bool single = each == 1 && layout->endpoints == (int32_t)group->size;
    bool has_root = sg_operation_has_root(group->operation);
    uint32_t *used = calloc((size_t)layout->endpoints, sizeof *used);

    if (used == NULL)
        return false;
    if (has_root)
        used[single ? root : group->node[root]] = 1;
    for (uint32_t i = 0; i < group->size; i++) {
        uint32_t endpoint = single ? i : group->node[i];

        processes[i] = has_root && i == root ? endpoint * each : endpoint * each + used[endpoint]++;
    }
    free(used);
    return true;
}

struct stretch { /* consecutive samples with the same root and size */
    uint32_t first, count;
};

static struct stretch next_stretch(const struct sg_group *group, uint32_t first, uint32_t all)
{
    const struct sg_arrival_sample *head = sg_replay_sample(group, first);
    uint32_t end = first + 1;

    while (end < all && sg_replay_sample(group, end)->root == head->root &&
           sg_replay_sample(group, end)->bytes == head->bytes)
        end++;
    return (struct stretch){first, end - first};
}

static void arrange(const struct sg_group *group, struct stretch stretch, const uint32_t *processes,
                    uint64_t *arrivals_ns, uint64_t *latest_ns)
{
    *latest_ns = 0;
    for (uint32_t i = 0; i < stretch.count; i++) {
        const struct sg_arrival_sample *sample = sg_replay_sample(group, stretch.first + i);

        for (uint32_t rank = 0; rank < group->size; rank++) {
            arrivals_ns[(size_t)i * group->size + processes[rank]] = sample->late_ns[rank];
            if (sample->late_ns[rank] > *latest_ns)
                *latest_ns = sample->late_ns[rank];
        }
    }
}

static enum sg_status run_stretch(const struct sg_group *group, const struct layout *layout,
                                  struct stretch stretch, struct sg_world_cost *costs, bool *done)
{
    const struct sg_arrival_sample *head = sg_replay_sample(group, stretch.first);
    uint32_t *processes = calloc(group->size, sizeof *processes);
    uint64_t *arrivals_ns = calloc((size_t)stretch.count * group->size, sizeof *arrivals_ns);
    uint64_t latest_ns;
    struct sg_world_setup setup = {
        .algo = layout->algo.algo,
        .parameters = layout->algo.parameters,
        .network = layout->network,
        .mode = layout->mode,
        .endpoints = layout->endpoints,
        .ranks_per_node = layout->ranks_per_endpoint,
        .node_level = layout->node_level,
        .chunk_bytes = layout->chunk_bytes,
        .call = {.operation = group->operation,
                 .flags = SG_CALL_COMMUTATIVE,
                 .bytes = (uint32_t)head->bytes,
                 .root = -1},
        .seed = 1,
        .iterations = stretch.count,
        .arrivals_ns = arrivals_ns,
        .costs = costs,
    };
    struct sg_world_result result;
    enum sg_status status = SG_ERR_MEMORY;

    if (processes == NULL || arrivals_ns == NULL ||
        !number_processes(group, layout, head->root, processes)) {
        sg_log("advise: out of memory");
        goto err_free;
    }
    if (sg_operation_has_root(group->operation))
        setup.call.root = (int32_t)(processes[head->root] / (uint32_t)layout->ranks_per_endpoint);
    arrange(group, stretch, processes, arrivals_ns, &latest_ns);
    setup.catchup_ns = latest_ns + sg_measure_settle_ns(&setup);
    status = SG_OK;
    *done = sg_world_accepts(&setup) && sg_chunking_of(&setup).count <= CHUNKS_MAX;
    if (*done)
        status = sg_world_run(&setup, &result);
err_free:
    free(processes);
    free(arrivals_ns);
    return status;
}

enum sg_status sg_replay_group(const struct sg_replay *replay, const struct sg_group *group,
                               int candidate, struct sg_world_cost *costs, bool *done)
{
    uint32_t all = sg_replay_count(group);
    struct sg_network oversubscribed;
    struct layout layout;
    enum sg_status status = SG_OK;

    lay_out(replay, group, candidate, &oversubscribed, &layout);
    *done = layout.ranks_per_endpoint <= NODE_RANKS_MAX;
    memset(costs, 0, all * sizeof *costs);
    for (uint32_t first = 0; first < all && status == SG_OK && *done;) {
        struct stretch stretch = next_stretch(group, first, all);

        status = run_stretch(group, &layout, stretch, costs + first, done);
        first += stretch.count;
    }
    return status;
}

/* ---- the machine's costs */

/* The costs that the simulator's network takes from a calibration. */
static const struct {
    enum sg_calibrated from;
    bool both; /* the same inside a node and between nodes */
} taken[] = {
    {SG_CALIBRATED_LATENCY, false}, {SG_CALIBRATED_OVERHEAD, false}, {SG_CALIBRATED_GAP, false},
    {SG_CALIBRATED_COPY, true},     {SG_CALIBRATED_REDUCE, true},    {SG_CALIBRATED_SIGNAL, true},
    {SG_CALIBRATED_WAKE, true},     {SG_CALIBRATED_LOCAL, true},
};

static void set(struct sg_network *network, const char *key, double value)
{
    char assignment[80];

    snprintf(assignment, sizeof assignment, "%s=%.9f", key, value);
    sg_network_set(network, assignment);
}

static void borrow(struct sg_machine *machine, const char *key)
{
    size_t used = strlen(machine->borrowed);

    snprintf(machine->borrowed + used, sizeof machine->borrowed - used, "%s%s",
             used > 0 ? ", " : "", key);
}

/* Derives the cost of messages inside a node, for runs that did not measure it. */
static void derive_inside(struct sg_machine *machine)
{
    double local_us = machine->between.local_us;

    machine->inside = machine->between;
    machine->inside.latency_us = local_us;
    machine->inside.overhead_us = local_us;
    machine->inside.gap_ns_per_byte = machine->between.copy_ns_per_byte;
}

/* A run on several nodes uses `between`, a run on one node `inside`. A cost that only the other
 * kind of run can measure is not listed as borrowed. */
static void take(const struct sg_calibration *calibration, struct sg_machine *machine)
{
    const double *value = calibration->value;
    bool several = value[SG_CALIBRATED_LATENCY] > 0;

    machine->knows_between = several;
    machine->knows_signal = value[SG_CALIBRATED_SIGNAL] > 0;
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        const char *key = sg_calibrated_names[taken[i].from];

        if (value[taken[i].from] > 0)
            set(&machine->between, key, value[taken[i].from]);
        else if (taken[i].both && taken[i].from != SG_CALIBRATED_SIGNAL)
            borrow(machine, key);
    }
    derive_inside(machine);
    if (value[SG_CALIBRATED_INSIDE_LATENCY] > 0) {
        machine->inside.latency_us = value[SG_CALIBRATED_INSIDE_LATENCY];
        machine->inside.overhead_us = value[SG_CALIBRATED_INSIDE_OVERHEAD];
        machine->inside.gap_ns_per_byte = value[SG_CALIBRATED_INSIDE_GAP];
    } else if (several) {
        /* Every rank is a node of its own, so messages inside a node cost the same. */
        machine->inside.latency_us = value[SG_CALIBRATED_LATENCY];
        machine->inside.overhead_us = value[SG_CALIBRATED_OVERHEAD];
        machine->inside.gap_ns_per_byte = value[SG_CALIBRATED_GAP];
    }
    machine->slice_us = value[SG_CALIBRATED_SLICE];
    machine->spread = value[SG_CALIBRATED_SPREAD];
    machine->samples = value[SG_CALIBRATED_SAMPLES];
    if (value[SG_CALIBRATED_PROCESSORS] > 0)
        machine->crowd = value[SG_CALIBRATED_RANKS] / value[SG_CALIBRATED_PROCESSORS];
}

/* With STAGGER_WAIT=auto a run's ranks yield if they share processors. */
static double yield_us_of(const struct sg_run_waiting *waiting)
{
    if (waiting->told == 0 || waiting->mode == SG_WAIT_SPIN)
        return NAN;
    return waiting->yields > 0 ? (double)waiting->yield_ns / (double)waiting->yields / 1e3 : 0;
}

enum sg_status sg_machine_make(const struct sg_report *report, const char *network,
                               struct sg_machine *out)
{
    const struct sg_calibration *calibration = &report->calibration;
    struct sg_machine machine = {.asked = network != NULL,
                                 .knows_between = true,
                                 .knows_signal = true,
                                 .yield_us = yield_us_of(&report->waiting)};
    enum sg_status status =
        sg_network_read("advise", network != NULL ? network : SG_MACHINE_DEFAULT, &machine.between);

    if (status != SG_OK)
        return status;
    machine.measured = network == NULL && !sg_calibration_is_empty(calibration);
    if (machine.measured)
        take(calibration, &machine);
    else
        derive_inside(&machine);
    *out = machine;
    return SG_OK;
}

bool sg_machine_was_busy(const struct sg_machine *machine)
{
    return machine->measured && (machine->spread > SG_CALIBRATED_SPREAD_MOST ||
                                 (machine->samples > 0 && machine->samples < SG_CALIBRATED_FEW));
}

double sg_machine_turn_us(const struct sg_machine *machine)
{
    if (machine->crowd <= 1)
        return 0;
    return isnan(machine->yield_us) ? (machine->crowd - 1) * machine->slice_us : machine->yield_us;
}

/* ---- candidates */

const char *const sg_candidates[] = {
    "mpich",
    "handoff",
    "srm",
    "bypass",
    "adaptive",
    "tree",
    "dissemination",
    "pairwise",
    "bypass(linger=auto)",
    "adaptive(predict=1)",
    "adaptive(tokens=2)",
};
const int sg_candidate_count = sizeof sg_candidates / sizeof *sg_candidates;

_Static_assert(sizeof sg_candidates / sizeof *sg_candidates <= SG_CANDIDATES_MAX, "has its room");

static size_t name_length(int candidate)
{
    return strcspn(sg_candidates[candidate], "(");
}

int sg_candidate_find(const char *algorithm)
{
    for (int i = 0; i < sg_candidate_count; i++) {
        if (strlen(algorithm) == name_length(i) &&
            memcmp(algorithm, sg_candidates[i], name_length(i)) == 0)
            return i;
    }
    return -1;
}

bool sg_candidate_runs(int candidate, enum sg_operation operation, bool inside)
{
    unsigned reach = inside ? SG_REACH_NODE : SG_REACH_INTERNODE;

    /* A broadcast has no children to wait for, so lingering has no effect. */
    if (operation == SG_OPERATION_BCAST && strstr(sg_candidates[candidate], "linger") != NULL)
        return false;
    for (int i = 0; i < sg_algorithm_count; i++) {
        const struct sg_algorithm *algorithm = &sg_algorithms[i];

        if (strlen(algorithm->name) == name_length(candidate) &&
            memcmp(algorithm->name, sg_candidates[candidate], name_length(candidate)) == 0)
            return (algorithm->operations & 1U << operation) != 0 &&
                   (algorithm->reach == 0 || (algorithm->reach & reach) != 0);
    }
    return false;
}

/* Returns the protocol between single ranks that models MPICH for small operands. */
static const char *sg_candidate_stock(enum sg_operation operation)
{
    static const char *const protocols[SG_OPERATION_COUNT] = {
        [SG_OPERATION_BARRIER] = "dissemination",
        [SG_OPERATION_REDUCE] = "tree(degree=1)",
        [SG_OPERATION_ALLREDUCE] = "pairwise",
        /* MPICH does not send the reports of received data that few credits would cost. */
        [SG_OPERATION_BCAST] = "tree(degree=1,credits=64)",
    };

    return protocols[operation];
}
