/* Wait states for programs: a member of the report's JSON (docs/report-json.md), and their rows as
 * CSV. */
#include "output/json.h"
#include "output/csv.h"
#include "report/columns.h"
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
        json_t *row = json_object();

        sg_columns_set(&row, sg_waitstate_place_columns, &pair->at, NULL);
        sg_columns_set(&row, sg_waitstate_pair_columns, pair, NULL);
        sg_json_set(&row, "for", sg_waitstate_place_json(&pair->other));
        sg_json_append(&rows, row);
    }
    return rows;
}

/* What a row of skews has of the columns of report/columns.h. */
static void set_skew(json_t **row, const struct sg_report_site *skew)
{
    static const char *const fields[] = {
        "comm",        "comm_size",    "calls",   "instances", "skew_ns.p50",    "skew_ns.p95",
        "skew_ns.max", "skew_ns.mean", "wait_ns", "last_rank", "last_rank_share"};

    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const struct sg_column *column = sg_column_of_field(sg_site_columns, fields[i]);

        sg_columns_set(row, (struct sg_columns){column, 1}, skew, NULL);
    }
    sg_json_set(row, "comms", json_integer(skew->comms));
    sg_json_set(row, "worst",
                sg_site_has_skew(skew)
                    ? json_pack("{s:I, s:I}", "time_ns", (json_int_t)skew->worst_time_ns, "skew_ns",
                                (json_int_t)skew->skew_max_ns)
                    : json_null());
}

static json_t *skews_of(const struct sg_waitstates *states, const struct sg_print_options *options)
{
    uint32_t count = sg_print_count(options, states->skew_count);
    json_t *rows = json_array();

    for (uint32_t i = 0; i < count && rows != NULL; i++) {
        const struct sg_waitstate_place *skew = &states->skews[i];
        json_t *row = json_object();

        sg_columns_set(&row, sg_waitstate_place_columns, skew, NULL);
        set_skew(&row, &skew->site);
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

    sg_json_set(root, "collectives", states != NULL ? skews_of(states, options) : json_null());
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
    static const struct sg_csv skews = {
        "\r\n", 6,
        "mpi_function id function file line module offset comm comm_size comms calls instances "
        "skew_mean_ns=skew_ns.mean skew_p50_ns=skew_ns.p50 skew_p95_ns=skew_ns.p95 "
        "skew_max_ns=skew_ns.max wait_ns last_rank last_rank_share worst.time_ns"};
    static const struct sg_waitstates none;
    const struct sg_waitstates *states = report->waitstates != NULL ? report->waitstates : &none;

    if (options->table == SG_PRINT_PAIRS)
        return sg_csv_print(&pairs, pairs_of(states, options), "report", out);
    if (options->table == SG_PRINT_COLLECTIVES)
        return sg_csv_print(&skews, skews_of(states, options), "report", out);
    return sg_csv_print(&waits, rows_of(states, options), "report", out);
}
