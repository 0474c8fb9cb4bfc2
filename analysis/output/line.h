/* Rows of JSON as lines of columns whose widths are given, so that each line can be printed as soon
 * as its row is known. (A table that is known whole has widths of its own: output/table.h.)
 *
 * A column is a field of the row, or two in one cell: an interval, "3 of 12". A field whose name
 * ends in _us is a time, and has three digits or more, however wide its range; other reals have
 * three decimals, small ones five. What is not known is a dash.
 */
#ifndef SG_OUTPUT_LINE_H
#define SG_OUTPUT_LINE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Decimals of reals, where a column has its own way. */
enum sg_line_decimals {
    SG_LINE_BY_SIZE,
    SG_LINE_WHOLE,
    SG_LINE_TENTHS,
    SG_LINE_HUNDREDTHS,
    SG_LINE_THOUSANDTHS
};

struct sg_line_column {
    const char *field; /* NULL: the end */
    const char *title;
    int width;           /* negative: to the left */
    bool near;           /* one blank before it instead of two */
    const char *second;  /* another field behind it in the cell, or NULL */
    const char *between; /* NULL: " to ": an interval, which is unknown where its begin is */
    const char *like;    /* an interval's ends have as many decimals as this field */
    enum sg_line_decimals decimals;
};

/* An interval's columns: "time", "_us" for what is in time_low_us and time_high_us. */
#define SG_LINE_INTERVAL(name, unit) .field = name "_low" unit, .second = name "_high" unit

void sg_line_print_titles(const struct sg_line_column *columns, FILE *out);
void sg_line_print(const struct sg_line_column *columns, const json_t *row, FILE *out);

#endif
