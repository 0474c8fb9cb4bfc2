/* Rows of JSON as CSV (RFC 4180): a header line, then a line for each row. Unknown and missing
 * values are empty; values are quoted if they need it.
 */
#ifndef SG_OUTPUT_CSV_H
#define SG_OUTPUT_CSV_H

#include "core/status.h"

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

struct sg_csv {
    const char *line_end;
    int digits; /* of reals */
    /* Paths of values in a row, separated by blanks: "calls worst.seq". A title is the path with
     * '_' for '.', unless it is given: "skew_p50_ns=skew_ns.p50". */
    const char *columns;
};

/* A word, a number or a truth value; anything else is empty. */
void sg_csv_value(const json_t *value, int digits, FILE *out);

/* For rows that need not have the same fields: a column for each field that is no list or object,
 * in the order of their first use; prints nothing without rows. SG_ERR_MEMORY (logged; who: the
 * beginning of the line). */
enum sg_status sg_csv_print_fields(const json_t *rows, const char *line_end, int digits,
                                   const char *who, FILE *out);

/* The same row by row, for tables that are too long to be held: the titles, then each row, which is
 * freed. SG_ERR_MEMORY if it is NULL, not logged. */
void sg_csv_begin(const struct sg_csv *csv, FILE *out);
enum sg_status sg_csv_row(const struct sg_csv *csv, json_t *row, FILE *out);

/* Prints and frees rows, an array. SG_ERR_MEMORY if it is NULL, logged in a line that begins with
 * who. */
enum sg_status sg_csv_print(const struct sg_csv *csv, json_t *rows, const char *who, FILE *out);

#endif
