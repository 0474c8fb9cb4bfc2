/* The summary of paper 001 (table 5.3): a row for each MPI function that was called, with the
 * shortest, longest, total and mean latency; and the rows of the distributions that MMDS kept.
 *
 * A latency is the time in a call; of a function whose requests are followed, from the begin of
 * what was posted or started to its completion as the program sees it.
 */
#ifndef SG_REPORT_PROFILE_PRIMITIVES_H
#define SG_REPORT_PROFILE_PRIMITIVES_H

#include "output/column.h"
#include "report/profile/calls.h"

struct sg_primitive {
    const char *name;
    uint64_t min_ns, max_ns, total_ns;
    uint64_t count; /* of latencies; with 0 the other figures are not known */
    double mean_ns;
    uint64_t open; /* posted, and not known to be complete */
};

/* Rows in the paper's order, functions that it has not by their total; malloc'ed. calls: NULL: none
 * are known. SG_ERR_MEMORY only. */
enum sg_status sg_primitives_make(const struct sg_calls *calls, struct sg_primitive **out,
                                  uint32_t *count);

/* Granularity or overhead as such a row. */
struct sg_primitive sg_primitive_of(const char *name, const struct sg_mmds_points *points);

/* Of struct sg_primitive. */
extern const struct sg_columns sg_primitive_columns;

/* A bin: values from `from` to below `below`. */
struct sg_primitive_bin {
    const char *primitive;
    const char *what; /* "latency_ns", "bytes" */
    uint64_t from, below, count, all;
};

/* The bins of a distribution that have values, in their order; malloc'ed. SG_ERR_MEMORY only. */
enum sg_status sg_primitive_bins(const struct sg_mmds_distribution *distribution,
                                 struct sg_primitive_bin **out, uint32_t *count);

/* Of struct sg_primitive_bin: for JSON and CSV, and as text of times and of bytes. */
extern const struct sg_columns sg_bin_columns, sg_bin_time_columns, sg_bin_bytes_columns;

/* Writes ns as ms with three digits, as the paper does. */
void sg_ms_put(int64_t ns, FILE *out);

#endif
