/* Claims of the papers, and further ones, against which the simulator is checked; and the model of
 * clock synchronisation that some of them measure. Each claim is a row of a table with its goal and
 * the function that measures it. `stagger sim papers` prints them all.
 */
#ifndef SG_PAPERS_CLAIMS_H
#define SG_PAPERS_CLAIMS_H

#include "bcs/program_patterns.h"
#include "bcs/program_run.h"
#include "core/status.h"
#include "sim/network.h"
#include "sim/timed_measure.h"
#include "sim/timed_queue.h"

#include <stdbool.h>
#include <stdint.h>

#define SG_CLAIM_TEXT 160

struct sg_claim_context {
    struct sg_sim_options options; /* seed, and the network of the current claim */
    const struct sg_claim *claim;  /* the current claim */
    enum sg_status status;         /* the first failure */
};

struct sg_claim {
    const char *what, *goal;
    const char *network;
    /* Writes the measured value; returns true if it meets the goal. */
    bool (*measure)(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT]);
    double value; /* parameters, for functions that several claims share */
    const char *algo;
    int32_t nodes;
    const char *late;
    uint32_t elements;
};

extern const struct sg_claim sg_claims_bypass[], sg_claims_adaptive[], sg_claims_srm[],
    sg_claims_measuring[], sg_claims_slices[], sg_claims_coscheduling[], sg_claims_beyond[];

extern const int sg_claims_bypass_count, sg_claims_adaptive_count, sg_claims_srm_count,
    sg_claims_measuring_count, sg_claims_slices_count, sg_claims_coscheduling_count,
    sg_claims_beyond_count;

/* Repeats the claims on InfiniBand with other inputs, and prints those whose values change. */
enum sg_status sg_claims_print_inputs(struct sg_claim_context *context);
/* Prints which of paper 001's statements agree with calls that return within their slice, and which
 * with calls that return with the next one. */
enum sg_status sg_claims_print_contradiction(struct sg_claim_context *context);

/* Within 15 % of the goal. */
static inline bool sg_claim_within(double value, double goal)
{
    return value >= goal * 0.85 && value <= goal * 1.15;
}

/* Clock synchronisation of pairs and groups (paper 004, sections 2.2 and 3), in virtual time.
 *
 * A pair is measured by the code of libstagger.so (core/clocksync.h), with round trips drawn from a
 * distribution. The paper gives its distribution only as a histogram; here it is log-normal about
 * the network's 2 (L + 2o), with an assumed spread. The number of exchanges that a pair takes does
 * not depend on the distribution: only the order of the round trips counts.
 */

#define SG_PAIR_TRIPS 50000 /* the paper's number of round trips */
#define SG_PAIR_BINS 200    /* of its histogram */
#define SG_PAIR_SPREAD 0.05 /* assumed */

struct sg_round_trips {
    double middle_ns; /* the median */
    double spread;    /* standard deviation of the logarithm */
    uint64_t seed;
};

/* With SG_PAIR_SPREAD. */
struct sg_round_trips sg_round_trips_of(const struct sg_network *network, uint64_t seed);
/* counts[i]: number of the SG_PAIR_TRIPS round trips in the i-th of SG_PAIR_BINS equal bins between
 * the least and the most. */
void sg_round_trips_histogram(const struct sg_round_trips *trips, uint32_t *counts,
                              double *least_ns, double *most_ns);

struct sg_pair_result {
    uint32_t exchanges;
    double least_ns; /* the shortest round trip */
    double time_ns;  /* of all exchanges */
};

/* Measures one pair; patience as for sg_clock_pair_ask. */
struct sg_pair_result sg_pair_measure(const struct sg_round_trips *trips, uint64_t who,
                                      uint32_t patience);
/* Figure 6: means over many pairs whose round trips are drawn from a list of SG_PAIR_TRIPS. *error:
 * the mean of the minima found, divided by the list's minimum, less 1. Returns false if out of
 * memory. */
bool sg_pair_quality(const struct sg_round_trips *trips, uint32_t patience, uint32_t runs,
                     double *exchanges, double *error);
/* The expected number of exchanges, for any continuous distribution. */
double sg_pair_expected(uint32_t patience);
/* Figure 8: the time until all processes are synchronised, in the tree of core/clocksync.h, or one
 * after the other. processes: 2 to 1024. */
double sg_group_time_ns(const struct sg_round_trips *trips, int32_t processes, bool tree);

/* The papers' figures: the description of each, and the computation of its points. */

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

/* Paper 001's programs, under buffered coscheduling and as usual, which claims and figures measure;
 * and the LogP model of paper 004's measuring schemes.
 */

#define SG_PAPER_SLICE_US 250
#define SG_PAPER_NODE 17 /* any of the 32 nodes, for local figures */

/* Exchanges after each 3.5 ms (section 6.3). */
struct sg_pattern sg_paper_exchange(int32_t processes, bool nonblocking);
/* SAGE (table 5.3), with an imbalance fitted to the paper's call times there. */
struct sg_pattern sg_paper_sage(int32_t processes, uint32_t calls);
/* Runs the barriers of section 5.3 by the protocol, message by message; calls `slice` for each
 * slice. */
enum sg_status sg_paper_protocol(const struct sg_network *network, uint32_t barriers,
                                 void (*slice)(void *context, int32_t endpoint,
                                               const struct sg_slice *slice),
                                 void *context);

/* Run times as usual and under coscheduling, and the mean time under coscheduling of a call that
 * waits. sg_paper_run makes the pattern. */
struct sg_paper_times {
    double usual_ns, bcs_ns, call_ns;
};

enum sg_status sg_paper_run(const struct sg_network *network, struct sg_pattern *pattern,
                            bool restart_slice, struct sg_paper_times *out);

/* Schemes of measuring a collective, under LogP (paper 004, section 1.2, figures 1 to 3).
 *
 * The collective is a linear broadcast from rank 0. As in the paper's figures only L and g count: a
 * sender leaves with its last message, and two messages that a process sends, or receives, are
 * separated by at least g. Times are in any one unit. Pure functions.
 */

#define SG_SCHEME_PROCESSES 128

struct sg_logp {
    double latency, gap; /* L, g */
    int32_t processes;   /* 2 to SG_SCHEME_PROCESSES */
};

/* The benchmark's preparation before the calls, and the time it reports. */
enum sg_scheme {
    SG_SCHEME_LOOP,    /* none; the longest time of any process, divided by the calls */
    SG_SCHEME_MPPTEST, /* a barrier; rank 0's time divided by the calls */
    SG_SCHEME_MPBENCH, /* none; rank 0's time divided by the calls */
    SG_SCHEME_IMB,     /* barriers; the longest time of any process */
    SG_SCHEME_WINDOW,  /* an agreed start time; the longest time, of one call */
    SG_SCHEME_COUNT
};

/* One call: exits[rank] - entries[rank] is the time each process spends in it. */
void sg_scheme_call(const struct sg_logp *network, const double *entries, double *exits);
/* A linear barrier through rank 0, with the same entries and exits. */
void sg_scheme_barrier(const struct sg_logp *network, const double *entries, double *exits);
/* The longest time of any process in one call that all begin at once. */
double sg_scheme_true(const struct sg_logp *network);
/* The scheme's result for `calls` calls in a row, 1 or more; all processes begin at once. The
 * window scheme always takes one call. */
double sg_scheme_reported(enum sg_scheme scheme, const struct sg_logp *network, uint32_t calls);

#endif
