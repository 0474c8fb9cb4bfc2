/* stagger sim bcs: runs programs under buffered coscheduling and under MPI as usual (paper 001),
 * and prints both run times. Coscheduling runs by one of two engines: the model by slices
 * (program_slices.h), or the protocol's own code in the timed world, message by message. */
#include "bcs/bcs_command.h"

#include "bcs/program_patterns.h"
#include "bcs/program_run.h"
#include "bcs/program_stock.h"
#include "sim/sim_commands.h"
#include "sim/sim_output.h"
#include "sim/timed_measure.h"
#include "sim/timed_queue.h"

#include <math.h>

/* ---- the engine of the protocol's own code */

/* The most sends, and the most receives, that an endpoint has in progress. */
#define POSTS 16

static void post(struct sg_run *run, struct world *world, int32_t process,
                 const struct sg_step *step)
{
    bool sends = step->kind == SG_STEP_SEND || step->kind == SG_STEP_ISEND;
    bool own = step->kind == SG_STEP_SEND || step->kind == SG_STEP_RECV;
    struct sg_algo_post post = {.kind = sends ? SG_POST_SEND : SG_POST_RECEIVE,
                                .handle = sg_run_request(run, process, own),
                                .peer = step->peer,
                                .tag = (int32_t)step->tag,
                                .bytes = (uint32_t)step->bytes};

    sg_world_post(world, process, &post);
}

static void call(struct world *world, int32_t process, const struct sg_step *step)
{
    bool has_root = sg_operation_has_root(step->operation);
    struct sg_algo_call call = {.operation = step->operation,
                                .flags = SG_CALL_COMMUTATIVE,
                                .bytes = (uint32_t)step->bytes,
                                .root = has_root ? step->peer : -1};

    sg_world_call(world, process, &call);
}

/* Begins a step. True: it takes no time, so the next one follows. */
static bool begin(struct sg_run *run, struct world *world, int32_t process,
                  const struct sg_step *step)
{
    switch (step->kind) {
    case SG_STEP_END:
        sg_world_end(world, process);
        return false;
    case SG_STEP_COMPUTE:
        sg_world_compute(world, process, step->ns);
        return false;
    case SG_STEP_ISEND:
    case SG_STEP_IRECV:
        post(run, world, process, step);
        return true;
    case SG_STEP_COLLECTIVE:
        sg_run_enter(run, process);
        call(world, process, step);
        return false;
    case SG_STEP_SEND:
    case SG_STEP_RECV:
        post(run, world, process, step);
        break;
    default:
        break;
    }
    if (sg_run_wait_for(run, process, step, run->now_ns))
        return true;
    sg_run_enter(run, process);
    sg_world_wait(world, process);
    return false;
}

static void resume(void *context, struct world *world, int32_t process)
{
    struct sg_run *run = context;
    struct sg_run_process *self = &run->processes[process];
    struct sg_step step;

    run->now_ns = sg_world_now_ns(world);
    if (self->in_call)
        run->result.blocked_ns += (double)(run->now_ns - self->entered_ns);
    self->in_call = false;
    do {
        step = sg_run_next(run, process);
        run->result.blocking_calls += sg_step_waits(&step);
    } while (begin(run, world, process, &step));
}

static void deliver(void *context, struct world *world, int32_t process,
                    const struct sg_action *delivery)
{
    struct sg_run *run = context;
    uint64_t now_ns = sg_world_now_ns(world);

    if (sg_run_done(run, process, delivery->delivery.handle, now_ns))
        sg_world_resume(world, process);
}

enum sg_status sg_bcs_protocol_run(const struct sg_world_setup *setup,
                                   const struct sg_program *program,
                                   struct sg_program_result *result)
{
    struct sg_run run;
    const struct sg_world_program world_program = {&run, resume, deliver};
    struct sg_world_setup whole = *setup;
    struct sg_world_result world_result = {0};
    enum sg_status status = sg_run_open(program, &run);

    whole.algo = &sg_algo_bcs;
    whole.endpoints = program->processes;
    whole.ranks_per_node = 1;
    whole.iterations = 1;
    whole.parameters.posts = POSTS;
    whole.call = (struct sg_algo_call){.operation = SG_OPERATION_BARRIER, .root = -1};
    whole.program = &world_program;
    if (status == SG_OK)
        status = sg_world_run(&whole, &world_result);
    if (status == SG_OK)
        status = sg_run_finish(&run, result);
    result->run_ns = (uint64_t)(world_result.period_ns + 0.5);
    result->events = world_result.events;
    sg_run_close(&run);
    return status;
}

/* ---- the command line */

static const char documentation[] =
    "Simulates a pattern of computations and calls without and with buffered coscheduling. Prints "
    "both run times (ms), how much longer the latter is, and how many slices a blocking call "
    "takes.\v"
    "Exit status: 0; 1 on bad input; 2 on bad usage.";

#define MESSAGES_MOST 4096
#define NODES_MOST (1 << 20)

enum { BLOCKING, NONBLOCKING };
enum { PHASE, SLICE };
enum { NIC, HOST };
enum { MERGED, SEPARATE };
enum { DEFAULT = -1, DEMAND, ALWAYS };
enum { SLICES, PROTOCOL };
static const char *const modes[] = {"blocking", "nonblocking", NULL};
static const char *const restarts[] = {"phase", "slice", NULL};
static const char *const agents[] = {"nic", "host", NULL};
static const char *const microphases[] = {"merged", "separate", NULL};
static const char *const strobes[] = {"demand", "always", NULL};
static const char *const engines[] = {"slices", "protocol", NULL};

struct options {
    struct sg_sim_common common;
    struct sg_numbers slices_us, noisy;
    int pattern, mode, restart, agent, microphases, strobe, engine;
    uint32_t noise_us, noise_every_us;
    uint32_t granularity_us, imbalance_percent, bytes, eager, budget_kib;
};

#define AT(member) offsetof(struct options, member)

static const struct sg_option option_table[] = {
    {"pattern", 'p', "barrier|exchange|sweep|sage", "the pattern to run (default: exchange)",
     sg_option_word, AT(pattern), .words = sg_pattern_names},
    {"mode", 'm', "blocking|nonblocking", "kind of its messages (default: blocking)",
     sg_option_word, AT(mode), .words = modes},
    {"slice", 's', "US,...", "slice lengths (default: 250)", sg_option_wholes, AT(slices_us),
     .least = 10, .most = 1000000},
    {"restart", 'r', "phase|slice",
     "when calls return: with their phase (default) or with the next slice", sg_option_word,
     AT(restart), .words = restarts},
    {"granularity", 'g', "US", "length of a computation (default: 3500)", sg_option_u32,
     AT(granularity_us), .most = 100000000},
    {"imbalance", 0, "PERCENT", "largest deviation of a computation from it (default: 0)",
     sg_option_u32, AT(imbalance_percent), .most = 100},
    {"noisy", 0, "N,...", "numbers of nodes with noise (default: 0)", sg_option_wholes, AT(noisy),
     .most = NODES_MOST},
    {"noise", 0, "US", "duration of one disturbance (default: 500)", sg_option_u32, AT(noise_us),
     .most = 100000000},
    {"noise-every", 0, "US", "computation between two disturbances (default: 10000)", sg_option_u32,
     AT(noise_every_us), .least = 1, .most = 100000000},
    {"bytes", 'b', "N", "size of a message (default: 4096)", sg_option_u32, AT(bytes),
     .most = 1 << 26},
    {"steps", 'i', "N", "steps of the pattern (default: 200)", sg_option_u32,
     AT(common.options.iterations), .least = 1, .most = 10000000},
    {"agent", 'a', "nic|host", "processor that runs the protocol: network card (default) or host",
     sg_option_word, AT(agent), .words = agents},
    {"microphases", 0, "merged|separate", "one strobe for all microphases (default), or one each",
     sg_option_word, AT(microphases), .words = microphases},
    {"strobe", 0, "WHEN",
     "strobe on demand, or always, at every slice boundary (default: always with messages)",
     sg_option_word, AT(strobe), .words = strobes},
    {"budget", 0, "KIB", "data that a receiver accepts per slice (default: 64)", sg_option_u32,
     AT(budget_kib), .least = 1, .most = 65536},
    {"eager", 0, "BYTES", "without coscheduling, announce larger messages first (default: 16384)",
     sg_option_u32, AT(eager), .most = 1 << 30},
    {"engine", 'e', "slices|protocol",
     "simulate slice by slice (default), or the protocol, message by message", sg_option_word,
     AT(engine), .words = engines},
    {0}};

struct run {
    double run_ns, call_ns; /* mean time of a call that waits */
    double events;
};

/* ---- MPI as usual */

static enum sg_status run_usual(const struct options *options, const struct sg_pattern *pattern,
                                struct run *out)
{
    const struct sg_network *network = &options->common.options.network;
    struct sg_stock_setup setup = {.network = network, .eager_bytes = options->eager};
    struct sg_program_result result = {0};
    enum sg_status status;

    if (pattern->kind == SG_PATTERN_BARRIER && pattern->imbalance == 0 && pattern->noisy == 0) {
        out->run_ns = (double)sg_stock_lockstep_ns(network, pattern->processes, pattern->steps,
                                                   pattern->granularity_ns);
        return SG_OK;
    }
    status = sg_stock_run(&setup, &pattern->program, &result);
    out->run_ns = (double)result.run_ns;
    return status;
}

/* ---- buffered coscheduling */

static void take(const struct sg_program_result *result, struct run *out)
{
    out->run_ns = (double)result->run_ns;
    if (result->blocking_calls > 0)
        out->call_ns = (result->blocked_ns + result->busy_ns) / (double)result->blocking_calls;
    out->events = (double)result->events;
}

static enum sg_status run_slices(const struct options *options, const struct sg_pattern *pattern,
                                 uint64_t slice_ns, struct run *out)
{
    struct sg_sliced_setup setup = {
        .network = &options->common.options.network,
        .slice_ns = slice_ns,
        .budget_bytes = (uint64_t)options->budget_kib * 1024,
        .restart_slice = options->restart == SLICE,
        .separate = options->microphases == SEPARATE,
        .always = options->strobe == ALWAYS,
        .on_host = options->agent == HOST,
    };
    struct sg_program_result result = {0};
    enum sg_status status = sg_sliced_run(&setup, &pattern->program, &result);

    take(&result, out);
    return status;
}

static enum sg_status run_protocol(const struct options *options, const struct sg_pattern *pattern,
                                   uint64_t slice_ns, struct run *out)
{
    struct sg_network network = options->common.options.network;
    struct sg_program_result result = {0};
    struct sg_world_setup setup = {
        .parameters = {.slice_ns = (uint32_t)slice_ns,
                       .budget_bytes = options->budget_kib * 1024,
                       .restart_slice = options->restart == SLICE,
                       .microphases_separate = options->microphases == SEPARATE,
                       .strobe_always = options->strobe == ALWAYS},
        .network = &network,
        .mode = options->agent == HOST ? SG_SIM_THREAD : SG_SIM_SIGNAL,
    };
    enum sg_status status;

    if (options->agent == NIC)
        network.overhead_us = network.signal_us = network.wake_us = network.local_us =
            network.copy_ns_per_byte = 0;
    status = sg_bcs_protocol_run(&setup, &pattern->program, &result);
    take(&result, out);
    return status;
}

/* ---- rows */

static json_t *row_of(const struct options *options, const struct sg_pattern *pattern,
                      double slice_us, const struct run *usual, const struct run *bcs)
{
    return json_pack("{s:s, s:s, s:i, s:f, s:i, s:i, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o}",
                     "pattern", sg_pattern_names[pattern->kind], "engine", engines[options->engine],
                     "nodes", (int)pattern->processes, "slice_us", slice_us, "granularity_us",
                     (int)options->granularity_us, "noisy", (int)pattern->noisy, "restart",
                     restarts[options->restart], "agent", agents[options->agent], "usual_ms",
                     sg_sim_real(usual->run_ns * 1e-6), "bcs_ms", sg_sim_real(bcs->run_ns * 1e-6),
                     "longer_percent", sg_sim_real(100 * (bcs->run_ns / usual->run_ns - 1)),
                     "call_slices", sg_sim_real(bcs->call_ns * 1e-3 / slice_us), "events",
                     sg_sim_real(bcs->events), "fitted",
                     sg_sim_fitted(&options->common.options.network));
}

/* Measures case i: the number of nodes varies most slowly, then the slice, then the noisy nodes. */
static enum sg_status measure_row(const void *of, int i, json_t **row)
{
    const struct options *options = of;
    int by_slice = i / options->noisy.count;
    double slice_us = options->slices_us.list[by_slice % options->slices_us.count];
    uint64_t slice_ns = sg_network_ns(slice_us);
    struct sg_pattern pattern = {
        .kind = (enum sg_pattern_kind)options->pattern,
        .nonblocking = options->mode == NONBLOCKING,
        .processes = (int32_t)options->common.nodes.list[by_slice / options->slices_us.count],
        .steps = options->common.options.iterations,
        .granularity_ns = sg_network_ns(options->granularity_us),
        .imbalance = options->imbalance_percent / 100.0,
        .noisy = (int32_t)options->noisy.list[i % options->noisy.count],
        .noise_ns = sg_network_ns(options->noise_us),
        .noise_every_ns = sg_network_ns(options->noise_every_us),
        .bytes = options->bytes,
        .seed = options->common.options.seed,
    };
    struct run usual = {0}, bcs = {0};
    enum sg_status status;

    sg_pattern_make(&pattern);
    status = run_usual(options, &pattern, &usual);
    if (status == SG_OK)
        status = (options->engine == PROTOCOL ? run_protocol : run_slices)(options, &pattern,
                                                                           slice_ns, &bcs);
    if (status == SG_OK)
        *row = row_of(options, &pattern, slice_us, &usual, &bcs);
    return status;
}

/* False: the pattern cannot run, and one line says why. */
static bool check_pattern(const struct options *options)
{
    bool collectives = options->pattern == SG_PATTERN_BARRIER;
    double most = 0, least = NODES_MOST, noisy = 0;

    for (int i = 0; i < options->common.nodes.count; i++) {
        most = fmax(most, options->common.nodes.list[i]);
        least = fmin(least, options->common.nodes.list[i]);
    }
    for (int i = 0; i < options->noisy.count; i++)
        noisy = fmax(noisy, options->noisy.list[i]);
    if (!collectives && most > MESSAGES_MOST)
        sg_log("sim: patterns with messages take at most %d nodes", MESSAGES_MOST);
    else if (most > NODES_MOST)
        sg_log("sim: bcs takes at most %d nodes", NODES_MOST);
    else if (noisy > least)
        sg_log("sim: --noisy %.0f exceeds the %.0f nodes", noisy, least);
    else
        return true;
    return false;
}

int sg_sim_bcs_command(int argc, char **argv)
{
    struct options options = {.common = sg_sim_common_of("qsnet", 200),
                              .slices_us = {{250}, 1},
                              .noisy = {{0}, 1},
                              .noise_us = 500,
                              .noise_every_us = 10000,
                              .pattern = SG_PATTERN_EXCHANGE,
                              .granularity_us = 3500,
                              .bytes = 4096,
                              .eager = SG_STOCK_EAGER_DEFAULT,
                              .strobe = DEFAULT,
                              .budget_kib = SG_SLICED_BUDGET_DEFAULT / 1024};
    struct sg_command_line line = {
        .name = "stagger sim bcs",
        .documentation = documentation,
        .tables = {{option_table, &options}, {sg_sim_program_options, &options.common}}};

    options.common.nodes = (struct sg_numbers){{16}, 1};
    sg_options_read(&line, argc, argv);
    options.common.mode_name = modes[options.mode];
    if (options.strobe == DEFAULT)
        options.strobe = options.pattern == SG_PATTERN_BARRIER ? DEMAND : ALWAYS;
    if (!check_pattern(&options) || sg_sim_common_finish(&options.common) != SG_OK)
        return 1;
    return sg_sim_print_rows("bcs", "programs", &options.common,
                             options.common.nodes.count * options.slices_us.count *
                                 options.noisy.count,
                             measure_row, &options);
}
