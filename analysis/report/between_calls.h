/* Gathers, log by log, the intervals between calls of MPI that were sampled
 * (between_calls_tables.h); their section of the report.
 *
 * Memory grows with pairs of call sites and the ranks at each. Functions that gather return
 * SG_ERR_MEMORY only, not logged. Not thread-safe.
 */
#ifndef SG_REPORT_BETWEEN_CALLS_H
#define SG_REPORT_BETWEEN_CALLS_H

#include "output/column.h"
#include "report/between_calls_tables.h"

struct sg_aggregate;

struct sg_before_sums;

struct sg_filter;

#define SG_BEFORE_NO_SITE UINT32_MAX

enum sg_status sg_before_sums_create(struct sg_before_sums **out);
void sg_before_sums_destroy(struct sg_before_sums *sums);
/* Adds the sums of a thread of the rank. Call sites are indices in the aggregate, or
 * SG_BEFORE_NO_SITE. */
enum sg_status sg_before_sums_add(struct sg_before_sums *sums, uint32_t rank, uint32_t after,
                                  uint32_t until, const struct sg_before_figures *figures);

/* Returns the name of the MPI function that is called at a site; NULL: not known. */
typedef const char *(*sg_before_function)(const void *context, uint32_t site);

/* Makes the table for the call sites that the filter takes (NULL: all). *out is NULL if nothing was
 * sampled, or if the filter is for communicators, which the sums do not have. */
enum sg_status sg_before_sums_finish(const struct sg_before_sums *sums,
                                     const struct sg_aggregate *aggregate,
                                     const struct sg_filter *filter, sg_before_function function,
                                     const void *context, struct sg_before **out);

/* The columns of struct sg_before_row. */

extern const struct sg_columns sg_before_columns;

#endif
