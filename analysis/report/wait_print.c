/* Prints wait states, and the skew of the collectives that MPICH carried out: the columns of their
 * tables, then the sections.
 */
#include "report/wait_print.h"

#include "output/format.h"
#include "output/json_output.h"
#include "report/report_columns.h"
#include "report/report_section.h"
#include "report/wait_sums.h"

#include <inttypes.h>

/* ---- columns of places ----------------------------------------------------------------------- */

#define OF_PLACE(which, member)                                                                    \
    .kind = SG_COLUMN_##which, .offset = offsetof(struct sg_waitstate_place, member)

static const struct sg_column place_columns[] = {
    {"mpi_function", "function", "function", .left = true, OF_PLACE(TEXT, function)},
    SG_SITE_ALONE_COLUMNS,
};
const struct sg_columns sg_waitstate_place_columns = SG_COLUMNS(place_columns);

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

json_t *sg_waitstate_place_json(const struct sg_waitstate_place *place)
{
    json_t *object;

    if (place->function == NULL)
        return json_null();
    object = json_object();
    sg_columns_set(&object, sg_waitstate_place_columns, place, NULL);
    return object;
}

/* ---- columns of rows ------------------------------------------------------------------------- */

#define OF_ROW(which, member)                                                                      \
    .kind = SG_COLUMN_##which, .offset = offsetof(struct sg_waitstate_row, member)

static const struct sg_column row_columns[] = {
    {"state", "state", "wait state", .left = true, OF_ROW(WORD, kind), .words = sg_waitstate_names},
    {NULL, "function", "function", .left = true, OF_ROW(TEXT, at.function)},
    {"waits", "waits", "waits", OF_ROW(COUNT, of.waits)},
    {"wait_ns", "wait", "wait", OF_ROW(NS, of.wait_ns)},
    {"max_ns", "max", "max", OF_ROW(NS, of.max_ns)},
    {"wrong_order_waits", "disorder", "wrong order", OF_ROW(COUNT, wrong_order_waits)},
    {"wrong_order_ns", OF_ROW(NS, wrong_order_ns)},
};
static const struct sg_columns all_row_columns = SG_COLUMNS(row_columns);

/* ---- columns of sites ------------------------------------------------------------------------ */

#define LATE_NAMED 2

void sg_waitstate_put_late(const struct sg_waitstate_site *site, FILE *out)
{
    const struct sg_waitstate_late *late = site->late;
    double share =
        100.0 * (double)late[0].wait_ns / (double)(site->of.wait_ns > 0 ? site->of.wait_ns : 1);
    uint32_t named = 1;

    fprintf(out, "%" PRIu32, late[0].rank);
    if (site->ranks > 1 && share < 99.5)
        fprintf(out, " (%.0f %%)", share);
    while (named < LATE_NAMED && named < site->late_count &&
           late[named].wait_ns >= late[0].wait_ns / 2)
        fprintf(out, ", %" PRIu32, late[named++].rank);
    if (named < site->ranks && share < 90)
        fputs(" ...", out);
}

static void print_late(const void *of, const void *context, FILE *out)
{
    sg_waitstate_put_late(of, out);
}

static json_t *late_json(const void *of, const void *context)
{
    const struct sg_waitstate_site *site = of;
    json_t *list = json_array();

    for (uint32_t i = 0; i < site->late_count; i++)
        sg_json_append(&list, json_pack("{s:I, s:I}", "rank", (json_int_t)site->late[i].rank,
                                        "wait_ns", (json_int_t)site->late[i].wait_ns));
    return list;
}

static void print_run(const void *of, const void *context, FILE *out)
{
    const struct sg_waitstate_site *site = of;
    const struct sg_report *report = context;

    fputs(SG_SHARE(site->of.wait_ns, report->ranks_run_ns), out);
}

static void print_because(const void *of, const void *context, FILE *out)
{
    sg_waitstate_put_because(context, of, out);
}

#define OF_LINE(which, member)                                                                     \
    .kind = SG_COLUMN_##which, .offset = offsetof(struct sg_waitstate_site, member)

static const struct sg_column site_columns[] = {
    {NULL, "function", "function", .left = true, OF_LINE(TEXT, at.function)},
    {"call_sites", "sites", "sites", OF_LINE(COUNT32, places)},
    {"waits", "waits", "waits", OF_LINE(COUNT, of.waits)},
    {"wait_ns", "wait", "wait", OF_LINE(NS, of.wait_ns)},
    {"max_ns", "max", "max", OF_LINE(NS, of.max_ns)},
    {NULL, "run", "of run", .print = print_run},
    {"ranks", OF_LINE(COUNT32, ranks)},
    {"late", "late", "who is late", .left = true, .print = print_late, .json = late_json},
    {"rank", OF_LINE(COUNT32, late[0].rank)},
    {"rank_wait_ns", OF_LINE(NS, late[0].wait_ns)},
    {NULL, "because", "because", .left = true, .print = print_because},
};
const struct sg_columns sg_waitstate_site_columns = SG_COLUMNS(site_columns);

/* ---- columns of pairs ------------------------------------------------------------------------ */

static void print_rank(const void *of, const void *context, FILE *out)
{
    const struct sg_waitstate_pair *pair = of;

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
    {"state", "state", "wait state", .left = true, OF_PAIR(WORD, kind),
     .words = sg_waitstate_names},
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
    {"for", OF_PAIR(OBJECT, other), .inner = &sg_waitstate_place_columns},
};
static const struct sg_columns all_pair_columns = SG_COLUMNS(pair_columns);

/* ---- columns of ranks ------------------------------------------------------------------------ */

#define OF_RANK(which, member)                                                                     \
    .kind = SG_COLUMN_##which, .offset = offsetof(struct sg_waitstate_rank, member)

static const struct sg_column rank_columns[] = {
    {"rank", OF_RANK(COUNT32, rank)},
    {"waits", OF_RANK(COUNT, waited.waits)},
    {"wait_ns", OF_RANK(NS, waited.wait_ns)},
    {"max_ns", OF_RANK(NS, waited.max_ns)},
    {"caused_waits", OF_RANK(COUNT, caused.waits)},
    {"caused_ns", OF_RANK(NS, caused.wait_ns)},
    {"caused_max_ns", OF_RANK(NS, caused.max_ns)},
};
static const struct sg_columns all_rank_columns = SG_COLUMNS(rank_columns);

/* ---- columns of skews ------------------------------------------------------------------------ */

static json_t *json_worst(const void *row, const void *context)
{
    const struct sg_report_site *skew = row;

    return sg_site_has_skew(skew)
               ? json_pack("{s:I, s:I}", "time_ns", (json_int_t)skew->worst_time_ns, "skew_ns",
                           (json_int_t)skew->skew_max_ns)
               : json_null();
}

static const struct sg_column skew_columns[] = {
    {"comms", .kind = SG_COLUMN_COUNT32, .offset = offsetof(struct sg_report_site, comms)},
    {"worst", .json = json_worst},
};
static const struct sg_columns skew_only = SG_COLUMNS(skew_columns);

/* ---- sections -------------------------------------------------------------------------------- */

#define ROWS(which)                                                                                \
    static struct sg_rows which##s_of(const struct sg_report *report,                              \
                                      const struct sg_print_options *options)                      \
    {                                                                                              \
        const struct sg_waitstates *states = report->waitstates;                                   \
                                                                                                   \
        return states != NULL ? SG_ROWS(states->which##s, states->which##_count, report)           \
                              : (struct sg_rows){0};                                               \
    }

/* An unrolled loop waits at several addresses of one line, which its user sees as one. */
static SG_REPORT_PRINTER(print_rows)
{
    struct sg_report shown = *report;
    struct sg_waitstates lines;
    enum sg_status status = SG_ERR_MEMORY;

    if (report->waitstates == NULL)
        return SG_OK;
    lines = *report->waitstates;
    lines.rows = sg_waitstate_rows_by_line(lines.rows, &lines.row_count);
    shown.waitstates = &lines;
    if (lines.rows != NULL)
        status = sg_report_print_table(&sg_waits_section, &shown, options, out);
    free(lines.rows);
    return status;
}

ROWS(skew)
ROWS(site)
ROWS(row)
ROWS(pair)

#define PLACE "mpi_function id function file line module offset "

const struct sg_report_section sg_skews_section = {
    .name = "collectives",
    .part = SG_PART_COLLECTIVES,
    .title = "How late ranks come to other collectives",
    .is_of_events = true,
    .rows = skews_of,
    .rows_are = "call sites of other collectives",
    .table = {.member = "collectives",
              .json = {&sg_waitstate_place_columns, &skew_only, &sg_site_columns},
              .fields = PLACE "comm comm_size calls instances skew_ns.p50 skew_ns.p95 skew_ns.max "
                              "skew_ns.mean wait_ns last_rank last_rank_share comms worst",
              .csv =
                  PLACE "comm comm_size comms calls instances skew_mean_ns=skew_ns.mean "
                        "skew_p50_ns=skew_ns.p50 skew_p95_ns=skew_ns.p95 skew_max_ns=skew_ns.max "
                        "wait_ns last_rank last_rank_share worst.time_ns",
              .text = {&sg_waitstate_place_columns, &sg_site_columns},
              .shown = "function site comm calls instances mean p50 p95 max wait last at"}};

const struct sg_report_section sg_wait_sites_section = {
    .name = "wait-sites",
    .part = SG_PART_WAITS,
    .title = "All call sites where ranks wait for others",
    .is_of_events = true,
    .rows = sites_of,
    .rows_are = "call sites where ranks waited",
    .table = {.member = "sites",
              .json = {&sg_waitstate_place_columns, &sg_waitstate_site_columns},
              .csv = PLACE "call_sites waits wait_ns max_ns ranks rank rank_wait_ns",
              .text = {&sg_waitstate_site_columns, &sg_site_columns},
              .shown = "function site waits wait max run late because"}};

const struct sg_report_section sg_waits_section = {
    .name = "waits",
    .part = SG_PART_WAITS,
    .title = "Which kinds of waits there are",
    .is_of_events = true,
    .rows = rows_of,
    .print = print_rows,
    .rows_are = "wait states",
    .table = {.member = "by_site",
              .json = {&sg_waitstate_place_columns, &all_row_columns},
              .csv = "state " PLACE "waits wait_ns max_ns wrong_order_waits wrong_order_ns",
              .text = {&all_row_columns, &sg_site_columns},
              .shown = "state function site waits wait max disorder?"}};

const struct sg_report_section sg_pairs_section = {
    .name = "pairs",
    .part = SG_PART_WAITS,
    .title = "Which calls ranks wait for",
    .is_of_events = true,
    .rows = pairs_of,
    .rows_are = "pairs of call sites",
    .table = {.member = "pairs",
              .json = {&sg_waitstate_place_columns, &all_pair_columns},
              .csv = "state " PLACE "waits wait_ns max_ns rank ranks rank_waits rank_wait_ns "
                     "for.mpi_function for.id for.function for.file for.line for.module for.offset",
              .text = {&all_pair_columns, &sg_site_columns},
              .shown = "wait waits state function site rank other other_site"}};

SG_REPORT_MEMBER(sg_waitstates_put)
{
    static const struct sg_section ranks = {.member = "per_rank", .json = {&all_rank_columns}};
    const struct sg_waitstates *states = report->waitstates;

    sg_report_put(&sg_skews_section, report, options, writer);
    if (states == NULL) {
        sg_json_put(writer, "wait_states", json_null());
        return;
    }
    sg_json_begin(writer, "wait_states", '{');
    sg_json_put_members(writer,
                        json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "waits",
                                  (json_int_t)states->total.waits, "wait_ns",
                                  (json_int_t)states->total.wait_ns, "max_ns",
                                  (json_int_t)states->total.max_ns, "matched_messages",
                                  (json_int_t)states->messages, "unmatched_sends",
                                  (json_int_t)states->unmatched_sends, "unmatched_receives",
                                  (json_int_t)states->unmatched_receives, "clock_violations",
                                  (json_int_t)states->clock_violations, "largest_violation_ns",
                                  (json_int_t)states->largest_violation_ns));
    sg_report_put(&sg_wait_sites_section, report, options, writer);
    sg_report_put(&sg_waits_section, report, options, writer);
    sg_report_put(&sg_pairs_section, report, options, writer);
    sg_section_put(&ranks, &SG_ROWS(states->ranks, states->rank_count, NULL), writer);
    sg_json_end(writer, '}');
}

void sg_waitstates_print_notes(const struct sg_report *report, FILE *out)
{
    const struct sg_waitstates *states = report->waitstates;

    if (states == NULL)
        return;
    if (states->unmatched_receives > 0)
        fprintf(out, "note: %" PRIu64 " received messages have no send in the events\n",
                states->unmatched_receives);
    if (states->clock_violations > 0)
        fprintf(out,
                "note: %" PRIu64 " messages were received before they were sent, by up to %s:"
                " smaller waits for messages mean nothing\n",
                states->clock_violations, SG_NS(states->largest_violation_ns));
}
