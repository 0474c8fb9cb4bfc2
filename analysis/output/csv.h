/* Rows of JSON as CSV (RFC 4180): a header line, then a line for each row. What is not known, or
 * not there, is empty; quotes stand where they are needed.
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
    /* Of the values in a row: "calls", "worst.seq"; '_' stands for '.' in their titles, unless they
     * have one of their own: "skew_p50_ns=skew_ns.p50". */
    const char *const *paths;
    size_t path_count;
};

/* A word, a number or a truth value; anything else is empty. */
void sg_csv_value(const json_t *value, int digits, FILE *out);

/* Of rows that need not have the same fields: a column for each that is no list or object, in the
 * order in which they come; nothing where there are no rows. SG_ERR_MEMORY (logged; who: what the
 * line begins with). */
enum sg_status sg_csv_print_fields(const json_t *rows, const char *line_end, int digits,
                                   const char *who, FILE *out);

/* Prints and frees rows, an array. SG_ERR_MEMORY where it is NULL, logged in a line that begins
 * with who. */
enum sg_status sg_csv_print(const struct sg_csv *csv, json_t *rows, const char *who, FILE *out);

#endif
