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

/* The columns of a call site alone, for rows that begin with a struct sg_report_site. */
#define SG_OF_SITE(which, member)                                                                  \
    .kind = SG_COLUMN_##which, .offset = offsetof(struct sg_report_site, member)
#define SG_SITE_SOURCE_COLUMNS                                                                     \
    {"function", SG_OF_SITE(TEXT, function)}, {"file", SG_OF_SITE(TEXT, file)},                    \
        {"line", SG_OF_SITE(COUNT32, line), .known = sg_site_knows_line},                          \
        {"module", SG_OF_SITE(TEXT, module)},                                                      \
    {                                                                                              \
        "offset", SG_OF_SITE(COUNT, offset), .known = sg_site_knows_module                         \
    }
#define SG_SITE_ALONE_COLUMNS                                                                      \
    {"id", SG_OF_SITE(ID, id), .known = sg_site_knows_id}, SG_SITE_SOURCE_COLUMNS

bool sg_site_knows_id(const void *row);
bool sg_site_knows_line(const void *row);
bool sg_site_knows_module(const void *row);

#define SG_COLUMN_DEFAULT "wait"

/* Returns the cell as clean text, malloc'ed; NULL if out of memory. */
char *sg_site_text(const char *column, const struct sg_report *report,
                   const struct sg_report_site *site);
/* Prints the rank that came last most often, and its share of the instances; -1: none. */
void sg_last_put(int64_t rank, uint64_t count, uint64_t instances, FILE *out);
/* Prints a communicator's name, without MPI_COMM_, and size: "WORLD(4)". */
void sg_comm_put(const char *name, uint32_t size, FILE *out);
/* Sorts the report's rows and sums. Equal rows are sorted by time blocked, then by site,
 * communicator and operation, so that the result is independent of the order of reading. Returns
 * SG_ERR_MEMORY (logged) or SG_OK. */
enum sg_status sg_report_sort(struct sg_report *report, const struct sg_column *column);

#endif
