/* The papers' figures: the description of each, and the computation of its points. */
#ifndef SG_PAPERS_FIGURES_H
#define SG_PAPERS_FIGURES_H

#include "sim/timed_measure.h"

#define SG_FIGURE_POINTS 24
#define SG_FIGURE_VALUES 4
#define SG_FIGURE_SERIES 6

enum sg_figure_metric {
    SG_METRIC_CPU,            /* processor use of a reduction, us */
    SG_METRIC_FACTOR,         /* the blocking reduction's processor use divided by the series' */
    SG_METRIC_REDUCE_LATENCY, /* last rank's entry to the root's exit, us */
    SG_METRIC_LATENCY,        /* mean latency of a collective, us */
    SG_METRIC_DELAY           /* synchronization delay, us */
};

enum sg_figure_axis { SG_AXIS_NODES, SG_AXIS_SKEW, SG_AXIS_ELEMENTS, SG_AXIS_LATENESS };

struct sg_figure_series {
    const char *label, *algo;
    uint32_t elements; /* 0: the figure's; with `point`, its parameter */
};

struct sg_figure;

typedef enum sg_status (*sg_figure_function)(const struct sg_figure *figure,
                                             const struct sg_figure_series *series,
                                             const struct sg_sim_options *options, double x,
                                             double *y);

/* One figure of a paper. Parameters that the axis does not vary are fixed. */
struct sg_figure {
    const char *name; /* "000-6a": the paper and the figure */
    const char *title;
    enum sg_figure_metric metric;
    enum sg_figure_axis axis;
    const char *network;
    enum sg_operation operation;
    int32_t nodes;
    double skew_us;
    uint32_t elements;
    const char *late; /* with %g if the axis is lateness */
    double x[SG_FIGURE_POINTS];
    int points;
    struct sg_figure_series series[SG_FIGURE_SERIES]; /* ended by a NULL label */
    /* Values from the paper's text, drawn beside the simulated points. */
    struct {
        double x, y;
    } published[SG_FIGURE_VALUES];
    int published_count;
    /* For figures without a protocol run; NULL: metric and axis define the run. */
    sg_figure_function point;
    const char *x_label, *y_label; /* used with `point`; NULL: those of axis and metric */
    bool x_log, y_log;
};

/* By paper: 000 and 002; 001; 003; 004. */
extern const struct sg_figure sg_figures_skew[], sg_figures_slices[], sg_figures_srm[],
    sg_figures_measuring[];

extern const int sg_figures_skew_count, sg_figures_slices_count, sg_figures_srm_count,
    sg_figures_measuring_count;

#endif
