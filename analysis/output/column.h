/* The columns of a result row: one line each in one table, which serves text, CSV, JSON and
 * sorting.
 *
 * The value of a column is a member of the row's struct, shown as its kind says, or the result of
 * the column's own functions. Rows are passed as pointers to that struct; the table's functions
 * define the meaning of `context`.
 *
 * The header also declares rows under construction and CSV.
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
    SG_COLUMN_OWN,       /* by the column's functions; without a json function, a word in JSON */
    SG_COLUMN_TEXT,      /* const char *, any bytes; NULL: unknown */
    SG_COLUMN_ID,        /* uint32_t: "0000002a" */
    SG_COLUMN_COUNT32,   /* uint32_t */
    SG_COLUMN_COUNT,     /* uint64_t, as are the next two */
    SG_COLUMN_NS,        /* "1.23ms" */
    SG_COLUMN_BYTES,     /* "1.50KiB" */
    SG_COLUMN_REAL_NS,   /* double, as are the next three; NAN: unknown */
    SG_COLUMN_SIGNED_NS, /* "+1.23ms" */
    SG_COLUMN_CHANGE,    /* "+12.3%" */
    SG_COLUMN_SHARE,     /* "12.3%" */
    SG_COLUMN_WORD,      /* an enum or uint32_t: an index in the column's words */
    SG_COLUMN_FLAG,      /* bool; JSON only */
    SG_COLUMN_INTEGER,   /* int64_t; JSON only */
    /* A struct in the row, with the inner columns. JSON: an object, or null if the first of them is
     * unknown; sg_columns_set() takes them without a field as the row's own. Text: "name.inner". */
    SG_COLUMN_OBJECT,
};

struct sg_column {
    const char *field;  /* in JSON: a name, or "skew_ns.max" inside an object; NULL: none */
    const char *name;   /* for selection and sorting; NULL: only in JSON */
    const char *header; /* title in a text table */
    bool left; /* texts are left-aligned and sort upwards, figures right-aligned and downwards */
    bool flexible;      /* shortened if lines exceed the terminal's width */
    unsigned max_width; /* limit in that case; 0: none */
    enum sg_column_kind kind;
    size_t offset;                  /* offset of the member in the row */
    bool (*known)(const void *row); /* NULL: always known */
    /* Functions may be NULL: kind and offset then define the value. */
    void (*print)(const void *row, const void *context, FILE *out);
    double (*figure)(const void *row, const void *context); /* negative: unknown, sorts last */
    json_t *(*json)(const void *row, const void *context);
    const char *const *words;       /* SG_COLUMN_WORD */
    const struct sg_columns *inner; /* SG_COLUMN_OBJECT */
};

struct sg_columns {
    const struct sg_column *of;
    size_t count;
};

/* All columns of an array. */
#define SG_COLUMNS(array)                                                                          \
    {                                                                                              \
        (array), sizeof(array) / sizeof *(array)                                                   \
    }

/* A column of a row, or of a struct in it. */
struct sg_cell {
    const struct sg_column *column; /* NULL: none */
    size_t at;                      /* offset of that struct in the row */
};

static inline const void *sg_cell_row(struct sg_cell cell, const void *row)
{
    return (const char *)row + cell.at;
}

/* Finds a column by name or header; NULL: no such column. */
const struct sg_column *sg_column_find(struct sg_columns columns, const char *name);
/* ... and "name.inner" in a struct of the row. */
struct sg_cell sg_cell_find(struct sg_columns columns, const char *name);
/* Finds a column by field, which must exist. */
const struct sg_column *sg_column_of_field(struct sg_columns columns, const char *field);
/* All names, each after a blank; malloc'ed; NULL if out of memory. */
char *sg_column_names(struct sg_columns columns);
/* The cell as clean text, malloc'ed; NULL if out of memory. */
char *sg_column_text(const struct sg_column *column, const void *row, const void *context);
/* The sort key of a row, the largest first. Not for texts. */
double sg_column_figure(const struct sg_column *column, const void *row, const void *context);
/* Sets the columns that have a field in an object, like sg_json_set(). */
void sg_columns_set(json_t **whole, struct sg_columns columns, const void *row,
                    const void *context);
/* Prints the columns, which have fields, as members of the writer's object. Fields of one object
 * inside it follow each other. */
void sg_columns_put(struct sg_json_writer *writer, const struct sg_column *const *columns,
                    size_t count, const void *row, const void *context);
/* Sorts by a column. Groups, if not NULL, come first in their order; `tie` orders equal rows.
 * Returns SG_OK or SG_ERR_MEMORY (not logged). */
enum sg_status sg_columns_sort(const struct sg_column *column, const void *context, void *rows,
                               size_t count, size_t row_bytes, int (*group)(const void *row),
                               int (*tie)(const void *left, const void *right));

/* A result row under construction: names with numbers and words, for all ways of printing
 * (output/table.h, output/column.h, and JSON as it is).
 *
 * A name includes its unit ("delay_us"). Numbers that are not finite become null. Lack of memory is
 * reported when the row is taken. Not thread-safe.
 */

struct sg_record;

/* NULL if out of memory; all functions below accept NULL. */
struct sg_record *sg_record_new(void);
/* Frees the record and gives its row to the caller; NULL if memory ran out. */
json_t *sg_record_take(struct sg_record *record);
/* NULL becomes null. */
void sg_record_text(struct sg_record *record, const char *name, const char *text);
void sg_record_count(struct sg_record *record, const char *name, uint64_t count);
void sg_record_flag(struct sg_record *record, const char *name, bool flag);
void sg_record_number(struct sg_record *record, const char *name, double value);
/* Sets "NAME_us" from ns. */
void sg_record_us(struct sg_record *record, const char *name, double ns);
/* Sets "NAME" to an array of us. */
void sg_record_list(struct sg_record *record, const char *name, const double *ns, size_t count);

/* JSON rows as CSV (RFC 4180): a header line, then a line for each row. Unknown and missing values
 * are empty; values are quoted if necessary.
 */

#define SG_CSV_LINE_END "\r\n"

struct sg_csv {
    const char *line_end;
    int digits; /* digits of reals */
    /* Paths of values in a row, separated by blanks: "calls worst.seq". The title is the path with
     * '_' for '.', unless given: "skew_p50_ns=skew_ns.p50". */
    const char *columns;
};

/* Prints a word, a number or a truth value; any other value is empty. */
void sg_csv_value(const json_t *value, int digits, FILE *out);
/* For rows with different fields: a column for each field that is no list or object, in order of
 * first use. Prints nothing without rows. Returns SG_OK or SG_ERR_MEMORY (logged; who: the
 * beginning of the line). */
enum sg_status sg_csv_print_fields(const json_t *rows, const char *line_end, int digits,
                                   const char *who, FILE *out);
/* Print row by row, for tables too long to hold: the titles, then each row, which is freed. Returns
 * SG_ERR_MEMORY, not logged, if the row is NULL. */
void sg_csv_begin(const struct sg_csv *csv, FILE *out);
enum sg_status sg_csv_row(const struct sg_csv *csv, json_t *row, FILE *out);
/* Prints and frees rows, an array. Returns SG_ERR_MEMORY if it is NULL, logged in a line that
 * begins with who. */
enum sg_status sg_csv_print(const struct sg_csv *csv, json_t *rows, const char *who, FILE *out);

#endif
