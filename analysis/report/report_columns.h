/* The columns of a report's rows, in one table for text, JSON, CSV, pages and --sort. Their context
 * is the report; for the columns of the call site it may be NULL.
 */
#ifndef SG_REPORT_REPORT_COLUMNS_H
#define SG_REPORT_REPORT_COLUMNS_H

#include "output/column.h"
#include "report/report.h"

/* All columns in the order of JSON, then its three parts: columns of the call site, columns of a
 * row, and counters. */
extern const struct sg_columns sg_site_columns;

extern const struct sg_columns sg_site_place_columns, sg_site_row_columns, sg_site_count_columns;

#define SG_COLUMN_DEFAULT "wait"

/* The cell as clean text. malloc'ed; NULL when out of memory. */
char *sg_site_text(const char *column, const struct sg_report *report,
                   const struct sg_report_site *site);
/* A communicator by its name, without MPI_COMM_, and size: "WORLD(4)". */
void sg_comm_put(const char *name, uint32_t size, FILE *out);
/* Sorts the report's rows and its sums. Equal ones are sorted by time blocked, then site,
 * communicator and operation, so that the order does not depend on the order of reading.
 * SG_ERR_MEMORY (logged) or SG_OK. */
enum sg_status sg_report_sort(struct sg_report *report, const struct sg_column *column);

#endif
