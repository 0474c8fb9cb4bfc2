/* The columns of the text output's three tables of rows: each is one line in one table, which
 * --sort shares.
 */
#ifndef SG_REPORT_COLUMNS_H
#define SG_REPORT_COLUMNS_H

#include "report/report.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum sg_column_where {
    SG_COLUMN_COSTS = 1,    /* the table of what each row costs */
    SG_COLUMN_PLACES = 2,   /* the table of where each row is */
    SG_COLUMN_MESSAGES = 4, /* the table of what each row's messages came to */
    SG_COLUMN_NONZERO = 8,  /* only when a row has something other than zero there */
};

struct sg_column {
    const char *name;   /* for --sort */
    const char *header; /* in the table */
    bool left;          /* texts are left-aligned and sort upwards, figures right and downwards */
    unsigned max_width; /* as in struct sg_table_column */
    bool flexible;
    unsigned where; /* enum sg_column_where; 0: only to sort by */
    /* Writes the cell; malloc'ed by the stream that the caller opened. */
    void (*print)(const struct sg_report *report, const struct sg_report_site *site, FILE *out);
    /* What rows are sorted by; negative: not known, comes last. NULL: by the text. */
    double (*figure)(const struct sg_report *report, const struct sg_report_site *site);
};

extern const struct sg_column sg_columns[];
extern const size_t sg_column_count;

#define SG_COLUMN_DEFAULT "wait"

/* By name or header. NULL: there is no such column. */
const struct sg_column *sg_column_find(const char *name);

/* The cell as clean text. malloc'ed; NULL when out of memory. */
char *sg_column_text(const struct sg_column *column, const struct sg_report *report,
                     const struct sg_report_site *site);

/* Sorts the report's rows and its sums; equal ones by time blocked, then site, communicator and
 * operation, so that the order never depends on the order of reading. SG_ERR_MEMORY (logged) or
 * SG_OK. */
enum sg_status sg_report_sort(struct sg_report *report, const struct sg_column *column);

#endif
