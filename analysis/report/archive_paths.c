#include "report/archive_waits.h"

#include "report/cause_finder.h"
#include "report/critical_path.h"
#include "report/path_history.h"
#include "report/quantiles.h"
#include "report/wait_tracker.h"

#include <stdlib.h>

struct sg_archive_paths {
    const struct sg_archive_defs *defs;
    struct sg_critical *critical;
    struct sg_cause_finder *causes;
    uint32_t *ranks; /* by location, as are clock_errors_ns */
    uint64_t *clock_errors_ns;
    struct sg_map location_of_thread;
};

static uint64_t thread_key(uint32_t rank, uint32_t thread)
{
    return (uint64_t)rank << 32 | thread;
}

static enum sg_status find_threads(struct sg_archive_paths *paths,
                                   const struct sg_archive_defs *defs)
{
    enum sg_status status = SG_OK;

    for (uint32_t i = 0; i < defs->location_count && status == SG_OK; i++) {
        const struct sg_def_location *location = &defs->locations[i];

        paths->clock_errors_ns[i] = location->clock_error_ns;
        if (location->rank < 0)
            continue;
        paths->ranks[i] = (uint32_t)location->rank;
        status = sg_map_put(&paths->location_of_thread,
                            thread_key((uint32_t)location->rank, location->thread), i);
    }
    return status;
}

enum sg_status sg_archive_paths_create(const struct sg_archive_defs *defs,
                                       struct sg_waitstate_tracker *tracker,
                                       struct sg_places *places, struct sg_archive_paths **out)
{
    struct sg_archive_paths *paths = calloc(1, sizeof *paths);
    enum sg_status status = SG_ERR_MEMORY;

    if (paths == NULL)
        return SG_ERR_MEMORY;
    paths->defs = defs;
    paths->ranks = calloc((size_t)defs->location_count + 1, sizeof *paths->ranks);
    paths->clock_errors_ns =
        calloc((size_t)defs->location_count + 1, sizeof *paths->clock_errors_ns);
    if (paths->ranks != NULL && paths->clock_errors_ns != NULL)
        status = sg_critical_create(places, defs->location_count, &paths->critical);
    if (status == SG_OK)
        status =
            sg_cause_finder_create(sg_critical_history(paths->critical), places, paths->ranks,
                                   paths->clock_errors_ns, defs->location_count, &paths->causes);
    if (status == SG_OK)
        status = find_threads(paths, defs);
    if (status != SG_OK) {
        sg_archive_paths_destroy(paths);
        return status;
    }
    sg_waitstate_tracker_follow(tracker, paths->critical, paths->causes);
    *out = paths;
    return SG_OK;
}

void sg_archive_paths_destroy(struct sg_archive_paths *paths)
{
    if (paths == NULL)
        return;
    sg_cause_finder_destroy(paths->causes);
    sg_critical_destroy(paths->critical);
    sg_map_clear(&paths->location_of_thread);
    free(paths->ranks);
    free(paths->clock_errors_ns);
    free(paths);
}

/* ---- intervals between calls ----------------------------------------------------------------- */

static void set_figure(struct sg_sampled_interval *interval, enum sg_figure figure, uint64_t value)
{
    static const uint8_t known[SG_FIGURE_COUNT] = {
        [SG_FIGURE_CPU] = SG_KNOWN_CPU,
        [SG_FIGURE_RUNNABLE] = SG_KNOWN_RUNNABLE,
        [SG_FIGURE_USER] = SG_KNOWN_USAGE,
        [SG_FIGURE_INSTRUCTIONS] = SG_KNOWN_INSTRUCTIONS,
        [SG_FIGURE_AWAY] = SG_KNOWN_SWITCH,
        [SG_FIGURE_CALL_CPU] = SG_KNOWN_CALL,
        [SG_FIGURE_THREADS_HERE] = SG_KNOWN_THREADS,
        [SG_FIGURE_CALL_THREADS_HERE] = SG_KNOWN_CALL_OTHERS,
    };
    uint64_t *const to[SG_FIGURE_COUNT] = {
        [SG_FIGURE_CPU] = &interval->cpu_ns,
        [SG_FIGURE_RUNNABLE] = &interval->runnable_ns,
        [SG_FIGURE_THROTTLED] = &interval->throttled_ns,
        [SG_FIGURE_USER] = &interval->user_ns,
        [SG_FIGURE_SYSTEM] = &interval->system_ns,
        [SG_FIGURE_MINOR_FAULTS] = &interval->faults,
        [SG_FIGURE_MAJOR_FAULTS] = &interval->blocks,
        [SG_FIGURE_BLOCKS_IN] = &interval->blocks,
        [SG_FIGURE_BLOCKS_OUT] = &interval->blocks,
        [SG_FIGURE_INSTRUCTIONS] = &interval->instructions,
        [SG_FIGURE_CYCLES] = &interval->cycles,
        [SG_FIGURE_RESUMED] = &interval->resumed_ns,
        [SG_FIGURE_AWAY] = &interval->away_ns,
        [SG_FIGURE_READY] = &interval->was_ready,
        [SG_FIGURE_CALL_CPU] = &interval->call_cpu_ns,
        [SG_FIGURE_CALL_RUNNABLE] = &interval->call_runnable_ns,
        [SG_FIGURE_THREADS_HERE] = &interval->threads_here_ns,
        [SG_FIGURE_THREADS_ELSEWHERE] = &interval->threads_elsewhere_ns,
        [SG_FIGURE_CALL_THREADS_HERE] = &interval->call_threads_here_ns,
        [SG_FIGURE_CALL_THREADS_ELSEWHERE] = &interval->call_threads_elsewhere_ns,
        [SG_FIGURE_CALL_THROTTLED] = &interval->call_throttled_ns,
    };

    interval->known |= known[figure];
    if (to[figure] != NULL && value <= UINT64_MAX - *to[figure])
        *to[figure] += value;
}

enum sg_status sg_archive_paths_metrics(struct sg_archive_paths *paths, uint32_t location,
                                        int64_t time_ns, const struct sg_def_metric_class *class,
                                        uint8_t count, const uint64_t *values)
{
    enum sg_status status = SG_OK;

    for (uint8_t i = 0; paths != NULL && i < count && status == SG_OK; i++) {
        uint8_t figure = class->figures[i];
        struct sg_sampled_interval *last = sg_cause_finder_last(paths->causes, location);

        if (figure == SG_DEF_INTERVAL && values[i] <= INT64_MAX)
            status = sg_cause_finder_interval(
                paths->causes, location,
                &(struct sg_sampled_interval){.begin_ns = time_ns - (int64_t)values[i],
                                              .end_ns = time_ns});
        else if (figure < SG_FIGURE_COUNT && last != NULL && last->end_ns == time_ns)
            set_figure(last, figure, values[i]);
    }
    return status;
}

/* ---- the library's collectives --------------------------------------------------------------- */

static int64_t location_of(const struct sg_archive_paths *paths, const struct sg_member_call *call)
{
    return sg_map_get(&paths->location_of_thread, thread_key(call->rank, call->thread));
}

/* False: the thread of some member is not known. */
static bool find_members(const struct sg_archive_paths *paths, const struct sg_instance *instance,
                         uint32_t function, struct sg_cause_member *members)
{
    for (uint32_t i = 0; i < instance->size; i++) {
        const struct sg_member_call *call = &instance->calls[i];
        int64_t location = location_of(paths, call);

        if (location < 0)
            return false;
        members[i].who = (struct sg_waitstate_end){.function = function,
                                                   .site = call->site,
                                                   .rank = call->rank,
                                                   .location = (uint32_t)location};
        members[i].came_ns = call->begin_ns;
    }
    return true;
}

static enum sg_cause_waiting waiting_of(enum sg_operation operation)
{
    return operation == SG_OPERATION_BCAST    ? SG_CAUSE_WAIT_FOR_ROOT
           : operation == SG_OPERATION_REDUCE ? SG_CAUSE_ROOT_WAITS
                                              : SG_CAUSE_ALL_WAIT;
}

/* Records whose begin each member's call needs, also where it did not wait for it. A nonblocking
 * collective needs it in the call in which it is complete. */
static void need_members(struct sg_critical *critical, const struct sg_instance *instance,
                         const struct sg_cause_member *members)
{
    enum sg_cause_waiting waiting = waiting_of(instance->operation);
    struct sg_history *history = sg_critical_history(critical);
    uint32_t list = 0;

    for (uint32_t i = 0; i < instance->size; i++) {
        if (waiting != SG_CAUSE_WAIT_FOR_ROOT || i == instance->root)
            sg_history_link(history, &list, members[i].who.location, members[i].came_ns);
    }
    for (uint32_t i = 0; i < instance->size; i++) {
        const struct sg_member_call *call = &instance->calls[i];

        if (waiting != SG_CAUSE_ROOT_WAITS || i == instance->root)
            sg_critical_need(critical, members[i].who.location,
                             instance->nonblocking ? call->end_ns : call->begin_ns, list);
    }
}

enum sg_status sg_archive_paths_instance(struct sg_archive_paths *paths,
                                         const struct sg_instance *instance, uint32_t function)
{
    struct sg_cause_member *members;
    enum sg_status status = SG_OK;
    struct sg_measure measure;

    if (paths == NULL)
        return SG_OK;
    members = malloc(instance->size * sizeof *members);
    if (members == NULL)
        return SG_ERR_MEMORY;
    sg_measure_instance(instance, &measure);
    if (find_members(paths, instance, function, members)) {
        need_members(paths->critical, instance, members);
        status = sg_cause_finder_instance(
            paths->causes, &(struct sg_cause_instance){.comm = instance->comm,
                                                       .waiting = waiting_of(instance->operation),
                                                       .root = instance->root,
                                                       .size = instance->size,
                                                       .is_contradicted = measure.violation_ns > 0,
                                                       .members = members});
    }
    free(members);
    return status;
}

/* True if need_members() has linked the awaited member for this one. */
static bool has_need(const struct sg_instance *instance, uint32_t member, uint32_t awaited)
{
    enum sg_cause_waiting waiting = waiting_of(instance->operation);

    return waiting == SG_CAUSE_WAIT_FOR_ROOT
               ? awaited == instance->root
               : waiting == SG_CAUSE_ALL_WAIT || member == instance->root;
}

/* A nonblocking collective waits in the call in which it is complete. */
void sg_archive_paths_wait(struct sg_archive_paths *paths, const struct sg_instance *instance,
                           uint32_t member, uint32_t last)
{
    const struct sg_member_call *call = &instance->calls[member], *other = &instance->calls[last];
    int64_t at = paths != NULL ? location_of(paths, call) : -1;
    int64_t to = paths != NULL ? location_of(paths, other) : -1;
    int64_t at_ns = instance->nonblocking ? call->end_ns : call->begin_ns;
    uint32_t list = 0;

    if (at < 0 || to < 0)
        return;
    sg_critical_wait(paths->critical, (uint32_t)at, at_ns, other->begin_ns, (uint32_t)to);
    if (has_need(instance, member, last))
        return;
    sg_history_link(sg_critical_history(paths->critical), &list, (uint32_t)to, other->begin_ns);
    sg_critical_need(paths->critical, (uint32_t)at, at_ns, list);
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Finds each rank's first thread with calls, by rank; malloc'ed. NULL: out of memory. */
static uint32_t *find_firsts(const struct sg_archive_defs *defs, const struct sg_history *history)
{
    uint32_t *firsts = malloc(((size_t)defs->rank_count + 1) * sizeof *firsts);

    for (uint32_t i = 0; firsts != NULL && i < defs->rank_count; i++)
        firsts[i] = SG_HISTORY_NOBODY;
    for (uint32_t i = 0; firsts != NULL && i < defs->location_count; i++) {
        const struct sg_def_location *location = &defs->locations[i];
        uint32_t *first = location->rank >= 0 ? &firsts[location->rank] : NULL;

        if (first != NULL && sg_history_count(history, i) > 0 &&
            (*first == SG_HISTORY_NOBODY || location->thread < defs->locations[*first].thread))
            *first = i;
    }
    return firsts;
}

/* A rank's first thread counts for the rank's run, and so do all if the last events were left out;
 * another one counts from its first call to its last. */
static void count_thread(const struct sg_report *report, struct sg_history *history,
                         uint32_t location, struct sg_efficiency_thread *thread)
{
    struct sg_rank *rank = &((struct sg_aggregate *)report->strings)->ranks[thread->rank];
    uint64_t count = sg_history_count(history, location);

    thread->begin_ns = rank->begin_ns;
    thread->end_ns = rank->end_ns;
    rank->threads += count > 0;
    if (count == 0 || location == thread->first)
        return;
    if (sg_history_at(history, location, 0)->begin_ns > thread->begin_ns)
        thread->begin_ns = sg_history_at(history, location, 0)->begin_ns;
    if (!report->partial && sg_history_at(history, location, count - 1)->end_ns < thread->end_ns)
        thread->end_ns = sg_history_at(history, location, count - 1)->end_ns;
    rank->short_threads++;
    if (thread->end_ns > thread->begin_ns)
        rank->short_ns += (uint64_t)thread->end_ns - (uint64_t)thread->begin_ns;
}

/* The replay overwrites waits: critical path and causes are known by now. */
static enum sg_status find_efficiency(const struct sg_archive_paths *paths,
                                      struct sg_report *report)
{
    struct sg_history *history = sg_critical_history(paths->critical);
    const struct sg_archive_defs *defs = paths->defs;
    uint32_t *firsts = find_firsts(defs, history);
    struct sg_efficiency_thread *threads =
        calloc((size_t)defs->location_count + 1, sizeof *threads);
    enum sg_status status = firsts != NULL && threads != NULL ? SG_OK : SG_ERR_MEMORY;

    for (uint32_t i = 0; i < defs->location_count && status == SG_OK; i++) {
        const struct sg_def_location *location = &defs->locations[i];

        if (location->rank < 0)
            continue;
        threads[i] = (struct sg_efficiency_thread){.rank = (uint32_t)location->rank,
                                                   .first = firsts[location->rank],
                                                   .node = location->node};
        count_thread(report, history, i, &threads[i]);
    }
    if (status == SG_OK)
        status =
            sg_efficiency_of_events(history, threads, defs->location_count, &report->efficiency);
    report->efficiency.unmatched = report->waitstates->unmatched_receives;
    free(threads);
    free(firsts);
    return status;
}

enum sg_status sg_archive_paths_finish(struct sg_archive_paths *paths, struct sg_report *report)
{
    enum sg_status status;

    if (paths == NULL)
        return SG_OK;
    status = sg_critical_finish(paths->critical,
                                report->recorded_ns > 0 && report->recorded_ns < INT64_MAX
                                    ? (int64_t)report->recorded_ns
                                    : INT64_MAX,
                                &report->critical_path);
    if (status == SG_OK)
        status = sg_cause_finder_finish(paths->causes, &report->causes);
    return status == SG_OK ? find_efficiency(paths, report) : status;
}
