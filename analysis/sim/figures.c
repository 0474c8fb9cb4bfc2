#include "sim/figures.h"

#include "sim/options.h"

#include <stdio.h>

#define ELEMENT_BYTES 8

static enum sg_status cpu_point(const struct sg_figure *figure,
                                const struct sg_sim_options *options, const struct sg_sim_case *one,
                                double *y)
{
    struct sg_sim_algo blocking = sg_sim_algo_of("tree(degree=1)");
    struct sg_sim_case baseline = *one;
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
    baseline.algo = &blocking;
    status = sg_measure_cpu(options, &baseline, &other);
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
    char text[80], room[160];
    const char *wrong;
    enum sg_status status;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(text, sizeof text, figure->late, x);
#pragma GCC diagnostic pop
    wrong = sg_sim_parse_late(text, late, &one.late_count, room);
    if (wrong != NULL) {
        sg_log("sim: figure %s: %s", figure->name, wrong);
        return SG_ERR_ARGUMENT;
    }
    one.late = late;
    /* Without noise each iteration is like the one before. */
    if (options->network.noise_us <= 0)
        few.iterations = 1;
    status = sg_measure_delay(&few, &one, &result);
    if (status == SG_OK)
        *y = result.delay_ns * 1e-3;
    return status;
}

enum sg_status sg_figure_point(const struct sg_figure *figure,
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
        .bytes = (figure->axis == SG_AXIS_ELEMENTS ? (uint32_t)x : elements) * ELEMENT_BYTES,
        .skew_ns = sg_network_ns(skew_us),
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
