#include "output/line.h"

#include <string.h>

#define VALUE_BYTES 64
#define CELL_BYTES (2 * VALUE_BYTES + 32)
#define UNIT "_us"
#define TO " to "

static bool is_time(const char *field)
{
    size_t length = strlen(field);

    return length > strlen(UNIT) && strcmp(field + length - strlen(UNIT), UNIT) == 0;
}

static int decimals_of(const struct sg_line_column *column, const char *field, double value,
                       const json_t *row)
{
    if (column->decimals != SG_LINE_BY_SIZE)
        return (int)column->decimals - SG_LINE_WHOLE;
    if (column->like != NULL)
        value = json_number_value(json_object_get(row, column->like));
    if (is_time(field))
        return value < 100 ? 3 : 1;
    return value < 0.1 ? 5 : 3;
}

static void show(const struct sg_line_column *column, const char *field, const json_t *row,
                 char text[VALUE_BYTES])
{
    const json_t *value = json_object_get(row, field);

    if (json_is_string(value))
        snprintf(text, VALUE_BYTES, "%s", json_string_value(value));
    else if (json_is_integer(value))
        snprintf(text, VALUE_BYTES, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        snprintf(text, VALUE_BYTES, "%.*f", decimals_of(column, field, json_real_value(value), row),
                 json_real_value(value));
    else if (json_is_boolean(value))
        snprintf(text, VALUE_BYTES, "%s", json_is_true(value) ? "yes" : "no");
    else
        snprintf(text, VALUE_BYTES, "-");
}

static void show_cell(const struct sg_line_column *column, const json_t *row, char cell[CELL_BYTES])
{
    char first[VALUE_BYTES], second[VALUE_BYTES];
    bool below = column->like != NULL; /* ends stand below each other */

    show(column, column->field, row, first);
    if (column->second == NULL || (column->between == NULL && strcmp(first, "-") == 0)) {
        snprintf(cell, CELL_BYTES, "%s", first);
        return;
    }
    show(column, column->second, row, second);
    snprintf(cell, CELL_BYTES, "%-*s%s%-*s", below ? 7 : 0, first,
             column->between != NULL ? column->between : TO, below ? 8 : 0, second);
}

/* Nothing behind the last column. */
static void print_cell(const struct sg_line_column *columns, const struct sg_line_column *column,
                       const char *cell, FILE *out)
{
    bool last = column[1].field == NULL;

    fprintf(out, "%s%*s%s",
            column == columns ? ""
            : column->near    ? " "
                              : "  ",
            last && column->width < 0 ? 0 : column->width, cell, last ? "\n" : "");
}

void sg_line_print_titles(const struct sg_line_column *columns, FILE *out)
{
    for (const struct sg_line_column *column = columns; column->field != NULL; column++)
        print_cell(columns, column, column->title, out);
}

void sg_line_print(const struct sg_line_column *columns, const json_t *row, FILE *out)
{
    for (const struct sg_line_column *column = columns; column->field != NULL; column++) {
        char cell[CELL_BYTES];

        show_cell(column, row, cell);
        print_cell(columns, column, cell, out);
    }
}
