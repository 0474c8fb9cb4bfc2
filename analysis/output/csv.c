#include "output/csv.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 64

static void put_text(const char *text, FILE *out)
{
    bool quoted = strpbrk(text, ",\"\r\n") != NULL;

    if (quoted)
        fputc('"', out);
    for (; *text != '\0'; text++)
        fprintf(out, *text == '"' ? "\"\"" : "%c", *text);
    if (quoted)
        fputc('"', out);
}

void sg_csv_value(const json_t *value, int digits, FILE *out)
{
    if (json_is_string(value))
        put_text(json_string_value(value), out);
    else if (json_is_integer(value))
        fprintf(out, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        fprintf(out, "%.*g", digits, json_real_value(value));
    else if (json_is_boolean(value))
        fputs(json_is_true(value) ? "true" : "false", out);
}

/* NULL where there is none on the way. */
static const json_t *find(const json_t *row, const char *path)
{
    char name[NAME_BYTES];

    for (;;) {
        size_t length = strcspn(path, ".");

        if (length >= sizeof name)
            return NULL;
        memcpy(name, path, length);
        name[length] = '\0';
        row = json_object_get(row, name);
        if (path[length] == '\0')
            return row;
        path += length + 1;
    }
}

static void put_name(const struct sg_csv_column *column, FILE *out)
{
    if (column->name != NULL)
        fputs(column->name, out);
    for (const char *at = column->path; column->name == NULL && *at != '\0'; at++)
        fputc(*at == '.' ? '_' : *at, out);
}

static void put_cell(const struct sg_csv *csv, const struct sg_csv_column *column,
                     const json_t *row, FILE *out)
{
    const json_t *value = find(row, column->path);

    if (column->unknown != NULL && (value == NULL || json_is_null(value)))
        fputs(column->unknown, out);
    else
        sg_csv_value(value, csv->digits, out);
}

void sg_csv_print(const struct sg_csv *csv, const json_t *rows, FILE *out)
{
    const json_t *row;
    size_t i;

    for (size_t column = 0; column < csv->column_count; column++) {
        fputs(column > 0 ? "," : "", out);
        put_name(&csv->columns[column], out);
    }
    fputs(csv->line_end, out);
    json_array_foreach(rows, i, row)
    {
        for (size_t column = 0; column < csv->column_count; column++) {
            fputs(column > 0 ? "," : "", out);
            put_cell(csv, &csv->columns[column], row, out);
        }
        fputs(csv->line_end, out);
    }
}

enum sg_status sg_csv_print_fields(const json_t *rows, const char *line_end, int digits,
                                   const char *who, FILE *out)
{
    json_t *names = json_object(), *row, *value;
    struct sg_csv csv = {line_end, digits, NULL, 0};
    struct sg_csv_column *columns;
    const char *name;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        json_object_foreach(row, name, value)
        {
            if (!json_is_object(value) && !json_is_array(value))
                json_object_set_new(names, name, json_null());
        }
    }
    columns = calloc(json_object_size(names) + 1, sizeof *columns);
    if (columns == NULL) {
        json_decref(names);
        sg_log("%s: out of memory", who);
        return SG_ERR_MEMORY;
    }
    json_object_foreach(names, name, value)
    {
        columns[csv.column_count++].path = name;
    }
    csv.columns = columns;
    if (csv.column_count > 0)
        sg_csv_print(&csv, rows, out);
    free(columns);
    json_decref(names);
    return SG_OK;
}
