/* A section of a result: one table, described once and printed as text, JSON and CSV.
 *
 * Rows are structs in an array. Columns come from several sets, each of which reads the same row: a
 * row's first member may be another struct with a set of its own.
 */
#ifndef SG_OUTPUT_SECTION_H
#define SG_OUTPUT_SECTION_H

#include "core/status.h"
#include "output/column.h"
#include "output/json_output.h"
#include "output/table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define SG_SECTION_SETS 4

struct sg_section {
    const char *member; /* JSON: the list's name */
    /* JSON and CSV: sets whose fields make up a row, in order; up to the first NULL. */
    const struct sg_columns *json[SG_SECTION_SETS];
    const char *fields; /* ... only these fields, separated by blanks; NULL: all */
    const char *csv;    /* CSV: the fields of a line, as in struct sg_csv; NULL: no CSV */
    /* Text: sets in which names are looked up, in order; up to the first NULL. */
    const struct sg_columns *text[SG_SECTION_SETS];
    /* Text: names of columns, separated by blanks. "name?" is shown only if its figure is above 0
     * in some row. NULL: all columns of the first set that have a header. */
    const char *shown;
};

/* All zero: unknown. */
struct sg_rows {
    bool is_known;
    const void *of;
    size_t row_bytes;
    uint32_t count;
    const void *context; /* of the columns */
};

#define SG_ROWS(array, length, about)                                                              \
    ((struct sg_rows){true, (array), sizeof *(array), (length), (about)})

static inline const void *sg_rows_at(const struct sg_rows *rows, uint32_t index)
{
    return (const char *)rows->of + index * rows->row_bytes;
}

/* Finds a column of the text, which must exist. */
struct sg_cell sg_section_find(const struct sg_section *section, const char *name);
/* Adds the columns to an empty table; the rows decide on optional ones. */
void sg_section_show(const struct sg_section *section, const struct sg_rows *rows,
                     struct sg_table *table);
/* ... and the rows. */
void sg_section_fill(const struct sg_section *section, const struct sg_rows *rows,
                     struct sg_table *table);
/* Ends a table and its paragraph. who: the beginning of a log line. Returns SG_OK or SG_ERR_MEMORY
 * (logged), as do the functions below. */
enum sg_status sg_section_end(struct sg_table *table, const char *who, FILE *out);
/* Prints the table as text. */
enum sg_status sg_section_print_rows(const struct sg_section *section, const struct sg_rows *rows,
                                     const char *who, FILE *out);
/* ... and a blank line. */
enum sg_status sg_section_print(const struct sg_section *section, const struct sg_rows *rows,
                                const char *who, FILE *out);
/* Puts the member: a list of objects; null if the rows are unknown. */
void sg_section_put(const struct sg_section *section, const struct sg_rows *rows,
                    struct sg_json_writer *writer);
/* The same list as a value; NULL: out of memory. */
json_t *sg_section_list(const struct sg_section *section, const struct sg_rows *rows);
/* Appends the objects to a list, as sg_json_append() does. */
void sg_section_append(const struct sg_section *section, const struct sg_rows *rows, json_t **list);
/* Puts the objects alone. */
void sg_section_put_rows(const struct sg_section *section, const struct sg_rows *rows,
                         struct sg_json_writer *writer);
/* Prints the header line, and lines of rows. */
void sg_section_csv_begin(const struct sg_section *section, FILE *out);
enum sg_status sg_section_csv_rows(const struct sg_section *section, const struct sg_rows *rows,
                                   const char *who, FILE *out);
/* Prints both. */
enum sg_status sg_section_csv(const struct sg_section *section, const struct sg_rows *rows,
                              const char *who, FILE *out);

#endif
