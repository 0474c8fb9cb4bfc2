/* The rows of latency, cpu and delay, and what the rows of all commands have in common: each is a
 * record (docs/bench-json.md), with the columns in which text shows it.
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
/* The same for a number without a unit. */
void sg_bench_record_ratio(struct sg_record *record, const char *name,
                           const struct sg_bench_summary *summary);
/* The summary, and "NAME_min_us", "mean", "p95", "p99", "max", "NAME_outliers", "NAME_count". */
void sg_bench_record_distribution(struct sg_record *record, const char *name,
                                  const struct sg_bench_distribution *distribution);

/* For latency by the scheme loop; reduction: how ranks' times become one; comparison: ns a call. */
struct sg_record *sg_bench_latency_row(int operation, uint64_t bytes, const char *reduction,
                                       const struct sg_bench_comparison *comparison,
                                       const struct sg_bench_plan *plan);

/* Whose processor time it is: of several ranks the one with the most. */
enum sg_bench_class { SG_BENCH_ROOT, SG_BENCH_NON_ROOT, SG_BENCH_ALL_RANKS };

/* For latency with a late rank; comparison: ns of processor time a call, from so many on either
 * side. */
struct sg_record *sg_bench_late_row(int operation, uint64_t bytes,
                                    const struct sg_bench_comparison *comparison,
                                    enum sg_bench_class class, size_t calls);

/* For cpu and delay: what was called, and how. */
struct sg_bench_called {
    int operation; /* of bench/collectives.h, as everywhere here */
    const char *algorithm;
    const char *progress; /* asynchronous progress of the library; NULL: not known */
    int ranks;
    double skew_ns;
    uint64_t elements;
    size_t calls;  /* for cpu of each; for delay those in which the late rank was late */
    size_t rounds; /* for delay: all calls made */
};

/* Times in ns; for cpu the processor times of sg_bench_cpu (bench/mpi/bench.h). tree: of the
 * benchmark's own tree, NaN if it is not available. */
struct sg_record *sg_bench_cpu_row(const struct sg_bench_called *called,
                                   const struct sg_bench_summary *cpu,
                                   const struct sg_bench_summary *mpich,
                                   const struct sg_bench_summary *tree);

/* ns; NaN: of no call. */
struct sg_record *sg_bench_delay_row(const struct sg_bench_called *called,
                                     const struct sg_bench_summary *delay);

/* The columns in which text shows these rows; NULL: the options ask for other rows. */
const struct sg_line_column *sg_bench_row_columns(const struct sg_bench_options *options);

#endif
