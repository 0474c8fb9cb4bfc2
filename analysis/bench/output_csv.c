/* Rows as CSV, for spreadsheets and scripts: what is a number or a word in the JSON, by the same
 * names. Rows need not have the same fields; what a row has not is empty. */
#include "bench/output_impl.h"

#include <string.h>

static bool is_scalar(const json_t *value)
{
    return !json_is_object(value) && !json_is_array(value);
}

static void print_value(const json_t *value, FILE *stream)
{
    if (json_is_string(value)) {
        const char *text = json_string_value(value);
        bool quoted = strpbrk(text, ",\"\n") != NULL;

        if (quoted)
            fputc('"', stream);
        for (; *text != '\0'; text++)
            fprintf(stream, *text == '"' ? "\"\"" : "%c", *text);
        if (quoted)
            fputc('"', stream);
    } else if (json_is_integer(value)) {
        fprintf(stream, "%lld", (long long)json_integer_value(value));
    } else if (json_is_real(value)) {
        fprintf(stream, "%.9g", json_real_value(value));
    } else if (json_is_boolean(value)) {
        fputs(json_is_true(value) ? "true" : "false", stream);
    }
}

static void print_head(const json_t *object, const char *prefix, FILE *stream)
{
    const char *name;
    json_t *value;

    json_object_foreach((json_t *)object, name, value)
    {
        if (json_is_object(value))
            print_head(value, name, stream);
        if (!is_scalar(value))
            continue;
        fprintf(stream, "# %s%s%s: ", prefix, prefix[0] != '\0' ? "." : "", name);
        print_value(value, stream);
        fputc('\n', stream);
    }
}

/* The names of all rows' fields, in the order in which they come. */
static json_t *columns_of(const json_t *rows)
{
    json_t *columns = json_object(), *row, *value;
    const char *name;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        json_object_foreach(row, name, value)
        {
            if (is_scalar(value))
                json_object_set_new(columns, name, json_null());
        }
    }
    return columns;
}

static void print_rows(const json_t *rows, FILE *stream)
{
    json_t *columns = columns_of(rows), *row, *value;
    const char *name, *comma = "";
    size_t i;

    json_object_foreach(columns, name, value)
    {
        fprintf(stream, "%s%s", comma, name);
        comma = ",";
    }
    if (comma[0] != '\0')
        fputc('\n', stream);
    json_array_foreach(rows, i, row)
    {
        comma = "";
        json_object_foreach(columns, name, value)
        {
            fputs(comma, stream);
            print_value(json_object_get(row, name), stream);
            comma = ",";
        }
        fputc('\n', stream);
    }
    json_decref(columns);
}

void sg_bench_print_csv(const json_t *root, FILE *stream)
{
    print_head(root, "", stream);
    print_rows(json_object_get(root, "results"), stream);
    /* Of latency with a late rank. */
    if (json_object_get(json_object_get(root, "late"), "results") != NULL)
        print_rows(json_object_get(json_object_get(root, "late"), "results"), stream);
}
