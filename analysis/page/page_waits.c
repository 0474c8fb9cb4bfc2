/* Wait states on the report's page, by call site and by pair of call sites, and the skew of the
 * collectives that MPICH carried out.
 */
#include "output/format.h"
#include "page/html.h"
#include "page/page.h"
#include "page/tables.h"
#include "report/waitstates/columns.h"
#include "report/waitstates/waitstates.h"

#include <inttypes.h>

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

static const struct sg_page_shown pair_columns[] = {
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
                                        .shown = pair_columns,
                                        .columns = sg_waitstate_pair_columns,
                                        .rows = states->pairs,
                                        .row_bytes = sizeof *states->pairs,
                                        .function_of = state_of_pair,
                                        .count =
                                            sg_page_rows(states->pair_count, page->state_limit)};

    fputs("<h3 id=\"wait-pairs-title\">Who waits for whom</h3>\n", out);
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
