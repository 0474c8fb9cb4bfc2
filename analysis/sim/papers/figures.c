#include "sim/papers/figures.h"

#include "sim/lists.h"

#include <stdio.h>
#include <string.h>

/* ---- the table */

#define NODES_32 {2, 4, 8, 16, 32}, 5
#define SKEWS {0, 200, 400, 600, 800, 1000}, 6
#define ELEMENTS_128 {1, 2, 4, 8, 16, 32, 64, 128}, 8
#define NODES_16 {2, 4, 8, 16}, 4
#define NODES_1024 {2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}, 10
#define LATENESS {0, 5, 10, 15, 20, 25, 30, 40, 50, 60}, 10

#define BLOCKING "tree(degree=1)"
#define AB_NAB                                                                                     \
    {                                                                                              \
        {"blocking, 4", BLOCKING, 4}, {"blocking, 32", BLOCKING, 32},                              \
            {"blocking, 128", BLOCKING, 128}, {"bypass, 4", "bypass", 4},                          \
            {"bypass, 32", "bypass", 32}, {"bypass, 128", "bypass", 128},                          \
    }
#define FACTORS                                                                                    \
    {                                                                                              \
        {"4 elements", "bypass", 4}, {"32 elements", "bypass", 32},                                \
            {"128 elements", "bypass", 128},                                                       \
    }
#define BARRIERS                                                                                   \
    {                                                                                              \
        {"adaptive", "adaptive", 0}, {"nonadaptive", "tree", 0},                                   \
            {"dissemination", "dissemination", 0},                                                 \
    }
#define ALLREDUCES                                                                                 \
    {                                                                                              \
        {"adaptive", "adaptive", 0}, {"nonadaptive", "tree", 0}, {"pair-wise", "pairwise", 0},     \
    }
#define LATENCIES                                                                                  \
    {                                                                                              \
        {"blocking", BLOCKING, 0}, {"application-bypass", "bypass", 0},                            \
    }
#define TOKENS                                                                                     \
    {                                                                                              \
        {"adaptive", "adaptive", 0}, {"nonadaptive", "tree", 0},                                   \
            {"adaptive, two tokens", "adaptive(tokens=2)", 0},                                     \
    }
#define MYRINET "myrinet2000", SG_OPERATION_REDUCE
#define BARRIER "infiniband-sdr", SG_OPERATION_BARRIER
#define ALLREDUCE "infiniband-sdr", SG_OPERATION_ALLREDUCE

const struct sg_figure sg_figures_skew[] = {
    {"000-6a", "Processor use, 32 nodes", SG_METRIC_CPU, SG_AXIS_SKEW, MYRINET, 32, 0, 0, NULL,
     SKEWS, .series = AB_NAB},
    {"000-6b", "Factor of improvement, 32 nodes", SG_METRIC_FACTOR, SG_AXIS_SKEW, MYRINET, 32, 0, 0,
     NULL, SKEWS, .series = FACTORS, .published = {{1000, 5.1}}, .published_count = 1},
    {"000-7a", "Processor use, skew 1000 us", SG_METRIC_CPU, SG_AXIS_NODES, MYRINET, 0, 1000, 0,
     NULL, NODES_32, .series = AB_NAB},
    {"000-7b", "Factor of improvement, skew 1000 us", SG_METRIC_FACTOR, SG_AXIS_NODES, MYRINET, 0,
     1000, 0, NULL, NODES_32, .series = FACTORS, .published = {{32, 5.1}}, .published_count = 1},
    {"000-8a", "Processor use, no skew", SG_METRIC_CPU, SG_AXIS_NODES, MYRINET, 0, 0, 0, NULL,
     NODES_32, .series = AB_NAB},
    {"000-8b", "Factor of improvement, no skew", SG_METRIC_FACTOR, SG_AXIS_NODES, MYRINET, 0, 0, 0,
     NULL, NODES_32, .series = FACTORS, .published = {{32, 1.5}}, .published_count = 1},
    {"000-9", "Latency, no skew, 1 element, nodes", SG_METRIC_REDUCE_LATENCY, SG_AXIS_NODES,
     MYRINET, 0, 0, 1, NULL, NODES_32, .series = LATENCIES},
    {"000-10", "Latency, no skew, 32 nodes, elements", SG_METRIC_REDUCE_LATENCY, SG_AXIS_ELEMENTS,
     MYRINET, 32, 0, 0, NULL, ELEMENTS_128, .series = LATENCIES},
    {"002-4", "Average latency of barrier", SG_METRIC_LATENCY, SG_AXIS_NODES, BARRIER, 0, 0, 0,
     NULL, NODES_16, .series = BARRIERS},
    {"002-5", "Average latency of allreduce", SG_METRIC_LATENCY, SG_AXIS_NODES, ALLREDUCE, 0, 0,
     128, NULL, NODES_16, .series = ALLREDUCES},
    {"002-6", "Synchronization delay, barrier", SG_METRIC_DELAY, SG_AXIS_NODES, BARRIER, 0, 0, 0,
     "deepest:2x", NODES_1024, .series = BARRIERS, .published = {{2, 12}, {16, 12}},
     .published_count = 2},
    {"002-7", "Synchronization delay, allreduce", SG_METRIC_DELAY, SG_AXIS_NODES, ALLREDUCE, 0, 0,
     128, "deepest:2x", NODES_1024, .series = ALLREDUCES},
    {"002-8", "One node late, barrier", SG_METRIC_DELAY, SG_AXIS_LATENESS, BARRIER, 16, 0, 0,
     "deepest:%g", LATENESS, .series = BARRIERS, .published = {{60, 12}}, .published_count = 1},
    {"002-9", "One node late, allreduce", SG_METRIC_DELAY, SG_AXIS_LATENESS, ALLREDUCE, 16, 0, 128,
     "deepest:%g", LATENESS, .series = ALLREDUCES},
    {"002-10", "Two nodes late, barrier, lateness (us)", SG_METRIC_DELAY, SG_AXIS_LATENESS, BARRIER,
     16, 0, 0, "2:%1$g,14:%1$g", LATENESS, .series = TOKENS},
    {"002-11", "One inner node late, barrier", SG_METRIC_DELAY, SG_AXIS_LATENESS, BARRIER, 16, 0, 0,
     "1:%g", LATENESS, .series = BARRIERS},
    {"002-12", "Two nodes late, allreduce, lateness (us)", SG_METRIC_DELAY, SG_AXIS_LATENESS,
     ALLREDUCE, 16, 0, 128, "4:%1$g,15:%1$g", LATENESS, .series = TOKENS},
};

const int sg_figures_skew_count = sizeof sg_figures_skew / sizeof *sg_figures_skew;

const struct sg_figure *sg_figure_at(int index)
{
    const struct {
        const struct sg_figure *list;
        int count;
    } papers[] = {{sg_figures_skew, sg_figures_skew_count},
                  {sg_figures_slices, sg_figures_slices_count},
                  {sg_figures_srm, sg_figures_srm_count},
                  {sg_figures_measuring, sg_figures_measuring_count}};

    for (size_t i = 0; i < sizeof papers / sizeof *papers; i++) {
        if (index < papers[i].count)
            return &papers[i].list[index];
        index -= papers[i].count;
    }
    return NULL;
}

/* ---- a point */

static enum sg_status cpu_point(const struct sg_figure *figure,
                                const struct sg_sim_options *options, const struct sg_sim_case *one,
                                double *y)
{
    struct sg_world_result result, other;
    enum sg_status status = sg_measure_cpu(options, one, &result);

    if (status != SG_OK)
        return status;
    if (figure->metric == SG_METRIC_REDUCE_LATENCY) {
        *y = result.latency_ns * 1e-3;
        return SG_OK;
    }
    *y = result.cpu_ns * 1e-3;
    if (figure->metric == SG_METRIC_CPU)
        return SG_OK;
    status = sg_measure_blocking(options, one, &other);
    if (status == SG_OK)
        *y = other.cpu_ns / result.cpu_ns;
    return status;
}

static enum sg_status delay_point(const struct sg_figure *figure,
                                  const struct sg_sim_options *options, struct sg_sim_case one,
                                  double x, double *y)
{
    struct sg_sim_options few = *options;
    struct sg_sim_late late[SG_LATE_MAX];
    struct sg_world_result result;
    char text[80], fault[SG_OPTION_FAULT_BYTES];
    const char *wrong;
    enum sg_status status;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(text, sizeof text, figure->late, x);
#pragma GCC diagnostic pop
    wrong = sg_sim_parse_late(text, late, &one.late_count, fault);
    if (wrong != NULL) {
        sg_log("sim: figure %s%s", figure->name, wrong);
        return SG_ERR_ARGUMENT;
    }
    one.late = late;
    /* Without noise all iterations are alike. */
    if (options->network.noise_us <= 0)
        few.iterations = 1;
    status = sg_measure_delay(&few, &one, &result);
    if (status == SG_OK)
        *y = result.delay_ns * 1e-3;
    return status;
}

static enum sg_status run_point(const struct sg_figure *figure,
                                const struct sg_figure_series *series,
                                const struct sg_sim_options *options, double x, double *y)
{
    struct sg_sim_algo algo = sg_sim_algo_of(series->algo);
    double skew_us = figure->axis == SG_AXIS_SKEW ? x : figure->skew_us;
    uint32_t elements = series->elements > 0 ? series->elements : figure->elements;
    struct sg_sim_case one = {
        .algo = &algo,
        .operation = figure->operation,
        .nodes = figure->axis == SG_AXIS_NODES ? (int32_t)x : figure->nodes,
        .bytes = (figure->axis == SG_AXIS_ELEMENTS ? (uint32_t)x : elements) * SG_SIM_ELEMENT_BYTES,
        .skew_ns = sg_network_ns(skew_us),
        .mpich_copies = strcmp(series->algo, BLOCKING) == 0,
    };
    double latency_ns;
    enum sg_status status;

    switch (figure->metric) {
    case SG_METRIC_DELAY:
        return delay_point(figure, options, one, x, y);
    case SG_METRIC_LATENCY:
        status = sg_measure_latency(options, &one, &latency_ns);
        if (status == SG_OK)
            *y = latency_ns * 1e-3;
        return status;
    default:
        return cpu_point(figure, options, &one, y);
    }
}

enum sg_status sg_figure_point(const struct sg_figure *figure,
                               const struct sg_figure_series *series,
                               const struct sg_sim_options *options, double x, double *y)
{
    return (figure->point != NULL ? figure->point : run_point)(figure, series, options, x, y);
}
