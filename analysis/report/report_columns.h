/* Columns of a report's rows, in one table for text, JSON, CSV, pages and --sort. Their context is
 * the report; for the columns of the call site it may be NULL.
 */
#ifndef SG_REPORT_REPORT_COLUMNS_H
#define SG_REPORT_REPORT_COLUMNS_H

#include "output/column.h"
#include "report/report.h"

/* All columns in JSON order, then three parts: the call site, the row, and the counters. */
extern const struct sg_columns sg_site_columns;

extern const struct sg_columns sg_site_place_columns, sg_site_row_columns, sg_site_count_columns;

#define SG_COLUMN_DEFAULT "wait"

/* Returns the cell as clean text, malloc'ed; NULL if out of memory. */
char *sg_site_text(const char *column, const struct sg_report *report,
                   const struct sg_report_site *site);
/* Prints a communicator's name, without MPI_COMM_, and size: "WORLD(4)". */
void sg_comm_put(const char *name, uint32_t size, FILE *out);
/* Sorts the report's rows and sums. Equal rows are sorted by time blocked, then by site,
 * communicator and operation, so that the result is independent of the order of reading. Returns
 * SG_ERR_MEMORY (logged) or SG_OK. */
enum sg_status sg_report_sort(struct sg_report *report, const struct sg_column *column);

#endif
