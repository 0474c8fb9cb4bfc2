/* Cells of result rows as text, JSON and sort keys; rows of results under construction; and CSV
 * (RFC 4180) from JSON rows.
 */
#include "output/column.h"

#include "output/format.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct sg_column *sg_column_find(struct sg_columns columns, const char *name)
{
    for (size_t i = 0; i < columns.count; i++) {
        const struct sg_column *column = &columns.of[i];

        if (column->name != NULL && column->inner == NULL &&
            (strcmp(column->name, name) == 0 || strcmp(column->header, name) == 0))
            return column;
    }
    return NULL;
}

struct sg_cell sg_cell_find(struct sg_columns columns, const char *name)
{
    const char *dot = strchr(name, '.');
    size_t length = dot != NULL ? (size_t)(dot - name) : 0;

    for (size_t i = 0; i < columns.count && dot != NULL; i++) {
        const struct sg_column *part = &columns.of[i];

        if (part->inner != NULL && part->name != NULL && strlen(part->name) == length &&
            strncmp(part->name, name, length) == 0)
            return (struct sg_cell){sg_column_find(*part->inner, dot + 1), part->offset};
    }
    return (struct sg_cell){sg_column_find(columns, name), 0};
}

const struct sg_column *sg_column_of_field(struct sg_columns columns, const char *field)
{
    const struct sg_column *column = columns.of;

    while (column->field == NULL || strcmp(column->field, field) != 0)
        column++;
    return column;
}

char *sg_column_names(struct sg_columns columns)
{
    char *names = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&names, &bytes);

    for (size_t i = 0; i < columns.count && stream != NULL; i++) {
        if (columns.of[i].name != NULL)
            fprintf(stream, " %s", columns.of[i].name);
    }
    if (stream != NULL)
        fclose(stream);
    return names;
}

/* ---- values ---------------------------------------------------------------------------------- */

static double real_at(const struct sg_column *column, const void *member)
{
    switch (column->kind) {
    case SG_COLUMN_COUNT32:
    case SG_COLUMN_WORD:
    case SG_COLUMN_ID:
        return *(const uint32_t *)member;
    case SG_COLUMN_COUNT:
    case SG_COLUMN_NS:
    case SG_COLUMN_BYTES:
        return (double)*(const uint64_t *)member;
    case SG_COLUMN_REAL_NS:
    case SG_COLUMN_SIGNED_NS:
    case SG_COLUMN_CHANGE:
    case SG_COLUMN_SHARE:
        return *(const double *)member;
    default:
        return -1;
    }
}

/* NULL: unknown. */
static const void *member_of(const struct sg_column *column, const void *row)
{
    const void *member = (const char *)row + column->offset;

    if (column->known != NULL && !column->known(row))
        return NULL;
    if (column->kind == SG_COLUMN_TEXT)
        return *(const char *const *)member;
    return isnan(real_at(column, member)) ? NULL : member;
}

/* Shares are printed in millionths, to have the format of other shares. */
#define SHARE_UNIT UINT64_C(1000000)

static void put(const struct sg_column *column, const void *member, FILE *out)
{
    switch (column->kind) {
    case SG_COLUMN_TEXT:
        fputs(member, out);
        break;
    case SG_COLUMN_ID:
        fprintf(out, "%08" PRIx32, *(const uint32_t *)member);
        break;
    case SG_COLUMN_NS:
        fputs(SG_NS(*(const uint64_t *)member), out);
        break;
    case SG_COLUMN_BYTES:
        fputs(SG_BYTES(*(const uint64_t *)member), out);
        break;
    case SG_COLUMN_REAL_NS:
        fputs(SG_UNSIGNED(*(const double *)member), out);
        break;
    case SG_COLUMN_SIGNED_NS:
        fputs(SG_SIGNED(*(const double *)member), out);
        break;
    case SG_COLUMN_CHANGE:
        fprintf(out, "%+.1f%%", 100 * *(const double *)member);
        break;
    case SG_COLUMN_SHARE:
        fputs(SG_SHARE((uint64_t)lround(*(const double *)member * SHARE_UNIT), SHARE_UNIT), out);
        break;
    case SG_COLUMN_COUNT32:
        fprintf(out, "%" PRIu32, *(const uint32_t *)member);
        break;
    case SG_COLUMN_WORD:
        fputs(column->words[*(const uint32_t *)member], out);
        break;
    default:
        fprintf(out, "%" PRIu64, *(const uint64_t *)member);
    }
}

char *sg_column_text(const struct sg_column *column, const void *row, const void *context)
{
    const void *member = column->print == NULL ? member_of(column, row) : NULL;
    char *raw = NULL, *clean = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&raw, &bytes);

    if (stream == NULL)
        return NULL;
    if (column->print != NULL)
        column->print(row, context, stream);
    else if (member != NULL)
        put(column, member, stream);
    else
        fputs("-", stream);
    if (fclose(stream) == 0)
        clean = sg_format_clean(raw, true);
    free(raw);
    return clean;
}

double sg_column_figure(const struct sg_column *column, const void *row, const void *context)
{
    const void *member = column->figure == NULL ? member_of(column, row) : NULL;

    if (column->figure != NULL)
        return column->figure(row, context);
    return member != NULL ? real_at(column, member) : -1;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

#define OBJECT_BYTES 32

static json_t *word_of(const struct sg_column *column, const void *row, const void *context)
{
    char *text = sg_column_text(column, row, context);
    json_t *word = text != NULL ? json_string(text) : NULL;

    free(text);
    return word;
}

static json_t *object_of(struct sg_columns columns, const void *row)
{
    json_t *object = NULL;

    if (member_of(&columns.of[0], row) == NULL)
        return json_null();
    object = json_object();
    sg_columns_set(&object, columns, row, NULL);
    return object;
}

static json_t *json_of(const struct sg_column *column, const void *row, const void *context)
{
    const void *member;

    if (column->json != NULL)
        return column->json(row, context);
    if (column->kind == SG_COLUMN_OWN)
        return word_of(column, row, context);
    member = member_of(column, row);
    if (member == NULL)
        return json_null();
    switch (column->kind) {
    case SG_COLUMN_TEXT:
        return sg_json_text(member);
    case SG_COLUMN_ID:
        return sg_json_id(true, *(const uint32_t *)member);
    case SG_COLUMN_COUNT32:
        return json_integer(*(const uint32_t *)member);
    case SG_COLUMN_WORD:
        return json_string(column->words[*(const uint32_t *)member]);
    case SG_COLUMN_FLAG:
        return json_boolean(*(const bool *)member);
    case SG_COLUMN_INTEGER:
        return json_integer(*(const int64_t *)member);
    case SG_COLUMN_OBJECT:
        return object_of(*column->inner, member);
    case SG_COLUMN_REAL_NS:
    case SG_COLUMN_SIGNED_NS:
    case SG_COLUMN_CHANGE:
    case SG_COLUMN_SHARE:
        return json_real(*(const double *)member);
    default:
        return sg_json_count(true, *(const uint64_t *)member);
    }
}

/* Sets a field of the object, or of an object inside it ("skew_ns.max"). */
static void set(json_t **whole, const char *field, json_t *value)
{
    const char *dot = strchr(field, '.');
    char outer[OBJECT_BYTES];
    json_t *inner;

    if (dot == NULL) {
        sg_json_set(whole, field, value);
        return;
    }
    snprintf(outer, sizeof outer, "%.*s", (int)(dot - field), field);
    if (json_object_get(*whole, outer) == NULL)
        sg_json_set(whole, outer, json_object());
    inner = json_object_get(*whole, outer);
    json_object_set_new(inner, dot + 1, value);
}

void sg_columns_set(json_t **whole, struct sg_columns columns, const void *row, const void *context)
{
    for (size_t i = 0; i < columns.count; i++) {
        const struct sg_column *column = &columns.of[i];

        if (column->field != NULL)
            set(whole, column->field, json_of(column, row, context));
        else if (column->inner != NULL)
            sg_columns_set(whole, *column->inner, (const char *)row + column->offset, context);
    }
}

/* Prints a count or size without making a jansson value: long lists consist mostly of these. */
static bool put_count(struct sg_json_writer *writer, const struct sg_column *column,
                      const char *name, const void *member)
{
    bool is_short = column->kind == SG_COLUMN_COUNT32;

    if (!is_short && column->kind != SG_COLUMN_COUNT && column->kind != SG_COLUMN_NS &&
        column->kind != SG_COLUMN_BYTES)
        return false;
    sg_json_put_count(writer, name,
                      is_short ? *(const uint32_t *)member : *(const uint64_t *)member);
    return true;
}

/* Opens and closes objects inside the row, so that a field named "OBJECT.NAME" comes to be in its
 * own. Returns the name in there. */
static const char *enter_object(struct sg_json_writer *writer, const char *field,
                                char object[OBJECT_BYTES])
{
    const char *dot = strchr(field, '.');
    size_t length = dot != NULL ? (size_t)(dot - field) : 0;

    if (strlen(object) == length && strncmp(field, object, length) == 0)
        return field + length + (length > 0);
    if (object[0] != '\0')
        sg_json_end(writer, '}');
    snprintf(object, OBJECT_BYTES, "%.*s", (int)length, field);
    if (length > 0)
        sg_json_begin(writer, object, '{');
    return field + length + (length > 0);
}

void sg_columns_put(struct sg_json_writer *writer, const struct sg_column *const *columns,
                    size_t count, const void *row, const void *context)
{
    char object[OBJECT_BYTES] = "";

    for (size_t i = 0; i < count; i++) {
        const struct sg_column *column = columns[i];
        const void *member = column->json == NULL ? member_of(column, row) : NULL;
        const char *name;

        assert(column->field != NULL);
        name = enter_object(writer, column->field, object);

        if (member == NULL || !put_count(writer, column, name, member))
            sg_json_put(writer, name, json_of(column, row, context));
    }
    if (object[0] != '\0')
        sg_json_end(writer, '}');
}

/* ---- sorting --------------------------------------------------------------------------------- */

struct key {
    const void *row;
    int (*tie)(const void *left, const void *right);
    int group;
    char *text; /* if the column holds text */
    double figure;
};

static int compare(const void *left, const void *right)
{
    const struct key *a = left, *b = right;
    int order = a->group - b->group;

    if (order == 0 && a->text != NULL)
        order = strcmp(a->text, b->text);
    if (order == 0)
        order = (a->figure < b->figure) - (a->figure > b->figure);
    return order != 0 ? order : a->tie(a->row, b->row);
}

enum sg_status sg_columns_sort(const struct sg_column *column, const void *context, void *rows,
                               size_t count, size_t row_bytes, int (*group)(const void *row),
                               int (*tie)(const void *left, const void *right))
{
    struct key *keys = calloc(count + 1, sizeof *keys);
    char *sorted = malloc(count * row_bytes + 1);
    bool has_memory = keys != NULL && sorted != NULL;

    for (size_t i = 0; i < count && has_memory; i++) {
        const void *row = (const char *)rows + i * row_bytes;

        keys[i] = (struct key){.row = row, .tie = tie, .group = group != NULL ? group(row) : 0};
        if (column->left && column->figure == NULL)
            has_memory = (keys[i].text = sg_column_text(column, row, context)) != NULL;
        else
            keys[i].figure = sg_column_figure(column, row, context);
    }
    if (has_memory && count > 0) {
        qsort(keys, count, sizeof *keys, compare);
        for (size_t i = 0; i < count; i++)
            memcpy(sorted + i * row_bytes, keys[i].row, row_bytes);
        memcpy(rows, sorted, count * row_bytes);
    }
    for (size_t i = 0; keys != NULL && i < count; i++)
        free(keys[i].text);
    free(keys);
    free(sorted);
    return has_memory ? SG_OK : SG_ERR_MEMORY;
}

#define NAME_BYTES 96
#define NS_PER_US 1000

struct sg_record {
    json_t *row;
    bool failed; /* out of memory */
};

struct sg_record *sg_record_new(void)
{
    struct sg_record *record = calloc(1, sizeof *record);

    if (record != NULL)
        record->row = json_object();
    return record;
}

json_t *sg_record_take(struct sg_record *record)
{
    json_t *row = record != NULL ? record->row : NULL;

    if (record != NULL && record->failed) {
        json_decref(row);
        row = NULL;
    }
    free(record);
    return row;
}

static json_t *number_of(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

/* Takes over value, which may be NULL. */
static void record_set(struct sg_record *record, const char *name, json_t *value)
{
    if (record == NULL)
        json_decref(value);
    else if (json_object_set_new(record->row, name, value) != 0)
        record->failed = true;
}

void sg_record_text(struct sg_record *record, const char *name, const char *text)
{
    record_set(record, name, text != NULL ? json_string(text) : json_null());
}

void sg_record_count(struct sg_record *record, const char *name, uint64_t count)
{
    record_set(record, name, json_integer((json_int_t)count));
}

void sg_record_flag(struct sg_record *record, const char *name, bool flag)
{
    record_set(record, name, json_boolean(flag));
}

void sg_record_number(struct sg_record *record, const char *name, double value)
{
    record_set(record, name, number_of(value));
}

void sg_record_us(struct sg_record *record, const char *name, double ns)
{
    char whole[NAME_BYTES];

    snprintf(whole, sizeof whole, "%s_us", name);
    sg_record_number(record, whole, ns / NS_PER_US);
}

void sg_record_list(struct sg_record *record, const char *name, const double *ns, size_t count)
{
    json_t *list = json_array();

    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, number_of(ns[i] / NS_PER_US));
    record_set(record, name, list);
}

#define PATH_BYTES 128

/* A spreadsheet takes such a cell for a formula, unless an apostrophe precedes it. */
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

/* The value at a path of `length` bytes; NULL if a part of the path is missing. */
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

/* Prints the values of a row, or the titles if row is NULL. */
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
