/* The rows of latency, cpu and delay, and what is common to the rows of all commands: each a record
 * (docs/bench-json.md) and the columns in which text shows it.
 *
 * Free of MPI; on one rank.
 */
#ifndef SG_BENCH_ROWS_H
#define SG_BENCH_ROWS_H

#include "bench/options.h"
#include "bench/plan.h"
#include "bench/statistics.h"
#include "output/line.h"
#include "output/record.h"

/* "NAME_us", "NAME_low_us", "NAME_high_us". */
void sg_bench_record_summary(struct sg_record *record, const char *name,
                             const struct sg_bench_summary *summary);
/* The same of a number without a unit. */
void sg_bench_record_ratio(struct sg_record *record, const char *name,
                           const struct sg_bench_summary *summary);
/* The summary, and "NAME_min_us", "mean", "p95", "p99", "max", "NAME_outliers", "NAME_count". */
void sg_bench_record_distribution(struct sg_record *record, const char *name,
                                  const struct sg_bench_distribution *distribution);

/* Of latency by the scheme loop; comparison: ns a call. */
struct sg_record *sg_bench_latency_row(enum sg_operation operation, uint64_t bytes,
                                       const struct sg_bench_comparison *comparison,
                                       const struct sg_bench_plan *plan);

/* Whose processor time: of several ranks the one that spends most. */
enum sg_bench_class { SG_BENCH_ROOT, SG_BENCH_NON_ROOT, SG_BENCH_ALL_RANKS };

/* Of latency with a late rank; comparison: ns of processor time a call, of so many on either side.
 */
struct sg_record *sg_bench_late_row(enum sg_operation operation, uint64_t bytes,
                                    const struct sg_bench_comparison *comparison,
                                    enum sg_bench_class class, size_t calls);

/* Of cpu and delay: what was called, and how. */
struct sg_bench_called {
    enum sg_operation operation;
    const char *algorithm;
    const char *progress; /* who handles what is late; NULL: not known */
    int ranks;
    double skew_ns;
    uint64_t elements;
    size_t calls;  /* of cpu of each; of delay those in which the late rank was late */
    size_t rounds; /* of delay: all calls made */
};

/* Times in ns, as the processor times of bench/mpi/bench.h's sg_bench_cpu; tree: of our own tree,
 * NaN where it cannot be had. */
struct sg_record *sg_bench_cpu_row(const struct sg_bench_called *called,
                                   const struct sg_bench_summary *cpu,
                                   const struct sg_bench_summary *mpich,
                                   const struct sg_bench_summary *tree);

/* ns; NaN: of no call. */
struct sg_record *sg_bench_delay_row(const struct sg_bench_called *called,
                                     const struct sg_bench_summary *delay);

/* How the text shows these rows; NULL: the options' rows are others. */
const struct sg_line_column *sg_bench_row_columns(const struct sg_bench_options *options);

#endif
