/* Prints tables: text tables whose columns are as wide as their widest cell, lines of columns with
 * given widths, and the styles of a terminal.
 */
#include "output/table.h"

#include "core/config.h"
#include "core/room.h"
#include "output/format.h"

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define LABEL_COLUMNS 19

bool sg_style_is_seen(int descriptor)
{
    const char *kind = sg_config_environment("TERM");
    const char *refused = sg_config_environment("NO_COLOR");

    return (refused == NULL || refused[0] == '\0') && kind != NULL && kind[0] != '\0' &&
           strcmp(kind, "dumb") != 0 && descriptor >= 0 && isatty(descriptor);
}

const char *sg_style(enum sg_style style, FILE *out)
{
    static const char *const texts[] = {[SG_PLAIN] = "\033[0m",
                                        [SG_BOLD] = "\033[1m",
                                        [SG_RED] = "\033[31m",
                                        [SG_GREEN] = "\033[32m",
                                        [SG_YELLOW] = "\033[33m"};
    static enum { UNKNOWN, UNSEEN, SEEN } output;

    if (out != stdout)
        return sg_style_is_seen(fileno(out)) ? texts[style] : "";
    if (output == UNKNOWN)
        output = sg_style_is_seen(STDOUT_FILENO) ? SEEN : UNSEEN;
    return output == SEEN ? texts[style] : "";
}

void sg_style_put_label(const char *label, FILE *out)
{
    int blanks = LABEL_COLUMNS - (int)strlen(label);

    fprintf(out, "%s%s%s%*s", sg_style(SG_BOLD, out), label, sg_style(SG_PLAIN, out),
            blanks > 0 ? blanks : 1, "");
}

#define INDENT 2
#define FLEXIBLE_MIN 16
/* In a pipe and on a wide terminal, too: the names of templates would fill lines of thousands of
 * columns. JSON and CSV have them whole. */
#define WIDTH_MAX 200

void sg_table_show(struct sg_table *table, struct sg_columns columns, const char *names)
{
    for (size_t i = 0; i < columns.count && names == NULL; i++) {
        if (columns.of[i].header != NULL)
            table->columns[table->column_count++] = (struct sg_cell){&columns.of[i], 0};
    }
    while (names != NULL && *names != '\0') {
        char name[32];
        size_t length = strcspn(names, " ");

        snprintf(name, sizeof name, "%.*s", (int)length, names);
        assert(table->column_count < SG_TABLE_COLUMNS_MAX);
        table->columns[table->column_count++] = sg_cell_find(columns, name);
        names += length + (names[length] == ' ');
    }
}

void sg_table_add(struct sg_table *table, char *text)
{
    if (text == NULL || !SG_APPEND(table->cells, table->cell_count, text)) {
        free(text);
        table->failed = true;
    }
}

void sg_table_cells(struct sg_table *table, size_t count, const void *row, const void *context)
{
    for (; count > 0; count--) {
        struct sg_cell cell = table->columns[table->cell_count % table->column_count];

        sg_table_add(table, sg_column_text(cell.column, sg_cell_row(cell, row), context));
    }
}

void sg_table_row(struct sg_table *table, const void *row, const void *context)
{
    sg_table_cells(table, table->column_count - table->cell_count % table->column_count, row,
                   context);
}

void sg_table_addf(struct sg_table *table, const char *format, ...)
{
    va_list arguments;
    char *text;

    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    sg_table_add(table, text);
}

/* Two blanks precede a left column, one a column of figures, which rarely fill their width. */
static size_t gap_before(const struct sg_table *table, size_t column)
{
    return column == 0 ? INDENT : table->columns[column].column->left ? 2 : 1;
}

static size_t widest(const struct sg_table *table, size_t column)
{
    size_t width = sg_format_columns(table->columns[column].column->header);

    for (size_t cell = column; cell < table->cell_count; cell += table->column_count) {
        size_t columns = sg_format_columns(table->cells[cell]);

        if (columns > width)
            width = columns;
    }
    return width;
}

static size_t line_columns(const struct sg_table *table, const size_t *widths)
{
    size_t all = 0;

    for (size_t column = 0; column < table->column_count; column++)
        all += gap_before(table, column) + widths[column];
    return all;
}

/* Shortens a column's cells to a width, as far as allowed. */
static void narrow(struct sg_table *table, size_t column, size_t width, size_t *widths)
{
    for (size_t cell = column; cell < table->cell_count; cell += table->column_count) {
        if (table->columns[column].column->flexible)
            sg_format_shorten_site(table->cells[cell], width);
        else
            sg_format_shorten(table->cells[cell], width);
    }
    widths[column] = widest(table, column);
}

static void fit(struct sg_table *table, size_t width, size_t *widths)
{
    for (size_t column = 0; column < table->column_count; column++) {
        widths[column] = widest(table, column);
        if (widths[column] > WIDTH_MAX)
            narrow(table, column, WIDTH_MAX, widths);
    }
    for (size_t column = 0; column < table->column_count; column++) {
        if (table->columns[column].column->max_width > 0 && line_columns(table, widths) > width)
            narrow(table, column, table->columns[column].column->max_width, widths);
    }
    for (size_t column = 0; column < table->column_count; column++) {
        size_t all = line_columns(table, widths);

        if (!table->columns[column].column->flexible || all <= width)
            continue;
        narrow(table, column,
               widths[column] > all - width + FLEXIBLE_MIN ? widths[column] - (all - width)
                                                           : FLEXIBLE_MIN,
               widths);
    }
}

/* SIZE_MAX if out is no terminal. */
static size_t width_of(FILE *out)
{
    struct winsize size;
    int descriptor = fileno(out);

    if (descriptor < 0 || !isatty(descriptor) || ioctl(descriptor, TIOCGWINSZ, &size) != 0 ||
        size.ws_col == 0)
        return SIZE_MAX;
    return size.ws_col;
}

static void print_cell(const struct sg_table *table, size_t column, size_t width, const char *text,
                       FILE *out)
{
    size_t pad = width - sg_format_columns(text);
    bool left = table->columns[column].column->left;

    fprintf(out, "%*s", (int)(gap_before(table, column) + (left ? 0 : pad)), "");
    fputs(text, out);
    /* No blanks at the end of a line. */
    if (left && column + 1 < table->column_count)
        fprintf(out, "%*s", (int)pad, "");
}

static void print(struct sg_table *table, FILE *out)
{
    size_t widths[SG_TABLE_COLUMNS_MAX];

    fit(table, table->width > 0 ? table->width : width_of(out), widths);
    fputs(sg_style(SG_BOLD, out), out);
    for (size_t column = 0; column < table->column_count; column++)
        print_cell(table, column, widths[column], table->columns[column].column->header, out);
    fprintf(out, "%s\n", sg_style(SG_PLAIN, out));
    for (size_t cell = 0; cell < table->cell_count; cell++) {
        size_t column = cell % table->column_count;

        print_cell(table, column, widths[column], table->cells[cell], out);
        if (column + 1 == table->column_count)
            fputc('\n', out);
    }
}

enum sg_status sg_table_finish(struct sg_table *table, const char *who, FILE *out)
{
    enum sg_status status = table->failed ? SG_ERR_MEMORY : SG_OK;

    if (status == SG_OK)
        print(table, out);
    else
        sg_log("%s: out of memory", who);
    for (size_t cell = 0; cell < table->cell_count; cell++)
        free(table->cells[cell]);
    free(table->cells);
    *table = (struct sg_table){0};
    return status;
}

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
    bool below = column->like != NULL; /* the ends of intervals align */

    show(column, column->field, row, first);
    if (column->second == NULL || (column->between == NULL && strcmp(first, "-") == 0)) {
        snprintf(cell, CELL_BYTES, "%s", first);
        return;
    }
    show(column, column->second, row, second);
    snprintf(cell, CELL_BYTES, "%-*s%s%-*s", below ? 7 : 0, first,
             column->between != NULL ? column->between : TO, below ? 8 : 0, second);
}

/* No padding after the last column. */
static void line_print_cell(const struct sg_line_column *columns,
                            const struct sg_line_column *column, const char *cell, FILE *out)
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
        line_print_cell(columns, column, column->title, out);
}

void sg_line_print(const struct sg_line_column *columns, const json_t *row, FILE *out)
{
    for (const struct sg_line_column *column = columns; column->field != NULL; column++) {
        char cell[CELL_BYTES];

        show_cell(column, row, cell);
        line_print_cell(columns, column, cell, out);
    }
}
