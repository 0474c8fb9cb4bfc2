/* Prints rows of a report's section as a table of its page. */
#include "page/page_table.h"

#include "page/html.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct sg_column *column_of(const struct sg_page_section *section, const char *name)
{
    return sg_section_find(&section->section->table, name).column;
}

static bool is_shown(const struct sg_page_section *section, const struct sg_page_shown *shown,
                     const struct sg_rows *rows)
{
    bool is = !shown->optional;

    for (uint32_t i = 0; i < rows->count && !is; i++)
        is = sg_column_figure(column_of(section, shown->column), sg_rows_at(rows, i), NULL) > 0;
    return is;
}

/* Shows " -> " as an arrow with spaces that do not break. */
static void put_text(const struct sg_column *column, const void *row, const void *context,
                     FILE *out)
{
    char *text = sg_column_text(column, row, context), *rest = text, *arrow;

    while (rest != NULL && (arrow = strstr(rest, " -> ")) != NULL) {
        *arrow = '\0';
        sg_html_text(rest, out);
        fputs(" \xe2\x86\x92 ", out);
        rest = arrow + strlen(" -> ");
    }
    sg_html_text(rest, out);
    free(text);
}

static void put_cell(const struct sg_page_section *section, const struct sg_page_shown *shown,
                     const void *row, const void *context, FILE *out)
{
    const struct sg_column *column = column_of(section, shown->column);
    bool is_name = shown == section->shown + (section->is_of_sites ? 1 : 0);
    double figure =
        column->left
            ? -1
            : sg_column_figure(shown->figure != NULL ? column_of(section, shown->figure) : column,
                               row, context);

    fprintf(out, "<%s%s", is_name ? "th scope=\"row\"" : "td",
            column->left ? " class=\"text\"" : "");
    if (figure >= 0)
        fprintf(out, " data-v=\"%.*g\"", section->is_of_sites ? 15 : 10, figure);
    if (is_name && section->is_of_sites) {
        fputs(" title=\"", out);
        put_text(column_of(section, "where"), row, context, out);
        fputc('"', out);
    }
    fputc('>', out);
    put_text(column, row, context, out);
    fputs(is_name ? "</th>" : "</td>", out);
}

void sg_page_begin_table(const char *id, const char *class, bool has_filter, FILE *out)
{
    if (has_filter)
        fprintf(out, "<div id=\"%s-filters\" class=\"controls\"></div>\n", id);
    fprintf(out,
            "<div class=\"scroll\" role=\"region\" aria-labelledby=\"%s-title\" tabindex=\"0\">\n"
            "<table id=\"%s\" class=\"%s\">\n<thead><tr>",
            id, id, class);
}

void sg_page_end_table(const char *id, bool has_filter, FILE *out)
{
    fputs("</tbody>\n</table>\n</div>\n", out);
    if (has_filter)
        fprintf(out, "<p id=\"%s-shown\" class=\"quiet\" role=\"status\"></p>\n", id);
}

static void put_headers(const struct sg_page_section *section, const struct sg_rows *rows,
                        FILE *out)
{
    sg_page_begin_table(section->id, section->is_of_sites ? "sites" : "calls", section->key != NULL,
                        out);
    for (const struct sg_page_shown *shown = section->shown; shown->column != NULL; shown++) {
        if (is_shown(section, shown, rows))
            fprintf(out, "<th scope=\"col\"%s title=\"%s\">%s</th>",
                    column_of(section, shown->column)->left ? " class=\"text\"" : "", shown->about,
                    shown->header);
    }
    fputs("</tr></thead>\n<tbody>\n", out);
}

void sg_page_put_table(const struct sg_page_section *section, const struct sg_rows *rows, FILE *out)
{
    put_headers(section, rows, out);
    for (uint32_t i = 0; i < rows->count; i++) {
        const void *row = sg_rows_at(rows, i);

        fputs("<tr", out);
        if (section->key != NULL) {
            fputs(" data-op=\"", out);
            put_text(column_of(section, section->key), row, rows->context, out);
            fputc('"', out);
        }
        fputc('>', out);
        for (const struct sg_page_shown *shown = section->shown; shown->column != NULL; shown++) {
            if (is_shown(section, shown, rows))
                put_cell(section, shown, row, rows->context, out);
        }
        fputs("</tr>\n", out);
    }
    sg_page_end_table(section->id, section->key != NULL, out);
}

uint32_t sg_page_rows(uint32_t count, uint32_t limit)
{
    return count < limit ? count : limit;
}

void sg_page_put_section(const struct sg_report *report, uint32_t limit,
                         const struct sg_page_section *section, const struct sg_rows *rows,
                         FILE *out)
{
    static const struct sg_print_options options;
    struct sg_rows first = rows != NULL ? *rows : section->section->rows(report, &options);
    uint32_t all = first.count;

    first.count = sg_page_rows(all, limit);
    sg_page_put_table(section, &first, out);
    if (first.count < all)
        fprintf(out,
                "<p class=\"quiet\">%" PRIu32
                " more %s are omitted: <code>--top</code> sets how many to show, <code>stagger "
                "report --csv=%s</code> has all.</p>\n",
                all - first.count, section->rows_are, section->section->name);
}
