/* Paper 004: schemes of measuring, and clock synchronisation. Figures and claims. Also repeats the
 * claims on InfiniBand with other inputs, to show which depend on them.
 */
#include "papers/claims.h"
#include "sim/sim_output.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define INFINIBAND "infiniband-sdr"
#define PATIENCE 100 /* the paper's N */
#define RUNS 1000
#define GROUP_RUNS 20

/* ---- schemes: the paper's four processes; with L = 4 g several messages are under way at once */

static const struct sg_logp example = {4, 1, 4};

static bool same(double one, double other)
{
    return fabs(one - other) < 1e-9;
}

/* Checks the paper's formulas for several L. */
static bool in_a_row(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    bool equal = true;

    for (double latency = 0.5; latency <= 8; latency *= 2) {
        struct sg_logp network = {latency, 1, 4};

        equal &= same(sg_scheme_true(&network), latency + 2) &&
                 same(sg_scheme_reported(SG_SCHEME_LOOP, &network, 3), (8 + latency) / 3);
    }
    snprintf(measured, SG_CLAIM_TEXT, "%.2f g, %.2f g", sg_scheme_true(&example),
             sg_scheme_reported(SG_SCHEME_LOOP, &example, 3));
    return equal;
}

/* Time that rank 3 spends in the call. */
static double wait_of_last(double root_late, double middle_late)
{
    double entries[4] = {root_late, middle_late, middle_late, 0}, exits[4];

    sg_scheme_call(&example, entries, exits);
    return exits[3] - entries[3];
}

static bool skewed(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    double entries[4] = {0, 5, 6, 0}, exits[4];
    double late_root = wait_of_last(5, 0);

    sg_scheme_call(&example, entries, exits);
    snprintf(measured, SG_CLAIM_TEXT, "%.0f g and %.0f g for ranks 1 and 2; rank 3: %.0f g, %.0f g",
             exits[1] - entries[1], exits[2] - entries[2], exits[3] - entries[3], late_root);
    return same(exits[1], entries[1]) && same(exits[2], entries[2]) &&
           same(late_root, exits[3] - entries[3] + 5);
}

static bool after_barrier(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    double entries[4] = {0}, left[4], exits[4];
    double longest = 0, most = 0;

    sg_scheme_barrier(&example, entries, left);
    sg_scheme_call(&example, left, exits);
    for (int rank = 0; rank < 4; rank++) {
        longest = fmax(longest, exits[rank] - left[rank]);
        most = fmax(most, left[rank] - left[0]);
    }
    snprintf(measured, SG_CLAIM_TEXT, "leaves ranks %.0f g apart; %.0f g instead of %.0f g", most,
             longest, sg_scheme_true(&example));
    return most > 0 && longest < sg_scheme_true(&example);
}

static bool schemes(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    double truth = sg_scheme_true(&example);
    double mpptest = sg_scheme_reported(SG_SCHEME_MPPTEST, &example, 10) / truth;
    double mpbench = sg_scheme_reported(SG_SCHEME_MPBENCH, &example, 10) / truth;
    double imb = sg_scheme_reported(SG_SCHEME_IMB, &example, 10) / truth;
    double window = sg_scheme_reported(SG_SCHEME_WINDOW, &example, 10) / truth;

    snprintf(measured, SG_CLAIM_TEXT, "%.2f, %.2f, %.2f, %.2f", mpptest, mpbench, imb, window);
    return mpptest < 1 && mpbench < 1 && imb < 1 && same(window, 1);
}

/* ---- clock synchronisation */

static bool quality(struct sg_claim_context *context, double spread, uint32_t patience,
                    double *exchanges, double *error)
{
    struct sg_round_trips trips =
        sg_round_trips_of(&context->options.network, context->options.seed);

    trips.spread = spread;
    if (!sg_pair_quality(&trips, patience, RUNS, exchanges, error)) {
        sg_log("sim: %s", sg_status_text(SG_ERR_MEMORY));
        context->status = SG_ERR_MEMORY;
        return false;
    }
    return true;
}

static bool exchanges(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    double cost = 0, error;

    if (!quality(context, SG_PAIR_SPREAD, PATIENCE, &cost, &error))
        return false;
    snprintf(measured, SG_CLAIM_TEXT, "%.1f; expected for any distribution: %.1f", cost,
             sg_pair_expected(PATIENCE));
    return sg_claim_within(cost, context->claim->value);
}

static bool error_at_100(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    double cost, half, whole;

    if (!quality(context, SG_PAIR_SPREAD / 2, PATIENCE, &cost, &half) ||
        !quality(context, SG_PAIR_SPREAD, PATIENCE, &cost, &whole))
        return false;
    snprintf(measured, SG_CLAIM_TEXT, "%.1f %%, %.1f %%", half * 100, whole * 100);
    return half < context->claim->value && whole < context->claim->value;
}

static bool error_by_patience(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    static const uint32_t patience[] = {1, 10, 100, 1000};
    double cost, before = 0, gain = INFINITY;
    bool falls = true;
    int used = 0;

    for (int i = 0; i < 4; i++) {
        double error;

        if (!quality(context, SG_PAIR_SPREAD, patience[i], &cost, &error))
            return false;
        if (i > 0) {
            falls &= error < before && before - error < gain;
            gain = before - error;
        }
        before = error;
        used += snprintf(measured + used, (size_t)(SG_CLAIM_TEXT - used), "%s%.1f %%",
                         used > 0 ? ", " : "", error * 100);
    }
    return falls;
}

static bool histogram(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    struct sg_round_trips trips =
        sg_round_trips_of(&context->options.network, context->options.seed);
    uint32_t counts[SG_PAIR_BINS];
    double least_ns, most_ns;
    int fullest = 0;

    sg_round_trips_histogram(&trips, counts, &least_ns, &most_ns);
    for (int i = 1; i < SG_PAIR_BINS; i++) {
        if (counts[i] > counts[fullest])
            fullest = i;
    }
    snprintf(measured, SG_CLAIM_TEXT, "%.2f to %.2f us, most at %.2f us", least_ns * 0.5e-3,
             most_ns * 0.5e-3,
             (least_ns + (most_ns - least_ns) * (fullest + 0.5) / SG_PAIR_BINS) * 0.5e-3);
    return fullest < SG_PAIR_BINS / 2;
}

static double group_ms(const struct sg_sim_options *options, int32_t processes, bool tree)
{
    double sum_ns = 0;

    for (uint64_t run = 0; run < GROUP_RUNS; run++) {
        struct sg_round_trips trips = sg_round_trips_of(&options->network, options->seed + run);

        sum_ns += sg_group_time_ns(&trips, processes, tree);
    }
    return sum_ns / GROUP_RUNS * 1e-6;
}

static bool group(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    double line_ms = group_ms(&context->options, 128, false);
    double tree_ms = group_ms(&context->options, 128, true);

    snprintf(measured, SG_CLAIM_TEXT, "%.1f (%.0f ms over %.0f ms)", line_ms / tree_ms, line_ms,
             tree_ms);
    return sg_claim_within(line_ms / tree_ms, context->claim->value);
}

static bool group_by_processes(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    bool grows = true;
    double before = 0;
    int used = 0;

    for (int32_t processes = 2; processes <= 128; processes *= 4) {
        double factor = group_ms(&context->options, processes, false) /
                        group_ms(&context->options, processes, true);

        used += snprintf(measured + used, (size_t)(SG_CLAIM_TEXT - used), "%s%.1f",
                         used > 0 ? ", " : "", factor);
        grows &= factor > before;
        before = factor;
    }
    return grows;
}

const struct sg_claim sg_claims_measuring[] = {
    {"linear broadcast among 4, one call; a third of three in a row; L = 4 g (fig. 1)",
     "L + 2g, (8g + L) / 3", INFINIBAND, .measure = in_a_row},
    {"... ranks 1 and 2 late; the root late by 5 g (fig. 2)",
     "the late do not wait; rank 3 waits 5 g longer", INFINIBAND, .measure = skewed},
    {"... after a linear barrier (fig. 3)",
     "ranks leave it apart; the longest time is not the true one", INFINIBAND,
     .measure = after_barrier},
    {"ten calls, reported over true: MPPTEST, MPBench, IMB, window (section 1.2)",
     "all but the window too short", INFINIBAND, .measure = schemes},
    {"latencies, 50,000, least to most (fig. 4; assumed spread)",
     "asymmetric: the most frequent is in the lower half", INFINIBAND, .measure = histogram},
    {"exchanges of a pair for N = 100 (fig. 6)", "180 +- 15 %", INFINIBAND, .measure = exchanges,
     .value = 180},
    {"... error of the least, with a spread of 2.5 and 5 % (fig. 6; assumed spread)", "below 10 %",
     INFINIBAND, .measure = error_at_100, .value = 0.1},
    {"... N = 1, 10, 100, 1000 (fig. 6; assumed spread)", "falls, ever less", INFINIBAND,
     .measure = error_by_patience},
    {"clocks of 128 processes: one after the other, over the tree (fig. 8)", "16 +- 15 %",
     INFINIBAND, .measure = group, .value = 16},
    {"... 2, 8, 32, 128 processes (fig. 8)", "grows", INFINIBAND, .measure = group_by_processes},
};

const int sg_claims_measuring_count = sizeof sg_claims_measuring / sizeof *sg_claims_measuring;

/* ---- figures */

/* elements: the scheme. */
static enum sg_status calls_point(const struct sg_figure *figure,
                                  const struct sg_figure_series *series,
                                  const struct sg_sim_options *options, double x, double *y)
{
    (void)figure, (void)options;
    *y = sg_scheme_reported((enum sg_scheme)series->elements, &example, (uint32_t)x);
    return SG_OK;
}

/* elements: 0: the root is late, 1: ranks 1 and 2 are. */
static enum sg_status skew_point(const struct sg_figure *figure,
                                 const struct sg_figure_series *series,
                                 const struct sg_sim_options *options, double x, double *y)
{
    (void)figure, (void)options;
    *y = series->elements == 0 ? wait_of_last(x, 0) : wait_of_last(0, x);
    return SG_OK;
}

static enum sg_status processes_point(const struct sg_figure *figure,
                                      const struct sg_figure_series *series,
                                      const struct sg_sim_options *options, double x, double *y)
{
    struct sg_logp network = {example.latency, example.gap, (int32_t)x};

    (void)figure, (void)options;
    *y = sg_scheme_reported((enum sg_scheme)series->elements, &network, 1);
    return SG_OK;
}

/* elements: the spread in thousandths. */
static struct sg_round_trips trips_of(const struct sg_figure_series *series,
                                      const struct sg_sim_options *options)
{
    struct sg_round_trips trips = sg_round_trips_of(&options->network, options->seed);

    trips.spread = series->elements * 1e-3;
    return trips;
}

/* x: the latency divided by the median; the point shows the bin that contains it. */
static enum sg_status histogram_point(const struct sg_figure *figure,
                                      const struct sg_figure_series *series,
                                      const struct sg_sim_options *options, double x, double *y)
{
    struct sg_round_trips trips = trips_of(series, options);
    uint32_t counts[SG_PAIR_BINS];
    double least_ns, most_ns, at_ns = x * trips.middle_ns;

    (void)figure;
    sg_round_trips_histogram(&trips, counts, &least_ns, &most_ns);
    *y = at_ns >= least_ns && at_ns < most_ns
             ? counts[(int)((at_ns - least_ns) / (most_ns - least_ns) * SG_PAIR_BINS)]
             : 0;
    return SG_OK;
}

static enum sg_status quality_point(const struct sg_figure *figure,
                                    const struct sg_figure_series *series,
                                    const struct sg_sim_options *options, double x, double *y)
{
    struct sg_round_trips trips = trips_of(series, options);
    double cost, error;

    (void)figure;
    if (!sg_pair_quality(&trips, (uint32_t)x, options->iterations, &cost, &error))
        return SG_ERR_MEMORY;
    *y = error * 100;
    return SG_OK;
}

/* elements: 0: the expectation. */
static enum sg_status cost_point(const struct sg_figure *figure,
                                 const struct sg_figure_series *series,
                                 const struct sg_sim_options *options, double x, double *y)
{
    struct sg_round_trips trips = trips_of(series, options);
    double error;

    (void)figure;
    *y = sg_pair_expected((uint32_t)x);
    if (series->elements > 0 &&
        !sg_pair_quality(&trips, (uint32_t)x, options->iterations, y, &error))
        return SG_ERR_MEMORY;
    return SG_OK;
}

/* elements: 1: the tree. */
static enum sg_status group_point(const struct sg_figure *figure,
                                  const struct sg_figure_series *series,
                                  const struct sg_sim_options *options, double x, double *y)
{
    (void)figure;
    *y = group_ms(options, (int32_t)x, series->elements == 1);
    return SG_OK;
}

#define CALLS                                                                                      \
    {                                                                                              \
        1, 2, 3, 4, 6, 8, 12, 16, 24, 32                                                           \
    }
#define PROCESSES                                                                                  \
    {                                                                                              \
        2, 4, 8, 16, 32, 64, 128                                                                   \
    }
#define LATENESS                                                                                   \
    {                                                                                              \
        0, 1, 2, 3, 4, 5, 6, 8, 10                                                                 \
    }
#define BINS                                                                                       \
    {                                                                                              \
        0.80, 0.85, 0.88, 0.91, 0.94, 0.96, 0.98, 1, 1.02, 1.04, 1.06, 1.09, 1.12, 1.15, 1.2, 1.25 \
    }
#define PATIENCES                                                                                  \
    {                                                                                              \
        1, 2, 5, 10, 20, 50, 100, 200, 500, 1000                                                   \
    }

const struct sg_figure sg_figures_measuring[] = {
    {"004-1", "Calls in a row, linear broadcast among 4, L = 4 g", .network = INFINIBAND,
     .point = calls_point, .x = CALLS, .points = 10, .x_label = "calls", .x_log = true,
     .y_label = "reported time of a call (g)",
     .series = {{"longest", NULL, SG_SCHEME_LOOP},
                {"window", NULL, SG_SCHEME_WINDOW},
                {"MPPTEST", NULL, SG_SCHEME_MPPTEST},
                {"IMB", NULL, SG_SCHEME_IMB}},
     .published = {{1, 6}, {3, 4}}, .published_count = 2},
    {"004-2", "Skew, linear broadcast among 4, L = 4 g", .network = INFINIBAND, .point = skew_point,
     .x = LATENESS, .points = 9, .x_label = "lateness (g)", .y_label = "rank 3 in the call (g)",
     .series = {{"root late", NULL, 0}, {"ranks 1 and 2 late", NULL, 1}}},
    {"004-3", "One call after a linear barrier, L = 4 g", .network = INFINIBAND,
     .point = processes_point, .x = PROCESSES, .points = 7, .x_label = "processes", .x_log = true,
     .y_label = "reported time (g)",
     .series = {{"window", NULL, SG_SCHEME_WINDOW},
                {"barrier, rank 0", NULL, SG_SCHEME_MPPTEST},
                {"barrier, longest", NULL, SG_SCHEME_IMB}}},
    {"004-4", "Round trips, 200 bins (assumed spread)", .network = INFINIBAND,
     .point = histogram_point, .x = BINS, .points = 16, .x_label = "latency over its median",
     .y_label = "of 50000",
     .series = {{"spread 2.5 %", NULL, 25}, {"spread 5 %", NULL, 50}, {"spread 7.5 %", NULL, 75}}},
    {"004-6a", "Exchanges without a new least: quality (assumed spread)", .network = INFINIBAND,
     .point = quality_point, .x = PATIENCES, .points = 10, .x_label = "N", .x_log = true,
     .y_label = "error (%)",
     .series = {{"spread 2.5 %", NULL, 25}, {"spread 5 %", NULL, 50}, {"spread 7.5 %", NULL, 75}},
     .published = {{PATIENCE, 10}}, .published_count = 1},
    {"004-6b", "Exchanges without a new least: cost", .network = INFINIBAND, .point = cost_point,
     .x = PATIENCES, .points = 10, .x_label = "N", .x_log = true, .y_label = "exchanges",
     .y_log = true,
     .series = {{"spread 2.5 %", NULL, 25},
                {"spread 5 %", NULL, 50},
                {"any distribution, expected", NULL, 0}},
     .published = {{PATIENCE, 180}}, .published_count = 1},
    {"004-8", "Synchronisation of clocks", .network = INFINIBAND, .point = group_point,
     .x = PROCESSES, .points = 7, .x_label = "processes", .x_log = true, .y_label = "time (ms)",
     .y_log = true, .series = {{"one after the other", NULL, 0}, {"tree", NULL, 1}}},
};

const int sg_figures_measuring_count = sizeof sg_figures_measuring / sizeof *sg_figures_measuring;

/* Dependence of the InfiniBand claims on their inputs. Each claim is measured again, once with the
 * multicast that the network's other values predict instead of the fitted one, and once with paper
 * 002's hosts, 8 nodes of two processes that share an adapter. */

#define INPUTS_INFINIBAND "infiniband-sdr"
#define INPUTS 3 /* as it is, L + 2o, two processes a node */

struct input {
    char text[SG_CLAIM_TEXT];
    bool met;
};

static enum sg_status measure(struct sg_claim_context *context, struct input inputs[INPUTS])
{
    struct sg_network network;

    context->status = sg_network_read("sim", context->claim->network, &network);
    for (int i = 0; i < INPUTS && context->status == SG_OK; i++) {
        context->options.network = network;
        context->options.endpoints_per_adapter = i == 2 ? 2 : 1;
        if (i == 1)
            context->options.network.multicast_us = 0;
        inputs[i].text[0] = '\0';
        inputs[i].met = context->claim->measure(context, inputs[i].text);
    }
    context->options.endpoints_per_adapter = 1;
    return context->status;
}

/* Prints the head of a continued claim too if the head was not shown. */
static void print_what(const struct sg_claim *claims, int index, int shown)
{
    int head = index;

    while (head > 0 && strncmp(claims[head].what, "...", 3) == 0)
        head--;
    if (head != index && head > shown)
        printf("| %s: %s", claims[head].what, claims[index].what + 4);
    else
        printf("| %s", claims[index].what);
}

static enum sg_status print_claims(struct sg_claim_context *context, const struct sg_claim *claims,
                                   int count)
{
    int shown = -1;

    for (int i = 0; i < count; i++) {
        struct input inputs[INPUTS];

        if (strcmp(claims[i].network, INPUTS_INFINIBAND) != 0)
            continue;
        context->claim = &claims[i];
        if (measure(context, inputs) != SG_OK)
            return context->status;
        if (strcmp(inputs[0].text, inputs[1].text) == 0 &&
            strcmp(inputs[0].text, inputs[2].text) == 0)
            continue;
        print_what(claims, i, shown);
        printf(" | %s | %s: %s | %s: %s | %s |\n", claims[i].goal, inputs[1].text,
               inputs[1].met ? "holds" : "does not hold", inputs[2].text,
               inputs[2].met ? "holds" : "does not hold",
               inputs[0].met && inputs[1].met && inputs[2].met ? "yes" : "no");
        fflush(stdout);
        shown = i;
    }
    return SG_OK;
}

enum sg_status sg_claims_print_inputs(struct sg_claim_context *context)
{
    enum sg_status status;

    puts("\n## Figures that depend on the multicast and the hosts\n\n"
         "The multicast of 12 us is paper 002's own result. The same claims with L + 2o instead,\n"
         "and with 8 nodes of two processes, which share an adapter.\n\n"
         "| what | goal | multicast of L + 2o | two processes a node | either way |\n"
         "| --- | --- | --- | --- | --- |");
    status = print_claims(context, sg_claims_adaptive, sg_claims_adaptive_count);
    return status == SG_OK ? print_claims(context, sg_claims_beyond, sg_claims_beyond_count)
                           : status;
}
