/* The columns of a job's call sites and ranks, and the view of a job as text and as one line of
 * JSON. */
#include "watch/watch_print.h"

#include "core/text.h"
#include "output/format.h"
#include "output/json_output.h"
#include "output/section.h"
#include "report/between_calls.h"
#include "report/open_calls.h"
#include "report/profile_calls.h"
#include "report/report_columns.h"
#include "report/report_print.h"
#include "report/wait_print.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

const char *const sg_live_state_names[] = {
    [SG_LIVE_RUNS] = "runs",       [SG_LIVE_QUIET] = "quiet", [SG_LIVE_FINISHED] = "finished",
    [SG_LIVE_ABORTED] = "aborted", [SG_LIVE_DIED] = "died",   [SG_LIVE_GONE] = "gone",
    [SG_LIVE_DAMAGED] = "damaged",
};

/* ---- figures --------------------------------------------------------------------------------- */

#define KNOWN(name, condition)                                                                     \
    static bool knows_##name(const void *row)                                                      \
    {                                                                                              \
        const struct sg_live_figures *figures = row;                                               \
                                                                                                   \
        return condition;                                                                          \
    }

KNOWN(any, figures->is_known)
KNOWN(arrivals, figures->has_arrivals)
KNOWN(skew, figures->instances > 0)
KNOWN(last, figures->last_rank >= 0)
KNOWN(samples, figures->samples > 0)
KNOWN(late, figures->late_rank >= 0)
KNOWN(least, figures->least_rank >= 0)

static void print_per_s(const void *row, const void *context, FILE *out)
{
    const struct sg_live_figures *figures = row;

    if (isnan(figures->calls_per_s))
        fputs("-", out);
    else
        fprintf(out, "%.*f", figures->calls_per_s < 100 && figures->calls_per_s > 0 ? 1 : 0,
                figures->calls_per_s);
}

/* By events or, if there are none, by samples. */
static void print_late(const void *row, const void *context, FILE *out)
{
    const struct sg_live_figures *figures = row;

    if (figures->last_rank >= 0)
        sg_last_put(figures->last_rank, figures->last_count, figures->instances, out);
    else
        sg_last_put(figures->late_rank, figures->late_count, figures->samples, out);
}

static json_t *json_last_share(const void *row, const void *context)
{
    const struct sg_live_figures *figures = row;

    return sg_json_share(figures->last_count, figures->last_rank < 0 ? 0 : figures->instances);
}

#define IS(which, member)                                                                          \
    .kind = SG_COLUMN_##which, .offset = offsetof(struct sg_live_figures, member)

/* In the order of the JSON output. The names are those of the report's columns. */
static const struct sg_column now_columns[] = {
    {"calls", "calls", "calls", IS(COUNT, calls), .known = knows_any},
    {"calls_per_s", "calls/s", "calls/s", IS(REAL_NS, calls_per_s), .print = print_per_s},
    {"time_ns", "time", "in call", IS(NS, time_ns), .known = knows_any},
    {"share", "share", "share", IS(SHARE, share)},
    {"wait_ns", "wait", "wait", IS(NS, wait_ns), .known = knows_arrivals},
    {"instances", IS(COUNT, instances)},
    {"skew_ns.p50", "p50", "skew50", IS(NS, skew_p50_ns), .known = knows_skew},
    {"skew_ns.p95", "p95", "skew95", IS(NS, skew_p95_ns), .known = knows_skew},
    {"skew_ns.max", "max", "skewmax", IS(NS, skew_max_ns), .known = knows_skew},
    {"skew_ns.mean", IS(REAL_NS, skew_mean_ns), .known = knows_skew},
    {"last_rank", IS(COUNT, last_rank), .known = knows_last},
    {NULL, "late", "late", .print = print_late},
    {"last_rank_share", .json = json_last_share},
    {"samples", IS(COUNT, samples)},
    {"late_samples", IS(COUNT, late_samples), .known = knows_samples},
    {"late_ns", IS(COUNT, late_ns), .known = knows_samples},
    {"late_rank", IS(COUNT, late_rank), .known = knows_late},
    {"late_rank_samples", IS(COUNT, late_count), .known = knows_late},
    {"least_rank", "least", "least", IS(COUNT, least_rank), .known = knows_least},
    {"least_time_ns", IS(COUNT, least_ns), .known = knows_least},
    {NULL, "total", "total", IS(NS, time_ns), .known = knows_any},
    {NULL, "run", "of run", IS(SHARE, share)},
};
#define IN_REPORT 4 /* columns that the report's own tables have */

static const struct sg_columns live_now_columns = SG_COLUMNS(now_columns);
static const struct sg_columns live_run_columns = {
    now_columns + IN_REPORT, sizeof now_columns / sizeof *now_columns - IN_REPORT};

/* ---- reasons --------------------------------------------------------------------------------- */

static void print_why(const void *of, const void *context, FILE *out)
{
    const struct sg_live_row *row = of;

    if (row->awaited != NULL)
        fprintf(out, "%s on %" PRIu32 " now", sg_cause_names[row->awaited->outside.cause],
                row->awaited->rank);
    else if (row->why == NULL)
        fputc('-', out);
    else
        fprintf(out, "%s on %" PRIu32, sg_cause_names[row->why->cause], row->why->rank);
}

static json_t *json_why(const void *of, const void *context)
{
    const struct sg_live_row *row = of;
    json_t *object;

    if (row->why == NULL)
        return json_null();
    object = json_object();
    sg_columns_set(&object, sg_before_columns, row->why, NULL);
    sg_json_set(&object, "after", sg_waitstate_place_json(row->why->after));
    return object;
}

#define OUTSIDE(which, member)                                                                     \
    .kind = SG_COLUMN_##which, .offset = offsetof(struct sg_outside_spent, member)

static bool knows_outside(const void *spent)
{
    return ((const struct sg_outside_spent *)spent)->is_known;
}

static const struct sg_column outside_columns[] = {
    {"out_ns", OUTSIDE(NS, out_ns), .known = knows_outside},
    {"time_ns", OUTSIDE(NS, ns)},
    {"cpu_ns", OUTSIDE(NS, cpu_ns)},
    {"runnable_ns", OUTSIDE(NS, runnable_ns)},
    {"off_ns", OUTSIDE(NS, off_ns)},
    {"cause", OUTSIDE(WORD, cause), .words = sg_cause_names},
};
static const struct sg_columns live_outside_columns = SG_COLUMNS(outside_columns);

static json_t *json_why_now(const void *of, const void *context)
{
    const struct sg_live_rank *awaited = ((const struct sg_live_row *)of)->awaited;
    json_t *object;

    if (awaited == NULL)
        return json_null();
    object = json_object();
    sg_columns_set(&object, live_outside_columns, &awaited->outside, NULL);
    sg_json_set(&object, "rank", json_integer(awaited->rank));
    return object;
}

/* ---- call sites ------------------------------------------------------------------------------ */

#define OF_ROW(which, member)                                                                      \
    .kind = SG_COLUMN_##which, .offset = offsetof(struct sg_live_row, member)

static const struct sg_column row_columns[] = {
    {OF_ROW(OBJECT, run), .inner = &live_run_columns},
    {"why", "why", "because", .left = true, .print = print_why, .json = json_why},
    {"why_now", .json = json_why_now},
    {"open_calls", OF_ROW(COUNT32, open_calls)},
    {"open_ns", OF_ROW(NS, open_ns)},
    {"now", OF_ROW(OBJECT, now), .inner = &live_now_columns},
};
static const struct sg_columns live_row_columns = SG_COLUMNS(row_columns);

static const struct sg_column text_columns[] = {
    {NULL, "now", OF_ROW(OBJECT, now), .inner = &live_now_columns},
    {NULL, "run", OF_ROW(OBJECT, run), .inner = &live_now_columns},
};
static const struct sg_columns live_text_columns = SG_COLUMNS(text_columns);

#define SECTION(...)                                                                               \
    {                                                                                              \
        .json = {&sg_call_columns, &live_row_columns},                                             \
        .text = {&live_text_columns, &live_row_columns, &sg_call_columns, &sg_site_columns},       \
        .shown = "function site " __VA_ARGS__ " why"                                               \
    }
static const struct sg_section first_rows = SECTION("run.calls run.time run.share run.wait run.p50 "
                                                    "run.max run.late run.least");
static const struct sg_section later_rows = SECTION("now.calls/s now.time now.share now.wait "
                                                    "now.p50 now.max now.late now.least run.total "
                                                    "run.run");

/* ---- ranks ----------------------------------------------------------------------------------- */

static bool knows_now(const void *row)
{
    return ((const struct sg_live_rank *)row)->has_now;
}

static json_t *json_open(const void *of, const void *context)
{
    const struct sg_live_rank *rank = of;
    const struct sg_call_row call = {.function = rank->open_function, .place = rank->open_site};
    json_t *open;

    if (rank->open_function == NULL)
        return json_null();
    open = json_object();
    sg_columns_set(&open, sg_call_function_columns, &call, NULL);
    sg_columns_set(&open, sg_call_site_columns, &call, NULL);
    sg_json_set(&open, "open_ns", json_integer((json_int_t)rank->open_ns));
    return open;
}

#define OF_RANK(which, member)                                                                     \
    .kind = SG_COLUMN_##which, .offset = offsetof(struct sg_live_rank, member)

static const struct sg_column rank_columns[] = {
    {"rank", "rank", "rank", OF_RANK(COUNT32, rank)},
    {"state", "state", "state", .left = true, OF_RANK(WORD, state), .words = sg_live_state_names},
    {"useful_ns", OF_RANK(NS, useful_ns)},
    {"time_ns", "time", "time", OF_RANK(NS, time_ns)},
    {"share", OF_RANK(SHARE, share)},
    {"now_time_ns", "now", "now", OF_RANK(NS, now_ns), .known = knows_now},
    {"now_share", OF_RANK(SHARE, now_share)},
    {"in", .json = json_open},
    {"outside", OF_RANK(OBJECT, outside), .inner = &live_outside_columns},
};
static const struct sg_columns live_rank_columns = SG_COLUMNS(rank_columns);
static const struct sg_section live_ranks = {.json = {&live_rank_columns}};

/* ---- JSON: the view of a job as one object on one line */

#define VERSION 1
#define DIGITS 9

/* The call sites that are shown. */
static struct sg_rows rows_of(const struct sg_live_view *view, const struct sg_live_print *print)
{
    return SG_ROWS(view->rows, sg_live_print_count(print, view->row_count), view->report.calls);
}

static json_t *refused_of(const struct sg_live_job *job)
{
    json_t *rows = json_array();

    for (uint32_t i = 0; i < job->refused_count && rows != NULL; i++) {
        json_t *row = json_object();

        sg_json_set(&row, "rank", json_integer(job->refused[i].rank));
        sg_json_set(&row, "reason", sg_json_text(job->refused[i].why.reason));
        sg_json_append(&rows, row);
    }
    return rows;
}

static json_t *efficiency_json(const struct sg_efficiency *efficiency)
{
    if (!efficiency->is_known)
        return json_null();
    return json_pack("{s:o, s:o, s:o}", "parallel", sg_json_real(true, efficiency->parallel),
                     "load_balance",
                     sg_json_real(efficiency->load_balance >= 0, efficiency->load_balance),
                     "communication", sg_json_real(true, efficiency->communication));
}

enum sg_status sg_live_print_json(const struct sg_live_job *job, const struct sg_live_view *view,
                                  const struct sg_live_print *print, FILE *out)
{
    const struct sg_rows rows = rows_of(view, print);
    const struct sg_rows ranks = SG_ROWS(view->per_rank, view->rank_count, NULL);
    json_t *root = json_object();

    sg_json_set(&root, "version", json_integer(VERSION));
    sg_json_set(&root, "path", sg_json_text(job->directory));
    sg_json_set(&root, "program", sg_json_text(view->report.program));
    sg_json_set(&root, "ranks", json_integer(view->ranks));
    sg_json_set(&root, "living_ranks", json_integer(view->living));
    sg_json_set(&root, "run_ns", json_integer((json_int_t)view->run_ns));
    sg_json_set(&root, "interval_ns", sg_json_count(view->interval_ns > 0, view->interval_ns));
    sg_json_set(&root, "mpi",
                view->report.calls != NULL ? sg_calls_json_share(view->report.calls) : json_null());
    sg_json_set(&root, "now_share", sg_json_real(!isnan(view->now_share), view->now_share));
    sg_json_set(&root, "efficiency", efficiency_json(&view->efficiency));
    sg_json_set(&root, "now_efficiency", efficiency_json(&view->now_efficiency));
    sg_json_set(&root, "per_rank", sg_section_list(&live_ranks, &ranks));
    sg_json_set(&root, "open_calls", sg_open_calls_json(view->report.open_calls));
    sg_json_set(&root, "unreadable_logs", refused_of(job));
    sg_json_set(&root, "calls", sg_section_list(&first_rows, &rows));
    sg_json_set(&root, "call_count", json_integer(view->row_count));
    sg_json_set(&root, "left_out_calls", json_integer((json_int_t)view->left_out));
    return sg_json_print_line(root, DIGITS, "watch", out);
}

/* ---- text: the head of a job, notes on its ranks, its call sites */

#define LEAST_SHOWN 4
#define STATES_SHOWN 8
#define LONG_NS UINT64_C(1000000000)
#define LABEL "%-18s "

/* ---- the head -------------------------------------------------------------------------------- */

static void put_title(const struct sg_live_job *job, const struct sg_live_view *view, FILE *out)
{
    sg_format_put(view->report.program != NULL ? view->report.program : "program", out);
    fprintf(out, ", %" PRIu32 " rank%s, ", view->ranks, view->ranks == 1 ? "" : "s");
    if (view->living == 0)
        fprintf(out, "ended after %s", SG_NS(view->run_ns));
    else
        fprintf(out, "running %s", SG_NS(view->run_ns));
    if (view->living > 0 && view->living < view->ranks)
        fprintf(out, ", %" PRIu32 " of them running", view->living);
    fputs(", ", out);
    sg_format_put(job->directory, out);
    fputc('\n', out);
}

static const char *percent(double share, char text[SG_FORMAT_BYTES])
{
    snprintf(text, SG_FORMAT_BYTES, "%.1f%%", 100 * share);
    return text;
}
#define PERCENT(share) percent(share, SG_ROOM)

static void put_calls_share(const struct sg_live_view *view, FILE *out)
{
    const struct sg_calls *calls = view->report.calls;

    if (calls == NULL || calls->processor_ns == 0)
        return;
    fprintf(out, LABEL, "in MPI");
    if (!isnan(view->now_share))
        fprintf(out, "%s now, ", PERCENT(view->now_share));
    fprintf(out, "%s of the run\n", SG_SHARE(calls->time_ns, calls->processor_ns));
}

static void put_efficiency(const char *label, const struct sg_efficiency *efficiency, FILE *out)
{
    if (!efficiency->is_known)
        return;
    fprintf(out, LABEL "%s", label, PERCENT(efficiency->parallel));
    if (efficiency->load_balance >= 0)
        fprintf(out, " = load balance %s x communication %s", PERCENT(efficiency->load_balance),
                PERCENT(efficiency->communication));
    fputc('\n', out);
}

static double rank_share(const struct sg_live_rank *rank)
{
    return rank->has_now ? rank->now_share : rank->share;
}

static int by_share(const void *left, const void *right)
{
    const struct sg_live_rank *a = *(const struct sg_live_rank *const *)left;
    const struct sg_live_rank *b = *(const struct sg_live_rank *const *)right;

    if (rank_share(a) != rank_share(b))
        return rank_share(a) > rank_share(b) ? 1 : -1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

/* Ranks that the others wait for. */
static enum sg_status put_least(const struct sg_live_view *view, FILE *out)
{
    const struct sg_live_rank **ranks = calloc((size_t)view->rank_count + 1, sizeof *ranks);
    uint32_t count = 0;

    if (ranks == NULL)
        return SG_ERR_MEMORY;
    for (uint32_t i = 0; i < view->rank_count; i++) {
        const struct sg_live_rank *rank = &view->per_rank[i];

        if (!isnan(rank_share(rank)) && (rank->state == SG_LIVE_RUNS || view->living == 0))
            ranks[count++] = rank;
    }
    if (count > 1) {
        qsort(ranks, count, sizeof *ranks, by_share);
        fprintf(out, LABEL, "least in MPI");
        for (uint32_t i = 0; i < count && i < LEAST_SHOWN; i++)
            fprintf(out, "%srank %" PRIu32 " %s", i > 0 ? ", " : "", ranks[i]->rank,
                    PERCENT(rank_share(ranks[i])));
        fputc('\n', out);
    }
    free(ranks);
    return SG_OK;
}

/* A call that lasts long may hang. */
static void put_longest(const struct sg_live_view *view, FILE *out)
{
    const struct sg_live_rank *longest = NULL;
    char *site;

    for (uint32_t i = 0; i < view->rank_count; i++) {
        const struct sg_live_rank *rank = &view->per_rank[i];

        if (rank->open_function != NULL && rank->open_ns >= LONG_NS &&
            (longest == NULL || rank->open_ns > longest->open_ns))
            longest = rank;
    }
    if (longest == NULL)
        return;
    site = sg_site_text("site", &view->report, &longest->open_site);
    fprintf(out, LABEL "rank %" PRIu32 " in %s at %s for %s\n", "longest call", longest->rank,
            longest->open_function, site != NULL ? site : "?", SG_NS(longest->open_ns));
    free(site);
}

/* Ranks that are outside MPI while others are in calls, and the cause. */
static void put_outside(const struct sg_live_view *view, FILE *out)
{
    uint32_t in_calls = 0, shown = 0;

    for (uint32_t i = 0; i < view->rank_count; i++)
        in_calls += view->per_rank[i].open_function != NULL;
    for (uint32_t i = 0; i < view->rank_count && in_calls > 0 && shown < LEAST_SHOWN; i++) {
        const struct sg_live_rank *rank = &view->per_rank[i];

        if (rank->outside.is_known) {
            fprintf(out, LABEL "rank %" PRIu32 " for %s or more: %s\n", "out of MPI", rank->rank,
                    SG_NS(rank->outside.out_ns), sg_cause_names[rank->outside.cause]);
            shown++;
        }
    }
}

/* ---- notes ----------------------------------------------------------------------------------- */

static const char *sg_live_state_text(const struct sg_live_log *log, char text[SG_LIVE_STATE_BYTES])
{
    switch (log->state) {
    case SG_LIVE_DIED:
        snprintf(text, SG_LIVE_STATE_BYTES, "rank %d ended without MPI_Finalize", log->rank);
        break;
    case SG_LIVE_ABORTED:
        snprintf(text, SG_LIVE_STATE_BYTES, "rank %d called MPI_Abort", log->rank);
        break;
    case SG_LIVE_QUIET:
        snprintf(text, SG_LIVE_STATE_BYTES,
                 "rank %d makes no progress; cannot tell whether it is alive", log->rank);
        break;
    case SG_LIVE_GONE:
        snprintf(text, SG_LIVE_STATE_BYTES, "rank %d: its log was removed", log->rank);
        break;
    case SG_LIVE_DAMAGED:
        snprintf(text, SG_LIVE_STATE_BYTES, SG_LOG_NAME_FORMAT ": %s; its figures end there",
                 log->rank, log->refusal.reason);
        break;
    default:
        text[0] = '\0';
    }
    return text;
}

static void put_states(const struct sg_live_job *job, const struct sg_live_view *view, FILE *out)
{
    uint32_t told = 0, missing = job->ranks - job->log_count - job->refused_count;

    for (uint32_t i = 0; i < job->log_count; i++) {
        char text[SG_LIVE_STATE_BYTES];

        if (sg_live_state_text(&job->logs[i], text)[0] != '\0' && told++ < STATES_SHOWN)
            fprintf(out, "%s\n", text);
    }
    if (told > STATES_SHOWN)
        fprintf(out, "... and %" PRIu32 " more ranks\n", told - STATES_SHOWN);
    for (uint32_t i = 0; i < job->refused_count && i < STATES_SHOWN; i++)
        fprintf(out, SG_LOG_NAME_FORMAT ": %s\n", job->refused[i].rank, job->refused[i].why.reason);
    if (missing > 0)
        fprintf(out, "note: the logs of %" PRIu32 " of %" PRIu32 " ranks are missing\n", missing,
                job->ranks);
    if (view->living == 0 && sg_live_job_has_archive(job))
        fprintf(out, "note: the archive of the whole run is complete; stagger report shows it\n");
    else if (view->living == 0) {
        char word[SG_WORD_BYTES];

        fprintf(out, "note: the run has ended: stagger report %s\n",
                sg_text_word(job->directory, word, sizeof word));
    }
}

static void put_open_line(void *context, const char *label, bool is_group, char *text)
{
    FILE *out = context;

    if (is_group)
        fprintf(out, "  %s: ", label);
    else
        sg_style_put_label(label, out);
    fprintf(out, "%s\n", text);
}

enum sg_status sg_live_print_text(const struct sg_live_job *job, const struct sg_live_view *view,
                                  const struct sg_live_print *print, FILE *out)
{
    const struct sg_rows rows = rows_of(view, print);
    struct sg_table table = {.width = print->width};
    enum sg_status status;

    put_title(job, view, out);
    put_calls_share(view, out);
    put_efficiency("efficiency now", &view->now_efficiency, out);
    put_efficiency("... of the run", &view->efficiency, out);
    status = put_least(view, out);
    if (status != SG_OK) {
        sg_log("watch: %s", sg_status_text(status));
        return status;
    }
    put_longest(view, out);
    put_outside(view, out);
    sg_open_calls_each(view->report.open_calls, &view->report, true, put_open_line, out);
    put_states(job, view, out);
    if (rows.count == 0)
        return SG_OK;
    fputc('\n', out);
    sg_section_fill(view->interval_ns == 0 ? &first_rows : &later_rows, &rows, &table);
    return sg_table_finish(&table, "watch", out);
}
