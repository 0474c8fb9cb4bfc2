/* Gathers what ranks did before calls (before.h), log by log.
 *
 * Memory grows with pairs of places and the ranks at each. Functions that return a status:
 * SG_ERR_MEMORY only, not logged. Not thread-safe.
 */
#ifndef SG_REPORT_BETWEEN_CALLS_H
#define SG_REPORT_BETWEEN_CALLS_H

#include "output/column.h"
#include "report/between_calls_tables.h"
#include "report/text_tables.h"

#include <jansson.h>

struct sg_aggregate;

struct sg_before_sums;

struct sg_filter;

#define SG_BEFORE_NO_SITE UINT32_MAX

enum sg_status sg_before_sums_create(struct sg_before_sums **out);
void sg_before_sums_destroy(struct sg_before_sums *sums);
/* Sums of a rank's thread. Sites are the aggregate's. */
enum sg_status sg_before_sums_add(struct sg_before_sums *sums, uint32_t rank, uint32_t after,
                                  uint32_t until, const struct sg_before_figures *figures);

/* The name of the MPI function that is called at a site; NULL: not known. */
typedef const char *(*sg_before_function)(const void *context, uint32_t site);

/* Of the places that the filter (NULL: all) takes. *out is NULL where nothing was sampled. */
enum sg_status sg_before_sums_finish(const struct sg_before_sums *sums,
                                     const struct sg_aggregate *aggregate,
                                     const struct sg_filter *filter, sg_before_function function,
                                     const void *context, struct sg_before **out);

/* The columns of a rank's intervals between two places (struct sg_before_row). */

extern const struct sg_columns sg_before_columns;

/* Prints what ranks did before calls: nothing if it is not known. As in report/print.h; there,
 * report->calls, and in it what was done before them, may be NULL.
 */

/* The table, where events do not tell more. */
enum sg_status sg_before_print(const struct sg_report *report,
                               const struct sg_print_options *options, FILE *out);
/* One line of the sources that no rank has had; nothing where all are there. */
void sg_before_print_missing(const struct sg_report *report, FILE *out);
/* Sets the report's member about it; null where it is not known. */
void sg_before_json(json_t **root, const struct sg_report *report,
                    const struct sg_print_options *options);
enum sg_status sg_before_print_csv(const struct sg_report *report,
                                   const struct sg_print_options *options, FILE *out);

#endif
