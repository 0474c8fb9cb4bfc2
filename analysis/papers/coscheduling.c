/* Paper 001, BCS-MPI: the slices of its section 5.3, the run times of its programs (section 6), the
 * contradictions between its statements, and the cost of blocking collectives in slices. Also the
 * LogP model of paper 004's measuring schemes.
 */
#include "algos/parameters.h"
#include "algos/tree.h"
#include "bcs/bcs_command.h"
#include "bcs/program_stock.h"
#include "papers/claims.h"
#include "sim/lists.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#define MESSAGE_BYTES 4096
/* Largest relative difference between SAGE's computations, fitted so that calls that wait take the
 * paper's 2.312 ms among 64 processes. */
#define SAGE_IMBALANCE 0.255

struct sg_pattern sg_paper_exchange(int32_t processes, bool nonblocking)
{
    return (struct sg_pattern){.kind = SG_PATTERN_EXCHANGE,
                               .nonblocking = nonblocking,
                               .processes = processes,
                               .steps = 400,
                               .granularity_ns = 3500000,
                               .bytes = MESSAGE_BYTES};
}

struct sg_pattern sg_paper_sage(int32_t processes, uint32_t calls)
{
    return (struct sg_pattern){.kind = SG_PATTERN_SAGE,
                               .processes = processes,
                               .steps = calls,
                               .granularity_ns = 9461000,
                               .imbalance = SAGE_IMBALANCE,
                               .bytes = MESSAGE_BYTES,
                               .seed = 1};
}

/* Barriers after each 1.9 ms, on 32 nodes (section 5.3). */
static struct sg_pattern sg_paper_barriers(uint32_t barriers)
{
    return (struct sg_pattern){
        .kind = SG_PATTERN_BARRIER, .processes = 32, .steps = barriers, .granularity_ns = 1900000};
}

/* Slices as in the paper: the network card sends a strobe for each microphase, at every
 * boundary. */
static struct sg_sliced_setup sg_paper_slices(const struct sg_network *network, bool restart_slice)
{
    return (struct sg_sliced_setup){.network = network,
                                    .slice_ns = SG_PAPER_SLICE_US * 1000,
                                    .restart_slice = restart_slice,
                                    .separate = true,
                                    .always = true};
}

/* The network card does all the work and takes no processor time. */
static struct sg_network on_card(const struct sg_network *network)
{
    struct sg_network card = *network;

    card.overhead_us = card.signal_us = card.wake_us = card.local_us = card.copy_ns_per_byte = 0;
    return card;
}

enum sg_status sg_paper_protocol(const struct sg_network *network, uint32_t barriers,
                                 void (*slice)(void *context, int32_t endpoint,
                                               const struct sg_slice *slice),
                                 void *context)
{
    struct sg_pattern pattern = sg_paper_barriers(barriers);
    struct sg_lateness work = {0, pattern.processes - 1, pattern.granularity_ns};
    struct sg_network card = on_card(network);
    struct sg_world_setup setup = {
        .algo = &sg_algo_bcs,
        .parameters = {.slice_ns = SG_PAPER_SLICE_US * 1000,
                       .restart_slice = true,
                       .strobe_always = true,
                       .microphases_separate = true},
        .network = &card,
        .mode = SG_SIM_SIGNAL,
        .endpoints = pattern.processes,
        .ranks_per_node = 1,
        .call = {.operation = SG_OPERATION_BARRIER, .root = -1},
        .iterations = barriers,
        .late = &work,
        .late_count = 1,
        .free_running = true,
        .slice = slice,
        .slice_context = context,
    };
    struct sg_world_result result;

    return sg_world_run(&setup, &result);
}

enum sg_status sg_paper_run(const struct sg_network *network, struct sg_pattern *pattern,
                            bool restart_slice, struct sg_paper_times *out)
{
    struct sg_stock_setup usual = {.network = network, .eager_bytes = SG_STOCK_EAGER_DEFAULT};
    struct sg_sliced_setup slices = sg_paper_slices(network, restart_slice);
    struct sg_program_result result = {0};
    enum sg_status status;

    sg_pattern_make(pattern);
    status = sg_stock_run(&usual, &pattern->program, &result);
    if (status != SG_OK)
        return status;
    out->usual_ns = (double)result.run_ns;
    status = sg_sliced_run(&slices, &pattern->program, &result);
    if (status != SG_OK)
        return status;
    out->bcs_ns = (double)result.run_ns;
    out->call_ns = (result.blocked_ns + result.busy_ns) / (double)result.blocking_calls;
    return SG_OK;
}

/* The coscheduled run time by the protocol, message by message. Makes the pattern. */
static enum sg_status sg_paper_run_protocol(const struct sg_network *network,
                                            struct sg_pattern *pattern, double *bcs_ns)
{
    struct sg_network card = on_card(network);
    struct sg_world_setup setup = {
        .parameters = {.slice_ns = SG_PAPER_SLICE_US * 1000,
                       .budget_bytes = SG_SLICED_BUDGET_DEFAULT,
                       .microphases_separate = true,
                       .strobe_always = true},
        .network = &card,
        .mode = SG_SIM_SIGNAL,
    };
    struct sg_program_result result = {0};
    enum sg_status status;

    sg_pattern_make(pattern);
    status = sg_bcs_protocol_run(&setup, &pattern->program, &result);
    *bcs_ns = (double)result.run_ns;
    return status;
}

/* Enough barriers to pass the last slice; the paper runs 10,000. */
#define BARRIERS 1400
#define FIRST_SLICE 7500
#define LAST_SLICE 12500
#define SAGE_PROCESSES 64
#define SAGE_CALLS 9770

static const int32_t sizes[] = {4, 16, 64};
#define SIZES 3

/* ---- figures 5.3 to 5.5: a series of slices, from the protocol */

struct series {
    double least_us, most_us; /* GETTS */
    uint64_t slices, posted, scheduled, posted_at, scheduled_at;
    bool every_ninth;
};

static void count(struct series *series, const struct sg_slice *slice, enum sg_slice_metric metric,
                  uint64_t *sum, uint64_t *at)
{
    uint64_t found = sg_slice_knows(slice, metric) ? sg_slice_value(slice, metric) : 0;

    if (found == 0)
        return;
    if (*at > 0 && slice->number != *at + 9)
        series->every_ninth = false;
    *at = slice->number;
    *sum += found;
}

static void note(void *context, int32_t endpoint, const struct sg_slice *slice)
{
    struct series *series = context;
    double us = (double)sg_slice_value(slice, SG_SLICE_GETTS) * 1e-3;

    if (slice->number < FIRST_SLICE || slice->number > LAST_SLICE)
        return;
    if (endpoint == 0) {
        series->slices++;
        series->least_us = fmin(series->least_us, us);
        series->most_us = fmax(series->most_us, us);
    } else if (endpoint == SG_PAPER_NODE) {
        count(series, slice, SG_SLICE_NCOLLDEM, &series->posted, &series->posted_at);
        count(series, slice, SG_SLICE_NCOLLMSM, &series->scheduled, &series->scheduled_at);
    }
}

static struct series series_of(struct sg_claim_context *context)
{
    struct series series = {.least_us = INFINITY, .every_ninth = true};

    context->status = sg_paper_protocol(&context->options.network, BARRIERS, note, &series);
    return series;
}

static bool lengths(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    struct series series = series_of(context);

    snprintf(measured, SG_CLAIM_TEXT, "%llu slices of %.1f to %.1f us",
             (unsigned long long)series.slices, series.least_us, series.most_us);
    return series.slices == LAST_SLICE - FIRST_SLICE + 1 && series.least_us >= 250 &&
           series.most_us <= 270;
}

static bool collectives(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    struct series series = series_of(context);

    snprintf(measured, SG_CLAIM_TEXT, "%llu processed, %llu scheduled, %s",
             (unsigned long long)series.posted, (unsigned long long)series.scheduled,
             series.every_ninth ? "each 9 slices after the last" : "at other times, too");
    return series.every_ninth && series.posted > 0 && series.scheduled == series.posted;
}

/* ---- programs */

static double longer_percent(const struct sg_paper_times *times)
{
    return 100 * (times->bcs_ns / times->usual_ns - 1);
}

struct slowdowns {
    double list[SIZES], least, most;
};

static void add_slowdown(struct slowdowns *found, int i, const struct sg_paper_times *times)
{
    found->list[i] = longer_percent(times);
    found->least = fmin(found->least, found->list[i]);
    found->most = fmax(found->most, found->list[i]);
}

static struct slowdowns exchange(struct sg_claim_context *context, bool nonblocking, bool restart,
                                 enum sg_pattern_kind kind)
{
    struct slowdowns found = {.least = INFINITY, .most = -INFINITY};

    for (int i = 0; i < SIZES && context->status == SG_OK; i++) {
        struct sg_pattern pattern = sg_paper_exchange(sizes[i], nonblocking);
        struct sg_paper_times times = {0};

        pattern.kind = kind;
        context->status = sg_paper_run(&context->options.network, &pattern, restart, &times);
        add_slowdown(&found, i, &times);
    }
    return found;
}

static void print_slowdowns(const struct slowdowns *found, char measured[SG_CLAIM_TEXT])
{
    snprintf(measured, SG_CLAIM_TEXT, "%.1f, %.1f, %.1f %%", found->list[0], found->list[1],
             found->list[2]);
}

static bool is_figure_6_2(const struct slowdowns *found)
{
    return sg_claim_within(found->least, 30) && sg_claim_within(found->most, 30) &&
           found->most - found->least <= 5;
}

static bool blocking(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    struct slowdowns found = exchange(context, false, false, SG_PATTERN_EXCHANGE);

    print_slowdowns(&found, measured);
    return is_figure_6_2(&found);
}

static bool blocking_protocol(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    const struct sg_network *network = &context->options.network;
    struct slowdowns found = {.least = INFINITY, .most = -INFINITY};

    for (int i = 0; i < SIZES && context->status == SG_OK; i++) {
        struct sg_pattern pattern = sg_paper_exchange(sizes[i], false);
        struct sg_paper_times times = {0};

        context->status = sg_paper_run(network, &pattern, false, &times);
        if (context->status == SG_OK)
            context->status = sg_paper_run_protocol(network, &pattern, &times.bcs_ns);
        add_slowdown(&found, i, &times);
    }
    print_slowdowns(&found, measured);
    return is_figure_6_2(&found);
}

static bool blocking_wave(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    struct slowdowns wave = exchange(context, false, false, SG_PATTERN_SWEEP);

    print_slowdowns(&wave, measured);
    return wave.least > 10 && wave.most < 30;
}

static bool nonblocking(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    struct slowdowns found = exchange(context, true, false, SG_PATTERN_EXCHANGE);

    snprintf(measured, SG_CLAIM_TEXT, "%.2f, %.2f, %.2f %%", found.list[0], found.list[1],
             found.list[2]);
    return found.least >= -2 && found.most <= 0.5;
}

static bool sage(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    struct sg_pattern pattern = sg_paper_sage(SAGE_PROCESSES, SAGE_CALLS);
    struct sg_paper_times times = {0};

    context->status = sg_paper_run(&context->options.network, &pattern, false, &times);
    snprintf(measured, SG_CLAIM_TEXT, "%+.2f %% (%.1f s instead of %.1f s); a call %.3f ms",
             longer_percent(&times), times.bcs_ns * 1e-9, times.usual_ns * 1e-9,
             times.call_ns * 1e-6);
    return fabs(longer_percent(&times)) <= 3 && sg_claim_within(times.bcs_ns, 115.023e9);
}

/* ---- table 2.1 */

/* The time of the query strobe, and of the answers up the tree. */
static double ask_us(const struct sg_network *network, int32_t nodes)
{
    return (double)sg_network_multicast_ns(network, 0) * 1e-3 +
           sg_tree_depth(nodes, SG_DEGREE_BARRIER) *
               (network->latency_us + 2 * network->overhead_us);
}

/* value: the paper's factor of log n, in us. */
static bool compare_and_write(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    static const int32_t nodes[] = {32, 1024};
    bool met = true;
    double us[2];

    for (int i = 0; i < 2; i++) {
        us[i] = ask_us(&context->options.network, nodes[i]);
        met &= us[i] <= context->claim->value * log2(nodes[i]);
    }
    snprintf(measured, SG_CLAIM_TEXT, "%.1f, %.1f us (paper: %.0f, %.0f us)", us[0], us[1],
             context->claim->value * log2(nodes[0]), context->claim->value * log2(nodes[1]));
    return met;
}

static bool hardware_query(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    snprintf(measured, SG_CLAIM_TEXT, "%.1f us; a tree of messages: %.1f, %.1f us",
             context->options.network.query_us, ask_us(&context->options.network, 32),
             ask_us(&context->options.network, 1024));
    return context->options.network.query_us <= context->claim->value;
}

const struct sg_claim sg_claims_coscheduling[] = {
    {"slices 7500 to 12500 of barriers after each 1.9 ms, 32 nodes: GETTS (fig. 5.3)",
     "250 to 270 us, all", "qsnet", .measure = lengths},
    {"... collectives processed and scheduled (figs. 5.4, 5.5)", "each 9th slice, no other",
     "qsnet", .measure = collectives},
    {"blocking exchange after each 3.5 ms, slices of 250 us, 4, 16, 64 processes: longer (fig. "
     "6.2; "
     "fitted: calls return within their slice)",
     "30 +- 15 %, within 5 points", "qsnet", .measure = blocking},
    {"... by the protocol, message by message", "30 +- 15 %, within 5 points", "qsnet",
     .measure = blocking_protocol},
    {"... as a wavefront, in which processes wait for each other in any case", "10 to 30 %",
     "qsnet", .measure = blocking_wave},
    {"... nonblocking (fig. 6.3)", "-2 to 0.5 %", "qsnet", .measure = nonblocking},
    {"SAGE of table 5.3, 64 processes: longer (fig. 6.1; fitted: imbalance; assumed: slice)",
     "within 3 %, 115.0 s +- 15 %", "qsnet", .measure = sage},
    {"asking 32 and 1024 nodes, by our tree, Myrinet (table 2.1)", "at most 20 log n us",
     "myrinet2000", .measure = compare_and_write, .value = 20},
    {"... InfiniBand", "at most 20 log n us", "infiniband-sdr", .measure = compare_and_write,
     .value = 20},
    {"... QsNet, by hardware (input)", "at most 10 us", "qsnet", .measure = hardware_query,
     .value = 10},
};
const int sg_claims_coscheduling_count =
    sizeof sg_claims_coscheduling / sizeof *sg_claims_coscheduling;

/* ---- the contradiction */

/* Slices from one barrier to the next (section 5.3). */
static double period_slices(struct sg_claim_context *context, bool restart)
{
    struct sg_pattern pattern = sg_paper_barriers(1000);
    struct sg_paper_times times = {0};

    context->status = sg_paper_run(&context->options.network, &pattern, restart, &times);
    return times.bcs_ns / pattern.steps * 1e-3 / SG_PAPER_SLICE_US;
}

/* The time of a barrier whose processes call at each time within a slice: mean and minimum, in
 * us. */
static void call_us(struct sg_claim_context *context, bool restart, double *mean, double *least)
{
    struct sg_sliced_setup setup = sg_paper_slices(&context->options.network, restart);

    *mean = 0;
    *least = INFINITY;
    for (int us = 0; us < SG_PAPER_SLICE_US && context->status == SG_OK; us++) {
        struct sg_pattern pattern = sg_paper_barriers(1);
        struct sg_program_result result = {0};
        double took_us;

        pattern.granularity_ns = sg_network_ns(us + 0.5);
        sg_pattern_make(&pattern);
        context->status = sg_sliced_run(&setup, &pattern.program, &result);
        took_us = (double)(result.run_ns - pattern.granularity_ns) * 1e-3;
        *mean += took_us / SG_PAPER_SLICE_US;
        *least = fmin(*least, took_us);
    }
}

static const char *agrees(bool yes)
{
    return yes ? "as the paper" : "**not as the paper**";
}

enum sg_status sg_claims_print_contradiction(struct sg_claim_context *context)
{
    double mean[2], least[2], period[2], longer[2];

    context->status = sg_network_read("sim", "qsnet", &context->options.network);
    for (int restart = 0; restart < 2 && context->status == SG_OK; restart++) {
        call_us(context, restart, &mean[restart], &least[restart]);
        period[restart] = period_slices(context, restart);
        longer[restart] = exchange(context, false, restart, SG_PATTERN_EXCHANGE).list[1];
        mean[restart] /= SG_PAPER_SLICE_US;
    }
    if (context->status != SG_OK)
        return context->status;
    puts("\n## Paper 001 against itself\n\n"
         "When a call returns: within its slice, or with the next one. No choice agrees with all;\n"
         "section 6 does not tell the length of its slices (here 250 us).\n\n"
         "| the paper | within the slice | with the next slice |\n| --- | --- | --- |");
    printf("| a blocking call takes 1.5 slices (3.1) | %.2f: %s | %.2f: %s |\n", mean[0],
           agrees(fabs(mean[0] - 1.5) < 0.1), mean[1], agrees(fabs(mean[1] - 1.5) < 0.1));
    printf("| a barrier each 9 slices (5.3) | %.2f: %s | %.2f: %s |\n", period[0],
           agrees(fabs(period[0] - 9) < 0.1), period[1], agrees(fabs(period[1] - 9) < 0.1));
    printf("| a blocking exchange takes 30 %% longer (fig. 6.2) | %.0f %%: %s | %.0f %%: %s |\n",
           longer[0], agrees(sg_claim_within(longer[0], 30)), longer[1],
           agrees(sg_claim_within(longer[1], 30)));
    printf("| the shortest barrier takes 97 us (table 5.3) | %.0f us at least: %s | %.0f us at "
           "least: %s |\n",
           least[0], agrees(least[0] <= 97), least[1], agrees(least[1] <= 97));
    fflush(stdout);
    return SG_OK;
}

/* Paper 001, BCS-MPI: the cost of blocking collectives, in slices of time. */

#define NODES 32
#define SLICE_US 250
#define WORK_US 1900
#define SLICES_BARRIERS 10000
#define RANDOM_CALLS 4000
#define RANDOM_SLICES 100

static double slices_of(double ns)
{
    return ns * 1e-3 / SLICE_US;
}

/* The paper's protocol runs on the network card: it takes no time of the nodes' processors, and
 * interrupts none. */
static struct sg_network on_the_card(const struct sg_claim_context *context)
{
    struct sg_network network = context->options.network;

    network.overhead_us = network.signal_us = network.wake_us = network.local_us = 0;
    return network;
}

/* Slices from one barrier to the next, if nodes compute for the same time between them (section
 * 5.3). */
static bool period(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    struct sg_sim_algo algo = sg_sim_algo_of(context->claim->algo);
    struct sg_network network = on_the_card(context);
    struct sg_lateness work = {0, NODES - 1, sg_network_ns(WORK_US)};
    struct sg_world_setup setup = {
        .algo = algo.algo,
        .parameters = algo.parameters,
        .network = &network,
        .mode = SG_SIM_SIGNAL,
        .endpoints = NODES,
        .ranks_per_node = 1,
        .call = {.operation = SG_OPERATION_BARRIER, .root = -1},
        .seed = context->options.seed,
        .iterations = SLICES_BARRIERS,
        .late = &work,
        .late_count = 1,
        .free_running = true,
    };
    struct sg_world_result result = {0};
    double value;

    context->status = sg_world_run(&setup, &result);
    value = slices_of(result.period_ns);
    snprintf(measured, SG_CLAIM_TEXT, "%.3f slices", value);
    return fabs(value - context->claim->value) <= 0.01 * context->claim->value;
}

/* The time of a barrier whose last process calls at a random time of a slice (section 3.1). */
static bool random_call(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    struct sg_sim_algo algo = sg_sim_algo_of(context->claim->algo);
    struct sg_sim_options options = context->options;
    struct sg_sim_case one = {
        .algo = &algo,
        .operation = SG_OPERATION_BARRIER,
        .nodes = NODES,
        .skew_ns = sg_network_ns(RANDOM_SLICES * SLICE_US),
    };
    struct sg_world_result result = {0};
    double value;

    options.network = on_the_card(context);
    options.iterations = RANDOM_CALLS;
    context->status = sg_measure_delay(&options, &one, &result);
    value = slices_of(result.delay_ns);
    snprintf(measured, SG_CLAIM_TEXT, "%.3f slices", value);
    return fabs(value - context->claim->value) <= 0.02 * context->claim->value;
}

#define IN_SLICES "bcs(slice=250,restart=slice,strobe=always,microphases=separate)"
#define IN_PHASES "bcs(slice=250,strobe=always,microphases=separate)"

/* The paper says that calls return with a slice; some of its figures need them to return within one
 * (docs/papers.md). */
const struct sg_claim sg_claims_slices[] = {
    {"a barrier after each 1.9 ms, slices of 250 us, 32 nodes: from one to the next (5.3)",
     "9 +- 1 %", "qsnet", period, 9, .algo = IN_SLICES},
    {"... where calls return within their slice: one less", "8 +- 1 %", "qsnet", period, 8,
     .algo = IN_PHASES},
    {"a blocking call at any time of a slice takes (3.1)", "1.5 +- 2 %", "qsnet", random_call, 1.5,
     .algo = IN_SLICES},
};
const int sg_claims_slices_count = sizeof sg_claims_slices / sizeof *sg_claims_slices;

/* ---- measuring schemes of paper 004 */

/* The times when a process is ready, and when it may send and receive its next message. */
struct process {
    double now, send, receive;
};

static double later(double one, double other)
{
    return one > other ? one : other;
}

/* Returns the arrival time of the message. */
static double send(const struct sg_logp *network, struct process *from)
{
    from->now = later(from->now, from->send);
    from->send = from->now + network->gap;
    return from->now + network->latency;
}

static void receive(const struct sg_logp *network, struct process *to, double arrival)
{
    to->now = later(later(to->now, to->receive), arrival);
    to->receive = to->now + network->gap;
}

static void broadcast(const struct sg_logp *network, struct process *processes)
{
    for (int32_t rank = 1; rank < network->processes; rank++)
        receive(network, &processes[rank], send(network, &processes[0]));
}

/* The root receives the messages in the order of their arrival. */
static void barrier(const struct sg_logp *network, struct process *processes)
{
    double arrivals[SG_SCHEME_PROCESSES];
    bool taken[SG_SCHEME_PROCESSES] = {false};

    for (int32_t rank = 1; rank < network->processes; rank++)
        arrivals[rank] = send(network, &processes[rank]);
    for (int32_t count = 1; count < network->processes; count++) {
        int32_t next = 0;

        for (int32_t rank = 1; rank < network->processes; rank++) {
            if (!taken[rank] && (next == 0 || arrivals[rank] < arrivals[next]))
                next = rank;
        }
        taken[next] = true;
        receive(network, &processes[0], arrivals[next]);
    }
    broadcast(network, processes);
}

static void begin(const struct sg_logp *network, const double *entries, struct process *processes)
{
    for (int32_t rank = 0; rank < network->processes; rank++)
        processes[rank] = (struct process){.now = entries[rank]};
}

static void end(const struct sg_logp *network, const struct process *processes, double *exits)
{
    for (int32_t rank = 0; rank < network->processes; rank++)
        exits[rank] = processes[rank].now;
}

void sg_scheme_call(const struct sg_logp *network, const double *entries, double *exits)
{
    struct process processes[SG_SCHEME_PROCESSES];

    begin(network, entries, processes);
    broadcast(network, processes);
    end(network, processes, exits);
}

void sg_scheme_barrier(const struct sg_logp *network, const double *entries, double *exits)
{
    struct process processes[SG_SCHEME_PROCESSES];

    begin(network, entries, processes);
    barrier(network, processes);
    end(network, processes, exits);
}

double sg_scheme_true(const struct sg_logp *network)
{
    return sg_scheme_reported(SG_SCHEME_WINDOW, network, 1);
}

double sg_scheme_reported(enum sg_scheme scheme, const struct sg_logp *network, uint32_t calls)
{
    struct process processes[SG_SCHEME_PROCESSES];
    double entries[SG_SCHEME_PROCESSES] = {0}, exits[SG_SCHEME_PROCESSES], longest = 0;
    bool first_only = scheme == SG_SCHEME_MPPTEST || scheme == SG_SCHEME_MPBENCH;

    begin(network, entries, processes);
    if (scheme == SG_SCHEME_MPPTEST || scheme == SG_SCHEME_IMB) {
        barrier(network, processes);
        end(network, processes, entries);
    }
    if (scheme == SG_SCHEME_WINDOW)
        calls = 1;
    for (uint32_t i = 0; i < calls; i++)
        broadcast(network, processes);
    end(network, processes, exits);
    for (int32_t rank = 0; rank < (first_only ? 1 : network->processes); rank++)
        longest = later(longest, exits[rank] - entries[rank]);
    return longest / calls;
}
