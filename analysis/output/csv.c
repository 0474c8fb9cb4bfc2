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

static void put_title(const char *path, FILE *out)
{
    for (; *path != '\0' && *path != '='; path++)
        fputc(*path == '.' ? '_' : *path, out);
}

static void print_rows(const struct sg_csv *csv, const json_t *rows, FILE *out)
{
    const json_t *row;
    size_t i;

    for (size_t column = 0; column < csv->path_count; column++) {
        fputs(column > 0 ? "," : "", out);
        put_title(csv->paths[column], out);
    }
    fputs(csv->line_end, out);
    json_array_foreach(rows, i, row)
    {
        for (size_t column = 0; column < csv->path_count; column++) {
            const char *path = csv->paths[column], *titled = strchr(path, '=');

            fputs(column > 0 ? "," : "", out);
            sg_csv_value(find(row, titled != NULL ? titled + 1 : path), csv->digits, out);
        }
        fputs(csv->line_end, out);
    }
}

enum sg_status sg_csv_print(const struct sg_csv *csv, json_t *rows, const char *who, FILE *out)
{
    if (rows == NULL) {
        sg_log("%s: out of memory", who);
        return SG_ERR_MEMORY;
    }
    print_rows(csv, rows, out);
    json_decref(rows);
    return SG_OK;
}

enum sg_status sg_csv_print_fields(const json_t *rows, const char *line_end, int digits,
                                   const char *who, FILE *out)
{
    json_t *names = json_object(), *row, *value;
    struct sg_csv csv = {line_end, digits, NULL, 0};
    const char **paths;
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
    paths = calloc(json_object_size(names) + 1, sizeof *paths);
    if (paths == NULL) {
        json_decref(names);
        sg_log("%s: out of memory", who);
        return SG_ERR_MEMORY;
    }
    json_object_foreach(names, name, value)
    {
        paths[csv.path_count++] = name;
    }
    csv.paths = paths;
    if (csv.path_count > 0)
        print_rows(&csv, rows, out);
    free(paths);
    json_decref(names);
    return SG_OK;
}
