/* A row of results under construction: names with numbers and words, as docs/bench-json.md has
 * them.
 *
 * A name and its unit are one ("delay_us"). Numbers that are not finite become null. What does not
 * fit into memory is told when the row is put out. Free of MPI; on one rank.
 */
#ifndef SG_BENCH_RECORD_H
#define SG_BENCH_RECORD_H

#include "bench/distribution.h"

#include <stddef.h>
#include <stdint.h>

struct sg_bench_record;

/* NULL when out of memory, which all functions below take. */
struct sg_bench_record *sg_bench_record_new(void);
void sg_bench_record_free(struct sg_bench_record *record);

void sg_bench_record_text(struct sg_bench_record *record, const char *name, const char *text);
void sg_bench_record_count(struct sg_bench_record *record, const char *name, uint64_t count);
void sg_bench_record_flag(struct sg_bench_record *record, const char *name, bool flag);
void sg_bench_record_number(struct sg_bench_record *record, const char *name, double value);
/* "NAME_us", from ns. */
void sg_bench_record_us(struct sg_bench_record *record, const char *name, double ns);
/* "NAME_us", "NAME_low_us", "NAME_high_us". */
void sg_bench_record_summary(struct sg_bench_record *record, const char *name,
                             const struct sg_bench_summary *summary);
/* The same of a number without a unit. */
void sg_bench_record_ratio(struct sg_bench_record *record, const char *name,
                           const struct sg_bench_summary *summary);
/* The summary, and "NAME_min_us", "mean", "p95", "p99", "max", "NAME_outliers", "NAME_count". */
void sg_bench_record_distribution(struct sg_bench_record *record, const char *name,
                                  const struct sg_bench_distribution *distribution);
/* "NAME": an array of us. */
void sg_bench_record_list(struct sg_bench_record *record, const char *name, const double *ns,
                          size_t count);

#endif
