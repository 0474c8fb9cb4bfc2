/* Tables of a page with the columns of a report's text. They are HTML that needs no scripts; the
 * page's script sorts and filters them.
 */
#ifndef SG_PAGE_PAGE_TABLE_H
#define SG_PAGE_PAGE_TABLE_H

#include "output/section.h"
#include "report/report_section.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct sg_page_shown {
    const char *column, *header, *about;
    const char *figure; /* the column to sort by; NULL: the same */
    bool optional;      /* shown only if some row is above zero */
};

/* A section of the report as a table of the page. */
struct sg_page_section {
    const char *id;
    const struct sg_report_section *section; /* its rows and columns, and its name in CSV */
    const struct sg_page_shown *shown;       /* ends with a NULL column */
    const char *rows_are;                    /* names the rows that are left out */
    const char *key;  /* column by which rows are filtered; NULL: no filter */
    bool is_of_sites; /* the second column, not the first, names a row, with `where` as title */
};

/* Print all before the titles of a table, and all after its rows. */
void sg_page_begin_table(const char *id, const char *class, bool has_filter, FILE *out);
void sg_page_end_table(const char *id, bool has_filter, FILE *out);
/* Prints these rows. */
void sg_page_put_table(const struct sg_page_section *section, const struct sg_rows *rows,
                       FILE *out);
/* Prints up to `limit` rows, and how many there are beyond. NULL: the section's rows. */
void sg_page_put_section(const struct sg_report *report, uint32_t limit,
                         const struct sg_page_section *section, const struct sg_rows *rows,
                         FILE *out);
uint32_t sg_page_rows(uint32_t count, uint32_t limit);

#endif
