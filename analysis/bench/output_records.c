/* Records as rows of a table, and as fields of the head. */
#include "bench/output_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CELL_BYTES 64
#define NAME_BYTES 96
#define UNIT "_us"

static bool ends_in_unit(const char *name)
{
    size_t length = strlen(name);

    return length > strlen(UNIT) && strcmp(name + length - strlen(UNIT), UNIT) == 0;
}

static void show_number(const char *field, double value, char cell[CELL_BYTES])
{
    if (ends_in_unit(field))
        snprintf(cell, CELL_BYTES, "%.*f", value < 100 ? 3 : 1, value);
    else
        snprintf(cell, CELL_BYTES, "%.*f", value < 0.1 ? 5 : 3, value);
}

static void show_value(const char *field, const json_t *value, char cell[CELL_BYTES])
{
    if (json_is_string(value))
        snprintf(cell, CELL_BYTES, "%s", json_string_value(value));
    else if (json_is_integer(value))
        snprintf(cell, CELL_BYTES, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        show_number(field, json_real_value(value), cell);
    else if (json_is_boolean(value))
        snprintf(cell, CELL_BYTES, "%s", json_is_true(value) ? "yes" : "no");
    else
        snprintf(cell, CELL_BYTES, "-");
}

static void show_interval(const char *field, const json_t *row, char cell[CELL_BYTES])
{
    const char *unit = ends_in_unit(field) ? UNIT : "";
    int length = (int)(strlen(field) - strlen(unit));
    char name[NAME_BYTES], low[CELL_BYTES], high[CELL_BYTES];

    snprintf(name, sizeof name, "%.*s_low%s", length, field, unit);
    show_value(name, json_object_get(row, name), low);
    snprintf(name, sizeof name, "%.*s_high%s", length, field, unit);
    show_value(name, json_object_get(row, name), high);
    if (strcmp(low, "-") == 0)
        snprintf(cell, CELL_BYTES, "-");
    else
        snprintf(cell, CELL_BYTES, "%.24s to %.24s", low, high);
}

/* Nothing behind the last column. */
static void print_cell(FILE *stream, const struct sg_bench_column *column, const char *cell)
{
    bool last = column[1].field == NULL;

    fprintf(stream, "%*s%s", last && column->width < 0 ? 0 : column->width, cell,
            last ? "\n" : "  ");
}

static void print_row(struct sg_bench_output *output, const json_t *row,
                      const struct sg_bench_column *columns)
{
    const struct sg_bench_column *column;
    char cell[CELL_BYTES];

    if (output->columns != columns) {
        fputs("\n", output->stream);
        for (column = columns; column->field != NULL; column++)
            print_cell(output->stream, column, column->title);
    }
    output->columns = columns;
    for (column = columns; column->field != NULL; column++) {
        if (column->interval)
            show_interval(column->field, row, cell);
        else
            show_value(column->field, json_object_get(row, column->field), cell);
        print_cell(output->stream, column, cell);
    }
    fflush(output->stream);
}

enum sg_status sg_bench_output_record(struct sg_bench_output *output,
                                      struct sg_bench_record *record,
                                      const struct sg_bench_column *columns)
{
    json_t *rows = json_object_get(output->root, "results");

    if (record != NULL && !record->failed && output->text)
        print_row(output, record->object, columns);
    return sg_bench_append_record(rows, json_object(), record != NULL ? json_object() : NULL,
                                  record);
}

void sg_bench_output_note(struct sg_bench_output *output, const char *text)
{
    if (output->text)
        fprintf(output->stream, "%s\n", text);
}

void sg_bench_output_describe(struct sg_bench_output *output, const char *name,
                              struct sg_bench_record *record)
{
    if (record != NULL)
        json_object_set(output->root, name, record->object);
    sg_bench_record_free(record);
}
