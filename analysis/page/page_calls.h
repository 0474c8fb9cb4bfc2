/* Tables of a page with the columns of a report's text. They are HTML that needs no scripts; the
 * page's script sorts and filters them.
 */
#ifndef SG_PAGE_PAGE_CALLS_H
#define SG_PAGE_PAGE_CALLS_H

#include "output/column.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct sg_page_shown {
    const char *column, *header, *about;
    const char *figure; /* the column to sort by; NULL: the same */
    bool optional;      /* shown only if some row is above zero */
};

/* A table: rows of row_bytes each. */
struct sg_page_table {
    const char *id;
    const struct sg_page_shown *shown; /* ends with a NULL column */
    struct sg_columns columns;         /* searched before the columns of call sites */
    const void *context;               /* of the columns */
    const void *rows;
    size_t row_bytes;
    uint32_t count;
    const char *(*function_of)(const void *row); /* filter key of a row; NULL: no filter */
};

uint32_t sg_page_rows(uint32_t count, uint32_t limit);
void sg_page_put_table(const struct sg_page_table *table, FILE *out);
/* A line about the rows that are left out, and the table of stagger report that has them all. */
void sg_page_put_left_out(uint32_t shown, uint32_t count, const char *what, const char *csv,
                          FILE *out);

#endif
