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
#include "output/json.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
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

#endif
