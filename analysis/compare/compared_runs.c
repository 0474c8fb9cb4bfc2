#include "compare/compared_runs.h"

#include "report/profile_calls.h"
#include "report/wait_sums.h"

#include <math.h>

/* ---- noise between runs ---------------------------------------------------------------------- */

void sg_run_means_add(struct sg_run_means *means, double mean)
{
    double before = mean - means->mean;

    means->count++;
    means->mean += before / means->count;
    means->squares_sum += before * (mean - means->mean);
}

/* Quantiles of Student's t, for 1 degree of freedom and more; beyond the table, that of the normal
 * distribution and an excess that falls with the degrees. */
#define DEGREES 30

static const struct {
    double table[DEGREES], normal, excess;
} quantiles[] = {
    [SG_CONFIDENCE_95] = {{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                           2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
                           2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042},
                          1.96,
                          2.46},
    [SG_CONFIDENCE_99] = {{63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.250, 3.169,
                           3.106,  3.055, 3.012, 2.977, 2.947, 2.921, 2.898, 2.878, 2.861, 2.845,
                           2.831,  2.819, 2.807, 2.797, 2.787, 2.779, 2.771, 2.763, 2.756, 2.750},
                          2.576,
                          5.22},
};

/* Between whole degrees of freedom the quantile is interpolated linearly in their inverses, which
 * gives slightly too much. */
static double student(double degrees, enum sg_confidence confidence)
{
    const double *table = quantiles[confidence].table;
    int whole = (int)degrees;
    double above;

    if (whole >= DEGREES)
        return quantiles[confidence].normal + quantiles[confidence].excess / degrees;
    if (whole < 1)
        return table[0];
    above = (degrees - whole) * (whole + 1) / degrees;
    return table[whole - 1] + above * (table[whole] - table[whole - 1]);
}

static double variance_of(const struct sg_run_means *means, const struct sg_run_means *other)
{
    const struct sg_run_means *of = means->count > 1 ? means : other;

    return of->squares_sum / (of->count - 1);
}

struct sg_difference sg_run_spread(const struct sg_run_means *a, const struct sg_run_means *b,
                                   enum sg_confidence confidence)
{
    struct sg_difference out = {.verdict = SG_VERDICT_FEW};
    double difference = b->mean - a->mean, of_a, of_b, degrees, margin = 0;

    if (a->count == 0 || b->count == 0 || a->count + b->count < 3)
        return out;
    of_a = variance_of(a, b) / a->count;
    of_b = variance_of(b, a) / b->count;
    if (a->count == 1 || b->count == 1)
        degrees = (double)a->count + b->count - 2;
    else
        degrees = (of_a + of_b) * (of_a + of_b) /
                  (of_a * of_a / (a->count - 1) + of_b * of_b / (b->count - 1));
    if (of_a + of_b > 0)
        margin = student(degrees, confidence) * sqrt(of_a + of_b);
    out.low = difference - margin;
    out.high = difference + margin;
    out.verdict = out.low > 0 ? SG_VERDICT_MORE : out.high < 0 ? SG_VERDICT_LESS : SG_VERDICT_NOISE;
    return out;
}

struct sg_measured_row sg_measured_row_of(const char *measured, double a_ns, double b_ns,
                                          const struct sg_difference *difference)
{
    bool interval = difference->verdict >= SG_VERDICT_NOISE;

    return (struct sg_measured_row){.measured = measured,
                                    .a_ns = a_ns,
                                    .b_ns = b_ns,
                                    .difference_ns = b_ns - a_ns,
                                    .change = a_ns > 0 ? (b_ns - a_ns) / a_ns : NAN,
                                    .low_ns = interval ? difference->low : NAN,
                                    .high_ns = interval ? difference->high : NAN,
                                    .verdict = difference->verdict};
}

/* ---- figures of whole runs ------------------------------------------------------------------- */

const char *const sg_whole_names[SG_WHOLE_COUNT + 1] = {
    [SG_WHOLE_RUN] = "run", [SG_WHOLE_WAITING] = "waiting", [SG_WHOLE_MPI] = "mpi"};

const char *const sg_whole_words[SG_WHOLE_COUNT] = {
    [SG_WHOLE_RUN] = "run time",
    [SG_WHOLE_WAITING] = "waiting for others",
    [SG_WHOLE_MPI] = "in MPI",
};

bool sg_whole_of(const struct sg_report *run, enum sg_whole whole, uint64_t *ns)
{
    switch (whole) {
    case SG_WHOLE_RUN:
        *ns = run->run_ns;
        return true;
    case SG_WHOLE_WAITING:
        if (run->waitstates != NULL)
            *ns = run->waitstates->total.wait_ns;
        return run->waitstates != NULL;
    default:
        if (run->calls != NULL)
            *ns = run->calls->time_ns;
        return run->calls != NULL;
    }
}

/* transform: of each run's time; NULL: the time itself. Returns false if a run lacks the figure. */
static bool means_of(const struct sg_side_runs *side, enum sg_whole whole,
                     double (*transform)(double), struct sg_run_means *out)
{
    struct sg_run_means means = {0};

    for (uint32_t i = 0; i < side->count; i++) {
        uint64_t ns;

        if (!sg_whole_of(&side->runs[i], whole, &ns))
            return false;
        sg_run_means_add(&means, transform != NULL ? transform((double)ns) : (double)ns);
    }
    *out = means;
    return side->count > 0;
}

void sg_whole_compare(const struct sg_side_runs sides[2], struct sg_whole_row out[SG_WHOLE_COUNT])
{
    for (int i = 0; i < SG_WHOLE_COUNT; i++) {
        struct sg_difference difference = {.verdict = SG_VERDICT_UNKNOWN};
        struct sg_run_means means[2];
        bool known[2];

        for (int side = 0; side < 2; side++)
            known[side] = means_of(&sides[side], (enum sg_whole)i, NULL, &means[side]);
        if (known[0] && known[1])
            difference = sg_run_spread(&means[0], &means[1], SG_CONFIDENCE_95);
        out[i] = (struct sg_whole_row){
            .figure = sg_whole_names[i],
            .words = sg_whole_words[i],
            .time = sg_measured_row_of(sg_whole_words[i], known[0] ? means[0].mean : NAN,
                                       known[1] ? means[1].mean : NAN, &difference)};
    }
}

/* ---- the gate -------------------------------------------------------------------------------- */

const char *const sg_gate_names[SG_GATE_COUNT] = {
    [SG_GATE_PASS] = "pass",
    [SG_GATE_FAIL] = "fail",
    [SG_GATE_FEW] = "too few runs",
    [SG_GATE_UNKNOWN] = "unknown",
};

#define WANTED_MOST 10000u

/* The runs a side for which the interval reaches as far as the limit, with the spread of both sides
 * together. */
static uint32_t runs_wanted(const struct sg_gate *gate, const struct sg_run_means *a,
                            const struct sg_run_means *b)
{
    double variance = (a->squares_sum + b->squares_sum) / ((double)a->count + b->count - 2);
    double reach = log1p(gate->limit);
    uint32_t runs = SG_GATE_RUNS_MIN;

    while (runs < WANTED_MOST &&
           student(2.0 * runs - 2, SG_CONFIDENCE_99) * sqrt(2 * variance / runs) > reach)
        runs++;
    return runs;
}

void sg_gate_weigh(struct sg_gate *gate, const struct sg_run_means *a, const struct sg_run_means *b)
{
    struct sg_difference difference;

    gate->verdict = SG_GATE_FEW;
    gate->wanted = SG_GATE_RUNS_MIN;
    if (a->count < SG_GATE_RUNS_MIN || b->count < SG_GATE_RUNS_MIN)
        return;
    difference = sg_run_spread(a, b, SG_CONFIDENCE_99);
    gate->change = expm1(b->mean - a->mean);
    gate->low = expm1(difference.low);
    gate->high = expm1(difference.high);
    gate->verdict = gate->low > gate->limit ? SG_GATE_FAIL : SG_GATE_PASS;
    gate->wanted = runs_wanted(gate, a, b);
}

/* A time of 0 has no logarithm. */
static double log_of(double ns)
{
    return log(ns > 1 ? ns : 1);
}

void sg_gate_judge(struct sg_gate *gate, const struct sg_side_runs sides[2])
{
    struct sg_run_means means[2];

    gate->verdict = SG_GATE_UNKNOWN;
    if (means_of(&sides[0], gate->figure, log_of, &means[0]) &&
        means_of(&sides[1], gate->figure, log_of, &means[1]))
        sg_gate_weigh(gate, &means[0], &means[1]);
}
