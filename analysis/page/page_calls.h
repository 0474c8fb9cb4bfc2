/* Tables of a page whose columns are those of a report's text: HTML that needs no scripts, and that
 * the page's script sorts and filters.
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
    const char *figure; /* the column that it sorts by; NULL: the same */
    bool optional;      /* only if some row has more than none */
};

/* A table: rows of row_bytes each. */
struct sg_page_table {
    const char *id;
    const struct sg_page_shown *shown; /* ends with a NULL column */
    struct sg_columns columns;         /* and those of call sites */
    const void *context;               /* theirs */
    const void *rows;
    size_t row_bytes;
    uint32_t count;
    const char *(*function_of)(const void *row); /* which a filter may choose; NULL: no filter */
};

uint32_t sg_page_rows(uint32_t count, uint32_t limit);
void sg_page_put_table(const struct sg_page_table *table, FILE *out);
/* How many rows are not shown, and in which table of stagger report they are. */
void sg_page_put_left_out(uint32_t shown, uint32_t count, const char *what, const char *csv,
                          FILE *out);

#endif
