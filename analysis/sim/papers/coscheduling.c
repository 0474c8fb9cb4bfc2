/* Paper 001, BCS-MPI: what its section 5.3 sees of slices, and what its programs take (section 6);
 * and where the paper contradicts itself. */
#include "algos/parameters.h"
#include "algos/tree.h"
#include "sim/papers/claims.h"
#include "sim/papers/programs.h"

#include <math.h>
#include <stdio.h>

/* Up to behind the last slice; the paper has 10,000. */
#define BARRIERS 1400
#define FIRST_SLICE 7500
#define LAST_SLICE 12500
#define SAGE_PROCESSES 64
#define SAGE_CALLS 9770

static const int32_t sizes[] = {4, 16, 64};
#define SIZES 3

/* ---- figures 5.3 to 5.5: a series of slices, as the protocol tells of them */

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

/* The strobe that asks, and the answers up the tree. */
static double ask_us(const struct sg_network *network, int32_t nodes)
{
    return (double)sg_network_multicast_ns(network, 0) * 1e-3 +
           sg_tree_depth(nodes, SG_DEGREE_BARRIER) *
               (network->latency_us + 2 * network->overhead_us);
}

/* value: the paper's, us; with `elements` 1 times log n. */
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

/* From one barrier to the next, in slices (section 5.3). */
static double period_slices(struct sg_claim_context *context, bool restart)
{
    struct sg_pattern pattern = sg_paper_barriers(1000);
    struct sg_paper_times times = {0};

    context->status = sg_paper_run(&context->options.network, &pattern, restart, &times);
    return times.bcs_ns / pattern.steps * 1e-3 / SG_PAPER_SLICE_US;
}

/* What a barrier takes whose processes call at every time of a slice: mean and least, us. */
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
