/* Samples of the cost of one call site's instances, in the order in which they ended, and the
 * intervals that a comparison draws from them.
 *
 * A series is exact up to SG_SERIES_ROOM instances. Beyond that every two neighbours are merged
 * into one sample, so that a sample stands for several consecutive instances: memory stays bounded,
 * the sums stay exact, and a slow phase that neighbours share does not count as independent
 * evidence.
 */
#ifndef SG_COMPARE_COMPARED_SAMPLES_H
#define SG_COMPARE_COMPARED_SAMPLES_H

#include "core/status.h"
#include "report/quantiles.h"
#include "report/report.h"

#include <stdbool.h>
#include <stdint.h>

#define SG_SERIES_ROOM 512u /* even */

enum sg_measured {
    SG_MEASURED_BLOCKED,
    SG_MEASURED_WAIT,
    SG_MEASURED_PROCESSOR, /* blocked, and handling late contributions outside of calls */
    SG_MEASURED_COUNT
};

struct sg_sample {
    uint64_t calls;
    uint64_t ns[SG_MEASURED_COUNT]; /* sums over the calls */
};

/* Zero-initialised is empty. */
struct sg_series {
    struct sg_sample *samples;
    uint32_t count;
    uint64_t per_sample; /* instances in each sample but the last; 0: no instance yet */
    uint64_t in_last;    /* instances in the last */
    uint64_t instances;
    struct sg_sample sum;
};

/* Adds one instance. SG_ERR_MEMORY only (not logged). */
enum sg_status sg_series_add(struct sg_series *series, const struct sg_sample *sample);
/* Adds a cost that belongs to no particular instance to the last one; drops it if there is none.
 */
void sg_series_add_processor(struct sg_series *series, uint64_t ns);
void sg_series_clear(struct sg_series *series);

/* Bootstrap over instances: tests whether a difference between two means may be due to chance.
 *
 * The mean is a cost per call: the sum of ns divided by the number of calls. Each of
 * SG_BOOTSTRAP_DRAWS draws takes from both series as many samples as they have, with replacement;
 * the interval contains the middle 95 % of the differences (percentile bootstrap). It covers the
 * variation within the two runs, and not the variation from run to run: it shows that these runs
 * differ, and never which side is better.
 *
 * Deterministic: the same series and seed give the same interval.
 */

#define SG_BOOTSTRAP_DRAWS 1000
#define SG_BOOTSTRAP_SAMPLES_MIN SG_RESAMPLE_SAMPLES_MIN

enum sg_verdict {
    SG_VERDICT_UNKNOWN, /* no events on one of the sides */
    SG_VERDICT_FEW,     /* too few instances for an interval */
    SG_VERDICT_NOISE,   /* the interval contains 0 */
    SG_VERDICT_DIFFERS, /* two runs differ: repeated runs of one program may, too */
    SG_VERDICT_LESS,    /* b costs less than a */
    SG_VERDICT_MORE,    /* b costs more than a */
    SG_VERDICT_COUNT
};

/* In ns per call. */
struct sg_difference {
    enum sg_verdict verdict;
    double low, high; /* of b - a; valid from SG_VERDICT_NOISE on */
};

/* Fills in one difference for each of enum sg_measured. SG_ERR_MEMORY only (not logged). */
enum sg_status sg_bootstrap(const struct sg_series *a, const struct sg_series *b, uint64_t seed,
                            struct sg_difference out[SG_MEASURED_COUNT]);
/* The interval of a mean of plain values, for example the saving in each of some instances. Returns
 * false if there are too few values, or no memory. */
bool sg_bootstrap_mean(const double *values, uint32_t count, uint64_t seed, double *low,
                       double *high);
/* From the sum; 0 without calls. */
double sg_series_mean(const struct sg_series *series, enum sg_measured measured);

/* Collects, besides a run's report, a series of samples for each call site and operation.
 */

struct sg_collected {
    uint32_t site; /* index in the aggregate, as in the report's rows */
    enum sg_operation operation;
    bool nonblocking;
    struct sg_series series;
    /* The current instance, and late contributions since the last one. */
    struct sg_sample pending;
    bool touched;
};

struct sg_collection {
    struct sg_collected *items;
    uint32_t count;
    uint32_t *item_of_row; /* by the aggregate's row, 1 + item; 0: not yet known */
    uint32_t row_room;
    uint32_t *touched; /* items of the current instance */
    uint32_t touched_count;
};

/* On failure one line has been logged; clear both in either case. */
enum sg_status sg_collect(const char *path, bool progress, struct sg_report *report,
                          struct sg_collection *out);
void sg_collection_clear(struct sg_collection *collection);
/* NULL: the events have none. */
const struct sg_collected *sg_collection_find(const struct sg_collection *collection,
                                              const struct sg_report_site *site);

#endif
