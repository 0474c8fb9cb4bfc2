/* A text table: cells are collected, then printed with each column as wide as its widest cell.
 * Where lines would be longer than a terminal is wide, columns with a limit keep to it, and the
 * flexible one gives way; a place (file and line, module and offset) is always whole. What is no
 * terminal gets everything.
 */
#ifndef SG_OUTPUT_TABLE_H
#define SG_OUTPUT_TABLE_H

#include "core/status.h"
#include "output/column.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define SG_TABLE_COLUMNS_MAX 24

/* Zero-initialised is empty. */
struct sg_table {
    const struct sg_column *columns[SG_TABLE_COLUMNS_MAX];
    size_t column_count;
    char **cells; /* row by row; owned */
    size_t cell_count;
    size_t width; /* of a line at most; 0: of the terminal that it is printed on */
    bool failed;  /* out of memory: printing says so */
};

/* Adds columns: those of these names, separated by blanks; NULL: all that have a header. */
void sg_table_show(struct sg_table *table, struct sg_columns columns, const char *names);
/* Adds the next cells, of a row: so many, or all that the line at hand still wants. */
void sg_table_cells(struct sg_table *table, size_t count, const void *row, const void *context);
void sg_table_row(struct sg_table *table, const void *row, const void *context);
/* Adds the next cell; text is clean, malloc'ed and taken over; NULL counts as out of memory. */
void sg_table_add(struct sg_table *table, char *text);
void sg_table_addf(struct sg_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Prints header and rows, in a terminal's width where out is one, and clears the table. who: what
 * the line begins with that says why there is no table. SG_ERR_MEMORY (logged) or SG_OK. */
enum sg_status sg_table_finish(struct sg_table *table, const char *who, FILE *out);

/* Rows of JSON as lines of columns whose widths are given, so that each line can be printed as soon
 * as its row is known. (A table that is known whole has widths of its own: output/table.h.)
 *
 * A column is a field of the row, or two in one cell: an interval, "3 of 12". A field whose name
 * ends in _us is a time, and has three digits or more, however wide its range; other reals have
 * three decimals, small ones five. What is not known is a dash.
 */

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

/* Colours and bold text: on a terminal that has them, unless NO_COLOR says otherwise
 * (no-color.org); nothing anywhere else, so that files and pipes get plain text.
 *
 *     fprintf(out, "%slost waiting%s", sg_style(SG_BOLD, out), sg_style(SG_PLAIN, out));
 */

enum sg_style { SG_PLAIN, SG_BOLD, SG_RED, SG_GREEN, SG_YELLOW };

/* Whether what is written to the descriptor is seen in colour. */
bool sg_style_is_seen(int descriptor);
/* What switches to a style, SG_PLAIN from any other; "" where no style is seen. What a stream is
 * does not change: standard output is looked at once. Not thread-safe. */
const char *sg_style(enum sg_style style, FILE *out);
/* A line's label, bold, and blanks up to its text. */
void sg_style_put_label(const char *label, FILE *out);

#endif
