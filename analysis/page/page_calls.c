/* Tables of the report's page about all MPI calls: MPI's share, functions, call sites and messages,
 * then wait states and the skew of the collectives that MPICH carried out. They need no scripts;
 * the map of messages is drawn from their sums in blocks of ranks.
 */
#include "page/page.h"
#include "page/page_table.h"

#include "output/format.h"
#include "output/json_output.h"
#include "page/html.h"
#include "report/profile_calls.h"
#include "report/wait_sums.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- MPI's share ----------------------------------------------------------------------------- */

static void put_share(const struct sg_calls *calls, FILE *out)
{
    if (calls->processor_ns == 0)
        return;
    fprintf(out, "<p>The ranks spent %s of their time in MPI",
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
    {"run", "of run", "time by the run time of all ranks", "time", false},
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
    {"run", "of run", "time by the run time of all ranks", "time", false},
    {"waiting", "waiting", "the part of the time that is waiting for other ranks", NULL, true},
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

void sg_page_write_functions(const struct sg_page *page, FILE *out)
{
    static const struct sg_page_section section = {.id = "functions",
                                                   .section = &sg_functions_section,
                                                   .shown = function_columns,
                                                   .rows_are = "functions"};
    const struct sg_calls *calls = page->report->calls;

    if (calls == NULL || calls->function_count == 0)
        return;
    sg_html_section("functions", "MPI functions", out);
    put_share(calls, out);
    sg_page_put_section(page->report, page->row_limit, &section, NULL, out);
    fputs("</section>\n", out);
}

static void put_sites(const struct sg_page *page, FILE *out)
{
    static const struct sg_page_section section = {.id = "calls",
                                                   .section = &sg_calls_section,
                                                   .shown = site_columns,
                                                   .rows_are = "call sites",
                                                   .key = "function"};

    sg_html_section("calls", "Call sites of all MPI functions", out);
    sg_page_put_section(page->report, page->row_limit, &section, NULL, out);
    fputs("</section>\n", out);
}

/* ---- messages -------------------------------------------------------------------------------- */

static void put_messages(const struct sg_page *page, const struct sg_calls *calls, FILE *out)
{
    static const struct sg_page_section section = {.id = "pairs",
                                                   .section = &sg_messages_section,
                                                   .shown = pair_columns,
                                                   .rows_are = "pairs of ranks"};

    sg_html_section("messages", "Messages", out);
    if (calls->other_messages > 0)
        fprintf(out, "<p>%" PRIu64 " more, with %s, went to unknown ranks.</p>\n",
                calls->other_messages, SG_BYTES(calls->other_bytes));
    if (calls->pair_count > 0) {
        fputs("<noscript><p class=\"quiet\">The map needs JavaScript.</p></noscript>\n"
              "<div class=\"controls\" id=\"map-controls\"></div>\n"
              "<div class=\"beside\">\n<div id=\"map\"></div>\n<div>\n"
              "<h3 id=\"pairs-title\">Pairs of ranks, the most bytes first</h3>\n",
              out);
        sg_page_put_section(page->report, page->row_limit, &section, NULL, out);
        fputs("</div>\n</div>\n", out);
    }
    fputs("</section>\n", out);
}

static void put_one_sided(const struct sg_page *page, const struct sg_call_targets *targets,
                          FILE *out)
{
    static const struct sg_page_section section = {.id = "targets",
                                                   .section = &sg_one_sided_section,
                                                   .shown = target_columns,
                                                   .rows_are = "pairs of ranks"};
    const struct sg_call_target *others = &targets->others;

    sg_html_section("targets", "One-sided operations", out);
    if (others->puts > 0 || others->gets > 0)
        fprintf(
            out,
            "<p>%" PRIu64 " puts of %s and %" PRIu64 " gets of %s accessed unknown ranks.</p>\n",
            others->puts, SG_BYTES(others->put_bytes), others->gets, SG_BYTES(others->got_bytes));
    if (targets->count > 0) {
        fputs("<p class=\"quiet\">Pairs of ranks, the most bytes first.</p>\n", out);
        sg_page_put_section(page->report, page->row_limit, &section, NULL, out);
    }
    fputs("</section>\n", out);
}

void sg_page_write_calls(const struct sg_page *page, FILE *out)
{
    const struct sg_calls *calls = page->report->calls;

    if (calls == NULL)
        return;
    if (sg_calls_has_others(calls))
        put_sites(page, out);
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

void sg_page_write_skews(const struct sg_page *page, FILE *out)
{
    static const struct sg_page_section section = {.id = "skews",
                                                   .section = &sg_skews_section,
                                                   .shown = skew_columns,
                                                   .rows_are = "call sites",
                                                   .key = "function"};
    const struct sg_waitstates *states = page->report->waitstates;

    if (states == NULL || states->skew_count == 0)
        return;
    sg_html_section("skews", "Skew of other collectives", out);
    sg_page_put_section(page->report, page->state_limit, &section, NULL, out);
    fputs("</section>\n", out);
}

void sg_page_write_waits(const struct sg_page *page, FILE *out)
{
    static const struct sg_page_section waits = {.id = "waits",
                                                 .section = &sg_waits_section,
                                                 .shown = wait_columns,
                                                 .rows_are = "wait states",
                                                 .key = "state"};
    static const struct sg_page_section pairs = {.id = "wait-pairs",
                                                 .section = &sg_pairs_section,
                                                 .shown = page_waits_pair_columns,
                                                 .rows_are = "pairs of call sites",
                                                 .key = "state"};
    const struct sg_waitstates *states = page->report->waitstates;

    if (states == NULL || states->row_count == 0)
        return;
    sg_html_section("states", "Wait states", out);
    fprintf(out,
            "<p>Ranks waited %" PRIu64
            " times for others, <strong>%s</strong> in all. A call waits "
            "once, for what came last.</p>\n"
            "<h3 id=\"waits-title\">By call site</h3>\n",
            states->total.waits, SG_NS(states->total.wait_ns));
    sg_page_put_section(page->report, page->state_limit, &waits, NULL, out);
    fputs("<h3 id=\"wait-pairs-title\">Waits between call sites</h3>\n", out);
    sg_page_put_section(page->report, page->state_limit, &pairs, NULL, out);
    fputs("</section>\n", out);
}
