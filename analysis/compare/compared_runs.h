/* Whole runs: the noise between runs, the figures of whole runs on the two sides, and the gate that
 * fails a side B that costs more than A.
 *
 * The run is the sample. A difference between two means has an interval by Student's t after Welch:
 * with few runs, a bootstrap over them would give intervals that are far too narrow
 * (docs/decisions/11). Variation within a run affects its mean and so is included. A side of one
 * run has no spread of its own: the other side's is used.
 */
#ifndef SG_COMPARE_COMPARED_RUNS_H
#define SG_COMPARE_COMPARED_RUNS_H

#include "compare/compared_samples.h"
#include "report/report.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- noise between runs ---------------------------------------------------------------------- */

/* The means of one side's runs. Zero-initialised is none. */
struct sg_run_means {
    uint32_t count;
    double mean;
    double squares_sum; /* of the differences from the mean */
};

/* Probabilities with which an interval contains the difference. */
enum sg_confidence { SG_CONFIDENCE_95, SG_CONFIDENCE_99 };

void sg_run_means_add(struct sg_run_means *means, double mean);
/* The interval of b - a; SG_VERDICT_FEW if neither side has two runs. */
struct sg_difference sg_run_spread(const struct sg_run_means *a, const struct sg_run_means *b,
                                   enum sg_confidence confidence);

/* A cost on both sides: per call, or of a call in a run. NAN: not known. */
struct sg_measured_row {
    const char *measured;
    double a_ns, b_ns, difference_ns, change;
    double low_ns, high_ns; /* of the difference */
    enum sg_verdict verdict;
};

/* a_ns, b_ns: NAN if the side lacks it. */
struct sg_measured_row sg_measured_row_of(const char *measured, double a_ns, double b_ns,
                                          const struct sg_difference *difference);

/* ---- figures of whole runs ------------------------------------------------------------------- */

enum sg_whole {
    SG_WHOLE_RUN,     /* of the longest rank */
    SG_WHOLE_WAITING, /* of all ranks for others, in all calls whose waits the events show */
    SG_WHOLE_MPI,     /* of all ranks in all MPI calls */
    SG_WHOLE_COUNT
};

/* "run", "waiting", "mpi", NULL: the words of options and JSON. */
extern const char *const sg_whole_names[SG_WHOLE_COUNT + 1];
/* For people. */
extern const char *const sg_whole_words[SG_WHOLE_COUNT];

struct sg_whole_row {
    const char *figure, *words;
    struct sg_measured_row time; /* means over the runs */
};

/* The runs of a side. */
struct sg_side_runs {
    const struct sg_report *runs;
    uint32_t count;
};

/* Returns false if the run has no such figure. */
bool sg_whole_of(const struct sg_report *run, enum sg_whole whole, uint64_t *ns);
/* Unknown on a side if one of its runs lacks it; with one run a side there is no interval. */
void sg_whole_compare(const struct sg_side_runs sides[2], struct sg_whole_row out[SG_WHOLE_COUNT]);

/* ---- the gate -------------------------------------------------------------------------------- */

/* The change from A to B is the quotient of the geometric means of a figure's values in the runs,
 * with an interval of 99 % (of their logarithms, as above): noise is a factor, and in one
 * comparison in 200 at most chance puts a B that costs as much as A above a limit of 0. B fails if
 * the interval's lower end is above the limit. */

#define SG_GATE_RUNS_MIN 3u /* a side */

enum sg_gate_verdict { SG_GATE_PASS, SG_GATE_FAIL, SG_GATE_FEW, SG_GATE_UNKNOWN, SG_GATE_COUNT };

/* "pass", "fail", "too few runs", "unknown": the JSON values. */
extern const char *const sg_gate_names[SG_GATE_COUNT];

struct sg_gate {
    double limit; /* 0.05: 5 %; below 0: there is no gate */
    enum sg_whole figure;
    /* The results. */
    enum sg_gate_verdict verdict;
    double change, low, high; /* 0.1: 10 % more in B; for SG_GATE_PASS and SG_GATE_FAIL */
    /* Runs a side for which the interval would reach no further than the limit from the change, as
     * far as the spread of these tells; for SG_GATE_FEW the fewest that are judged. */
    uint32_t wanted;
};

void sg_gate_judge(struct sg_gate *gate, const struct sg_side_runs sides[2]);
/* Fills in the results from the logarithms of the runs' values. */
void sg_gate_weigh(struct sg_gate *gate, const struct sg_run_means *a,
                   const struct sg_run_means *b);

#endif
