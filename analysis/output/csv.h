/* Rows of JSON as CSV (RFC 4180): a header line, then a line for each row. What is not known, or
 * not there, is empty; quotes stand where they are needed.
 */
#ifndef SG_OUTPUT_CSV_H
#define SG_OUTPUT_CSV_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

struct sg_csv_column {
    const char *path;    /* of the value in a row: "calls", "worst.seq" */
    const char *name;    /* NULL: the path, with '_' for '.' */
    const char *unknown; /* what stands for null; NULL: nothing */
};

struct sg_csv {
    const char *line_end;
    int digits; /* of reals */
    const struct sg_csv_column *columns;
    size_t column_count;
};

/* A word, a number or a truth value; anything else is empty. */
void sg_csv_value(const json_t *value, int digits, FILE *out);

/* rows: an array. */
void sg_csv_print(const struct sg_csv *csv, const json_t *rows, FILE *out);

#endif
