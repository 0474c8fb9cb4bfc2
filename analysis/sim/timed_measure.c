#include "sim/timed_measure.h"

#include "algos/tree.h"
#include "sim/timed_state.h"

#include <string.h>

static struct sg_world_setup setup_of(const struct sg_sim_options *options,
                                      const struct sg_sim_case *one)
{
    return (struct sg_world_setup){
        .algo = one->algo->algo,
        .parameters = one->algo->parameters,
        .network = &options->network,
        .mode = options->mode,
        .endpoints = one->nodes,
        .ranks_per_node = options->ranks_per_node,
        .node_level = options->node_level,
        .endpoints_per_adapter = options->endpoints_per_adapter,
        .mpich_copies = one->mpich_copies,
        .call = {.operation = one->operation,
                 .flags = options->flags | (one->algo->parameters.split ? SG_CALL_SPLIT : 0),
                 .bytes = one->operation == SG_OPERATION_BARRIER ? 0 : one->bytes,
                 .root = sg_operation_has_root(one->operation) ? options->root : -1},
        .chunk_bytes = one->mpich_copies ? 0 : options->chunk_bytes,
        .seed = options->seed,
        .warmup = options->warmup,
        .iterations = options->iterations,
        .skew_ns = one->skew_ns,
        .data = options->data,
    };
}

/* Four exchanges and an interrupt on each level, per chunk, and the tail of the noise. */
uint64_t sg_measure_settle_ns(const struct sg_world_setup *setup)
{
    const struct sg_network *network = setup->network;
    struct sg_chunking chunking = sg_chunking_of(setup);
    double hop_us =
        network->latency_us + 2 * network->overhead_us +
        (network->gap_ns_per_byte + network->copy_ns_per_byte + network->reduce_ns_per_byte) *
            chunking.bytes * 1e-3;
    double interrupt_us =
        network->signal_us > network->wake_us ? network->signal_us : network->wake_us;

    return sg_network_ns((sg_tree_levels(setup->endpoints) + 2) * (8 * hop_us + 2 * interrupt_us) *
                             chunking.count +
                         30 * network->noise_us);
}

enum sg_status sg_measure_cpu(const struct sg_sim_options *options, const struct sg_sim_case *one,
                              struct sg_world_result *result)
{
    struct sg_world_setup setup = setup_of(options, one);

    setup.catchup_ns = one->skew_ns + sg_measure_settle_ns(&setup);
    return sg_world_run(&setup, result);
}

enum sg_status sg_measure_blocking(const struct sg_sim_options *options,
                                   const struct sg_sim_case *one, struct sg_world_result *result)
{
    static const struct sg_sim_algo blocking = {&sg_algo_tree, {.degree = 1}, "tree(degree=1)"};
    struct sg_sim_case baseline = *one;

    baseline.algo = &blocking;
    baseline.mpich_copies = true;
    return sg_measure_cpu(options, &baseline, result);
}

enum sg_status sg_measure_latency(const struct sg_sim_options *options,
                                  const struct sg_sim_case *one, double *latency_ns)
{
    struct sg_world_setup setup = setup_of(options, one);
    struct sg_world_result result;
    enum sg_status status;

    setup.skew_ns = 0;
    setup.free_running = true;
    setup.warmup = 0;
    status = sg_world_run(&setup, &result);
    if (status == SG_OK)
        *latency_ns = result.period_ns;
    return status;
}

/* The last of the deepest ranks, relative to the tree's top. */
static int32_t deepest_below(int32_t nodes, int degree)
{
    int depth = degree > SG_TREE_BINOMIAL ? sg_tree_depth(nodes, degree) : 0;
    int32_t deepest = 0;

    for (int32_t rank = nodes - 1; rank > 0; rank--) {
        if (degree > SG_TREE_BINOMIAL && sg_tree_find(rank, nodes, degree).depth == depth)
            return rank;
        if (degree == SG_TREE_BINOMIAL &&
            __builtin_popcount((uint32_t)rank) > __builtin_popcount((uint32_t)deepest))
            deepest = rank;
    }
    return deepest;
}

/* Degree of the case's tree; a protocol without a tree gets the degree of a tree it could have. */
static int degree_of(const struct sg_sim_case *one)
{
    const struct sg_sim_algo *algo = one->algo;

    if (algo->parameters.degree > 1)
        return algo->parameters.degree;
    if (sg_operation_has_root(one->operation) &&
        (algo->algo != &sg_algo_tree || algo->parameters.degree == SG_TREE_BINOMIAL))
        return SG_TREE_BINOMIAL;
    return one->operation == SG_OPERATION_BARRIER ? SG_DEGREE_BARRIER : SG_DEGREE_DATA;
}

static int32_t deepest(const struct sg_sim_options *options, const struct sg_sim_case *one)
{
    int32_t top = sg_operation_has_root(one->operation) ? options->root : 0;

    return sg_tree_absolute(deepest_below(one->nodes, degree_of(one)), top, one->nodes);
}

static bool needs_latency(const struct sg_sim_case *one)
{
    for (uint32_t i = 0; i < one->late_count; i++) {
        if (one->late[i].latencies)
            return true;
    }
    return false;
}

static enum sg_status resolve(const struct sg_sim_options *options, const struct sg_sim_case *one,
                              double latency_ns, struct sg_lateness *lateness)
{
    for (uint32_t i = 0; i < one->late_count; i++) {
        const struct sg_sim_late *late = &one->late[i];
        int32_t all = one->nodes * options->ranks_per_node;

        lateness[i] = (struct sg_lateness){late->first, late->last, 0};
        if (late->who == SG_LATE_LAST)
            lateness[i].first = lateness[i].last = all - 1;
        else if (late->who == SG_LATE_DEEPEST)
            lateness[i].first = lateness[i].last = deepest(options, one) * options->ranks_per_node;
        if (lateness[i].last >= all) {
            sg_log("sim: no rank %d among %d", (int)lateness[i].last, (int)all);
            return SG_ERR_ARGUMENT;
        }
        lateness[i].delay_ns = late->latencies ? (uint64_t)(late->amount * latency_ns + 0.5)
                                               : sg_network_ns(late->amount);
    }
    return SG_OK;
}

enum sg_status sg_measure_delay(const struct sg_sim_options *options, const struct sg_sim_case *one,
                                struct sg_world_result *result)
{
    struct sg_world_setup setup = setup_of(options, one);
    struct sg_lateness lateness[SG_LATE_MAX];
    double latency_ns = 0;
    enum sg_status status = SG_OK;

    if (needs_latency(one))
        status = sg_measure_latency(options, one, &latency_ns);
    if (status == SG_OK)
        status = resolve(options, one, latency_ns, lateness);
    if (status != SG_OK)
        return status;
    setup.late = lateness;
    setup.late_count = one->late_count;
    return sg_world_run(&setup, result);
}

/* ---- programs */

static struct endpoint *endpoint_of(struct world *world, int32_t process)
{
    return &world->endpoints[process / world->setup->ranks_per_node];
}

/* The world resumes the process at time_ns. */
static void go_on(struct world *world, int32_t process, uint64_t time_ns)
{
    struct process *self = &world->processes[process];

    self->phase = PHASE_PROGRAM;
    self->work_end_ns = time_ns;
    sg_world_push(world, time_ns, EVENT_WORK_END, (uint32_t)process);
}

uint64_t sg_world_now_ns(const struct world *world)
{
    return world->now_ns;
}

void sg_world_post(struct world *world, int32_t process, const struct sg_algo_post *post)
{
    struct process *self = &world->processes[process];
    struct sg_algo_post own = *post;

    own.local = (uint16_t)(process % world->setup->ranks_per_node);
    own.number = ++self->posted;
    sg_endpoint_post(world, process, &own);
}

/* Earlier posts take processor time first. */
void sg_world_compute(struct world *world, int32_t process, uint64_t ns)
{
    go_on(world, process, later(world->now_ns, world->processes[process].posted_ns) + ns);
}

void sg_world_wait(struct world *world, int32_t process)
{
    world->processes[process].phase = PHASE_WAIT;
    sg_endpoint_poll(world, process);
}

void sg_world_resume(struct world *world, int32_t process)
{
    if (world->processes[process].phase != PHASE_WAIT) {
        sg_world_fail(world, SG_ERR_ARGUMENT, "sim: process %d is resumed and does not wait",
                      (int)process);
        return;
    }
    endpoint_of(world, process)->calling--;
    go_on(world, process, later(world->cursor_ns, world->now_ns));
}

void sg_world_call(struct world *world, int32_t process, const struct sg_algo_call *call)
{
    struct process *self = &world->processes[process];

    self->phase = PHASE_CALL;
    self->call = *call;
    self->chunk = 0;
    self->entry_ns = world->now_ns;
    sg_endpoint_enter(world, process);
}

void sg_world_end(struct world *world, int32_t process)
{
    world->processes[process].phase = PHASE_REST;
    world->last_exit_ns = world->now_ns;
    sg_endpoint_rest(world, process / world->setup->ranks_per_node);
    if (--world->remaining == 0)
        world->draining = true;
}
