#include "report/critical_path.h"

#include "core/room.h"
#include "output/format.h"
#include "report/filter.h"
#include "report/path_history.h"
#include "report/report_section.h"
#include "report/wait_print.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* All intervals between two call sites. */
struct interval {
    uint32_t after, until; /* call sites; SG_NO_PLACE: the run's start, or no call */
    uint64_t count, sum_ns;
    double squares; /* sum of ns^2 */
};

/* A call that has not returned yet: its wait, and the calls that it needs. */
struct pending {
    int64_t at_ns, until_ns;
    uint32_t other; /* SG_HISTORY_NOBODY: none */
    int64_t needs_at_ns;
    uint32_t needs; /* a list of the history */
};

struct thread {
    uint32_t rank;
    uint32_t last_place;
    int64_t last_end_ns;
    struct pending pending;
};

/* A row of the path. of: index of the interval, or call site of the calls. */
struct part {
    bool is_call;
    uint32_t of;
    uint64_t ns, times;
    uint32_t ranks, rank;
    uint64_t rank_ns;
};

struct share {
    uint32_t part, rank;
    uint64_t ns;
};

struct sg_critical {
    struct sg_history *history;
    struct thread *threads; /* by location */
    uint32_t thread_count;
    struct sg_places *places;
    struct interval *intervals;
    struct part *parts;
    struct share *shares;
    uint32_t interval_count, part_count, share_count;
    struct sg_map interval_by_key, part_by_key, share_by_key;
    uint64_t changes;
};

enum sg_status sg_critical_create(struct sg_places *places, uint32_t locations,
                                  struct sg_critical **out)
{
    struct sg_critical *critical = calloc(1, sizeof *critical);
    enum sg_status status = SG_ERR_MEMORY;

    if (critical == NULL)
        return SG_ERR_MEMORY;
    critical->places = places;
    critical->thread_count = locations;
    critical->threads = calloc((size_t)locations + 1, sizeof *critical->threads);
    for (uint32_t i = 0; critical->threads != NULL && i < locations; i++)
        critical->threads[i] =
            (struct thread){.last_place = SG_NO_PLACE, .pending.other = SG_HISTORY_NOBODY};
    if (critical->threads != NULL)
        status = sg_history_create(locations, &critical->history);
    if (status != SG_OK) {
        sg_critical_destroy(critical);
        return status;
    }
    *out = critical;
    return SG_OK;
}

void sg_critical_destroy(struct sg_critical *critical)
{
    if (critical == NULL)
        return;
    sg_history_destroy(critical->history);
    sg_map_clear(&critical->interval_by_key);
    sg_map_clear(&critical->part_by_key);
    sg_map_clear(&critical->share_by_key);
    free(critical->threads);
    free(critical->intervals);
    free(critical->parts);
    free(critical->shares);
    free(critical);
}

/* ---- while events are read ------------------------------------------------------------------- */

static uint64_t key_of(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

static int64_t find_interval(struct sg_critical *critical, uint32_t after, uint32_t until)
{
    return SG_MAP_INDEX(&critical->interval_by_key, key_of(after, until), critical->intervals,
                        critical->interval_count,
                        ((struct interval){.after = after, .until = until}));
}

static enum sg_status add_interval(struct sg_critical *critical, const struct thread *thread,
                                   uint32_t until, int64_t until_ns)
{
    int64_t index = find_interval(critical, thread->last_place, until);
    struct interval *interval;
    uint64_t ns;

    if (index < 0)
        return SG_ERR_MEMORY;
    interval = &critical->intervals[index];
    ns = until_ns > thread->last_end_ns ? (uint64_t)until_ns - (uint64_t)thread->last_end_ns : 0;
    interval->count++;
    interval->sum_ns += ns;
    interval->squares += (double)ns * (double)ns;
    return SG_OK;
}

enum sg_status sg_critical_call(struct sg_critical *critical, uint32_t location,
                                const struct sg_waitstate_end *who, int64_t begin_ns,
                                int64_t end_ns)
{
    struct thread *thread = &critical->threads[location];
    int64_t place = sg_places_find(critical->places, who);
    enum sg_status status;

    if (place < 0)
        return SG_ERR_MEMORY;
    thread->rank = who->rank;
    status = add_interval(critical, thread, (uint32_t)place, begin_ns);
    thread->last_place = (uint32_t)place;
    thread->last_end_ns = end_ns;
    if (status == SG_OK)
        status = sg_history_add(critical->history, location, begin_ns, end_ns, (uint32_t)place);
    if (thread->pending.other != SG_HISTORY_NOBODY)
        sg_history_wait(critical->history, location, thread->pending.at_ns,
                        thread->pending.until_ns, thread->pending.other);
    sg_history_need(critical->history, location, thread->pending.needs_at_ns,
                    thread->pending.needs);
    thread->pending = (struct pending){.other = SG_HISTORY_NOBODY};
    return status;
}

struct sg_history *sg_critical_history(struct sg_critical *critical)
{
    return critical->history;
}

void sg_critical_wait(struct sg_critical *critical, uint32_t location, int64_t at_ns,
                      int64_t until_ns, uint32_t other)
{
    struct pending *pending = &critical->threads[location].pending;

    if (other == location)
        return;
    if (at_ns <= critical->threads[location].last_end_ns) {
        sg_history_wait(critical->history, location, at_ns, until_ns, other);
    } else if (pending->other == SG_HISTORY_NOBODY || until_ns > pending->until_ns) {
        pending->at_ns = at_ns;
        pending->until_ns = until_ns;
        pending->other = other;
    }
}

void sg_critical_need(struct sg_critical *critical, uint32_t location, int64_t at_ns, uint32_t list)
{
    struct pending *pending = &critical->threads[location].pending;

    if (at_ns <= critical->threads[location].last_end_ns) {
        sg_history_need(critical->history, location, at_ns, list);
    } else {
        pending->needs_at_ns = at_ns;
        sg_history_join(critical->history, &pending->needs, list);
    }
}

/* ---- the way back ---------------------------------------------------------------------------- */

struct walk {
    struct sg_critical *critical;
    uint32_t location;
    int64_t now_ns;
    uint64_t calls; /* number of the location's calls that begin before now */
    uint32_t next;  /* call site of the call that begins now; SG_NO_PLACE: none does */
};

static enum sg_status count(struct walk *walk, bool is_call, uint32_t of, int64_t from_ns)
{
    struct sg_critical *critical = walk->critical;
    uint32_t rank = critical->threads[walk->location].rank;
    uint64_t ns = (uint64_t)walk->now_ns - (uint64_t)from_ns;
    int64_t part =
                SG_MAP_INDEX(&critical->part_by_key, key_of(is_call, of), critical->parts,
                             critical->part_count, ((struct part){.is_call = is_call, .of = of})),
            share;

    if (part < 0)
        return SG_ERR_MEMORY;
    share = SG_MAP_INDEX(&critical->share_by_key, key_of((uint32_t)part, rank), critical->shares,
                         critical->share_count, ((struct share){(uint32_t)part, rank, 0}));
    if (share < 0)
        return SG_ERR_MEMORY;
    critical->parts[part].ns += ns;
    critical->parts[part].times++;
    critical->shares[share].ns += ns;
    walk->now_ns = from_ns;
    return SG_OK;
}

/* Goes back through the interval before the call that begins now, or before a moment between calls.
 */
static enum sg_status pass_interval(struct walk *walk, uint32_t after, int64_t from_ns)
{
    int64_t interval = find_interval(walk->critical, after, walk->next);

    return interval < 0 ? SG_ERR_MEMORY : count(walk, false, (uint32_t)interval, from_ns);
}

/* Goes to the other location, at the moment when it ended the wait. */
static void change(struct walk *walk, uint32_t other)
{
    struct sg_history *history = walk->critical->history;

    walk->critical->changes++;
    walk->location = other;
    walk->calls = sg_history_before(history, other, walk->now_ns);
    walk->next = SG_NO_PLACE;
    if (walk->calls < sg_history_count(history, other) &&
        sg_history_at(history, other, walk->calls)->begin_ns == walk->now_ns)
        walk->next = sg_history_at(history, other, walk->calls)->place;
}

static enum sg_status pass_call(struct walk *walk, const struct sg_history_call *call)
{
    bool waited = call->other != SG_HISTORY_NOBODY && call->until_ns > call->begin_ns &&
                  call->until_ns < walk->now_ns;
    enum sg_status status =
        count(walk, true, call->place, waited ? call->until_ns : call->begin_ns);

    if (waited) {
        change(walk, call->other);
    } else {
        walk->calls--;
        walk->next = call->place;
    }
    return status;
}

/* Terminates: every step leads to an earlier moment, or to an earlier call. */
static enum sg_status walk_back(struct walk *walk)
{
    enum sg_status status = SG_OK;

    while (walk->calls > 0 && status == SG_OK) {
        const struct sg_history_call *call =
            sg_history_at(walk->critical->history, walk->location, walk->calls - 1);

        if (call->end_ns < walk->now_ns)
            status = pass_interval(walk, call->place, call->end_ns);
        if (status == SG_OK)
            status = pass_call(walk, call);
    }
    if (walk->now_ns > 0 && status == SG_OK)
        status = pass_interval(walk, SG_NO_PLACE, 0);
    return status;
}

/* Returns the location whose last call before the time begins last: others may have waited for it
 * in theirs. */
static uint32_t find_end(struct sg_critical *critical, int64_t until_ns)
{
    const struct sg_history_call *latest = NULL;
    uint32_t found = SG_HISTORY_NOBODY;

    for (uint32_t i = 0; i < critical->thread_count; i++) {
        uint64_t calls = sg_history_before(critical->history, i, until_ns);
        const struct sg_history_call *last =
            calls > 0 ? sg_history_at(critical->history, i, calls - 1) : NULL;

        if (last != NULL && (latest == NULL || last->begin_ns > latest->begin_ns)) {
            latest = last;
            found = i;
        }
    }
    return found;
}

/* ---- the result ------------------------------------------------------------------------------ */

/* Sets the excess of the interval's time on the path over as many mean ones. */
static void estimate(const struct interval *interval, struct sg_path_row *row)
{
    double count = (double)interval->count, mean, variance, saving;

    if (interval->count == 0)
        return; /* added by the walk back, not counted from calls */
    mean = (double)interval->sum_ns / count;
    variance = count > 1 ? (interval->squares - count * mean * mean) / (count - 1) : 0;
    saving = (double)row->ns - (double)row->times * mean;
    row->mean_ns = (uint64_t)llround(mean);
    row->saving_ns = saving > 0 ? (uint64_t)llround(saving) : 0;
    row->saving_error_ns =
        variance > 0 ? (uint64_t)llround(1.96 * (double)row->times * sqrt(variance / count)) : 0;
}

static void fill_row(const struct sg_critical *critical, const struct part *part,
                     struct sg_path_row *row)
{
    *row = (struct sg_path_row){.is_call = part->is_call,
                                .ns = part->ns,
                                .times = part->times,
                                .ranks = part->ranks,
                                .rank = part->rank,
                                .rank_ns = part->rank_ns};
    if (part->is_call) {
        sg_places_name(critical->places, part->of, &row->until);
    } else {
        const struct interval *interval = &critical->intervals[part->of];

        sg_places_name(critical->places, interval->after, &row->after);
        sg_places_name(critical->places, interval->until, &row->until);
        estimate(interval, row);
    }
}

static void take_shares(struct sg_critical *critical)
{
    for (uint32_t i = 0; i < critical->share_count; i++) {
        const struct share *share = &critical->shares[i];
        struct part *part = &critical->parts[share->part];

        if (part->ranks++ == 0 || share->ns > part->rank_ns ||
            (share->ns == part->rank_ns && share->rank < part->rank)) {
            part->rank = share->rank;
            part->rank_ns = share->ns;
        }
    }
}

/* Longest first; among equals, those that were seen first. */
static int compare_parts(const void *left, const void *right)
{
    const struct part *a = left, *b = right;

    if (a->ns != b->ns)
        return a->ns < b->ns ? 1 : -1;
    if (a->is_call != b->is_call)
        return a->is_call ? 1 : -1;
    return (a->of > b->of) - (a->of < b->of);
}

static void sum_up(struct sg_path *path)
{
    double squares = 0;

    for (uint32_t i = 0; i < path->row_count; i++) {
        const struct sg_path_row *row = &path->rows[i];

        path->ns += row->ns;
        *(row->is_call ? &path->calls_ns : &path->intervals_ns) += row->ns;
        path->saving_ns += row->saving_ns;
        if (row->saving_ns > 0)
            squares += (double)row->saving_error_ns * (double)row->saving_error_ns;
    }
    path->saving_error_ns = (uint64_t)llround(sqrt(squares));
}

static enum sg_status make(struct sg_critical *critical, struct sg_path **out)
{
    struct sg_path *path = calloc(1, sizeof *path);

    if (path != NULL)
        path->rows = calloc((size_t)critical->part_count + 1, sizeof *path->rows);
    if (path == NULL || path->rows == NULL) {
        sg_path_free(path);
        return SG_ERR_MEMORY;
    }
    take_shares(critical);
    if (critical->part_count > 0)
        qsort(critical->parts, critical->part_count, sizeof *critical->parts, compare_parts);
    /* Rows without time come last, and are left out. */
    while (path->row_count < critical->part_count && critical->parts[path->row_count].ns > 0) {
        fill_row(critical, &critical->parts[path->row_count], &path->rows[path->row_count]);
        path->row_count++;
    }
    path->changes = critical->changes;
    sum_up(path);
    *out = path;
    return SG_OK;
}

enum sg_status sg_critical_finish(struct sg_critical *critical, int64_t until_ns,
                                  struct sg_path **out)
{
    uint32_t end = find_end(critical, until_ns);
    struct walk walk = {.critical = critical, .location = end, .next = SG_NO_PLACE};
    enum sg_status status;

    *out = NULL;
    if (end == SG_HISTORY_NOBODY)
        return SG_OK;
    walk.calls = sg_history_before(critical->history, end, until_ns);
    walk.now_ns = sg_history_at(critical->history, end, walk.calls - 1)->end_ns;
    if (walk.now_ns > until_ns)
        walk.now_ns = until_ns;
    status = walk_back(&walk);
    return status == SG_OK ? make(critical, out) : status;
}

void sg_path_free(struct sg_path *path)
{
    if (path == NULL)
        return;
    free(path->rows);
    free(path);
}

static bool is_interval(const void *of)
{
    const struct sg_path_row *row = of;

    return !row->is_call && row->mean_ns > 0;
}

static json_t *kind_json(const void *of, const void *context)
{
    const struct sg_path_row *row = of;

    return json_string(row->is_call ? "call" : "interval");
}

static void print_share(const void *of, const void *context, FILE *out)
{
    const struct sg_path_row *row = of;
    const struct sg_path *path = context;

    fputs(SG_SHARE(row->ns, path->ns), out);
}

static void print_rank(const void *of, const void *context, FILE *out)
{
    const struct sg_path_row *row = of;

    fprintf(out, "%u", (unsigned)row->rank);
    if (row->ranks > 1)
        fprintf(out, " %3.0f%%", 100.0 * (double)row->rank_ns / (double)row->ns);
}

static void print_saving(const void *of, const void *context, FILE *out)
{
    const struct sg_path_row *row = of;

    if (row->saving_ns <= row->saving_error_ns || row->times < SG_REASON_SAMPLES)
        fputs("-", out);
    else
        fprintf(out, "%s +-%s", SG_NS(row->saving_ns), SG_NS(row->saving_error_ns));
}

static void print_where(const void *of, const void *context, FILE *out)
{
    const struct sg_path_row *row = of;

    if (row->is_call) {
        fputs("in ", out);
    } else {
        sg_waitstate_put_place(&row->after, out);
        fputs(" -> ", out);
    }
    sg_waitstate_put_place(&row->until, out);
}

#define OF_ROW(which, member)                                                                      \
    .kind = SG_COLUMN_##which, .offset = offsetof(struct sg_path_row, member)

static const struct sg_column columns[] = {
    {"kind", .json = kind_json},
    {"path_ns", "path", "path", OF_ROW(NS, ns)},
    {NULL, "share", "share", .print = print_share},
    {"times", "times", "times", OF_ROW(COUNT, times)},
    {"mean_ns", "mean", "mean of all", OF_ROW(NS, mean_ns), .known = is_interval},
    {"saving_ns", "saved", "saved", OF_ROW(NS, saving_ns), .known = is_interval},
    {"saving_error_ns", OF_ROW(NS, saving_error_ns), .known = is_interval},
    {NULL, "saving", "balance saves", .print = print_saving},
    {"rank", "rank", "rank", OF_ROW(COUNT32, rank), .print = print_rank},
    {"rank_ns", OF_ROW(NS, rank_ns)},
    {"ranks", OF_ROW(COUNT32, ranks)},
    {NULL, "where", "critical path", .left = true, .flexible = true, .print = print_where},
    {"after", OF_ROW(OBJECT, after), .inner = &sg_waitstate_place_columns},
    {"until", OF_ROW(OBJECT, until), .inner = &sg_waitstate_place_columns},
};
const struct sg_columns sg_path_columns = SG_COLUMNS(columns);

static struct sg_rows rows_of(const struct sg_report *report,
                              const struct sg_print_options *options)
{
    const struct sg_path *path = report->critical_path;

    return path != NULL ? SG_ROWS(path->rows, path->row_count, path) : (struct sg_rows){0};
}

static void put_lead(const struct sg_report *report, uint32_t shown, FILE *out)
{
    const struct sg_path *path = report->critical_path;

    fprintf(out, "critical path      %s, %s of it between recorded calls", SG_NS(path->ns),
            SG_SHARE(path->intervals_ns, path->ns));
    if (path->saving_ns > path->saving_error_ns)
        fprintf(out, "; balance would save about %s +-%s (%s)", SG_NS(path->saving_ns),
                SG_NS(path->saving_error_ns), SG_SHARE(path->saving_ns, path->ns));
    fputc('\n', out);
}

const struct sg_report_section sg_path_section = {
    .name = "path",
    .part = SG_PART_PATH,
    .title = "Which parts of the run its end had to wait for",
    .is_of_events = true,
    .rows = rows_of,
    .rows_are = "parts of the critical path",
    .lead = put_lead,
    .table = {.member = "rows",
              .json = {&sg_path_columns},
              .csv = "kind path_ns times mean_ns saving_ns saving_error_ns rank rank_ns ranks "
                     "after.mpi_function after.id after.function after.file after.line "
                     "after.module after.offset until.mpi_function until.id until.function "
                     "until.file until.line until.module until.offset",
              .text = {&sg_path_columns},
              .shown = "path share times rank mean saving where"}};

SG_REPORT_MEMBER(sg_path_put)
{
    const struct sg_path *path = report->critical_path;

    if (path == NULL) {
        sg_json_put(writer, "critical_path", json_null());
        return;
    }
    sg_json_begin(writer, "critical_path", '{');
    sg_json_put_members(
        writer,
        json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "path_ns", (json_int_t)path->ns,
                  "calls_ns", (json_int_t)path->calls_ns, "intervals_ns",
                  (json_int_t)path->intervals_ns, "changes", (json_int_t)path->changes, "saving_ns",
                  (json_int_t)path->saving_ns, "saving_error_ns", (json_int_t)path->saving_error_ns,
                  "row_count", (json_int_t)path->row_count));
    sg_report_put(&sg_path_section, report, options, writer);
    sg_json_end(writer, '}');
}
