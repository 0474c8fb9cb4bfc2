/* Wait states for programs: a member of the report's JSON (docs/report-json.md), and their rows as
 * CSV. */
#include "output/json.h"
#include "output/csv.h"
#include "report/filter.h"
#include "report/waitstates/columns.h"
#include "report/waitstates/print.h"
#include "report/waitstates/waitstates.h"

static json_t *rows_of(const struct sg_waitstates *states, const struct sg_print_options *options)
{
    uint32_t count = sg_print_count(options, states->row_count);
    json_t *rows = json_array();

    for (uint32_t i = 0; i < count && rows != NULL; i++) {
        json_t *row = json_object();

        sg_columns_set(&row, sg_waitstate_place_columns, &states->rows[i].at, NULL);
        sg_columns_set(&row, sg_waitstate_row_columns, &states->rows[i], NULL);
        sg_json_append(&rows, row);
    }
    return rows;
}

static json_t *pairs_of(const struct sg_waitstates *states, const struct sg_print_options *options)
{
    uint32_t count = sg_print_count(options, states->pair_count);
    json_t *rows = json_array();

    for (uint32_t i = 0; i < count && rows != NULL; i++) {
        const struct sg_waitstate_pair *pair = &states->pairs[i];
        json_t *row = json_object(), *other = json_object();

        sg_columns_set(&row, sg_waitstate_place_columns, &pair->at, NULL);
        sg_columns_set(&row, sg_waitstate_pair_columns, pair, NULL);
        sg_columns_set(&other, sg_waitstate_place_columns, &pair->other, NULL);
        sg_json_set(&row, "for", other);
        sg_json_append(&rows, row);
    }
    return rows;
}

static json_t *ranks_of(const struct sg_report *report)
{
    const struct sg_waitstates *states = report->waitstates;
    json_t *rows = json_array();

    for (uint32_t i = 0; i < states->rank_count && rows != NULL; i++) {
        json_t *row = json_pack("{s:I}", "rank", (json_int_t)i);

        sg_columns_set(&row, sg_waitstate_rank_columns, &states->ranks[i], NULL);
        sg_json_append(&rows, row);
    }
    return rows;
}

void sg_waitstates_json(json_t **root, const struct sg_report *report,
                        const struct sg_print_options *options)
{
    const struct sg_waitstates *states = report->waitstates;
    json_t *whole;

    if (states == NULL) {
        sg_json_set(root, "wait_states", json_null());
        return;
    }
    whole = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "waits",
                      (json_int_t)states->total.waits, "wait_ns", (json_int_t)states->total.wait_ns,
                      "max_ns", (json_int_t)states->total.max_ns, "matched_messages",
                      (json_int_t)states->messages, "unmatched_sends",
                      (json_int_t)states->unmatched_sends, "unmatched_receives",
                      (json_int_t)states->unmatched_receives, "clock_violations",
                      (json_int_t)states->clock_violations, "largest_violation_ns",
                      (json_int_t)states->largest_violation_ns);
    sg_json_set(&whole, "by_site", rows_of(states, options));
    sg_json_set(&whole, "pairs", pairs_of(states, options));
    sg_json_set(&whole, "per_rank", ranks_of(report));
    sg_json_set(root, "wait_states", whole);
}

enum sg_status sg_waitstates_print_csv(const struct sg_report *report,
                                       const struct sg_print_options *options, FILE *out)
{
    static const struct sg_csv waits = {
        "\r\n", 6,
        "state mpi_function id function file line module offset waits wait_ns max_ns "
        "wrong_order_waits wrong_order_ns"};
    static const struct sg_csv pairs = {
        "\r\n", 6,
        "state mpi_function id function file line module offset waits wait_ns max_ns rank ranks "
        "rank_waits rank_wait_ns for.mpi_function for.id for.function for.file for.line for.module "
        "for.offset"};
    static const struct sg_waitstates none;
    const struct sg_waitstates *states = report->waitstates != NULL ? report->waitstates : &none;

    if (options->table == SG_PRINT_PAIRS)
        return sg_csv_print(&pairs, pairs_of(states, options), "report", out);
    return sg_csv_print(&waits, rows_of(states, options), "report", out);
}
