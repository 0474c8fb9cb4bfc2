#include "output/csv.h"

#include "output/format.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PATH_BYTES 128

/* A spreadsheet takes a cell that begins so for a formula, but not behind an apostrophe. */
static bool is_formula(const char *text)
{
    return text[0] != '\0' && strchr("=+-@", text[0]) != NULL && text[1] != '\0';
}

static void put_text(const char *text, FILE *out)
{
    char *clean = sg_format_clean(text, true);
    const char *at = clean != NULL ? clean : "?";
    bool quoted = strpbrk(at, ",\"") != NULL;

    if (quoted)
        fputc('"', out);
    if (is_formula(at))
        fputc('\'', out);
    for (; *at != '\0'; at++)
        fprintf(out, *at == '"' ? "\"\"" : "%c", *at);
    if (quoted)
        fputc('"', out);
    free(clean);
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

/* The value at a path of `length` bytes; NULL if some part of it is missing. */
static const json_t *find(const json_t *row, const char *path, size_t length)
{
    char names[PATH_BYTES], *rest = names;

    if (length >= sizeof names)
        return NULL;
    memcpy(names, path, length);
    names[length] = '\0';
    while (rest != NULL)
        row = json_object_get(row, strsep(&rest, "."));
    return row;
}

/* The values of a row, or with row NULL the titles. */
static void print_line(const struct sg_csv *csv, const json_t *row, FILE *out)
{
    for (const char *at = csv->columns; *at != '\0'; at += *at == ' ') {
        size_t length = strcspn(at, " "), title = strcspn(at, " =");
        const char *end = at + length, *path = title < length ? at + title + 1 : at;

        fputs(at > csv->columns ? "," : "", out);
        if (row != NULL)
            sg_csv_value(find(row, path, (size_t)(end - path)), csv->digits, out);
        for (size_t i = 0; row == NULL && i < title; i++)
            fputc(at[i] == '.' ? '_' : at[i], out);
        at = end;
    }
    fputs(csv->line_end, out);
}

void sg_csv_begin(const struct sg_csv *csv, FILE *out)
{
    print_line(csv, NULL, out);
}

enum sg_status sg_csv_row(const struct sg_csv *csv, json_t *row, FILE *out)
{
    if (row == NULL)
        return SG_ERR_MEMORY;
    print_line(csv, row, out);
    json_decref(row);
    return SG_OK;
}

static void print_rows(const struct sg_csv *csv, const json_t *rows, FILE *out)
{
    const json_t *row;
    size_t i;

    print_line(csv, NULL, out);
    json_array_foreach(rows, i, row)
    {
        print_line(csv, row, out);
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
    char *columns = NULL;
    size_t i, bytes;
    FILE *stream = open_memstream(&columns, &bytes);
    const char *name;

    json_array_foreach(rows, i, row)
    {
        json_object_foreach(row, name, value)
        {
            if (!json_is_object(value) && !json_is_array(value) &&
                json_object_get(names, name) == NULL &&
                json_object_set_new(names, name, json_null()) == 0 && stream != NULL)
                fprintf(stream, "%s ", name);
        }
    }
    json_decref(names);
    if (stream == NULL || fclose(stream) != 0) {
        free(columns);
        sg_log("%s: out of memory", who);
        return SG_ERR_MEMORY;
    }
    if (bytes > 0)
        print_rows(&(struct sg_csv){line_end, digits, columns}, rows, out);
    free(columns);
    return SG_OK;
}
