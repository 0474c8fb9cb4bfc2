/* Finds the source that a path names: the archive, the logs, or both if the archive left events
 * out.
 */
#include "core/text.h"
#include "output/progress_line.h"
#include "report/aggregate.h"
#include "report/cause_table.h"
#include "report/critical_path.h"
#include "report/filter.h"
#include "report/open_calls.h"
#include "report/profile_calls.h"
#include "report/profile_table.h"
#include "report/report.h"
#include "report/rule_use.h"
#include "report/source_otf2.h"
#include "report/source_stats.h"
#include "report/wait_sums.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define AWAIT_END_MS 500

struct place {
    char *directory;
    char *anchor;
    bool has_archive;
    bool has_logs;
};

static bool is_anchor(const char *path)
{
    size_t length = strlen(path);

    return length > 5 && strcmp(path + length - 5, ".otf2") == 0;
}

/* path is the directory of a run, or the anchor file in it. */
static enum sg_status find_place(const char *path, struct place *out)
{
    struct place place = {0};
    struct stat info;
    const char *slash = strrchr(path, '/');

    if (stat(path, &info) != 0) {
        sg_log("%s: %m", path);
        return SG_ERR_MISSING;
    }
    if (!S_ISDIR(info.st_mode) && !is_anchor(path)) {
        sg_log("%s: neither a run's output directory nor the path of an archive (traces.otf2)",
               path);
        return SG_ERR_FORMAT;
    }
    if (S_ISDIR(info.st_mode)) {
        place.directory = strdup(path);
        if (asprintf(&place.anchor, "%s%straces.otf2", path,
                     path[strlen(path) - 1] == '/' ? "" : "/") < 0)
            place.anchor = NULL;
    } else {
        place.anchor = strdup(path);
        place.directory =
            slash == NULL ? strdup(".") : strndup(path, slash == path ? 1 : (size_t)(slash - path));
    }
    if (place.directory == NULL || place.anchor == NULL) {
        sg_log("%s: out of memory", path);
        free(place.directory);
        free(place.anchor);
        return SG_ERR_MEMORY;
    }
    place.has_archive = stat(place.anchor, &info) == 0;
    place.has_logs = sg_logread_any(place.directory);
    *out = place;
    return SG_OK;
}

/* The statistics of all calls contain no times of day, so a filter by time excludes them. */
static bool wants_calls(const struct sg_watch *watch)
{
    return watch != NULL && watch->calls && (watch->filter == NULL || watch->filter->time == NULL);
}

/* Makes the table of all calls, if the watch wants it: from the logs of set, or from the files
 * beside the archive at path if set is NULL. */
static enum sg_status read_calls(const char *path, const struct sg_log_set *set,
                                 const struct sg_watch *watch, struct sg_aggregate *aggregate,
                                 struct sg_call_table **out)
{
    enum sg_status status;

    *out = NULL;
    if (!wants_calls(watch))
        return SG_OK;
    status = sg_call_table_create(aggregate, watch->filter, out);
    if (status != SG_OK) {
        sg_log("%s: out of memory", path);
        return status;
    }
    if (set != NULL)
        status = sg_call_source_logs(set, aggregate, watch->filter, *out);
    else
        status = sg_call_source_files(path, aggregate, watch->filter, *out);
    if (status != SG_OK) {
        sg_call_table_destroy(*out);
        *out = NULL;
    }
    return status;
}

/* Reads the open calls, if the watch wants them. */
static enum sg_status read_open_calls(const char *path, const struct sg_log_set *set,
                                      const struct sg_watch *watch, struct sg_aggregate *aggregate,
                                      struct sg_report *report)
{
    enum sg_status status = SG_OK;

    if (watch != NULL && watch->open_calls && watch->filter == NULL)
        status = sg_open_calls_read(set, aggregate, watch->just_ended, &report->open_calls);
    if (status != SG_OK)
        sg_log("%s: out of memory", path);
    return status;
}

/* If the archive left events out, the logs beside it still count those calls. */
static enum sg_status add_statistics(const struct place *place, struct sg_progress_line *progress,
                                     const struct sg_watch *watch, struct sg_aggregate *aggregate,
                                     struct sg_report *report)
{
    struct sg_log_set set;
    struct sg_log_facts facts;
    enum sg_status status = sg_log_set_open(place->directory, &set);

    if (status != SG_OK)
        return status;
    sg_log_set_facts(&set, &facts);
    if ((uint32_t)set.world_size != report->rank_count) {
        sg_log("%s: there are logs of %d ranks, but the archive is of %u", place->directory,
               set.world_size, report->rank_count);
        status = SG_ERR_FORMAT;
    } else {
        status = sg_source_stats(&set, progress, aggregate);
    }
    if (status == SG_OK)
        status = read_open_calls(place->directory, &set, watch, aggregate, report);
    if (status == SG_OK) {
        report->has_statistics = true;
        report->unmanaged_calls = facts.unmanaged_calls;
        report->unmanaged_nonblocking = facts.unmanaged_nonblocking;
        report->unmanaged_full = facts.unmanaged_full;
        if (report->program == NULL && facts.program != NULL)
            report->program = strdup(facts.program);
    }
    sg_log_set_close(&set);
    return status;
}

/* calls: the table of all MPI calls, which this takes over; NULL: not wanted. */
static enum sg_status finish(struct sg_aggregate *aggregate, struct sg_call_table *calls,
                             const char *path, struct sg_report *report)
{
    enum sg_status status = sg_aggregate_finish(aggregate, report);

    if (status == SG_OK && calls != NULL)
        status = sg_call_table_finish(calls, report, &report->calls);
    else
        sg_call_table_destroy(calls);
    if (status == SG_OK)
        status = sg_report_set_efficiency(report);
    report->path = strdup(path);
    if (report->path == NULL)
        status = SG_ERR_MEMORY;
    if (status != SG_OK)
        sg_log("%s: out of memory", path);
    return status;
}

static enum sg_status read_archive(const struct place *place, struct sg_progress_line *progress,
                                   const struct sg_watch *watch, struct sg_report *report)
{
    enum sg_status status = sg_source_otf2(place->anchor, progress, watch, report);
    struct sg_call_table *calls = NULL;

    if (status != SG_OK)
        return status;
    report->rank_count = sg_aggregate_ranks(report->strings);
    if (report->partial && place->has_logs)
        status = add_statistics(place, progress, watch, report->strings, report);
    if (status == SG_OK)
        status = read_calls(place->anchor, NULL, watch, report->strings, &calls);
    return status == SG_OK ? finish(report->strings, calls, place->anchor, report) : status;
}

/* Logs the reason why there are no events to read. */
static enum sg_status say_no_archive(const struct place *place, const struct sg_log_set *set,
                                     const struct sg_log_facts *facts)
{
    char word[SG_WORD_BYTES];

    if (facts->living > 0)
        sg_log("%s: " SG_LOGREAD_IN_PROGRESS "; there is no archive yet", place->directory,
               facts->living, set->world_size);
    else if (facts->any_otf2)
        sg_log("%s: the run ended without an archive; make it with: stagger recover %s",
               place->directory, sg_text_word(place->directory, word, sizeof word));
    else
        sg_log("%s: the run recorded statistics but no events (STAGGER_TRACE=stats)",
               place->directory);
    return SG_ERR_MISSING;
}

static bool filters_time(const struct sg_watch *watch)
{
    return watch != NULL && watch->filter != NULL && watch->filter->time != NULL;
}

static bool shows_open_calls(const struct sg_watch *watch)
{
    return watch != NULL && watch->open_calls;
}

static bool wants_events(const struct sg_watch *watch)
{
    return watch != NULL && (watch->location != NULL || watch->clock != NULL ||
                             watch->instance != NULL || watch->late != NULL);
}

enum sg_status sg_report_of_logs(const struct sg_log_set *set, const char *path,
                                 struct sg_progress_line *progress, const struct sg_watch *watch,
                                 struct sg_report *out)
{
    struct sg_report report = {.has_statistics = true};
    struct sg_log_facts facts;
    struct sg_aggregate *aggregate = NULL;
    struct sg_call_table *calls = NULL;
    enum sg_status status = sg_aggregate_create((uint32_t)set->world_size, &aggregate);

    if (status != SG_OK) {
        sg_log("%s: out of memory", path);
        return status;
    }
    report.strings = aggregate;
    sg_aggregate_watch(aggregate, watch);
    sg_log_set_facts(set, &facts);
    if (facts.living == 0)
        status = sg_aggregate_read_rules(aggregate, path, &facts.waiting);
    if (status == SG_OK)
        status = sg_source_stats(set, progress, aggregate);
    if (status == SG_OK)
        status = sg_log_set_learned(set, &report.learned);
    if (status == SG_OK)
        status = read_calls(path, set, watch, aggregate, &calls);
    if (status == SG_OK)
        status = read_open_calls(path, set, watch, aggregate, &report);
    if (status == SG_OK) {
        report.partial = !facts.complete;
        report.overhead_calls = facts.overhead_calls;
        report.overhead_ns = facts.overhead_ns;
        report.overhead_long_calls = facts.overhead_long_calls;
        report.waiting = facts.waiting;
        report.off_ns = facts.off_ns;
        report.living = (uint32_t)facts.living;
        report.unrecovered = facts.any_otf2 && facts.living == 0;
        report.unmanaged_calls = facts.unmanaged_calls;
        report.unmanaged_nonblocking = facts.unmanaged_nonblocking;
        report.unmanaged_full = facts.unmanaged_full;
        report.program = facts.program != NULL ? strdup(facts.program) : NULL;
        status = finish(aggregate, calls, path, &report);
    }
    if (status == SG_OK)
        *out = report;
    else
        sg_report_clear(&report);
    return status;
}

/* During a run the statistics are used, unless events are needed. */
static enum sg_status read_logs(const struct place *place, struct sg_progress_line *progress,
                                const struct sg_watch *watch, struct sg_report *report)
{
    struct sg_log_set set;
    struct sg_log_facts facts;
    enum sg_status status;

    sg_logread_await_end(place->directory, AWAIT_END_MS);
    status = sg_log_set_open(place->directory, &set);
    if (status != SG_OK)
        return status;
    sg_log_set_facts(&set, &facts);
    if (filters_time(watch) && !facts.any_otf2) {
        sg_log("%s: --time needs events; this run recorded statistics only", place->directory);
        status = SG_ERR_MISSING;
    } else if (facts.any_otf2 &&
               (filters_time(watch) ||
                (!shows_open_calls(watch) && (facts.living == 0 || wants_events(watch))))) {
        status = say_no_archive(place, &set, &facts);
    } else {
        if (facts.living > 0)
            sg_log("%s: " SG_LOGREAD_IN_PROGRESS "; showing its statistics so far",
                   place->directory, facts.living, set.world_size);
        else if (facts.any_otf2)
            say_no_archive(place, &set, &facts);
        status = sg_report_of_logs(&set, place->directory, progress, watch, report);
    }
    sg_log_set_close(&set);
    return status;
}

/* Logs why there is nothing to read events from. */
static enum sg_status say_nothing(const struct place *place)
{
    struct sg_log_set set;
    struct sg_log_facts facts;
    enum sg_status status;

    if (!place->has_logs) {
        sg_log("%s: contains neither traces.otf2 nor rank-*.log", place->directory);
        return SG_ERR_MISSING;
    }
    status = sg_log_set_open(place->directory, &set);
    if (status != SG_OK)
        return status;
    sg_log_set_facts(&set, &facts);
    status = say_no_archive(place, &set, &facts);
    sg_log_set_close(&set);
    return status;
}

enum sg_status sg_report_find_archive(const char *path, char **anchor)
{
    struct place place;
    enum sg_status status = find_place(path, &place);

    if (status != SG_OK)
        return status;
    if (!place.has_archive)
        status = say_nothing(&place);
    free(place.directory);
    if (status == SG_OK)
        *anchor = place.anchor;
    else
        free(place.anchor);
    return status;
}

enum sg_status sg_report_read(const char *path, bool progress_wanted, const struct sg_watch *watch,
                              struct sg_report *out)
{
    struct sg_report report = {0};
    struct sg_progress_line progress;
    struct place place;
    enum sg_status status = find_place(path, &place);

    if (status != SG_OK)
        return status;
    sg_progress_line_start(&progress, progress_wanted);
    if (place.has_archive) {
        status = read_archive(&place, &progress, watch, &report);
    } else if (place.has_logs) {
        status = read_logs(&place, &progress, watch, &report);
    } else {
        status = say_nothing(&place);
    }
    free(place.directory);
    free(place.anchor);
    if (status == SG_OK)
        *out = report;
    else
        sg_report_clear(&report);
    return status;
}

void sg_report_clear(struct sg_report *report)
{
    for (uint32_t i = 0; i < report->site_count; i++)
        free(report->sites[i].algorithm);
    for (uint32_t i = 0; i < report->sum_count; i++)
        free(report->sums[i].algorithm);
    for (uint32_t i = 0; i < report->trial_count; i++)
        sg_report_trial_clear(&report->trials[i]);
    for (uint32_t i = 0; i < report->rule_count; i++)
        sg_rule_use_clear(&report->rules[i]);
    sg_learned_clear(&report->learned);
    sg_calls_free(report->calls);
    sg_waitstates_free(report->waitstates);
    sg_path_free(report->critical_path);
    sg_causes_found_free(report->causes);
    sg_open_calls_free(report->open_calls);
    sg_efficiency_clear(&report->efficiency);
    free(report->trials);
    free(report->rules);
    free(report->sites);
    free(report->sums);
    free(report->ranks);
    free(report->path);
    free(report->program);
    sg_aggregate_destroy(report->strings);
    *report = (struct sg_report){0};
}

uint64_t sg_report_overhead_ns(const struct sg_report *report)
{
    if (report->overhead_calls == 0)
        return 0;
    return (uint64_t)((double)report->overhead_ns / (double)report->overhead_calls *
                      (double)report->total.calls);
}
