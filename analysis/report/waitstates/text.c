/* Wait states for people at a terminal. */
#include "output/format.h"
#include "output/table.h"
#include "report/columns.h"
#include "report/waitstates/columns.h"
#include "report/waitstates/print.h"
#include "report/waitstates/waitstates.h"

#include <inttypes.h>

static enum sg_status put_rows(const struct sg_waitstates *states,
                               const struct sg_print_options *options, FILE *out)
{
    uint32_t count = sg_print_count_of_long(options, states->row_count);
    struct sg_table table = {0};
    bool disorder = false;

    for (uint32_t i = 0; i < count; i++)
        disorder = disorder || states->rows[i].wrong_order_waits > 0;
    sg_table_show(&table, sg_waitstate_row_columns, "state function");
    sg_table_show(&table, sg_site_columns, "site");
    sg_table_show(&table, sg_waitstate_row_columns, "waits wait max");
    if (disorder)
        sg_table_show(&table, sg_waitstate_row_columns, "disorder");
    for (uint32_t i = 0; i < count; i++)
        sg_table_row(&table, &states->rows[i], NULL);
    return sg_print_finish(&table, out);
}

static enum sg_status put_pairs(const struct sg_waitstates *states,
                                const struct sg_print_options *options, FILE *out)
{
    uint32_t count = sg_print_count_of_long(options, states->pair_count);
    struct sg_table table = {0};

    sg_table_show(&table, sg_waitstate_pair_columns, "wait waits function");
    sg_table_show(&table, sg_site_columns, "site");
    sg_table_show(&table, sg_waitstate_pair_columns, "rank other other_site");
    for (uint32_t i = 0; i < count; i++)
        sg_table_row(&table, &states->pairs[i], NULL);
    return sg_print_finish(&table, out);
}

enum sg_status sg_waitstates_print_skews(const struct sg_report *report,
                                         const struct sg_print_options *options, FILE *out)
{
    const struct sg_waitstates *states = report->waitstates;
    uint32_t count = states != NULL ? sg_print_count_of_long(options, states->skew_count) : 0;
    struct sg_table table = {0};

    if (count == 0)
        return SG_OK;
    sg_table_show(&table, sg_waitstate_place_columns, "function");
    sg_table_show(&table, sg_site_columns,
                  "site comm calls instances mean p50 p95 max wait last at");
    for (uint32_t i = 0; i < count; i++)
        sg_table_row(&table, &states->skews[i], NULL);
    return sg_print_finish(&table, out);
}

enum sg_status sg_waitstates_print(const struct sg_report *report,
                                   const struct sg_print_options *options, FILE *out)
{
    const struct sg_waitstates *states = report->waitstates;
    enum sg_status status;

    if (states == NULL || states->row_count == 0)
        return SG_OK;
    status = put_rows(states, options, out);
    return status == SG_OK ? put_pairs(states, options, out) : status;
}

static void put_left_out(const char *what, const struct sg_print_options *options, uint32_t all,
                         FILE *out)
{
    if (sg_print_count_of_long(options, all) < all)
        fprintf(out, "note: %" PRIu32 " of %" PRIu32 " %s are shown (--top)\n",
                sg_print_count_of_long(options, all), all, what);
}

void sg_waitstates_print_notes(const struct sg_report *report,
                               const struct sg_print_options *options, FILE *out)
{
    const struct sg_waitstates *states = report->waitstates;

    if (states == NULL)
        return;
    put_left_out("call sites of other collectives", options, states->skew_count, out);
    put_left_out("wait states", options, states->row_count, out);
    put_left_out("pairs of call sites", options, states->pair_count, out);
    if (states->unmatched_receives > 0)
        fprintf(out, "note: %" PRIu64 " received messages have no send in the events\n",
                states->unmatched_receives);
    if (states->clock_violations > 0)
        fprintf(out,
                "note: %" PRIu64 " messages were received before they were sent, by up to %s:"
                " smaller waits for messages mean nothing\n",
                states->clock_violations, SG_NS(states->largest_violation_ns));
}
