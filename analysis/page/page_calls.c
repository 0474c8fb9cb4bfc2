/* Tables of the report's page about all MPI calls: MPI's share, functions, call sites and messages,
 * then wait states and the skew of the collectives that MPICH carried out. They need no scripts;
 * the map of messages is drawn from their sums in blocks of ranks.
 */
#include "page/page_calls.h"

#include "output/format.h"
#include "output/json_output.h"
#include "page/html.h"
#include "report/profile_calls.h"
#include "report/wait_sums.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct sg_column *column_of(const struct sg_page_section *section, const char *name)
{
    const struct sg_columns *const *set = section->section->table.text;
    const struct sg_column *column = NULL;

    for (; *set != NULL && column == NULL; set++)
        column = sg_column_find(**set, name);
    return column;
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

static void put_headers(const struct sg_page_section *section, const struct sg_rows *rows,
                        FILE *out)
{
    if (section->key != NULL)
        fprintf(out, "<div id=\"%s-filters\" class=\"controls\"></div>\n", section->id);
    fprintf(out,
            "<div class=\"scroll\" role=\"region\" aria-labelledby=\"%s-title\" tabindex=\"0\">\n"
            "<table id=\"%s\" class=\"%s\">\n<thead><tr>",
            section->id, section->id, section->is_of_sites ? "sites" : "calls");
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
    fputs("</tbody>\n</table>\n</div>\n", out);
    if (section->key != NULL)
        fprintf(out, "<p id=\"%s-shown\" class=\"quiet\" role=\"status\"></p>\n", section->id);
}

uint32_t sg_page_rows(uint32_t count, uint32_t limit)
{
    return count < limit ? count : limit;
}

void sg_page_put_section(const struct sg_page *page, const struct sg_page_section *section,
                         const struct sg_rows *rows, FILE *out)
{
    static const struct sg_print_options options;
    struct sg_rows first = rows != NULL ? *rows : section->section->rows(page->report, &options);
    uint32_t all = first.count;

    first.count = sg_page_rows(all, section->is_of_states ? page->state_limit : page->row_limit);
    sg_page_put_table(section, &first, out);
    if (first.count < all)
        fprintf(out,
                "<p class=\"quiet\">%" PRIu32
                " further %s are left out: <code>--top</code> says how "
                "many to show, <code>stagger report --csv=%s</code> has all.</p>\n",
                all - first.count, section->rows_are, section->section->name);
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

void sg_page_write_functions(const struct sg_page *page, FILE *out)
{
    static const struct sg_page_section section = {.id = "functions",
                                                   .section = &sg_functions_section,
                                                   .shown = function_columns,
                                                   .rows_are = "functions"};
    const struct sg_calls *calls = page->report->calls;

    if (calls == NULL || calls->function_count == 0)
        return;
    fputs("<section aria-labelledby=\"functions-title\">\n"
          "<h2 id=\"functions-title\">MPI functions</h2>\n",
          out);
    put_share(calls, out);
    sg_page_put_section(page, &section, NULL, out);
    fputs("</section>\n", out);
}

static void put_sites(const struct sg_page *page, FILE *out)
{
    static const struct sg_page_section section = {.id = "calls",
                                                   .section = &sg_calls_section,
                                                   .shown = site_columns,
                                                   .rows_are = "call sites",
                                                   .key = "function"};

    fputs("<section aria-labelledby=\"calls-title\">\n"
          "<h2 id=\"calls-title\">Call sites of all MPI functions</h2>\n",
          out);
    sg_page_put_section(page, &section, NULL, out);
    fputs("</section>\n", out);
}

/* ---- messages -------------------------------------------------------------------------------- */

static void put_messages(const struct sg_page *page, const struct sg_calls *calls, FILE *out)
{
    static const struct sg_page_section section = {.id = "pairs",
                                                   .section = &sg_messages_section,
                                                   .shown = pair_columns,
                                                   .rows_are = "pairs of ranks"};

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
        sg_page_put_section(page, &section, NULL, out);
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
        sg_page_put_section(page, &section, NULL, out);
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
    {"function", "function", "of MPI, which waits", NULL, false},
    {"site", "call site", "function, file and line", NULL, false},
    {"waits", "waits", "their number, over all ranks", NULL, false},
    {"wait", "wait", "their sum", NULL, false},
    {"max", "max", "the longest", NULL, false},
    {"disorder", "wrong order", "those where an older message was received later", NULL, true},
    {0},
};

static const struct sg_page_shown page_waits_pair_columns[] = {
    {"state", "wait state", "the kind of wait", NULL, false},
    {"function", "function", "of MPI, which waits", NULL, false},
    {"site", "call site", "function, file and line", NULL, false},
    {"waits", "waits", "their number, over all ranks", NULL, false},
    {"wait", "wait", "their sum", NULL, false},
    {"rank", "for rank", "that was waited for longest, and its share of several", NULL, false},
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
                                                   .key = "function",
                                                   .is_of_states = true};
    const struct sg_waitstates *states = page->report->waitstates;

    if (states == NULL || states->skew_count == 0)
        return;
    fputs("<section aria-labelledby=\"skews-title\">\n"
          "<h2 id=\"skews-title\">Skew of other collectives</h2>\n",
          out);
    sg_page_put_section(page, &section, NULL, out);
    fputs("</section>\n", out);
}

void sg_page_write_waits(const struct sg_page *page, FILE *out)
{
    static const struct sg_page_section waits = {.id = "waits",
                                                 .section = &sg_waits_section,
                                                 .shown = wait_columns,
                                                 .rows_are = "wait states",
                                                 .key = "state",
                                                 .is_of_states = true};
    static const struct sg_page_section pairs = {.id = "wait-pairs",
                                                 .section = &sg_pairs_section,
                                                 .shown = page_waits_pair_columns,
                                                 .rows_are = "pairs of call sites",
                                                 .key = "state",
                                                 .is_of_states = true};
    const struct sg_waitstates *states = page->report->waitstates;

    if (states == NULL || states->row_count == 0)
        return;
    fprintf(out,
            "<section aria-labelledby=\"states-title\">\n"
            "<h2 id=\"states-title\">Wait states</h2>\n"
            "<p>Ranks waited %" PRIu64
            " times for others, <strong>%s</strong> in all. A call waits "
            "once, for what came last.</p>\n"
            "<h3 id=\"waits-title\">By call site</h3>\n",
            states->total.waits, SG_NS(states->total.wait_ns));
    sg_page_put_section(page, &waits, NULL, out);
    fputs("<h3 id=\"wait-pairs-title\">Who waits for whom</h3>\n", out);
    sg_page_put_section(page, &pairs, NULL, out);
    fputs("</section>\n", out);
}
