#include "watch/watch_print.h"

#include "core/room.h"
#include "core/text.h"
#include "report/aggregate.h"
#include "report/filter.h"
#include "watch/job.h"
#include "watch/watch_arrivals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- reasons for the lateness of a row's rank: in the run, from sums over its ended intervals;
 * now, if others wait for a rank outside MPI */

#define WORLD 1 /* number of MPI_COMM_WORLD in the profile */

/* ---- in the run ------------------------------------------------------------------------------ */

static int64_t late_rank(const struct sg_live_figures *run)
{
    return run->last_rank >= 0   ? run->last_rank
           : run->late_rank >= 0 ? run->late_rank
                                 : run->least_rank;
}

/* Sets the rows' `why`. The table is sorted by excess over the other ranks, longest first, so the
 * first match is the reason. SG_ERR_MEMORY, not logged. */
static enum sg_status sg_live_why_find(struct sg_live_view *view)
{
    const struct sg_before *before = view->report.calls != NULL ? view->report.calls->before : NULL;
    struct sg_map row_by_site = {0};
    enum sg_status status = SG_OK;

    for (uint32_t i = view->row_count; before != NULL && i > 0 && status == SG_OK; i--)
        status = sg_map_put(&row_by_site, view->rows[i - 1].call.place.site, i - 1);
    for (uint32_t i = 0; before != NULL && i < before->row_count && status == SG_OK; i++) {
        const struct sg_before_row *found = &before->rows[i];
        int64_t at =
            found->until->function != NULL ? sg_map_get(&row_by_site, found->until->site.site) : -1;

        if (found->has_cause && at >= 0 && view->rows[at].why == NULL &&
            late_rank(&view->rows[at].run) == found->rank)
            view->rows[at].why = found;
    }
    sg_map_clear(&row_by_site);
    return status;
}

/* ---- now ------------------------------------------------------------------------------------- */

/* A receive from a rank of MPI_COMM_WORLD. A message may be in transit for a moment, so the receive
 * must have waited for as long as the rank's state is known. */
static bool receives_from(const struct sg_live_stay *stay, const char *function,
                          const struct sg_live_rank *other)
{
    const struct sg_record_event *event = &stay->call->record.event;

    return (strcmp(function, "MPI_Recv") == 0 || strcmp(function, "MPI_Probe") == 0 ||
            strcmp(function, "MPI_Mprobe") == 0) &&
           event->comm == WORLD && event->from == (int64_t)other->rank &&
           stay->open_ns >= other->outside.ns;
}

static bool waits_for(const struct sg_live_stay *stay, const char *function,
                      const struct sg_live_rank *other, const struct sg_live_arrivals *arrivals)
{
    if (stay->call->record.bytes[0] == SG_RECORD_CALL)
        return sg_live_arrivals_awaits(arrivals, (uint32_t)stay->log->rank,
                                       &stay->call->record.call, other->rank);
    return receives_from(stay, function, other);
}

static struct sg_live_row *row_of(struct sg_live_view *view, uint32_t id, const char *function)
{
    for (uint32_t i = 0; i < view->row_count; i++) {
        struct sg_live_row *row = &view->rows[i];

        if (row->call.place.id == id && strcmp(row->call.function, function) == 0)
            return row;
    }
    return NULL;
}

/* The rank outside MPI for longest among those that the call waits for; NULL: none. */
static const struct sg_live_rank *find_awaited(const struct sg_live_view *view,
                                               const struct sg_live_stay *stay,
                                               const char *function,
                                               const struct sg_live_arrivals *arrivals)
{
    const struct sg_live_rank *longest = NULL;

    for (uint32_t i = 0; i < view->rank_count; i++) {
        const struct sg_live_rank *rank = &view->per_rank[i];

        if (rank->outside.is_known &&
            (longest == NULL || rank->outside.out_ns > longest->outside.out_ns) &&
            waits_for(stay, function, rank, arrivals))
            longest = rank;
    }
    return longest;
}

/* Sets the rows' `awaited`; needs the view's ranks. */
static void sg_live_why_find_awaited(struct sg_live_view *view, const struct sg_live_tally *tally,
                                     const struct sg_live_arrivals *arrivals)
{
    for (uint32_t i = 0; i < tally->stay_count; i++) {
        const struct sg_live_stay *stay = &tally->stays[i];
        const struct sg_live_place *place = &tally->places[stay->place];
        const char *function = tally->functions.of[place->function];
        struct sg_live_row *row = row_of(view, place->id, function);
        const struct sg_live_rank *awaited =
            row != NULL ? find_awaited(view, stay, function, arrivals) : NULL;

        if (awaited != NULL &&
            (row->awaited == NULL || awaited->outside.out_ns > row->awaited->outside.out_ns))
            row->awaited = awaited;
    }
}

struct sg_live_rows {
    struct sg_live_tally tally;
    uint64_t before_ns;         /* time of the previous look at the job; 0: none */
    uint64_t run_ns;            /* time that the job is known to have run */
    struct sg_outside *outside; /* by rank */
};

/* State for making one view. */
struct making {
    const struct sg_live_tally *tally;
    struct sg_live_job *job;
    struct sg_live_view *view;
    struct sg_outside *outside;
    uint64_t processor_ns; /* of the interval, over running ranks */
};

static double share_of(uint64_t part_ns, uint64_t whole_ns)
{
    if (whole_ns == 0)
        return NAN;
    /* A call without an event counts in full when it ends, even if it began before the interval. */
    return part_ns < whole_ns ? (double)part_ns / (double)whole_ns : 1;
}

/* ---- figures of a row ------------------------------------------------------------------------ */

/* Finds the rank with the least time in calls that several ranks make: in a collective it arrives
 * last. If some rank of the communicator has never called, that rank may be the late one, and the
 * result is none. */
static void find_least(const struct making *making, const struct sg_live_row *row,
                       const struct sg_live_place *place, bool is_now,
                       struct sg_live_figures *figures)
{
    uint32_t callers = 0;

    figures->least_rank = -1;
    for (uint32_t i = 0; i < making->job->log_count; i++) {
        const struct sg_live_log *log = &making->job->logs[i];
        uint32_t rank = (uint32_t)log->rank;
        const struct sg_live_part *part = &place->now[rank];
        uint64_t time_ns = is_now ? sg_live_part_gain_ns(place, rank) : part->time_ns;

        if (part->calls == 0)
            continue;
        callers++;
        if (is_now && log->state != SG_LIVE_RUNS)
            continue;
        if (figures->least_rank < 0 || time_ns < figures->least_ns) {
            figures->least_rank = rank;
            figures->least_ns = time_ns;
        }
    }
    if (callers < 2 || callers < row->call.place.comm_size)
        figures->least_rank = -1;
}

static uint64_t gain(uint64_t now, uint64_t before, bool is_now)
{
    return !is_now ? now : now > before ? now - before : 0;
}

static void find_late(const struct making *making, const struct sg_live_place *place, bool is_now,
                      struct sg_live_figures *figures)
{
    for (uint32_t rank = 0; rank < making->view->ranks; rank++) {
        const struct sg_live_part *part = &place->now[rank], *before = &place->before[rank];
        uint64_t late = gain(part->late_samples, before->late_samples, is_now);

        figures->samples += gain(part->samples, before->samples, is_now);
        figures->late_samples += late;
        figures->late_ns += gain(part->late_ns, before->late_ns, is_now);
        if (late > figures->late_count) {
            figures->late_rank = rank;
            figures->late_count = late;
        }
    }
}

static void take_arrived(const struct making *making, struct sg_live_arrived *arrived,
                         struct sg_live_figures *figures)
{
    figures->has_arrivals = arrived->calls > 0;
    figures->wait_ns = arrived->wait_ns;
    figures->instances = arrived->instances;
    figures->skew_p50_ns = sg_quantiles_get(&arrived->skews, 0.50);
    figures->skew_p95_ns = sg_quantiles_get(&arrived->skews, 0.95);
    figures->skew_max_ns = arrived->skews.max;
    if (arrived->instances > 0)
        figures->skew_mean_ns = arrived->skew_sum_ns / (double)arrived->instances;
    figures->last_rank = sg_live_arrived_last(arrived, making->view->ranks, &figures->last_count);
}

/* NULL: stagger does not carry out this function. */
static struct sg_live_site *find_arrivals(const struct making *making, uint32_t id,
                                          const char *function)
{
    for (uint32_t operation = 0; operation < SG_OPERATION_COUNT; operation++) {
        if (strcmp(function, sg_operation_regions[operation]) == 0)
            return sg_live_arrivals_find(making->job->arrivals, id, operation, false);
        if (strcmp(function, sg_operation_nonblocking_regions[operation]) == 0)
            return sg_live_arrivals_find(making->job->arrivals, id, operation, true);
    }
    return NULL;
}

static void make_run(const struct making *making, const struct sg_live_place *place,
                     struct sg_live_row *row)
{
    const struct sg_calls *calls = making->view->report.calls;
    struct sg_live_figures *run = &row->run;

    run->is_known = true;
    run->calls = row->call.of.calls;
    run->calls_per_s = NAN;
    run->time_ns = row->call.of.time_ns;
    run->share = share_of(run->time_ns, calls->processor_ns);
    find_late(making, place, false, run);
    find_least(making, row, place, false, run);
}

static void make_now(const struct making *making, const struct sg_live_place *place,
                     struct sg_live_row *row)
{
    uint64_t interval_ns = making->view->interval_ns;
    struct sg_live_figures *now = &row->now;

    now->is_known = interval_ns > 0;
    for (uint32_t rank = 0; rank < making->view->ranks; rank++) {
        row->open_calls += place->now[rank].open_calls;
        row->open_ns += place->now[rank].open_ns;
        if (!now->is_known)
            continue;
        now->calls += sg_live_part_gain_calls(place, rank);
        now->time_ns += sg_live_part_gain_ns(place, rank);
    }
    now->calls_per_s = now->is_known ? (double)now->calls * 1e9 / (double)interval_ns : NAN;
    now->share = now->is_known ? share_of(now->time_ns, making->processor_ns) : NAN;
    if (!now->is_known)
        return;
    find_late(making, place, true, now);
    find_least(making, row, place, true, now);
}

static void make_figures(const struct making *making, const struct sg_live_place *place,
                         struct sg_live_row *row)
{
    struct sg_live_site *arrivals = find_arrivals(making, place->id, row->call.function);

    row->run = row->now =
        (struct sg_live_figures){.last_rank = -1, .late_rank = -1, .least_rank = -1, .share = NAN};
    make_run(making, place, row);
    make_now(making, place, row);
    if (arrivals != NULL)
        take_arrived(making, &arrivals->total, &row->run);
    if (arrivals != NULL && row->now.is_known)
        take_arrived(making, &arrivals->recent, &row->now);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static const struct sg_record_site *find_site(const struct sg_live_log *log, uint32_t index)
{
    enum sg_record_kind kind;
    const void *record;
    uint64_t slot = 0;

    while ((record = sg_logread_next(log->held, &slot, &kind)) != NULL) {
        if (kind == SG_RECORD_SITE && ((const struct sg_record_site *)record)->index == index)
            return record;
    }
    return NULL;
}

/* Names the call site of an open call as the report names those of ended calls. */
static enum sg_status name_stay(const struct making *making, const struct sg_live_stay *stay,
                                struct sg_report_site *out)
{
    struct sg_aggregate *aggregate = making->view->report.strings;
    const struct sg_record_site *record = find_site(stay->log, stay->site);
    enum sg_status status = SG_OK;
    uint32_t site;

    *out = (struct sg_report_site){0};
    if (record != NULL)
        status = sg_log_names_site(&making->job->names, stay->log->held, record, aggregate, &site);
    if (record != NULL && status == SG_OK)
        sg_aggregate_name_site(aggregate, site, out);
    return status;
}

static enum sg_status add_row(const struct making *making, const struct sg_call_row *call,
                              const struct sg_live_place *place)
{
    struct sg_live_view *view = making->view;
    struct sg_live_row row = {.call = *call};

    make_figures(making, place, &row);
    return SG_APPEND(view->rows, view->row_count, row) ? SG_OK : SG_ERR_MEMORY;
}

/* Adds call sites that the report lacks, because no call there has ended. */
static enum sg_status add_first_stays(const struct making *making)
{
    enum sg_status status = SG_OK;

    for (uint32_t i = 0; i < making->tally->stay_count && status == SG_OK; i++) {
        const struct sg_live_stay *stay = &making->tally->stays[i];
        const struct sg_live_place *place = &making->tally->places[stay->place];
        struct sg_call_row call = {.function = making->tally->functions.of[place->function],
                                   .mean_ns = NAN,
                                   .deviation_ns = NAN,
                                   .latency_ns = NAN};
        bool is_new = true;

        for (uint32_t row = 0; row < making->view->row_count && is_new; row++) {
            const struct sg_live_row *other = &making->view->rows[row];

            is_new = other->call.place.id != place->id ||
                     strcmp(other->call.function, call.function) != 0;
        }
        if (!is_new)
            continue;
        status = name_stay(making, stay, &call.place);
        if (status == SG_OK)
            status = add_row(making, &call, place);
    }
    return status;
}

static int by_time(const void *left, const void *right)
{
    const struct sg_live_row *a = left, *b = right;

    if (a->now.time_ns != b->now.time_ns)
        return a->now.time_ns < b->now.time_ns ? 1 : -1;
    if (a->run.time_ns != b->run.time_ns)
        return a->run.time_ns < b->run.time_ns ? 1 : -1;
    if (a->call.place.id != b->call.place.id)
        return a->call.place.id > b->call.place.id ? 1 : -1;
    return strcmp(a->call.function, b->call.function);
}

static enum sg_status make_rows(const struct making *making)
{
    const struct sg_calls *calls = making->view->report.calls;
    enum sg_status status = SG_OK;

    for (uint32_t i = 0; calls != NULL && i < calls->site_count && status == SG_OK; i++) {
        const struct sg_call_row *call = &calls->sites[i];
        const struct sg_live_place *place =
            sg_live_tally_find(making->tally, call->place.id, call->function);

        if (place != NULL)
            status = add_row(making, call, place);
    }
    if (status == SG_OK && calls != NULL)
        status = add_first_stays(making);
    if (status == SG_OK && making->view->row_count > 1)
        qsort(making->view->rows, making->view->row_count, sizeof *making->view->rows, by_time);
    return status;
}

/* ---- ranks ----------------------------------------------------------------------------------- */

static uint64_t processors(const struct sg_live_view *view, uint32_t rank)
{
    return view->report.ranks[rank].threads;
}

/* A rank that has ended counts to its last record. */
static uint64_t elapsed_ns(const struct sg_live_job *job, const struct sg_live_log *log)
{
    uint64_t begin_ns = sg_live_log_begin_ns(log);
    uint64_t end_ns = log->state == SG_LIVE_RUNS ? sg_live_job_clock_ns(job, log) : log->last_ns;

    return end_ns > begin_ns ? end_ns - begin_ns : 0;
}

static uint64_t rest_of(uint64_t whole_ns, uint64_t part_ns)
{
    return whole_ns > part_ns ? whole_ns - part_ns : 0;
}

static void sum_up(const struct making *making, const struct sg_live_log *log,
                   struct sg_live_rank *out)
{
    const struct sg_live_view *view = making->view;
    uint32_t rank = (uint32_t)log->rank;
    uint64_t open_ns = 0;

    *out = (struct sg_live_rank){.rank = rank,
                                 .state = log->state,
                                 .time_ns = sg_log_ends_ns(&log->header),
                                 .now_share = NAN};
    for (uint32_t i = 0; i < making->tally->place_count; i++) {
        out->time_ns += making->tally->places[i].now[rank].time_ns;
        open_ns += making->tally->places[i].now[rank].open_ns;
        out->now_ns += sg_live_part_gain_ns(&making->tally->places[i], rank);
    }
    out->elapsed_ns = elapsed_ns(making->job, log);
    out->share = share_of(out->time_ns + open_ns, out->elapsed_ns * processors(view, rank));
    out->useful_ns = rest_of(out->elapsed_ns * processors(view, rank), out->time_ns + open_ns);
    out->has_now = view->interval_ns > 0 && log->state == SG_LIVE_RUNS;
    if (out->has_now)
        out->now_share = share_of(out->now_ns, view->interval_ns * processors(view, rank));
    else
        out->now_ns = 0;
}

static enum sg_status add_stays(const struct making *making, struct sg_live_rank *rank)
{
    enum sg_status status = SG_OK;

    for (uint32_t i = 0; i < making->tally->stay_count && status == SG_OK; i++) {
        const struct sg_live_stay *stay = &making->tally->stays[i];

        if ((uint32_t)stay->log->rank != rank->rank ||
            (rank->open_function != NULL && stay->open_ns <= rank->open_ns))
            continue;
        rank->open_function =
            making->tally->functions.of[making->tally->places[stay->place].function];
        rank->open_ns = stay->open_ns;
        status = name_stay(making, stay, &rank->open_site);
    }
    return status;
}

/* Looks at the rank's process in the kernel, for time in which the rank makes no call. */
static void look_outside(const struct making *making, const struct sg_live_log *log,
                         struct sg_live_rank *rank)
{
    uint64_t calls = 0;

    for (uint32_t i = 0; i < making->tally->place_count; i++)
        calls += making->tally->places[i].now[rank->rank].calls;
    sg_outside_look(&making->outside[rank->rank], log, calls, rank->open_function != NULL,
                    &rank->outside);
}

static enum sg_status make_ranks(struct making *making)
{
    struct sg_live_view *view = making->view;
    const struct sg_live_job *job = making->job;
    uint64_t now_ns = 0;
    enum sg_status status = SG_OK;

    view->per_rank = calloc((size_t)job->log_count + 1, sizeof *view->per_rank);
    if (view->per_rank == NULL)
        return SG_ERR_MEMORY;
    for (uint32_t i = 0; i < job->log_count && status == SG_OK; i++) {
        struct sg_live_rank *rank = &view->per_rank[view->rank_count++];

        sum_up(making, &job->logs[i], rank);
        status = add_stays(making, rank);
        look_outside(making, &job->logs[i], rank);
        now_ns += rank->now_ns;
        if (rank->has_now)
            making->processor_ns += view->interval_ns * processors(view, rank->rank);
    }
    view->now_share = share_of(now_ns, making->processor_ns);
    return status;
}

static uint64_t longest_ns(const struct sg_live_view *view)
{
    uint64_t longest_ns = 0;

    for (uint32_t i = 0; i < view->rank_count; i++) {
        if (view->per_rank[i].elapsed_ns > longest_ns)
            longest_ns = view->per_rank[i].elapsed_ns;
    }
    return longest_ns;
}

/* Covers the run, or the interval for the ranks that run. A rank's threads share its time outside
 * MPI equally: the logs have the sum. */
static void set_efficiency(const struct sg_live_view *view, bool is_now, uint64_t whole_ns,
                           struct sg_efficiency *out)
{
    uint64_t sum_ns = 0, greatest_ns = 0;
    uint32_t threads = 0;

    for (uint32_t i = 0; i < view->rank_count; i++) {
        const struct sg_live_rank *rank = &view->per_rank[i];
        uint64_t of_rank = processors(view, rank->rank);
        uint64_t useful_ns = is_now ? rest_of(whole_ns * of_rank, rank->now_ns) : rank->useful_ns;

        if (of_rank == 0 || (is_now && !rank->has_now))
            continue;
        threads += (uint32_t)of_rank;
        sum_ns += useful_ns;
        if (useful_ns / of_rank > greatest_ns)
            greatest_ns = useful_ns / of_rank;
    }
    sg_efficiency_set(out, whole_ns, sum_ns, greatest_ns, threads);
}

/* ---- the view -------------------------------------------------------------------------------- */

enum sg_status sg_live_rows_make(struct sg_live_rows *rows, struct sg_live_job *job,
                                 struct sg_live_view *out)
{
    struct sg_live_view view = {.ranks = job->ranks, .living = job->living};
    struct making making = {
        .tally = &rows->tally, .job = job, .view = &view, .outside = rows->outside};
    enum sg_status status = sg_live_job_report(job, &view.report);

    if (status != SG_OK)
        return status;
    if (rows->before_ns > 0)
        view.interval_ns = job->seen_ns - rows->before_ns;
    view.left_out = sg_live_arrivals_left_out(job->arrivals);
    status = sg_live_tally_take(&rows->tally, job);
    if (status == SG_OK)
        status = make_ranks(&making);
    if (longest_ns(&view) > rows->run_ns)
        rows->run_ns = longest_ns(&view);
    view.run_ns = rows->run_ns;
    set_efficiency(&view, false, view.run_ns, &view.efficiency);
    set_efficiency(&view, true, view.interval_ns, &view.now_efficiency);
    if (status == SG_OK)
        status = make_rows(&making);
    if (status == SG_OK)
        status = sg_live_why_find(&view);
    if (status == SG_OK)
        sg_live_why_find_awaited(&view, &rows->tally, job->arrivals);
    if (status != SG_OK) {
        sg_log("%s: %s", job->directory, sg_status_text(status));
        sg_live_view_clear(&view);
        return status;
    }
    rows->before_ns = job->seen_ns;
    sg_live_arrivals_renew(job->arrivals);
    *out = view;
    return SG_OK;
}

void sg_live_view_clear(struct sg_live_view *view)
{
    sg_report_clear(&view->report);
    free(view->rows);
    free(view->per_rank);
    *view = (struct sg_live_view){0};
}

enum sg_status sg_live_rows_create(uint32_t ranks, struct sg_live_rows **out)
{
    struct sg_live_rows *rows = calloc(1, sizeof *rows);

    if (rows == NULL)
        return SG_ERR_MEMORY;
    rows->outside = calloc((size_t)ranks + 1, sizeof *rows->outside);
    if (rows->outside == NULL) {
        free(rows);
        return SG_ERR_MEMORY;
    }
    rows->tally.ranks = ranks;
    *out = rows;
    return SG_OK;
}

void sg_live_rows_destroy(struct sg_live_rows *rows)
{
    if (rows == NULL)
        return;
    sg_live_tally_clear(&rows->tally);
    free(rows->outside);
    free(rows);
}
