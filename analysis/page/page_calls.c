/* All calls of MPI on the report's page: MPI's share, functions, call sites, and messages, as
 * tables that need no scripts; the map of messages is drawn from their sums in blocks of ranks.
 */
#include "output/json.h"
#include "page/html.h"
#include "page/page.h"
#include "page/tables.h"
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
    {"sent", "sent", "bytes that the calls sent", NULL, false},
    {"received", "received", "bytes that the calls received", NULL, false},
    {"latency", "latency",
     "from the beginning of what nonblocking calls began to its end, on average", NULL, true},
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
    {"sent", "sent", "bytes that the calls sent", NULL, false},
    {"received", "received", "bytes that the calls received", NULL, false},
    {0},
};

static const struct sg_page_shown pair_columns[] = {
    {"from", "from rank", "the sender", NULL, false},
    {"to", "to rank", "the receiver", NULL, false},
    {"messages", "messages", "as sender or receiver counted, whoever counted more", NULL, false},
    {"bytes", "bytes", "likewise", NULL, false},
    {0},
};

static const struct sg_page_shown target_columns[] = {
    {"origin", "origin rank", "where the operation was called", NULL, false},
    {"target", "target rank", "whose memory it was on", NULL, false},
    {"puts", "puts", "and accumulates, as the origin counted", NULL, false},
    {"put", "put", "their bytes", NULL, false},
    {"gets", "gets", "what accumulates fetch, too", NULL, false},
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
        fprintf(out, "<p>%" PRIu64 " more, with %s, went to ranks that are not known.</p>\n",
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
            "<p>%" PRIu64 " puts of %s and %" PRIu64 " gets of %s were on ranks that the logs do "
            "not tell.</p>\n",
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
