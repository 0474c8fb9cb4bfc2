/* A text table: cells are collected, then printed with each column as wide as its widest cell. If
 * lines exceed the terminal's width, columns with a limit shrink to it, then the flexible one
 * shrinks. The location of a call site (file and line, module and offset) always stays whole.
 * Output to anything but a terminal is not shortened, except for cells of hundreds of columns.
 *
 * The header also declares lines of JSON rows, and terminal styles.
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

/* All zero: empty. */
struct sg_table {
    struct sg_cell columns[SG_TABLE_COLUMNS_MAX];
    size_t column_count;
    char **cells; /* row by row; owned */
    size_t cell_count;
    size_t width; /* the most columns of a line; 0: as wide as the terminal */
    bool failed;  /* out of memory; reported when printing */
};

/* Adds the columns with these names, separated by blanks; NULL: all that have a header. */
void sg_table_show(struct sg_table *table, struct sg_columns columns, const char *names);
/* Add the next cells of a row: `count` cells, or all that the current line still lacks. */
void sg_table_cells(struct sg_table *table, size_t count, const void *row, const void *context);
void sg_table_row(struct sg_table *table, const void *row, const void *context);
/* Adds the next cell. Takes over text, which is clean and malloc'ed; NULL counts as out of
 * memory. */
void sg_table_add(struct sg_table *table, char *text);
void sg_table_addf(struct sg_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Prints header and rows, in the width of the terminal if out is one, and clears the table. who:
 * the beginning of the log line if there is no table. Returns SG_OK or SG_ERR_MEMORY (logged). */
enum sg_status sg_table_finish(struct sg_table *table, const char *who, FILE *out);

/* JSON rows as lines of columns with given widths, so that each line can be printed as soon as its
 * row is known.
 *
 * A column shows one field of the row, or two in one cell: an interval, "3 of 12". A field whose
 * name ends in _us is a time, with at least three digits over its whole range; other reals have
 * three decimals, small ones five. Unknown values are a dash.
 */

/* Decimals of reals, if a column sets them. */
enum sg_line_decimals {
    SG_LINE_BY_SIZE,
    SG_LINE_WHOLE,
    SG_LINE_TENTHS,
    SG_LINE_HUNDREDTHS,
    SG_LINE_THOUSANDTHS
};

struct sg_line_column {
    const char *field; /* NULL: end of the columns */
    const char *title;
    int width;           /* negative: left-aligned */
    bool near;           /* one blank before it instead of two */
    const char *second;  /* another field after it in the cell, or NULL */
    const char *between; /* NULL: " to ": an interval, unknown if its begin is unknown */
    const char *like;    /* the interval has as many decimals as this field */
    enum sg_line_decimals decimals;
};

/* The fields of an interval: "time" and "_us" for time_low_us and time_high_us. */
#define SG_LINE_INTERVAL(name, unit) .field = name "_low" unit, .second = name "_high" unit

void sg_line_print_titles(const struct sg_line_column *columns, FILE *out);
void sg_line_print(const struct sg_line_column *columns, const json_t *row, FILE *out);

/* Colours and bold text: on a terminal that has them, unless NO_COLOR says otherwise
 * (no-color.org); nothing anywhere else, so that files and pipes get plain text.
 *
 *     fprintf(out, "%slost waiting%s", sg_style(SG_BOLD, out), sg_style(SG_PLAIN, out));
 */

enum sg_style { SG_PLAIN, SG_BOLD, SG_RED, SG_GREEN, SG_YELLOW };

/* True if output to the descriptor is shown in colour. */
bool sg_style_is_seen(int descriptor);
/* The escape sequence that switches from plain to a style, or with SG_PLAIN back; "" if out shows
 * no styles. Standard output is checked only once. Not thread-safe. */
const char *sg_style(enum sg_style style, FILE *out);
/* Prints a line's label in bold, and blanks up to its text. */
void sg_style_put_label(const char *label, FILE *out);

#endif
