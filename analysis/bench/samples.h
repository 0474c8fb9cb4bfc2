/* The measurements of calls: each rank's entry and exit, on one clock; and how the times of many
 * ranks become one number.
 *
 * Free of MPI. On rank 0; not thread-safe.
 */
#ifndef SG_BENCH_SAMPLES_H
#define SG_BENCH_SAMPLES_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Paper 004, section 1.2, has the first five. */
enum sg_bench_reduction {
    SG_BENCH_REDUCE_ROOT,   /* the time at one rank, the root */
    SG_BENCH_REDUCE_MAX,    /* the longest of any rank's */
    SG_BENCH_REDUCE_SPAN,   /* from the first rank's entry to the last rank's exit */
    SG_BENCH_REDUCE_MEAN,   /* the average over the ranks */
    SG_BENCH_REDUCE_MIN,    /* the shortest */
    SG_BENCH_REDUCE_MEDIAN, /* the median over the ranks; of an even number the lower of the two */
    SG_BENCH_REDUCTIONS
};

extern const char *const sg_bench_reduction_names[SG_BENCH_REDUCTIONS + 1]; /* NULL at the end */

/* One rank in one call. */
struct sg_bench_times {
    uint64_t entry_ns, exit_ns; /* on rank 0's clock */
    double processor_ns;        /* processor time; 0 if it is not measured */
    double overhead_ns;         /* the target's own figure; 0 if it has none */
    double waited_ns;
    uint64_t flags; /* enum sg_bench_flag */
};

enum sg_bench_flag {
    SG_BENCH_STARTED_LATE = 1,  /* entered later than planned */
    SG_BENCH_TOOK_TOO_LONG = 2, /* was not ready for the next window */
    SG_BENCH_WRONG = 4          /* has a wrong result */
};

/* All ranks in one call. */
double sg_bench_reduced_ns(const struct sg_bench_times *ranks, int count,
                           enum sg_bench_reduction reduction, int root);

/* From the last entry to the last exit (paper 002, section 5.3). */
double sg_bench_delay_ns(const struct sg_bench_times *ranks, int count);

/* From the first entry to the last. */
double sg_bench_skew_ns(const struct sg_bench_times *ranks, int count);

/* Average over the ranks. */
double sg_bench_processor_ns(const struct sg_bench_times *ranks, int count);

/* Whether some rank left before another arrived, by more than the error of their clocks. */
bool sg_bench_left_early(const struct sg_bench_times *ranks, int count, uint64_t error_ns);

/* All rounds that count, each with a call of every variant. Zeroed: none. */
struct sg_bench_samples {
    int ranks, variants;
    size_t rounds, room;
    struct sg_bench_times *times; /* by round, variant, rank */
    uint64_t *numbers;            /* of the rounds: their arrivals depend on them */
    uint64_t attempts;            /* calls made */
    /* calls in which a rank was flagged; they are repeated, and not in `times` */
    uint64_t started_late;
    uint64_t took_too_long;
    uint64_t kept_flagged;   /* flagged rounds that are kept because there are no others */
    uint64_t window_ns;      /* the last one; 0: a scheme without windows */
    uint64_t clock_error_ns; /* the largest error bound of any rank's clock */
    bool enough;             /* sampling ended because the intervals were narrow */
    int wrong_variant;       /* -1: all results were right */
};

/* The ranks' times in one call. */
const struct sg_bench_times *sg_bench_samples_at(const struct sg_bench_samples *samples,
                                                 size_t round, int variant);

/* Room for one more round, by variant and rank, which the caller fills. NULL: no memory (logged).
 */
struct sg_bench_times *sg_bench_samples_add(struct sg_bench_samples *samples, uint64_t number);

void sg_bench_samples_clear(struct sg_bench_samples *samples);

#endif
