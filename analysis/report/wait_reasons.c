/* Finds the reason for the waits at a call site: by the causes of late collectives, and by the late
 * rank's intervals before the call that others wait for. Both come from the same samples, so that
 * they do not contradict each other. A reason needs enough of them.
 */
#include "output/format.h"
#include "report/between_calls_tables.h"
#include "report/cause_table.h"
#include "report/filter.h"
#include "report/profile_calls.h"
#include "report/report_columns.h"
#include "report/report_section.h"
#include "report/wait_print.h"

#include <inttypes.h>
#include <string.h>

#define REASON_LEAST 0.2 /* of the lateness: smaller causes do not explain it */

/* ---- names of places ------------------------------------------------------------------------- */

static bool is_alike(const char *a, const char *b)
{
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

/* The function that calls, or else what is known. */
static void put_caller(const struct sg_waitstate_place *place, FILE *out)
{
    if (place->function == NULL)
        fputs("start", out);
    else if (place->site.function != NULL)
        fputs(place->site.function, out);
    else if (place->site.has_id)
        sg_column_find(sg_site_columns, "site")->print(&place->site, NULL, out);
    else
        fputs(place->function, out);
}

/* Both ends of an interval, as short as tells them apart. */
void sg_waitstate_put_interval(const struct sg_waitstate_place *after,
                               const struct sg_waitstate_place *until, FILE *out)
{
    const struct sg_report_site *from = &after->site, *to = &until->site;

    if (after->function != NULL && until->function != NULL &&
        is_alike(from->function, to->function)) {
        if (is_alike(from->file, to->file))
            fprintf(out, "%s:%" PRIu32 " -> %" PRIu32, sg_text_base_name(from->file), from->line,
                    to->line);
        else
            fprintf(out, "%s -> %s", after->function, until->function);
        return;
    }
    put_caller(after, out);
    fputs(" -> ", out);
    if (until->function == NULL)
        fputs("end", out);
    else
        put_caller(until, out);
}

/* ---- the reason for the waits at a site ------------------------------------------------------ */

struct reason {
    bool is_known;
    bool started_later; /* the late rank's process did */
    enum sg_cause cause;
    uint64_t samples;                               /* the most that there are of one source */
    const struct sg_waitstate_place *after, *until; /* NULL: not known */
    const struct sg_waitstate_place *follows;       /* the late rank itself waited there; or NULL */
};

static bool is_init(const struct sg_waitstate_place *place)
{
    return place->function != NULL && strncmp(place->function, "MPI_Init", strlen("MPI_Init")) == 0;
}

static bool is_finalize(const struct sg_waitstate_place *place)
{
    return is_alike(place->function, "MPI_Finalize");
}

/* A call that each rank makes once has no more samples: one is all of them. */
static uint64_t enough_for(const struct sg_waitstate_place *place)
{
    return is_finalize(place) ? 1 : SG_REASON_SAMPLES;
}

static const struct sg_cause_site *causes_of(const struct sg_report *report,
                                             const struct sg_waitstate_site *site)
{
    const struct sg_causes_found *found = report->causes;
    const struct sg_cause_site *best = NULL;

    for (uint32_t i = 0; found != NULL && i < found->site_count; i++) {
        const struct sg_cause_site *of = &found->sites[i];

        if (sg_waitstate_is_same_line(&of->at, &site->at) &&
            (best == NULL || of->instances > best->instances))
            best = of;
    }
    return best;
}

/* Causes that only say where the time is known to be no reason. */
static bool is_reason(enum sg_cause cause)
{
    return cause != SG_CAUSE_LEFT && cause != SG_CAUSE_CALLS && cause != SG_CAUSE_UNKNOWN;
}

static bool is_of_threads(enum sg_cause cause)
{
    return cause == SG_CAUSE_PREEMPTED_THREADS || cause == SG_CAUSE_CALLS_PREEMPTED_THREADS;
}

/* Ranks that lose their processor between calls and in calls have one reason. */
static bool is_one_reason(enum sg_cause a, enum sg_cause b)
{
    return a == b || (sg_cause_is_crowding(a) && sg_cause_is_crowding(b)) ||
           (is_of_threads(a) && is_of_threads(b));
}

/* By the causes of late collectives. */
static void find_cause(const struct sg_cause_site *causes, struct reason *reason)
{
    uint64_t most_ns = 0;

    reason->samples = causes->instances;
    for (uint32_t i = 0; i < causes->row_count && causes->instances >= enough_for(&causes->at);
         i++) {
        const struct sg_cause_row *row = &causes->rows[i];
        uint64_t ns = 0;

        for (uint32_t j = 0; j < causes->row_count; j++)
            ns += is_one_reason(row->cause, causes->rows[j].cause) ? causes->rows[j].ns : 0;
        if (!is_reason(row->cause) || ns <= most_ns)
            continue;
        most_ns = ns;
        reason->cause = row->cause;
        reason->after = &row->after;
        reason->until = &row->until;
    }
    reason->is_known = (double)most_ns >= REASON_LEAST * (double)causes->late_ns && most_ns > 0;
}

/* MPI_Finalize ends intervals without a call site. */
static bool ends_at(const struct sg_before_row *row, const struct sg_waitstate_place *until)
{
    return sg_waitstate_is_same_line(row->until, until) ||
           (is_finalize(until) && row->until->function == NULL);
}

/* The longest of the rank's intervals before a call. Short ones between calls at one line, which a
 * loop makes, lead nowhere. */
static const struct sg_before_row *intervals_of(const struct sg_report *report, uint32_t rank,
                                                const struct sg_waitstate_place *until,
                                                double least_ns)
{
    const struct sg_before *before = report->calls != NULL ? report->calls->before : NULL;
    const struct sg_before_row *most = NULL;

    for (uint32_t i = 0; before != NULL && i < before->row_count; i++) {
        const struct sg_before_row *row = &before->rows[i];

        if (row->rank == rank && ends_at(row, until) &&
            (row->mean_ns >= least_ns || !sg_waitstate_is_same_line(row->after, until)) &&
            (most == NULL || row->own.time_ns > most->own.time_ns))
            most = row;
    }
    return most;
}

static const uint32_t clock_mask = 1u << SG_FIGURE_CPU | 1u << SG_FIGURE_RUNNABLE;

static enum sg_cause main_part(const struct sg_before_figures *own)
{
    uint64_t cpu_ns = own->of[SG_FIGURE_CPU], runnable_ns = own->of[SG_FIGURE_RUNNABLE];
    uint64_t off_ns = sg_before_off_ns(own);

    if ((own->mask & clock_mask) != clock_mask)
        return SG_CAUSE_UNKNOWN;
    if (cpu_ns >= runnable_ns && cpu_ns >= off_ns)
        return SG_CAUSE_COMPUTING;
    return runnable_ns >= off_ns ? SG_CAUSE_PREEMPTED : SG_CAUSE_ASLEEP;
}

/* True if the late rank waited there itself, long enough to explain the others' waits for it. */
static bool is_waited_in(const struct sg_report *report, const struct sg_waitstate_site *site,
                         const struct sg_waitstate_place *place)
{
    uint64_t others = report->rank_count > 1 ? report->rank_count - 1 : 1;
    uint64_t own_ns =
        sg_waitstates_waited(report->waitstates, place->site.site, site->late[0].rank);

    return (double)own_ns >= REASON_LEAST * (double)site->late[0].wait_ns / (double)others;
}

static void take_interval(const struct sg_before_row *row, const struct sg_waitstate_place *until,
                          struct reason *reason)
{
    reason->cause = row->has_cause && is_reason(row->cause) ? row->cause : main_part(&row->own);
    reason->is_known = is_reason(reason->cause);
    reason->after = row->after;
    reason->until = until;
}

/* Short calls that the late rank makes one after another, to begin messages. */
#define STEPS 8

/* By the late rank's intervals before the call at fault, back to one that is long enough to explain
 * the mean wait. */
static void find_before(const struct sg_report *report, const struct sg_waitstate_site *site,
                        struct reason *reason)
{
    const struct sg_waitstate_place *until = &site->other;
    uint64_t waits = site->other_of.waits > 0 ? site->other_of.waits : 1;
    double least_ns = (double)site->other_of.wait_ns / (double)waits / 2;
    const struct sg_before_row *row = NULL;

    for (int step = 0; step < STEPS; step++) {
        row = intervals_of(report, site->late[0].rank, until, least_ns);
        if (row != NULL && row->own.intervals > reason->samples)
            reason->samples = row->own.intervals;
        if (row == NULL || row->own.intervals < enough_for(until))
            return;
        if (row->mean_ns >= least_ns)
            break;
        if (row->after->function != NULL && is_waited_in(report, site, row->after)) {
            reason->follows = row->after;
            return;
        }
        until = row->after;
        row = NULL;
    }
    if (row != NULL)
        take_interval(row, until, reason);
}

/* By the times from loading the library to MPI_Init: the rest of the lateness is from before. */
static void find_start(const struct sg_report *report, const struct sg_waitstate_site *site,
                       struct reason *reason)
{
    const struct sg_before *starts = report->calls != NULL ? report->calls->starts : NULL;
    const struct sg_before_row *row = NULL;
    double waits = site->other_of.waits > 0 ? (double)site->other_of.waits : 1;

    for (uint32_t i = 0; starts != NULL && i < starts->row_count && row == NULL; i++)
        row = starts->rows[i].rank == site->late[0].rank ? &starts->rows[i] : NULL;
    if (row == NULL || row->others.intervals == 0)
        return;
    reason->started_later = row->longer_ns < (double)site->other_of.wait_ns / waits / 2;
    if (!reason->started_later)
        take_interval(row, &site->other, reason);
}

static void put_reason(const struct sg_report *report, const struct reason *reason, FILE *out)
{
    const char *name = sg_cause_names[reason->cause];
    const char *in_calls = strstr(name, " in calls");

    if (sg_cause_is_crowding(reason->cause)) {
        fputs(sg_report_is_oversubscribed(report) ? "preempted: too many ranks"
                                                  : "preempted by other processes",
              out);
        return;
    }
    if (is_of_threads(reason->cause)) {
        fputs("preempted by its own threads", out);
        return;
    }
    fprintf(out, "%.*s", in_calls != NULL ? (int)(in_calls - name) : (int)strlen(name), name);
    if (sg_cause_is_in_calls(reason->cause) && reason->until->function != NULL)
        fprintf(out, " in %s", reason->until->function);
    else if (!sg_cause_is_in_calls(reason->cause) && reason->until->function != NULL) {
        fputc(' ', out);
        sg_waitstate_put_interval(reason->after, reason->until, out);
    }
}

static struct reason find_reason(const struct sg_report *report,
                                 const struct sg_waitstate_site *site)
{
    const struct sg_cause_site *causes = causes_of(report, site);
    struct reason reason = {.cause = SG_CAUSE_UNKNOWN};

    if (causes != NULL)
        find_cause(causes, &reason);
    if (!reason.is_known && is_init(&site->other))
        find_start(report, site, &reason);
    else if (!reason.is_known)
        find_before(report, site, &reason);
    return reason;
}

void sg_waitstate_put_because(const struct sg_report *report, const struct sg_waitstate_site *site,
                              FILE *out)
{
    const struct reason reason = find_reason(report, site);

    if (reason.is_known) {
        put_reason(report, &reason, out);
    } else if (reason.started_later) {
        fputs("started later", out);
    } else if (reason.follows != NULL) {
        fprintf(out, "waited in %s", reason.follows->function);
    } else if (reason.samples > 0 && reason.samples < SG_REASON_SAMPLES) {
        fprintf(out, "few samples (%" PRIu64 "): " SG_MORE_SAMPLES, reason.samples);
    } else {
        fputc('-', out);
    }
}

bool sg_waitstate_is_by_threads(const struct sg_report *report,
                                const struct sg_waitstate_site *site)
{
    const struct reason reason = find_reason(report, site);

    return reason.is_known && is_of_threads(reason.cause);
}
