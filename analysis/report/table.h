/* A text table: cells are collected, then printed with each column as wide as its widest cell, up
 * to the column's own limit; one flexible column gives way so that lines fit a width.
 */
#ifndef SG_REPORT_TABLE_H
#define SG_REPORT_TABLE_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct sg_table_column {
    const char *header;
    bool left;
    bool flexible;
    unsigned max_width; /* 0: none */
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

/* Prints header and rows; lines keep to width columns where the flexible column allows.
 * SG_ERR_MEMORY (logged) or SG_OK. */
enum sg_status sg_table_print(struct sg_table *table, size_t width, FILE *out);
void sg_table_clear(struct sg_table *table);

#endif
