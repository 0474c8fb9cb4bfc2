/* A text table: cells are collected, then printed with each column as wide as its widest cell.
 * Where lines would be longer than a terminal is wide, columns with a limit keep to it, and the
 * flexible one gives way; a place (file and line, module and offset) is always whole. What is no
 * terminal gets everything.
 */
#ifndef SG_OUTPUT_TABLE_H
#define SG_OUTPUT_TABLE_H

#include "core/status.h"
#include "output/column.h"

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

#endif
