/* Rows of JSON as CSV (RFC 4180): a header line, then a line for each row. What is not known, or
 * not there, is empty; quotes stand where they are needed.
 */
#ifndef SG_OUTPUT_CSV_H
#define SG_OUTPUT_CSV_H

#include "core/status.h"

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

/* Of rows that need not have the same fields: a column for each that is no list or object, in the
 * order in which they come; nothing where there are no rows. SG_ERR_MEMORY (logged; who: what the
 * line begins with). */
enum sg_status sg_csv_print_fields(const json_t *rows, const char *line_end, int digits,
                                   const char *who, FILE *out);

/* rows: an array. */
void sg_csv_print(const struct sg_csv *csv, const json_t *rows, FILE *out);

#endif
