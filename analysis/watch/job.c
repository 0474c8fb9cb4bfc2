#include "watch/job.h"

#include "core/clock.h"
#include "core/clocksync.h"
#include "core/room.h"
#include "output/progress.h"
#include "watch/slots.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OPEN_TRIES 50
#define OPEN_PAUSE_MS 20

/* ---- its logs -------------------------------------------------------------------------------- */

static bool is_known(const struct sg_live_job *job, int rank)
{
    bool known = false;

    for (uint32_t i = 0; i < job->log_count && !known; i++)
        known = job->logs[i].rank == rank;
    return known;
}

static bool is_of_job(const struct sg_live_job *job, const struct sg_live_log *log)
{
    const struct sg_log_header *first = job->log_count > 0 ? &job->logs[0].header : NULL;

    return first == NULL || (log->header.world_size == first->world_size &&
                             strcmp(log->header.unique, first->unique) == 0);
}

static bool keep_refused(struct sg_live_job *job, int rank, const struct sg_refusal *why)
{
    const struct sg_live_refused refused = {.rank = rank, .why = *why};

    if (SG_APPEND(job->refused, job->refused_count, refused))
        return true;
    job->status = SG_ERR_MEMORY;
    return false;
}

static bool keep_log(struct sg_live_job *job, struct sg_live_log *log)
{
    uint32_t at = job->log_count;

    if (!SG_APPEND(job->logs, job->log_count, *log)) {
        sg_live_log_close(log);
        job->status = SG_ERR_MEMORY;
        return false;
    }
    for (; at > 0 && job->logs[at - 1].rank > log->rank; at--)
        job->logs[at] = job->logs[at - 1];
    job->logs[at] = *log;
    return true;
}

static bool add_log(void *context, const char *path, int rank)
{
    static const struct sg_refusal other_run = {SG_ERR_FORMAT, "belongs to another run"};
    struct sg_live_job *job = context;
    struct sg_live_log log;
    struct sg_refusal why;

    if (is_known(job, rank))
        return true;
    if (sg_live_log_open(path, rank, &log, &why) != SG_OK) {
        if (why.status == SG_ERR_MEMORY)
            job->status = SG_ERR_MEMORY;
        return job->status == SG_OK && keep_refused(job, rank, &why);
    }
    if (is_of_job(job, &log))
        return keep_log(job, &log);
    sg_live_log_close(&log);
    return keep_refused(job, rank, &other_run);
}

/* Those that could not be read are tried again: a log that is being made is none yet. The directory
 * itself may be gone with the job. */
static enum sg_status find_logs(struct sg_live_job *job)
{
    job->refused_count = 0;
    if (job->log_count < job->ranks)
        sg_logread_visit(job->directory, add_log, job);
    return job->status;
}

/* ---- looking --------------------------------------------------------------------------------- */

static enum sg_status take(void *context, const struct sg_live_log *log, enum sg_record_kind kind,
                           const void *record)
{
    struct sg_live_job *job = context;

    return sg_live_arrivals_take(job->arrivals, (uint32_t)log->rank, kind, record);
}

/* The log whose calls have been taken the least far; NULL: all have been read. */
static struct sg_live_log *next_log(struct sg_live_job *job, const bool *has_more)
{
    struct sg_live_log *next = NULL;

    for (uint32_t i = 0; i < job->log_count; i++) {
        struct sg_live_log *log = &job->logs[i];

        if (has_more[i] &&
            (next == NULL || sg_live_arrivals_until_ns(job->arrivals, (uint32_t)log->rank) <
                                 sg_live_arrivals_until_ns(job->arrivals, (uint32_t)next->rank)))
            next = log;
    }
    return next;
}

/* All logs side by side, so that few collectives wait for their other members. */
static enum sg_status read_logs(struct sg_live_job *job, bool *begun, bool *has_more)
{
    enum sg_status status = SG_OK;
    struct sg_live_log *log;

    for (uint32_t i = 0; i < job->log_count; i++)
        begun[i] = has_more[i] = sg_live_log_begin(&job->logs[i]);
    while (status == SG_OK && (log = next_log(job, has_more)) != NULL)
        status = sg_live_log_read(log, take, job, &has_more[log - job->logs]);
    for (uint32_t i = 0; i < job->log_count && status == SG_OK; i++) {
        if (begun[i])
            status = sg_live_log_end(&job->logs[i], take, job);
    }
    job->seen_ns = sg_clock_ns();
    return status;
}

static void count_living(struct sg_live_job *job)
{
    bool has_archive = sg_live_job_has_archive(job);

    job->living = 0;
    for (uint32_t i = 0; i < job->log_count; i++) {
        if (job->logs[i].state == SG_LIVE_GONE && has_archive)
            job->logs[i].state = SG_LIVE_FINISHED;
        job->living += job->logs[i].state == SG_LIVE_RUNS;
    }
}

enum sg_status sg_live_job_look(struct sg_live_job *job)
{
    enum sg_status status = find_logs(job);
    bool *begun = calloc((size_t)job->log_count + 1, sizeof *begun);
    bool *has_more = calloc((size_t)job->log_count + 1, sizeof *has_more);

    if (begun == NULL || has_more == NULL)
        status = SG_ERR_MEMORY;
    if (status == SG_OK)
        status = read_logs(job, begun, has_more);
    free(begun);
    free(has_more);
    if (status != SG_OK)
        sg_log("%s: %s", job->directory, sg_status_text(status));
    count_living(job);
    return status;
}

enum sg_status sg_live_job_report(struct sg_live_job *job, struct sg_report *out)
{
    const struct sg_watch watch = {.calls = true};
    struct sg_progress_line progress;
    struct sg_log_set set = {.world_size = (int)job->ranks, .names = &job->names};
    enum sg_status status;

    set.logs = calloc((size_t)job->log_count + 1, sizeof *set.logs);
    if (set.logs == NULL) {
        sg_log("%s: %s", job->directory, sg_status_text(SG_ERR_MEMORY));
        return SG_ERR_MEMORY;
    }
    for (uint32_t i = 0; i < job->log_count; i++) {
        if (job->logs[i].held != NULL)
            set.logs[set.count++] = job->logs[i].held;
    }
    set.missing = set.world_size - set.count;
    sg_progress_line_start(&progress, false);
    status = sg_report_of_logs(&set, job->directory, &progress, &watch, out);
    free(set.logs);
    return status;
}

/* ---- from beginning to end ------------------------------------------------------------------- */

static bool has_enough(const struct sg_live_job *job)
{
    return job->log_count > 0 &&
           sg_logread_suffice((int)job->log_count, job->logs[0].header.world_size);
}

static enum sg_status say_too_few(const struct sg_live_job *job)
{
    if (job->log_count > 0) {
        sg_log("%s: " SG_LOGREAD_TOO_FEW, job->directory, (int)job->log_count,
               job->logs[0].header.world_size, SG_LOGREAD_MISSING_PER_LOG);
        return SG_ERR_FORMAT;
    }
    if (job->refused_count == 0) {
        sg_log("%s: contains no logs of a running job (" SG_LOG_NAME_FORMAT ", ...)",
               job->directory, 0);
        return SG_ERR_MISSING;
    }
    sg_log("%s/" SG_LOG_NAME_FORMAT ": %s", job->directory, job->refused[0].rank,
           job->refused[0].why.reason);
    return job->refused[0].why.status;
}

enum sg_status sg_live_job_open(const char *directory, struct sg_live_job *out)
{
    struct sg_live_job job = {.directory = directory};
    enum sg_status status;

    sg_slots_guard();
    /* The logs of a job that has just begun may not be there or readable yet. */
    for (int tries = 0; tries < OPEN_TRIES && job.status == SG_OK && !has_enough(&job); tries++) {
        if (tries > 0)
            poll(NULL, 0, OPEN_PAUSE_MS);
        job.refused_count = 0;
        if (!sg_logread_visit(directory, add_log, &job)) {
            sg_log("%s: %m", directory);
            return SG_ERR_SYSTEM;
        }
        if (job.log_count == 0 && job.refused_count == 0)
            break;
    }
    status = job.status;
    if (status == SG_OK && !has_enough(&job))
        status = say_too_few(&job);
    if (status == SG_OK) {
        job.ranks = (uint32_t)job.logs[0].header.world_size;
        status = sg_live_arrivals_create(job.ranks, &job.arrivals);
    }
    if (status == SG_ERR_MEMORY)
        sg_log("%s: %s", directory, sg_status_text(status));
    if (status == SG_OK)
        *out = job;
    else
        sg_live_job_close(&job);
    return status;
}

void sg_live_job_close(struct sg_live_job *job)
{
    for (uint32_t i = 0; i < job->log_count; i++)
        sg_live_log_close(&job->logs[i]);
    free(job->logs);
    free(job->refused);
    sg_live_arrivals_destroy(job->arrivals);
    sg_log_names_clear(&job->names);
}

bool sg_live_job_has_archive(const struct sg_live_job *job)
{
    char *anchor;
    bool has = false;

    if (asprintf(&anchor, "%s/traces.otf2", job->directory) >= 0) {
        has = access(anchor, F_OK) == 0;
        free(anchor);
    }
    return has;
}

/* ---- clocks ---------------------------------------------------------------------------------- */

uint64_t sg_live_job_clock_ns(const struct sg_live_job *job, const struct sg_live_log *log)
{
    uint64_t real_ns = sg_clock_of_ns(CLOCK_REALTIME);

    if (log->header.machine == sg_clocksync_machine())
        return job->seen_ns;
    return real_ns > log->header.realtime_ns
               ? log->header.monotonic_ns + (real_ns - log->header.realtime_ns)
               : log->header.monotonic_ns;
}

uint64_t sg_live_log_begin_ns(const struct sg_live_log *log)
{
    return log->header.init_begin_ns > 0 ? log->header.init_begin_ns : log->header.monotonic_ns;
}
