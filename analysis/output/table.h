/* A text table: cells are collected, then printed with each column as wide as its widest cell.
 * Where lines would be longer than a terminal is wide, columns with a limit keep to it, and the
 * flexible one gives way; a place (file and line, module and offset) is always whole. What is no
 * terminal gets everything.
 */
#ifndef SG_OUTPUT_TABLE_H
#define SG_OUTPUT_TABLE_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct sg_table_column {
    const char *header;
    bool left;
    bool flexible;
    unsigned max_width; /* where lines get too long; 0: none */
};

struct sg_table {
    const struct sg_table_column *columns;
    size_t column_count;
    char **cells; /* row by row; owned */
    size_t cell_count;
    bool failed; /* out of memory: printing says so */
};

/* Adds the next cell; text is clean, malloc'ed and taken over; NULL counts as out of memory. */
void sg_table_add(struct sg_table *table, char *text);
void sg_table_addf(struct sg_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Columns of the terminal that out is; SIZE_MAX where it is none. */
size_t sg_table_width(FILE *out);

/* Prints header and rows; lines keep to width columns where the columns allow.
 * SG_ERR_MEMORY (logged) or SG_OK. */
enum sg_status sg_table_print(struct sg_table *table, size_t width, FILE *out);
void sg_table_clear(struct sg_table *table);

#endif
