/* Prints the sections of results: looks up the columns of a section, and passes row after row to
 * the table, to the JSON writer or to CSV.
 */
#include "output/section.h"

#include <assert.h>
#include <string.h>

#define FIELDS_MAX 64
#define CSV_DIGITS 6
#define NAME_BYTES 48

/* Takes the next word of a list; false at its end. */
static bool take_word(const char **list, char word[NAME_BYTES])
{
    size_t length = strcspn(*list, " ");

    assert(length < NAME_BYTES);
    memcpy(word, *list, length);
    word[length] = '\0';
    *list += length + ((*list)[length] == ' ');
    return length > 0;
}

/* ---- text ------------------------------------------------------------------------------------ */

struct sg_cell sg_section_find(const struct sg_section *section, const char *name)
{
    struct sg_cell cell = {0};

    for (int i = 0; i < SG_SECTION_SETS && section->text[i] != NULL && cell.column == NULL; i++)
        cell = sg_cell_find(*section->text[i], name);
    assert(cell.column != NULL);
    return cell;
}

static bool has_any(struct sg_cell cell, const struct sg_rows *rows)
{
    bool has = false;

    for (uint32_t i = 0; i < rows->count && !has; i++)
        has = sg_column_figure(cell.column, sg_cell_row(cell, sg_rows_at(rows, i)), rows->context) >
              0;
    return has;
}

void sg_section_show(const struct sg_section *section, const struct sg_rows *rows,
                     struct sg_table *table)
{
    const char *rest = section->shown;
    char name[NAME_BYTES];

    if (rest == NULL)
        sg_table_show(table, *section->text[0], NULL);
    while (rest != NULL && take_word(&rest, name)) {
        char *mark = strchr(name, '?');
        struct sg_cell cell;

        if (mark != NULL)
            *mark = '\0';
        cell = sg_section_find(section, name);
        if (mark != NULL && !has_any(cell, rows))
            continue;
        assert(table->column_count < SG_TABLE_COLUMNS_MAX);
        table->columns[table->column_count++] = cell;
    }
}

void sg_section_fill(const struct sg_section *section, const struct sg_rows *rows,
                     struct sg_table *table)
{
    sg_section_show(section, rows, table);
    for (uint32_t i = 0; i < rows->count; i++)
        sg_table_row(table, sg_rows_at(rows, i), rows->context);
}

enum sg_status sg_section_end(struct sg_table *table, const char *who, FILE *out)
{
    enum sg_status status = sg_table_finish(table, who, out);

    fputc('\n', out);
    return status;
}

enum sg_status sg_section_print_rows(const struct sg_section *section, const struct sg_rows *rows,
                                     const char *who, FILE *out)
{
    struct sg_table table = {0};

    sg_section_fill(section, rows, &table);
    return sg_table_finish(&table, who, out);
}

enum sg_status sg_section_print(const struct sg_section *section, const struct sg_rows *rows,
                                const char *who, FILE *out)
{
    enum sg_status status = sg_section_print_rows(section, rows, who, out);

    fputc('\n', out);
    return status;
}

/* ---- JSON and CSV ---------------------------------------------------------------------------- */

struct fields {
    const struct sg_column *of[FIELDS_MAX];
    size_t count;
};

static void add_field(struct fields *fields, const struct sg_column *column)
{
    assert(fields->count < FIELDS_MAX);
    fields->of[fields->count++] = column;
}

/* Adds all columns of the sets that have a field, or the first one of a name, which must exist. */
static void add_fields(const struct sg_section *section, const char *name, struct fields *fields)
{
    for (int i = 0; i < SG_SECTION_SETS && section->json[i] != NULL; i++) {
        for (size_t j = 0; j < section->json[i]->count; j++) {
            const struct sg_column *column = &section->json[i]->of[j];

            if (name != NULL ? column->field == NULL || strcmp(column->field, name) != 0
                             : column->field == NULL && column->inner == NULL)
                continue;
            add_field(fields, column);
            if (name != NULL)
                return;
        }
    }
    assert(name == NULL);
}

static struct fields fields_of(const struct sg_section *section)
{
    const char *rest = section->fields;
    struct fields fields = {.count = 0};
    char name[NAME_BYTES];

    if (rest == NULL)
        add_fields(section, NULL, &fields);
    while (rest != NULL && take_word(&rest, name))
        add_fields(section, name, &fields);
    return fields;
}

static json_t *object_of(const struct fields *fields, const void *row, const void *context)
{
    json_t *object = json_object();

    for (size_t i = 0; i < fields->count; i++)
        sg_columns_set(&object, (struct sg_columns){fields->of[i], 1}, row, context);
    return object;
}

void sg_section_append(const struct sg_section *section, const struct sg_rows *rows, json_t **list)
{
    const struct fields fields = fields_of(section);

    for (uint32_t i = 0; i < rows->count && *list != NULL; i++)
        sg_json_append(list, object_of(&fields, sg_rows_at(rows, i), rows->context));
}

json_t *sg_section_list(const struct sg_section *section, const struct sg_rows *rows)
{
    json_t *list = rows->is_known ? json_array() : json_null();

    sg_section_append(section, rows, &list);
    return list;
}

void sg_section_put_rows(const struct sg_section *section, const struct sg_rows *rows,
                         struct sg_json_writer *writer)
{
    const struct fields fields = fields_of(section);

    for (uint32_t i = 0; i < rows->count; i++) {
        sg_json_begin(writer, NULL, '{');
        sg_columns_put(writer, fields.of, fields.count, sg_rows_at(rows, i), rows->context);
        sg_json_end(writer, '}');
    }
}

void sg_section_put(const struct sg_section *section, const struct sg_rows *rows,
                    struct sg_json_writer *writer)
{
    if (!rows->is_known) {
        sg_json_put(writer, section->member, json_null());
        return;
    }
    sg_json_begin(writer, section->member, '[');
    sg_section_put_rows(section, rows, writer);
    sg_json_end(writer, ']');
}

void sg_section_csv_begin(const struct sg_section *section, FILE *out)
{
    sg_csv_begin(&(struct sg_csv){SG_CSV_LINE_END, CSV_DIGITS, section->csv}, out);
}

enum sg_status sg_section_csv_rows(const struct sg_section *section, const struct sg_rows *rows,
                                   const char *who, FILE *out)
{
    const struct sg_csv csv = {SG_CSV_LINE_END, CSV_DIGITS, section->csv};
    const struct fields fields = fields_of(section);
    enum sg_status status = SG_OK;

    for (uint32_t i = 0; i < rows->count && status == SG_OK; i++)
        status = sg_csv_row(&csv, object_of(&fields, sg_rows_at(rows, i), rows->context), out);
    if (status != SG_OK)
        sg_log("%s: %s", who, sg_status_text(status));
    return status;
}

enum sg_status sg_section_csv(const struct sg_section *section, const struct sg_rows *rows,
                              const char *who, FILE *out)
{
    sg_section_csv_begin(section, out);
    return sg_section_csv_rows(section, rows, who, out);
}
