/* The columns of a comparison: of its rows, which --sort uses; of a row's two sides; and of the
 * figures compared in a row. Text, JSON and CSV use these tables.
 */
#ifndef SG_COMPARE_COMPARE_COLUMNS_H
#define SG_COMPARE_COMPARE_COLUMNS_H

#include "compare/compare_calls.h"
#include "output/column.h"

/* Columns of struct sg_compared. A column that the report has too has the same name and header. */
extern const struct sg_columns sg_compared_columns;

/* Columns of struct sg_side. */
extern const struct sg_columns sg_side_columns;

/* Times per call; NAN: not known. */
struct sg_measured_row {
    const char *measured;
    double a_ns, b_ns, difference_ns, change;
    double low_ns, high_ns; /* of the difference */
    enum sg_verdict verdict;
};

struct sg_measured_row sg_measured_row_of(const struct sg_compared *row, enum sg_measured measured);
/* Times per run instead of per call. */
struct sg_measured_row sg_measured_call_of(const struct sg_compared_call *call);

/* The context of these columns is a bool: a side has several runs. */
extern const struct sg_columns sg_measured_columns;

#define SG_COMPARED_COLUMN_DEFAULT "blocked"

/* Rows in both stay before those in one only; equal rows are sorted by time blocked, then id and
 * operation. SG_ERR_MEMORY only (not logged). */
enum sg_status sg_comparison_sort(struct sg_comparison *comparison, const struct sg_column *column);
/* Keeps the first `top` rows of those in both, and of those in each side only; 0: all. The counts
 * do not change. */
void sg_comparison_keep(struct sg_comparison *comparison, uint32_t top);

#endif
