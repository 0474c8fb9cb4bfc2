/* Finds the reason for the waits at a call site: by the causes of late collectives, and by the late
 * rank's intervals before the call that others wait for. Both come from the same samples, so that
 * they do not contradict each other. A reason needs enough of them, or all that there can be. With
 * fewer, the critical path still has the exact times of intervals: it shows between which calls the
 * rank was late, but not whether it computed.
 */
#include "output/format.h"
#include "report/between_calls_tables.h"
#include "report/cause_table.h"
#include "report/critical_path.h"
#include "report/filter.h"
#include "report/profile_calls.h"
#include "report/report_columns.h"
#include "report/report_section.h"
#include "report/wait_print.h"

#include <inttypes.h>
#include <string.h>

#define REASON_LEAST 0.2 /* of the lateness: smaller causes do not explain it */
#define REASON_ALIKE 0.8 /* few samples with a larger part of one cause agree */

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

#define SEVERAL -1 /* ranks */

struct reason {
    bool is_known;
    bool started_later;  /* the late rank's process did */
    enum sg_cause cause; /* SG_CAUSE_UNKNOWN: by the path's exact times */
    uint64_t few;        /* it is of so few samples; 0: of enough */
    int64_t rank;        /* where it began, not always the late one; or SEVERAL */
    uint64_t samples;    /* the most that there are of one source */
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

static bool is_of_others(enum sg_cause cause)
{
    return cause == SG_CAUSE_PREEMPTED_OTHERS || cause == SG_CAUSE_CALLS_PREEMPTED_OTHERS;
}

/* Ranks that lose their processor between calls and in calls have one reason. */
static bool is_one_reason(enum sg_cause a, enum sg_cause b)
{
    return a == b || (sg_cause_is_crowding(a) && sg_cause_is_crowding(b)) ||
           (is_of_threads(a) && is_of_threads(b));
}

/* The time of one reason on a rank, or on all. */
static uint64_t time_of(const struct sg_cause_site *causes, enum sg_cause cause, int64_t rank)
{
    uint64_t ns = 0;

    for (uint32_t i = 0; i < causes->row_count; i++) {
        const struct sg_cause_row *row = &causes->rows[i];

        if (is_one_reason(row->cause, cause) && (rank == SEVERAL || rank == row->rank))
            ns += row->ns;
    }
    return ns;
}

/* The late rank may be late because of another. Its own reason has about the part of the time that
 * the rank has of the waits. */
static int64_t find_origin(const struct sg_waitstate_site *site, const struct sg_cause_site *causes,
                           enum sg_cause cause)
{
    const struct sg_waitstate_late *late = &site->late[0];
    uint64_t all_ns = time_of(causes, cause, SEVERAL);
    double expected_ns = (double)all_ns * (double)late->wait_ns / (double)site->of.wait_ns;

    if ((double)time_of(causes, cause, late->rank) >= expected_ns / 2)
        return late->rank;
    for (uint32_t i = 0; i < causes->row_count; i++) {
        uint32_t rank = causes->rows[i].rank;

        if (time_of(causes, cause, rank) > all_ns / 2)
            return rank;
    }
    return SEVERAL;
}

/* By the causes of late collectives. is_few: with few samples, which must agree. */
static void find_cause(const struct sg_waitstate_site *site, const struct sg_cause_site *causes,
                       bool is_few, struct reason *reason)
{
    double least = is_few ? REASON_ALIKE : REASON_LEAST;
    uint64_t most_ns = 0;

    reason->samples = causes->instances;
    if ((causes->instances < enough_for(&causes->at)) != is_few)
        return;
    for (uint32_t i = 0; i < causes->row_count; i++) {
        enum sg_cause cause = causes->rows[i].cause;
        uint64_t ns = time_of(causes, cause, SEVERAL);

        if (!is_reason(cause) || ns <= most_ns)
            continue;
        most_ns = ns;
        reason->cause = cause;
    }
    reason->is_known = (double)most_ns >= least * (double)causes->late_ns && most_ns > 0;
    if (!reason->is_known)
        return;
    reason->few = is_few ? causes->instances : 0;
    reason->rank = find_origin(site, causes, reason->cause);
    /* The largest row is first. */
    for (uint32_t i = 0; i < causes->row_count && reason->until == NULL; i++) {
        const struct sg_cause_row *row = &causes->rows[i];

        if (!is_one_reason(row->cause, reason->cause) ||
            (reason->rank != SEVERAL && reason->rank != row->rank))
            continue;
        reason->after = &row->after;
        reason->until = &row->until;
    }
}

/* Intervals of a rank between two calls: sampled ones, or those on the critical path. */
struct intervals {
    const struct sg_waitstate_place *after, *until;
    double ns, mean_ns;                  /* sum */
    const struct sg_before_row *sampled; /* NULL: on the path */
};

/* MPI_Finalize ends intervals without a call site. */
static bool ends_at(const struct intervals *these, const struct sg_waitstate_place *until)
{
    return sg_waitstate_is_same_line(these->until, until) ||
           (is_finalize(until) && these->until->function == NULL);
}

/* Takes the longest. Short ones between calls at one line, which a loop makes, lead nowhere. */
static void take_longer(const struct intervals *these, const struct sg_waitstate_place *until,
                        double least_ns, struct intervals *longest)
{
    if (ends_at(these, until) && these->ns > longest->ns &&
        (these->mean_ns >= least_ns || !sg_waitstate_is_same_line(these->after, until))) {
        *longest = *these;
        longest->until = until;
    }
}

/* Finds the rank's intervals before a call; until NULL: there are none. */
static struct intervals intervals_before(const struct sg_report *report, uint32_t rank,
                                         const struct sg_waitstate_place *until, double least_ns)
{
    const struct sg_before *before = report->calls != NULL ? report->calls->before : NULL;
    struct intervals longest = {.ns = -1};

    for (uint32_t i = 0; before != NULL && i < before->row_count; i++) {
        const struct sg_before_row *row = &before->rows[i];

        if (row->rank == rank)
            take_longer(&(struct intervals){row->after, row->until, (double)row->own.time_ns,
                                            row->mean_ns, row},
                        until, least_ns, &longest);
    }
    return longest;
}

/* Likewise on the critical path. */
static struct intervals intervals_on_path(const struct sg_report *report, uint32_t rank,
                                          const struct sg_waitstate_place *until, double least_ns)
{
    const struct sg_path *path = report->critical_path;
    struct intervals longest = {.ns = -1};

    for (uint32_t i = 0; path != NULL && i < path->row_count; i++) {
        const struct sg_path_row *row = &path->rows[i];

        if (!row->is_call && row->rank == rank && row->times > 0)
            take_longer(&(struct intervals){&row->after, &row->until, (double)row->ns,
                                            (double)row->ns / (double)row->times, NULL},
                        until, least_ns, &longest);
    }
    return longest;
}

static const uint32_t clock_mask = 1u << SG_FIGURE_CPU | 1u << SG_FIGURE_RUNNABLE;

static enum sg_cause preempted_by(const struct sg_before_figures *own)
{
    bool is_known = (own->mask & 1u << SG_FIGURE_THREADS_HERE) != 0;
    double runnable_ns = (double)own->of[SG_FIGURE_RUNNABLE], shares[SG_CAUSES];
    enum sg_cause most = SG_CAUSE_PREEMPTED;

    sg_cause_split_preempted(
        SG_CAUSE_PREEMPTED, runnable_ns, (double)own->of[SG_FIGURE_THREADS_HERE],
        is_known ? (double)own->of[SG_FIGURE_THREADS_ELSEWHERE] : runnable_ns, shares);
    for (unsigned i = SG_CAUSE_PREEMPTED_THREADS; i <= SG_CAUSE_PREEMPTED_OTHERS; i++)
        most = shares[i] > shares[most] ? i : most;
    return most;
}

static enum sg_cause main_part(const struct sg_before_figures *own)
{
    uint64_t cpu_ns = own->of[SG_FIGURE_CPU], runnable_ns = own->of[SG_FIGURE_RUNNABLE];
    uint64_t off_ns = sg_before_off_ns(own);

    if ((own->mask & clock_mask) != clock_mask)
        return SG_CAUSE_UNKNOWN;
    if (cpu_ns >= runnable_ns && cpu_ns >= off_ns)
        return SG_CAUSE_COMPUTING;
    return runnable_ns >= off_ns ? preempted_by(own) : SG_CAUSE_ASLEEP;
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

/* All members of a communicator wait for the last one. */
static const uint32_t together_mask = 1u << SG_WAITSTATE_BARRIER | 1u << SG_WAITSTATE_NXN |
                                      1u << SG_WAITSTATE_FENCE | 1u << SG_WAITSTATE_CREATE |
                                      1u << SG_WAITSTATE_FREE | 1u << SG_WAITSTATE_FILE |
                                      1u << SG_WAITSTATE_COMM;

/* True if others waited for the rank there, all of them: a delay before the call is no reason for
 * their waits after it. */
static bool is_awaited_by_all(const struct sg_report *report, uint32_t rank,
                              const struct sg_waitstate_place *place)
{
    const struct sg_waitstates *states = report->waitstates;

    for (uint32_t i = 0; i < states->pair_count; i++) {
        const struct sg_waitstate_pair *pair = &states->pairs[i];

        if (pair->rank == rank && (1u << pair->kind & together_mask) != 0 &&
            sg_waitstate_is_same_line(&pair->other, place))
            return true;
    }
    return false;
}

/* Short calls that the late rank makes one after another, to begin messages. */
#define STEPS 8

/* The evidence that a reason by intervals takes. */
enum evidence {
    ENOUGH, /* samples */
    FEW,    /* samples, which must agree */
    PATH    /* exact times on the critical path */
};

/* Sums do not show whether few samples agree, unless one cause has nearly all of the time. */
static bool do_agree(const struct sg_before_figures *own, enum sg_cause cause)
{
    uint64_t ns = cause == SG_CAUSE_COMPUTING ? own->of[SG_FIGURE_CPU]
                  : cause == SG_CAUSE_ASLEEP  ? sg_before_off_ns(own)
                                              : own->of[SG_FIGURE_RUNNABLE];

    return (double)ns >= REASON_ALIKE * (double)own->time_ns;
}

static void judge(const struct intervals *found, enum evidence evidence, struct reason *reason)
{
    const struct sg_before_row *row = found->sampled;

    reason->after = found->after;
    reason->until = found->until;
    if (evidence == PATH) {
        reason->is_known = true;
        return;
    }
    reason->cause = evidence == ENOUGH && row->has_cause && is_reason(row->cause)
                        ? row->cause
                        : main_part(&row->own);
    reason->is_known =
        is_reason(reason->cause) && (evidence == ENOUGH || do_agree(&row->own, reason->cause));
    reason->few = evidence == FEW ? row->own.intervals : 0;
}

/* By the late rank's intervals before the call at fault, back to one that is long enough to explain
 * the mean wait. */
static void find_before(const struct sg_report *report, const struct sg_waitstate_site *site,
                        enum evidence evidence, struct reason *reason)
{
    const struct sg_waitstate_place *until = &site->other;
    uint64_t waits = site->other_of.waits > 0 ? site->other_of.waits : 1;
    double least_ns = (double)site->other_of.wait_ns / (double)waits / 2;
    uint32_t rank = site->late[0].rank;

    for (int step = 0; step < STEPS; step++) {
        const struct intervals found = evidence == PATH
                                           ? intervals_on_path(report, rank, until, least_ns)
                                           : intervals_before(report, rank, until, least_ns);

        if (found.sampled != NULL && found.sampled->own.intervals > reason->samples)
            reason->samples = found.sampled->own.intervals;
        if (found.until == NULL ||
            (evidence == ENOUGH && found.sampled->own.intervals < enough_for(until)))
            return;
        if (found.mean_ns >= least_ns) {
            judge(&found, evidence, reason);
            return;
        }
        if (found.after->function != NULL && is_waited_in(report, site, found.after)) {
            reason->follows = found.after;
            return;
        }
        if (is_awaited_by_all(report, rank, found.after))
            return;
        until = found.after;
    }
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
        judge(&(struct intervals){.after = row->after, .until = &site->other, .sampled = row},
              ENOUGH, reason);
}

/* True if the table names one rank as late. */
static bool is_blamed(const struct sg_waitstate_site *site)
{
    return site->late[0].wait_ns > site->of.wait_ns / 2;
}

static void put_reason(const struct sg_report *report, const struct sg_waitstate_site *site,
                       const struct reason *reason, FILE *out)
{
    const char *name = sg_cause_names[reason->cause];
    const char *in_calls = strstr(name, " in calls");

    if (sg_cause_is_crowding(reason->cause) && sg_report_is_crowded(report)) {
        fputs("preempted: too many ranks", out);
        return;
    }
    if (reason->rank == SEVERAL && is_blamed(site))
        fputs("other ranks ", out);
    else if (reason->rank != SEVERAL && reason->rank != site->late[0].rank)
        fprintf(out, "rank %" PRIi64 " ", reason->rank);
    if (sg_cause_is_crowding(reason->cause)) {
        fputs(is_of_others(reason->cause) ? "preempted by other processes" : "preempted", out);
        return;
    }
    if (is_of_threads(reason->cause)) {
        fputs("preempted by its own threads", out);
        return;
    }
    if (reason->cause == SG_CAUSE_UNKNOWN)
        name = "outside MPI";
    fprintf(out, "%.*s", in_calls != NULL ? (int)(in_calls - name) : (int)strlen(name), name);
    if (sg_cause_is_in_calls(reason->cause) && reason->until->function != NULL)
        fprintf(out, " in %s", reason->until->function);
    else if (!sg_cause_is_in_calls(reason->cause) && reason->until->function != NULL) {
        fputc(' ', out);
        sg_waitstate_put_interval(reason->after, reason->until, out);
    }
}

/* True if a setting would give more samples. */
static bool can_have_more(const struct sg_report *report, const struct sg_waitstate_site *site)
{
    return !report->all_sampled && site->of.waits >= SG_REASON_SAMPLES && !is_finalize(&site->at);
}

static struct reason find_reason(const struct sg_report *report,
                                 const struct sg_waitstate_site *site)
{
    const struct sg_cause_site *causes = causes_of(report, site);
    struct reason reason = {.cause = SG_CAUSE_UNKNOWN, .rank = site->late[0].rank};
    bool is_few = !can_have_more(report, site);

    if (causes != NULL)
        find_cause(site, causes, false, &reason);
    if (!reason.is_known && is_init(&site->other)) {
        find_start(report, site, &reason);
        return reason;
    }
    if (!reason.is_known)
        find_before(report, site, ENOUGH, &reason);
    if (!reason.is_known && reason.follows == NULL && is_few && causes != NULL)
        find_cause(site, causes, true, &reason);
    if (!reason.is_known && reason.follows == NULL && is_few)
        find_before(report, site, FEW, &reason);
    if (!reason.is_known && reason.follows == NULL)
        find_before(report, site, PATH, &reason);
    return reason;
}

void sg_waitstate_put_because(const struct sg_report *report, const struct sg_waitstate_site *site,
                              FILE *out)
{
    const struct reason reason = find_reason(report, site);

    if (reason.is_known) {
        put_reason(report, site, &reason, out);
        if (reason.few == 1)
            fputs(", once", out);
        else if (reason.few > 1)
            fprintf(out, ", %" PRIu64 " samples", reason.few);
    } else if (reason.started_later) {
        fputs("started later", out);
    } else if (reason.follows != NULL) {
        fprintf(out, "waited in %s", reason.follows->function);
    } else if (reason.samples > 0 && site->of.waits < SG_REASON_SAMPLES) {
        fprintf(out, "few waits (%" PRIu64 ")", site->of.waits);
    } else if (reason.samples > 0 && reason.samples < SG_REASON_SAMPLES) {
        fprintf(out, "few samples (%" PRIu64 ")", reason.samples);
    } else {
        fputc('-', out);
    }
}

const char *sg_waitstate_samples_note(const struct sg_report *report,
                                      const struct sg_waitstate_site *sites, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct reason reason = find_reason(report, &sites[i]);
        bool is_sampled = reason.is_known && reason.cause != SG_CAUSE_UNKNOWN;

        if (!is_sampled && reason.follows == NULL && reason.samples > 0 &&
            reason.samples < SG_REASON_SAMPLES && can_have_more(report, &sites[i]))
            return "to tell computing, sleep and preemption apart everywhere: STAGGER_CAUSES=all";
    }
    return NULL;
}

json_t *sg_waitstate_because_rank(const struct sg_report *report,
                                  const struct sg_waitstate_site *site)
{
    const struct reason reason = find_reason(report, site);
    bool has_rank = (reason.is_known || reason.follows != NULL) && reason.rank != SEVERAL;

    return has_rank ? json_integer(reason.rank) : json_null();
}

bool sg_waitstate_is_by_threads(const struct sg_report *report,
                                const struct sg_waitstate_site *site)
{
    const struct reason reason = find_reason(report, site);

    return reason.is_known && reason.few == 0 && is_of_threads(reason.cause);
}
