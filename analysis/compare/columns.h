/* What the rows of a comparison are sorted by, and how many are kept.
 *
 * Names and headers are those of the report's columns where there is such a column.
 */
#ifndef SG_COMPARE_COLUMNS_H
#define SG_COMPARE_COLUMNS_H

#include "compare/compare.h"

#include <stddef.h>

struct sg_compared_column {
    const char *name;   /* for --sort */
    const char *header; /* in the table */
    /* Rows with more come first; negative: not known, comes last. NULL: by the text of the report's
     * column, upwards. */
    double (*figure)(const struct sg_compared *row);
};

extern const struct sg_compared_column sg_compared_columns[];
extern const size_t sg_compared_column_count;

#define SG_COMPARED_COLUMN_DEFAULT "blocked"

/* By name or header. NULL: there is no such column. */
const struct sg_compared_column *sg_compared_column_find(const char *name);

/* Rows in both stay in front of those in one alone; equal ones by time blocked, then id and
 * operation. SG_ERR_MEMORY only (not logged). */
enum sg_status sg_comparison_sort(struct sg_comparison *comparison,
                                  const struct sg_compared_column *column);

/* Keeps the first rows of those in both, and of those in each alone; 0: all. The counts stay what
 * they are. */
void sg_comparison_keep(struct sg_comparison *comparison, uint32_t top);

#endif
