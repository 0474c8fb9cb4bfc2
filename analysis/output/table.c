#include "output/table.h"

#include "output/format.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define INDENT 2
#define FLEXIBLE_MIN 16

void sg_table_add(struct sg_table *table, char *text)
{
    size_t count = table->cell_count;

    if (text == NULL) {
        table->failed = true;
        return;
    }
    if ((count & (count - 1)) == 0) {
        char **cells = realloc(table->cells, (count ? count * 2 : 1) * sizeof *cells);

        if (cells == NULL) {
            free(text);
            table->failed = true;
            return;
        }
        table->cells = cells;
    }
    table->cells[table->cell_count++] = text;
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

/* Left columns stand two apart, figures one: they are rarely as wide as their column. */
static size_t gap_before(const struct sg_table *table, size_t column)
{
    return column == 0 ? INDENT : table->columns[column].left ? 2 : 1;
}

static size_t widest(const struct sg_table *table, size_t column)
{
    size_t width = sg_format_columns(table->columns[column].header);

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

/* Shortens a column's cells to a width, as far as they may be. */
static void narrow(struct sg_table *table, size_t column, size_t width, size_t *widths)
{
    for (size_t cell = column; cell < table->cell_count; cell += table->column_count) {
        if (table->columns[column].flexible)
            sg_format_shorten_place(table->cells[cell], width);
        else
            sg_format_shorten(table->cells[cell], width);
    }
    widths[column] = widest(table, column);
}

static void fit(struct sg_table *table, size_t width, size_t *widths)
{
    for (size_t column = 0; column < table->column_count; column++)
        widths[column] = widest(table, column);
    for (size_t column = 0; column < table->column_count; column++) {
        if (table->columns[column].max_width > 0 && line_columns(table, widths) > width)
            narrow(table, column, table->columns[column].max_width, widths);
    }
    for (size_t column = 0; column < table->column_count; column++) {
        size_t all = line_columns(table, widths);

        if (!table->columns[column].flexible || all <= width)
            continue;
        narrow(table, column,
               widths[column] > all - width + FLEXIBLE_MIN ? widths[column] - (all - width)
                                                           : FLEXIBLE_MIN,
               widths);
    }
}

size_t sg_table_width(FILE *out)
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
    bool left = table->columns[column].left;

    fprintf(out, "%*s", (int)(gap_before(table, column) + (left ? 0 : pad)), "");
    fputs(text, out);
    /* No blanks at a line's end. */
    if (left && column + 1 < table->column_count)
        fprintf(out, "%*s", (int)pad, "");
}

enum sg_status sg_table_print(struct sg_table *table, size_t width, FILE *out)
{
    size_t *widths = calloc(table->column_count, sizeof *widths);

    if (table->failed || widths == NULL) {
        free(widths);
        sg_log("report: out of memory");
        return SG_ERR_MEMORY;
    }
    fit(table, width, widths);
    for (size_t column = 0; column < table->column_count; column++)
        print_cell(table, column, widths[column], table->columns[column].header, out);
    fputc('\n', out);
    for (size_t cell = 0; cell < table->cell_count; cell++) {
        size_t column = cell % table->column_count;

        print_cell(table, column, widths[column], table->cells[cell], out);
        if (column + 1 == table->column_count)
            fputc('\n', out);
    }
    free(widths);
    return SG_OK;
}

void sg_table_clear(struct sg_table *table)
{
    for (size_t cell = 0; cell < table->cell_count; cell++)
        free(table->cells[cell]);
    free(table->cells);
    table->cells = NULL;
    table->cell_count = 0;
}
