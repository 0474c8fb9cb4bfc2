/* Tables of the report's page about all MPI calls: MPI's share, functions, call sites and messages,
 * then wait states and the skew of the collectives that MPICH carried out. They need no scripts;
 * the map of messages is drawn from their sums in blocks of ranks.
 */
#include "page/page_calls.h"

#include "output/format.h"
#include "output/json_output.h"
#include "page/html.h"
#include "page/page.h"
#include "report/profile_calls.h"
#include "report/profile_print.h"
#include "report/report_columns.h"
#include "report/wait_print.h"
#include "report/wait_sums.h"

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

/* Shows " -> " as an arrow with spaces that do not break. */
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
                " more %s are omitted: <code>--top</code> sets how many to show, <code>stagger "
                "report --csv=%s</code> has all.</p>\n",
                count - shown, what, csv);
}

uint32_t sg_page_rows(uint32_t count, uint32_t limit)
{
    return count < limit ? count : limit;
}

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

/* ---- columns --------------------------------------------------------------------------------- */

static const struct sg_page_shown function_columns[] = {
    {"function", "function", "of MPI", NULL, false},
    {"calls", "calls", "over all ranks", NULL, false},
    {"time", "time", "in these calls, over all ranks", NULL, false},
    {"run", "of run", "time by all ranks' processor time", "time", false},
    {"mean", "mean", "of a call", NULL, false},
    {"min", "min", "the shortest call", NULL, false},
    {"max", "max", "the longest call", NULL, false},
    {"deviation", "stddev", "standard deviation of the calls' times", NULL, false},
    {"sent", "sent", "bytes sent by the calls", NULL, false},
    {"received", "received", "bytes received by the calls", NULL, false},
    {"latency", "latency",
     "mean time from the start to the end of the operations of nonblocking calls", NULL, true},
    {"failed", "failed", "calls that returned an error", NULL, true},
    {0},
};

static const struct sg_page_shown site_columns[] = {
    {"function", "function", "of MPI", NULL, false},
    {"site", "call site", "function, file and line", NULL, false},
    {"comm", "comm", "the communicator, with its number of ranks, or how many there are", NULL,
     false},
    {"calls", "calls", "over all ranks", NULL, false},
    {"time", "time", "in these calls, over all ranks", NULL, false},
    {"run", "of run", "time by all ranks' processor time", "time", false},
    {"mean", "mean", "of a call", NULL, false},
    {"max", "max", "the longest call", NULL, false},
    {"sent", "sent", "bytes sent by the calls", NULL, false},
    {"received", "received", "bytes received by the calls", NULL, false},
    {0},
};

static const struct sg_page_shown pair_columns[] = {
    {"from", "from rank", "the sender", NULL, false},
    {"to", "to rank", "the receiver", NULL, false},
    {"messages", "messages", "the larger of the sender's and the receiver's count", NULL, false},
    {"bytes", "bytes", "likewise", NULL, false},
    {0},
};

static const struct sg_page_shown target_columns[] = {
    {"origin", "origin rank", "where the operation was called", NULL, false},
    {"target", "target rank", "the rank whose memory was accessed", NULL, false},
    {"puts", "puts", "and accumulates, as counted at the origin", NULL, false},
    {"put", "put", "their bytes", NULL, false},
    {"gets", "gets", "including data fetched by accumulates", NULL, false},
    {"got", "got", "their bytes", NULL, false},
    {0},
};

static const char *function_of(const void *row)
{
    return ((const struct sg_call_row *)row)->function;
}

void sg_page_write_functions(const struct sg_page *page, FILE *out)
{
    const struct sg_calls *calls = page->report->calls;
    struct sg_page_table table;

    if (calls == NULL || calls->function_count == 0)
        return;
    table = (struct sg_page_table){.id = "functions",
                                   .shown = function_columns,
                                   .columns = sg_call_columns,
                                   .rows = calls->functions,
                                   .row_bytes = sizeof *calls->functions,
                                   .context = calls,
                                   .count = sg_page_rows(calls->function_count, page->row_limit)};
    fputs("<section aria-labelledby=\"functions-title\">\n"
          "<h2 id=\"functions-title\">MPI functions</h2>\n",
          out);
    put_share(calls, out);
    sg_page_put_table(&table, out);
    sg_page_put_left_out(table.count, calls->function_count, "functions", "functions", out);
    fputs("</section>\n", out);
}

static void put_sites(const struct sg_page *page, const struct sg_calls *calls, FILE *out)
{
    const struct sg_page_table table = {.id = "calls",
                                        .shown = site_columns,
                                        .columns = sg_call_columns,
                                        .rows = calls->sites,
                                        .row_bytes = sizeof *calls->sites,
                                        .context = calls,
                                        .function_of = function_of,
                                        .count = sg_page_rows(calls->site_count, page->row_limit)};

    fputs("<section aria-labelledby=\"calls-title\">\n"
          "<h2 id=\"calls-title\">Call sites of all MPI functions</h2>\n",
          out);
    sg_page_put_table(&table, out);
    sg_page_put_left_out(table.count, calls->site_count, "call sites", "calls", out);
    fputs("</section>\n", out);
}

/* ---- messages -------------------------------------------------------------------------------- */

static void put_messages(const struct sg_page *page, const struct sg_calls *calls, FILE *out)
{
    const struct sg_page_table table = {.id = "pairs",
                                        .shown = pair_columns,
                                        .columns = sg_call_pair_columns,
                                        .rows = calls->pairs,
                                        .row_bytes = sizeof *calls->pairs,
                                        .context = calls,
                                        .count = sg_page_rows(calls->pair_count, page->row_limit)};

    fputs("<section aria-labelledby=\"messages-title\">\n<h2 id=\"messages-title\">Messages</h2>\n",
          out);
    if (calls->other_messages > 0)
        fprintf(out, "<p>%" PRIu64 " more, with %s, went to unknown ranks.</p>\n",
                calls->other_messages, SG_BYTES(calls->other_bytes));
    if (calls->pair_count > 0) {
        fputs("<noscript><p class=\"quiet\">The map needs JavaScript.</p></noscript>\n"
              "<div class=\"controls\" id=\"map-controls\"></div>\n"
              "<div class=\"beside\">\n<div id=\"map\"></div>\n<div>\n"
              "<h3 id=\"pairs-title\">Pairs of ranks, the most bytes first</h3>\n",
              out);
        sg_page_put_table(&table, out);
        sg_page_put_left_out(table.count, calls->pair_count, "pairs of ranks", "messages", out);
        fputs("</div>\n</div>\n", out);
    }
    fputs("</section>\n", out);
}

static void put_one_sided(const struct sg_page *page, const struct sg_call_targets *targets,
                          FILE *out)
{
    const struct sg_call_target *others = &targets->others;
    const struct sg_page_table table = {.id = "targets",
                                        .shown = target_columns,
                                        .columns = sg_call_target_columns,
                                        .rows = targets->rows,
                                        .row_bytes = sizeof *targets->rows,
                                        .count = sg_page_rows(targets->count, page->row_limit)};

    fputs("<section aria-labelledby=\"targets-title\">\n"
          "<h2 id=\"targets-title\">One-sided operations</h2>\n",
          out);
    if (others->puts > 0 || others->gets > 0)
        fprintf(
            out,
            "<p>%" PRIu64 " puts of %s and %" PRIu64 " gets of %s accessed unknown ranks.</p>\n",
            others->puts, SG_BYTES(others->put_bytes), others->gets, SG_BYTES(others->got_bytes));
    if (targets->count > 0) {
        fputs("<p class=\"quiet\">Pairs of ranks, the most bytes first.</p>\n", out);
        sg_page_put_table(&table, out);
        sg_page_put_left_out(table.count, targets->count, "pairs of ranks", "one-sided", out);
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
    if (calls->one_sided.count > 0 || calls->one_sided.others.puts > 0 ||
        calls->one_sided.others.gets > 0)
        put_one_sided(page, &calls->one_sided, out);
}

struct cell {
    uint64_t messages, bytes;
};

/* For each cell that is not empty, row by row: number of empty cells before it, messages, bytes. */
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

/* ---- wait states and skews ------------------------------------------------------------------- */

static const struct sg_page_shown skew_columns[] = {
    {"function", "function", "of MPI", NULL, false},
    {"site", "call site", "function, file and line", NULL, false},
    {"comm", "comm", "the communicator, with its number of ranks, or how many there are", NULL,
     false},
    {"calls", "calls", "over all ranks", NULL, false},
    {"instances", "instances", "collective operations of these calls", NULL, false},
    {"mean", "mean skew", "from the first arrival to the last", NULL, false},
    {"p50", "skew 50%", "median over the instances", NULL, false},
    {"p95", "skew 95%", "95th percentile over the instances", NULL, false},
    {"max", "skew max", "the largest", NULL, false},
    {"wait", "wait", "time lost waiting for others", NULL, false},
    {"last", "last rank", "the rank that is last most often, and how often", NULL, false},
    {0},
};

static const struct sg_page_shown wait_columns[] = {
    {"state", "wait state", "the kind of wait", NULL, false},
    {"function", "function", "the waiting MPI function", NULL, false},
    {"site", "call site", "function, file and line", NULL, false},
    {"waits", "waits", "their number, over all ranks", NULL, false},
    {"wait", "wait", "their sum", NULL, false},
    {"max", "max", "the longest", NULL, false},
    {"disorder", "wrong order", "those in which an older message was received later", NULL, true},
    {0},
};

static const struct sg_page_shown page_waits_pair_columns[] = {
    {"state", "wait state", "the kind of wait", NULL, false},
    {"function", "function", "the waiting MPI function", NULL, false},
    {"site", "call site", "function, file and line", NULL, false},
    {"waits", "waits", "their number, over all ranks", NULL, false},
    {"wait", "wait", "their sum", NULL, false},
    {"rank", "for rank", "the rank waited for longest, and its share", NULL, false},
    {"other", "which is in", "function of MPI", NULL, false},
    {"other_site", "at", "function, file and line", NULL, false},
    {0},
};

static const char *function_of_skew(const void *row)
{
    return ((const struct sg_waitstate_place *)row)->function;
}

static const char *state_of_row(const void *row)
{
    return sg_waitstate_names[((const struct sg_waitstate_row *)row)->kind];
}

static const char *state_of_pair(const void *row)
{
    return sg_waitstate_names[((const struct sg_waitstate_pair *)row)->kind];
}

void sg_page_write_skews(const struct sg_page *page, FILE *out)
{
    const struct sg_waitstates *states = page->report->waitstates;
    struct sg_page_table table;

    if (states == NULL || states->skew_count == 0)
        return;
    table = (struct sg_page_table){.id = "skews",
                                   .shown = skew_columns,
                                   .columns = sg_waitstate_place_columns,
                                   .rows = states->skews,
                                   .row_bytes = sizeof *states->skews,
                                   .function_of = function_of_skew,
                                   .count = sg_page_rows(states->skew_count, page->state_limit)};
    fputs("<section aria-labelledby=\"skews-title\">\n"
          "<h2 id=\"skews-title\">Skew of other collectives</h2>\n",
          out);
    sg_page_put_table(&table, out);
    sg_page_put_left_out(table.count, states->skew_count, "call sites", "collectives", out);
    fputs("</section>\n", out);
}

static void put_rows(const struct sg_page *page, const struct sg_waitstates *states, FILE *out)
{
    const struct sg_page_table table = {.id = "waits",
                                        .shown = wait_columns,
                                        .columns = sg_waitstate_row_columns,
                                        .rows = states->rows,
                                        .row_bytes = sizeof *states->rows,
                                        .function_of = state_of_row,
                                        .count =
                                            sg_page_rows(states->row_count, page->state_limit)};

    fprintf(out,
            "<p>Ranks waited %" PRIu64
            " times for others, <strong>%s</strong> in all. A call waits "
            "once, for what came last.</p>\n"
            "<h3 id=\"waits-title\">By call site</h3>\n",
            states->total.waits, SG_NS(states->total.wait_ns));
    sg_page_put_table(&table, out);
    sg_page_put_left_out(table.count, states->row_count, "wait states", "waits", out);
}

static void put_pairs(const struct sg_page *page, const struct sg_waitstates *states, FILE *out)
{
    const struct sg_page_table table = {.id = "wait-pairs",
                                        .shown = page_waits_pair_columns,
                                        .columns = sg_waitstate_pair_columns,
                                        .rows = states->pairs,
                                        .row_bytes = sizeof *states->pairs,
                                        .function_of = state_of_pair,
                                        .count =
                                            sg_page_rows(states->pair_count, page->state_limit)};

    fputs("<h3 id=\"wait-pairs-title\">Waits between call sites</h3>\n", out);
    sg_page_put_table(&table, out);
    sg_page_put_left_out(table.count, states->pair_count, "pairs of call sites", "pairs", out);
}

void sg_page_write_waits(const struct sg_page *page, FILE *out)
{
    const struct sg_waitstates *states = page->report->waitstates;

    if (states == NULL || states->row_count == 0)
        return;
    fputs("<section aria-labelledby=\"states-title\">\n"
          "<h2 id=\"states-title\">Wait states</h2>\n",
          out);
    put_rows(page, states, out);
    put_pairs(page, states, out);
    fputs("</section>\n", out);
}
