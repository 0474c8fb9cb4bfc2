/* The columns of a result row: each is one line in one table, from which text, CSV, JSON and
 * sorting take what they need of it.
 *
 * A column's value is a member of the row's struct, shown as its kind says, or what functions of
 * its own make of the row. Rows are passed as pointers to that struct; `context` is whatever the
 * functions of the table take it for.
 */
#ifndef SG_OUTPUT_COLUMN_H
#define SG_OUTPUT_COLUMN_H

#include "core/status.h"
#include "output/json_output.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum sg_column_kind {
    SG_COLUMN_OWN,       /* by functions of its own; in JSON a word, unless there is one for that */
    SG_COLUMN_TEXT,      /* const char *, of any bytes; NULL: not known */
    SG_COLUMN_ID,        /* uint32_t: "0000002a" */
    SG_COLUMN_COUNT32,   /* uint32_t */
    SG_COLUMN_COUNT,     /* uint64_t, as are the next two */
    SG_COLUMN_NS,        /* "1.23ms" */
    SG_COLUMN_BYTES,     /* "1.50KiB" */
    SG_COLUMN_REAL_NS,   /* double, as are the next two; NAN: not known */
    SG_COLUMN_SIGNED_NS, /* "+1.23ms" */
    SG_COLUMN_CHANGE,    /* "+12.3%" */
};

struct sg_column {
    const char
        *field; /* in JSON: a name, or of what is inside an object "skew_ns.max"; NULL: none */
    const char *name;   /* to choose and to sort by; NULL: in JSON only */
    const char *header; /* of a text table */
    bool left;          /* texts are left-aligned and sort upwards, figures right and downwards */
    bool flexible;      /* gives way where lines are longer than a terminal is wide */
    unsigned max_width; /* likewise; 0: none */
    enum sg_column_kind kind;
    size_t offset;                  /* of the member in the row */
    bool (*known)(const void *row); /* NULL: always */
    /* Each may be NULL: then kind and offset say it. */
    void (*print)(const void *row, const void *context, FILE *out);
    double (*figure)(const void *row, const void *context); /* negative: not known, comes last */
    json_t *(*json)(const void *row, const void *context);
};

struct sg_columns {
    const struct sg_column *of;
    size_t count;
};

/* By name or header. NULL: there is no such column. */
const struct sg_column *sg_column_find(struct sg_columns columns, const char *name);
/* By field, which is there. */
const struct sg_column *sg_column_of_field(struct sg_columns columns, const char *field);
/* The names of all that have one, each behind a blank. malloc'ed; NULL when out of memory. */
char *sg_column_names(struct sg_columns columns);
/* The cell as clean text. malloc'ed; NULL when out of memory. */
char *sg_column_text(const struct sg_column *column, const void *row, const void *context);
/* What rows are sorted by, the greater first. Not for texts. */
double sg_column_figure(const struct sg_column *column, const void *row, const void *context);
/* Sets all columns that have a field in an object, as sg_json_set() does. */
void sg_columns_set(json_t **whole, struct sg_columns columns, const void *row,
                    const void *context);
/* Prints them as members of the writer's object. Not for fields inside another object. */
void sg_columns_put(struct sg_json_writer *writer, struct sg_columns columns, const void *row,
                    const void *context);
/* Sorts by a column. Groups, where they are not NULL, come first in their order; equal rows are in
 * that of `tie`. SG_ERR_MEMORY only (not logged). */
enum sg_status sg_columns_sort(const struct sg_column *column, const void *context, void *rows,
                               size_t count, size_t row_bytes, int (*group)(const void *row),
                               int (*tie)(const void *left, const void *right));

/* A row of results under construction: names with numbers and words, which all ways of printing
 * take from it (output/table.h, output/column.h, and JSON as it is).
 *
 * A name and its unit are one ("delay_us"). Numbers that are not finite become null. What does not
 * fit into memory is told when the row is taken. Not thread-safe.
 */

struct sg_record;

/* NULL when out of memory, which all functions below take. */
struct sg_record *sg_record_new(void);
/* Frees the record; its row is the caller's, NULL when something did not fit into memory. */
json_t *sg_record_take(struct sg_record *record);
/* NULL becomes null. */
void sg_record_text(struct sg_record *record, const char *name, const char *text);
void sg_record_count(struct sg_record *record, const char *name, uint64_t count);
void sg_record_flag(struct sg_record *record, const char *name, bool flag);
void sg_record_number(struct sg_record *record, const char *name, double value);
/* "NAME_us", from ns. */
void sg_record_us(struct sg_record *record, const char *name, double ns);
/* "NAME": an array of us. */
void sg_record_list(struct sg_record *record, const char *name, const double *ns, size_t count);

/* Rows of JSON as CSV (RFC 4180): a header line, then a line for each row. Unknown and missing
 * values are empty; values are quoted if they need it.
 */

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
