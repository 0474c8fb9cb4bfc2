#include "page/tables.h"

#include "page/html.h"
#include "report/columns.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct sg_column *column_of(const struct sg_page_table *table, const char *name)
{
    const struct sg_column *column = sg_column_find(table->columns, name);

    return column != NULL ? column : sg_column_find(sg_site_columns, name);
}

static bool is_shown(const struct sg_page_table *table, const struct sg_page_shown *shown)
{
    bool is = !shown->optional;

    for (uint32_t i = 0; i < table->count && !is; i++)
        is = sg_column_figure(column_of(table, shown->column),
                              (const char *)table->rows + i * table->row_bytes, NULL) > 0;
    return is;
}

/* With arrows that no line breaks in. */
static void put_text(char *text, FILE *out)
{
    char *arrow;

    while (text != NULL && (arrow = strstr(text, " -> ")) != NULL) {
        *arrow = '\0';
        sg_html_text(text, out);
        fputs(" \xe2\x86\x92 ", out);
        text = arrow + strlen(" -> ");
    }
    sg_html_text(text, out);
}

static void put_cell(const struct sg_page_table *table, const struct sg_page_shown *shown,
                     const void *row, FILE *out)
{
    const struct sg_column *column = column_of(table, shown->column);
    const char *tag = shown == table->shown ? "th" : "td";
    char *text = sg_column_text(column, row, table->context);
    double figure = column->left
                        ? -1
                        : sg_column_figure(column_of(table, shown->figure != NULL ? shown->figure
                                                                                  : shown->column),
                                           row, table->context);

    fprintf(out, "<%s%s%s", tag, shown == table->shown ? " scope=\"row\"" : "",
            column->left ? " class=\"text\"" : "");
    if (figure >= 0)
        fprintf(out, " data-v=\"%.10g\"", figure);
    fputc('>', out);
    put_text(text, out);
    fprintf(out, "</%s>", tag);
    free(text);
}

void sg_page_put_table(const struct sg_page_table *table, FILE *out)
{
    if (table->function_of != NULL)
        fprintf(out, "<div id=\"%s-filters\" class=\"controls\"></div>\n", table->id);
    fprintf(out,
            "<div class=\"scroll\" role=\"region\" aria-labelledby=\"%s-title\" tabindex=\"0\">\n"
            "<table id=\"%s\" class=\"calls\">\n<thead><tr>",
            table->id, table->id);
    for (const struct sg_page_shown *shown = table->shown; shown->column != NULL; shown++) {
        if (is_shown(table, shown))
            fprintf(out, "<th scope=\"col\"%s title=\"%s\">%s</th>",
                    column_of(table, shown->column)->left ? " class=\"text\"" : "", shown->about,
                    shown->header);
    }
    fputs("</tr></thead>\n<tbody>\n", out);
    for (uint32_t i = 0; i < table->count; i++) {
        const void *row = (const char *)table->rows + i * table->row_bytes;

        if (table->function_of != NULL)
            fprintf(out, "<tr data-op=\"%s\">", table->function_of(row));
        else
            fputs("<tr>", out);
        for (const struct sg_page_shown *shown = table->shown; shown->column != NULL; shown++) {
            if (is_shown(table, shown))
                put_cell(table, shown, row, out);
        }
        fputs("</tr>\n", out);
    }
    fputs("</tbody>\n</table>\n</div>\n", out);
    if (table->function_of != NULL)
        fprintf(out, "<p id=\"%s-shown\" class=\"quiet\" role=\"status\"></p>\n", table->id);
}

void sg_page_put_left_out(uint32_t shown, uint32_t count, const char *what, const char *csv,
                          FILE *out)
{
    if (shown < count)
        fprintf(out,
                "<p class=\"quiet\">%" PRIu32
                " further %s are left out: <code>--top</code> says how "
                "many to show, <code>stagger report --csv=%s</code> has all.</p>\n",
                count - shown, what, csv);
}

uint32_t sg_page_rows(uint32_t count, uint32_t limit)
{
    return count < limit ? count : limit;
}
