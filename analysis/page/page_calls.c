/* All calls of MPI on the report's page: MPI's share, functions, call sites, and messages, as
 * tables that need no scripts; the map of messages is drawn from their sums in blocks of ranks.
 */
#include "output/json.h"
#include "page/html.h"
#include "page/page.h"
#include "report/columns.h"
#include "report/profile/calls.h"
#include "report/profile/columns.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- MPI's share ----------------------------------------------------------------------------- */

void sg_page_write_share(const struct sg_report *report, FILE *out)
{
    const struct sg_calls *calls = report->calls;

    if (calls == NULL || calls->processor_ns == 0)
        return;
    fprintf(
        out,
        "<div><dt>processor time in MPI, all calls</dt><dd>%s<small>%s of %s</small></dd></div>\n",
        SG_SHARE(calls->time_ns, calls->processor_ns), SG_NS(calls->time_ns),
        SG_NS(calls->processor_ns));
}

static void put_share(const struct sg_calls *calls, FILE *out)
{
    if (calls->processor_ns == 0)
        return;
    fprintf(out, "<p>The ranks spent %s of their processor time in MPI",
            SG_SHARE(calls->time_ns, calls->processor_ns));
    if (calls->least_rank != calls->greatest_rank)
        fprintf(out, ", from %.1f%% on rank %" PRIu32 " to %.1f%% on rank %" PRIu32,
                100 * calls->least_share, calls->least_rank, 100 * calls->greatest_share,
                calls->greatest_rank);
    fputs(".</p>\n", out);
}

/* ---- tables ---------------------------------------------------------------------------------- */

struct shown {
    const char *column, *header, *about;
    const char *figure; /* the column that it sorts by; NULL: the same */
    bool optional;      /* only if some row has more than none */
};

/* A table: rows of row_bytes each. */
struct shown_table {
    const char *id;
    const struct shown *shown; /* ends with a NULL column */
    struct sg_columns columns;
    const void *rows;
    size_t row_bytes;
    uint32_t count;
};

static const struct shown function_columns[] = {
    {"function", "function", "of MPI", NULL, false},
    {"calls", "calls", "over all ranks", NULL, false},
    {"time", "time", "in these calls, over all ranks", NULL, false},
    {"run", "of run", "time by all ranks' processor time", "time", false},
    {"mean", "mean", "of a call", NULL, false},
    {"min", "min", "the shortest call", NULL, false},
    {"max", "max", "the longest call", NULL, false},
    {"deviation", "stddev", "standard deviation of the calls' times", NULL, false},
    {"sent", "sent", "bytes that the calls sent", NULL, false},
    {"received", "received", "bytes that the calls received", NULL, false},
    {"latency", "latency",
     "from the beginning of what nonblocking calls began to its end, on average", NULL, true},
    {"failed", "failed", "calls that returned an error", NULL, true},
    {0},
};

static const struct shown site_columns[] = {
    {"function", "function", "of MPI", NULL, false},
    {"site", "call site", "function, file and line", NULL, false},
    {"comm", "comm", "the communicator, with its number of ranks, or how many there are", NULL,
     false},
    {"calls", "calls", "over all ranks", NULL, false},
    {"time", "time", "in these calls, over all ranks", NULL, false},
    {"run", "of run", "time by all ranks' processor time", "time", false},
    {"mean", "mean", "of a call", NULL, false},
    {"max", "max", "the longest call", NULL, false},
    {"sent", "sent", "bytes that the calls sent", NULL, false},
    {"received", "received", "bytes that the calls received", NULL, false},
    {0},
};

static const struct shown pair_columns[] = {
    {"from", "from rank", "the sender", NULL, false},
    {"to", "to rank", "the receiver", NULL, false},
    {"messages", "messages", "as sender or receiver counted, whoever counted more", NULL, false},
    {"bytes", "bytes", "likewise", NULL, false},
    {0},
};

static const struct sg_column *column_of(const struct shown_table *table, const char *name)
{
    const struct sg_column *column = sg_column_find(table->columns, name);

    return column != NULL ? column : sg_column_find(sg_site_columns, name);
}

static bool is_shown(const struct shown_table *table, const struct shown *shown)
{
    bool is = !shown->optional;

    for (uint32_t i = 0; i < table->count && !is; i++)
        is = sg_column_figure(column_of(table, shown->column),
                              (const char *)table->rows + i * table->row_bytes, NULL) > 0;
    return is;
}

static void put_cell(const struct shown_table *table, const struct shown *shown, const void *row,
                     const struct sg_calls *calls, FILE *out)
{
    const struct sg_column *column = column_of(table, shown->column);
    const char *tag = shown == table->shown ? "th" : "td";
    char *text = sg_column_text(column, row, calls);
    double figure = column->left
                        ? -1
                        : sg_column_figure(column_of(table, shown->figure != NULL ? shown->figure
                                                                                  : shown->column),
                                           row, calls);

    fprintf(out, "<%s%s%s", tag, shown == table->shown ? " scope=\"row\"" : "",
            column->left ? " class=\"text\"" : "");
    if (figure >= 0)
        fprintf(out, " data-v=\"%.10g\"", figure);
    fputc('>', out);
    sg_html_text(text, out);
    fprintf(out, "</%s>", tag);
    free(text);
}

/* is_by_function: rows are of a function, which a filter may choose. */
static void put_table(const struct shown_table *table, const struct sg_calls *calls,
                      bool is_by_function, FILE *out)
{
    if (is_by_function)
        fprintf(out, "<div id=\"%s-filters\" class=\"controls\"></div>\n", table->id);
    fprintf(out,
            "<div class=\"scroll\" role=\"region\" aria-labelledby=\"%s-title\" tabindex=\"0\">\n"
            "<table id=\"%s\" class=\"calls\">\n<thead><tr>",
            table->id, table->id);
    for (const struct shown *shown = table->shown; shown->column != NULL; shown++) {
        if (is_shown(table, shown))
            fprintf(out, "<th scope=\"col\"%s title=\"%s\">%s</th>",
                    column_of(table, shown->column)->left ? " class=\"text\"" : "", shown->about,
                    shown->header);
    }
    fputs("</tr></thead>\n<tbody>\n", out);
    for (uint32_t i = 0; i < table->count; i++) {
        const void *row = (const char *)table->rows + i * table->row_bytes;

        if (is_by_function)
            fprintf(out, "<tr data-op=\"%s\">", ((const struct sg_call_row *)row)->function);
        else
            fputs("<tr>", out);
        for (const struct shown *shown = table->shown; shown->column != NULL; shown++) {
            if (is_shown(table, shown))
                put_cell(table, shown, row, calls, out);
        }
        fputs("</tr>\n", out);
    }
    fputs("</tbody>\n</table>\n</div>\n", out);
    if (is_by_function)
        fprintf(out, "<p id=\"%s-shown\" class=\"quiet\" role=\"status\"></p>\n", table->id);
}

static void put_left_out(uint32_t shown, uint32_t count, const char *what, const char *csv,
                         FILE *out)
{
    if (shown < count)
        fprintf(out,
                "<p class=\"quiet\">%" PRIu32
                " further %s are left out: <code>--top</code> says how "
                "many to show, <code>stagger report --csv=%s</code> has all.</p>\n",
                count - shown, what, csv);
}

static uint32_t no_more_than(uint32_t count, uint32_t limit)
{
    return count < limit ? count : limit;
}

void sg_page_write_functions(const struct sg_page *page, FILE *out)
{
    const struct sg_calls *calls = page->report->calls;
    struct shown_table table;

    if (calls == NULL || calls->function_count == 0)
        return;
    table = (struct shown_table){.id = "functions",
                                 .shown = function_columns,
                                 .columns = sg_call_columns,
                                 .rows = calls->functions,
                                 .row_bytes = sizeof *calls->functions,
                                 .count = no_more_than(calls->function_count, page->row_limit)};
    fputs("<section aria-labelledby=\"functions-title\">\n"
          "<h2 id=\"functions-title\">MPI functions</h2>\n",
          out);
    put_share(calls, out);
    put_table(&table, calls, false, out);
    put_left_out(table.count, calls->function_count, "functions", "functions", out);
    fputs("</section>\n", out);
}

static void put_sites(const struct sg_page *page, const struct sg_calls *calls, FILE *out)
{
    const struct shown_table table = {.id = "calls",
                                      .shown = site_columns,
                                      .columns = sg_call_columns,
                                      .rows = calls->sites,
                                      .row_bytes = sizeof *calls->sites,
                                      .count = no_more_than(calls->site_count, page->row_limit)};

    fputs("<section aria-labelledby=\"calls-title\">\n"
          "<h2 id=\"calls-title\">Call sites of all MPI functions</h2>\n",
          out);
    put_table(&table, calls, true, out);
    put_left_out(table.count, calls->site_count, "call sites", "calls", out);
    fputs("</section>\n", out);
}

/* ---- messages -------------------------------------------------------------------------------- */

static void put_messages(const struct sg_page *page, const struct sg_calls *calls, FILE *out)
{
    const struct shown_table table = {.id = "pairs",
                                      .shown = pair_columns,
                                      .columns = sg_call_pair_columns,
                                      .rows = calls->pairs,
                                      .row_bytes = sizeof *calls->pairs,
                                      .count = no_more_than(calls->pair_count, page->row_limit)};

    fputs("<section aria-labelledby=\"messages-title\">\n<h2 id=\"messages-title\">Messages</h2>\n",
          out);
    if (calls->other_messages > 0)
        fprintf(out,
                "<p>%" PRIu64 " more, with %s, went over communicators other than "
                "MPI_COMM_WORLD.</p>\n",
                calls->other_messages, SG_BYTES(calls->other_bytes));
    if (calls->pair_count > 0) {
        fputs("<noscript><p class=\"quiet\">The map needs JavaScript.</p></noscript>\n"
              "<div class=\"controls\" id=\"map-controls\"></div>\n"
              "<div class=\"beside\">\n<div id=\"map\"></div>\n<div>\n"
              "<h3 id=\"pairs-title\">Pairs of ranks, the most bytes first</h3>\n",
              out);
        put_table(&table, calls, false, out);
        put_left_out(table.count, calls->pair_count, "pairs of ranks", "messages", out);
        fputs("</div>\n</div>\n", out);
    }
    fputs("</section>\n", out);
}

void sg_page_write_calls(const struct sg_page *page, FILE *out)
{
    const struct sg_calls *calls = page->report->calls;

    if (calls == NULL)
        return;
    if (sg_calls_has_others(calls))
        put_sites(page, calls, out);
    if (calls->pair_count > 0 || calls->other_messages > 0)
        put_messages(page, calls, out);
}

struct cell {
    uint64_t messages, bytes;
};

/* Of each cell that is not empty, row by row: how many cells are between it and the one before,
 * messages, bytes. */
static json_t *cells_of(const struct cell *cells, uint32_t count)
{
    json_t *list = json_array();
    uint32_t skipped = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (cells[i].messages == 0) {
            skipped++;
            continue;
        }
        sg_json_append(&list, json_integer(skipped));
        sg_json_append(&list, json_integer((json_int_t)cells[i].messages));
        sg_json_append(&list, json_integer((json_int_t)cells[i].bytes));
        skipped = 0;
    }
    return list;
}

json_t *sg_page_messages_data(const struct sg_calls *calls)
{
    uint32_t group = (calls->rank_count + SG_PAGE_BLOCKS - 1) / SG_PAGE_BLOCKS;
    uint32_t blocks = (calls->rank_count + group - 1) / group;
    struct cell *cells = calloc((size_t)blocks * blocks, sizeof *cells);
    json_t *data;

    if (cells == NULL)
        return NULL;
    for (uint32_t i = 0; i < calls->pair_count; i++) {
        const struct sg_call_pair *pair = &calls->pairs[i];
        struct cell *cell = &cells[pair->from / group * blocks + pair->to / group];

        cell->messages += pair->messages;
        cell->bytes += pair->bytes;
    }
    data = json_pack("{s:i, s:i, s:i, s:i, s:o}", "ranks", (int)calls->rank_count, "group",
                     (int)group, "blocks", (int)blocks, "pairs", (int)calls->pair_count, "cells",
                     cells_of(cells, blocks * blocks));
    free(cells);
    return data;
}
