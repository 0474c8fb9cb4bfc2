/* Prints wait states, and the skew of the collectives that MPICH carried out: the columns of their
 * tables, then JSON (docs/report-json.md) and CSV, then text for a terminal. All formats share the
 * columns.
 */
#include "report/wait_print.h"

#include "output/format.h"
#include "output/json_output.h"
#include "output/table.h"
#include "report/report_columns.h"
#include "report/wait_sums.h"

#include <inttypes.h>

/* ---- columns of places ----------------------------------------------------------------------- */

static bool has_id(const void *of)
{
    const struct sg_waitstate_place *place = of;

    return place->site.has_id;
}

static bool has_line(const void *of)
{
    const struct sg_waitstate_place *place = of;

    return place->site.line > 0;
}

static bool has_offset(const void *of)
{
    const struct sg_waitstate_place *place = of;

    return place->site.module != NULL;
}

#define OF_PLACE(which, member)                                                                    \
    .kind = SG_COLUMN_##which, .offset = offsetof(struct sg_waitstate_place, member)

static const struct sg_column place_columns[] = {
    {"mpi_function", "function", "function", .left = true, OF_PLACE(TEXT, function)},
    {"id", OF_PLACE(ID, site.id), .known = has_id},
    {"function", OF_PLACE(TEXT, site.function)},
    {"file", OF_PLACE(TEXT, site.file)},
    {"line", OF_PLACE(COUNT32, site.line), .known = has_line},
    {"module", OF_PLACE(TEXT, site.module)},
    {"offset", OF_PLACE(COUNT, site.offset), .known = has_offset},
};
const struct sg_columns sg_waitstate_place_columns = {place_columns,
                                                      sizeof place_columns / sizeof *place_columns};

json_t *sg_waitstate_place_json(const struct sg_waitstate_place *place)
{
    json_t *object;

    if (place->function == NULL)
        return json_null();
    object = json_object();
    sg_columns_set(&object, sg_waitstate_place_columns, place, NULL);
    return object;
}

void sg_waitstate_put_place(const struct sg_waitstate_place *place, FILE *out)
{
    if (place->function == NULL) {
        fputs("start", out);
        return;
    }
    fputs(place->function, out);
    if (!place->site.has_id)
        return;
    fputc(' ', out);
    sg_column_find(sg_site_columns, "site")->print(&place->site, NULL, out);
}

/* ---- columns of rows ------------------------------------------------------------------------- */

static void print_row_state(const void *of, const void *context, FILE *out)
{
    const struct sg_waitstate_row *row = of;

    (void)context;
    fputs(sg_waitstate_names[row->kind], out);
}

#define OF_ROW(which, member)                                                                      \
    .kind = SG_COLUMN_##which, .offset = offsetof(struct sg_waitstate_row, member)

static const struct sg_column row_columns[] = {
    {"state", "state", "wait state", .left = true, .print = print_row_state},
    {NULL, "function", "function", .left = true, OF_ROW(TEXT, at.function)},
    {"waits", "waits", "waits", OF_ROW(COUNT, of.waits)},
    {"wait_ns", "wait", "wait", OF_ROW(NS, of.wait_ns)},
    {"max_ns", "max", "max", OF_ROW(NS, of.max_ns)},
    {"wrong_order_waits", "disorder", "wrong order", OF_ROW(COUNT, wrong_order_waits)},
    {"wrong_order_ns", OF_ROW(NS, wrong_order_ns)},
};
const struct sg_columns sg_waitstate_row_columns = {row_columns,
                                                    sizeof row_columns / sizeof *row_columns};

/* ---- columns of pairs ------------------------------------------------------------------------ */

static void print_pair_state(const void *of, const void *context, FILE *out)
{
    const struct sg_waitstate_pair *pair = of;

    (void)context;
    fputs(sg_waitstate_names[pair->kind], out);
}

static void print_rank(const void *of, const void *context, FILE *out)
{
    const struct sg_waitstate_pair *pair = of;

    (void)context;
    fprintf(out, "%u", (unsigned)pair->rank);
    if (pair->ranks > 1)
        fprintf(out, " %3.0f%%", 100.0 * (double)pair->rank_ns / (double)pair->of.wait_ns);
}

static void print_other_site(const void *of, const void *context, FILE *out)
{
    const struct sg_waitstate_pair *pair = of;

    sg_column_find(sg_site_columns, "site")->print(&pair->other.site, context, out);
}

#define OF_PAIR(which, member)                                                                     \
    .kind = SG_COLUMN_##which, .offset = offsetof(struct sg_waitstate_pair, member)

static const struct sg_column pair_columns[] = {
    {"state", "state", "wait state", .left = true, .print = print_pair_state},
    {NULL, "function", "function", .left = true, OF_PAIR(TEXT, at.function)},
    {"waits", "waits", "waits", OF_PAIR(COUNT, of.waits)},
    {"wait_ns", "wait", "wait", OF_PAIR(NS, of.wait_ns)},
    {"max_ns", "max", "max", OF_PAIR(NS, of.max_ns)},
    {"rank", "rank", "for rank", OF_PAIR(COUNT32, rank), .print = print_rank},
    {"ranks", OF_PAIR(COUNT32, ranks)},
    {"rank_waits", OF_PAIR(COUNT, rank_waits)},
    {"rank_wait_ns", OF_PAIR(NS, rank_ns)},
    {NULL, "other", "in", .left = true, OF_PAIR(TEXT, other.function)},
    {NULL, "other_site", "at", .left = true, .flexible = true, .print = print_other_site},
};
const struct sg_columns sg_waitstate_pair_columns = {pair_columns,
                                                     sizeof pair_columns / sizeof *pair_columns};

/* ---- columns of ranks ------------------------------------------------------------------------ */

#define OF_RANK(which, member)                                                                     \
    .kind = SG_COLUMN_##which, .offset = offsetof(struct sg_waitstate_rank, member)

static const struct sg_column rank_columns[] = {
    {"waits", OF_RANK(COUNT, waited.waits)},    {"wait_ns", OF_RANK(NS, waited.wait_ns)},
    {"max_ns", OF_RANK(NS, waited.max_ns)},     {"caused_waits", OF_RANK(COUNT, caused.waits)},
    {"caused_ns", OF_RANK(NS, caused.wait_ns)}, {"caused_max_ns", OF_RANK(NS, caused.max_ns)},
};
const struct sg_columns sg_waitstate_rank_columns = {rank_columns,
                                                     sizeof rank_columns / sizeof *rank_columns};

/* ---- JSON and CSV ---------------------------------------------------------------------------- */

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

/* Sets the members of a row of skews, with columns of report/report_columns.h. */
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

/* ---- text ------------------------------------------------------------------------------------ */

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
