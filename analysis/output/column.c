#include "output/column.h"

#include "output/format.h"
#include "output/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct sg_column *sg_column_find(struct sg_columns columns, const char *name)
{
    for (size_t i = 0; i < columns.count; i++) {
        const struct sg_column *column = &columns.of[i];

        if (column->name != NULL &&
            (strcmp(column->name, name) == 0 || strcmp(column->header, name) == 0))
            return column;
    }
    return NULL;
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
    case SG_COLUMN_ID:
        return *(const uint32_t *)member;
    case SG_COLUMN_COUNT:
    case SG_COLUMN_NS:
    case SG_COLUMN_BYTES:
        return (double)*(const uint64_t *)member;
    case SG_COLUMN_REAL_NS:
    case SG_COLUMN_SIGNED_NS:
    case SG_COLUMN_CHANGE:
        return *(const double *)member;
    default:
        return -1;
    }
}

/* NULL: it is not known. */
static const void *member_of(const struct sg_column *column, const void *row)
{
    const void *member = (const char *)row + column->offset;

    if (column->known != NULL && !column->known(row))
        return NULL;
    if (column->kind == SG_COLUMN_TEXT)
        return *(const char *const *)member;
    return isnan(real_at(column, member)) ? NULL : member;
}

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
    case SG_COLUMN_COUNT32:
        fprintf(out, "%" PRIu32, *(const uint32_t *)member);
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

static json_t *word_of(const struct sg_column *column, const void *row, const void *context)
{
    char *text = sg_column_text(column, row, context);
    json_t *word = text != NULL ? json_string(text) : NULL;

    free(text);
    return word;
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
    case SG_COLUMN_REAL_NS:
    case SG_COLUMN_SIGNED_NS:
    case SG_COLUMN_CHANGE:
        return json_real(*(const double *)member);
    default:
        return json_integer((json_int_t) * (const uint64_t *)member);
    }
}

/* Sets the field, which may be inside an object of the whole. */
static void set(json_t **whole, const char *field, json_t *value)
{
    const char *dot = strchr(field, '.');
    char outer[32];
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
        if (columns.of[i].field != NULL)
            set(whole, columns.of[i].field, json_of(&columns.of[i], row, context));
    }
}

/* What most of a long list is made of comes without a value of jansson's in between. */
static bool put_count(struct sg_json_writer *writer, const struct sg_column *column,
                      const void *member)
{
    bool is_short = column->kind == SG_COLUMN_COUNT32;

    if (!is_short && column->kind != SG_COLUMN_COUNT && column->kind != SG_COLUMN_NS &&
        column->kind != SG_COLUMN_BYTES)
        return false;
    sg_json_put_count(writer, column->field,
                      is_short ? *(const uint32_t *)member : *(const uint64_t *)member);
    return true;
}

void sg_columns_put(struct sg_json_writer *writer, struct sg_columns columns, const void *row,
                    const void *context)
{
    for (size_t i = 0; i < columns.count; i++) {
        const struct sg_column *column = &columns.of[i];
        const void *member = column->json == NULL ? member_of(column, row) : NULL;

        if (column->field == NULL || (member != NULL && put_count(writer, column, member)))
            continue;
        sg_json_put(writer, column->field, json_of(column, row, context));
    }
}

/* ---- sorting --------------------------------------------------------------------------------- */

struct key {
    const void *row;
    int (*tie)(const void *left, const void *right);
    int group;
    char *text; /* where the column is one of texts */
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
