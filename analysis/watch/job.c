#include "watch/job.h"

#include "core/cgroup.h"
#include "core/clock.h"
#include "core/clocksync.h"
#include "core/file.h"
#include "core/room.h"
#include "output/progress_line.h"
#include "watch/watch_arrivals.h"

#include <fcntl.h>
#include <inttypes.h>
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

/* Finds new logs. Retries files that could not be read, because a log may still be under
 * construction. The directory may be gone with the job. */
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

/* The unfinished log whose calls have been taken up to the earliest time; NULL: all are
 * finished. */
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

/* Reads all logs in parallel, so that few collectives wait for records of other members. */
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
        if (begun[i] && status == SG_OK)
            status = sg_live_samples_learn(job->samples, &job->logs[i]);
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
    const struct sg_watch watch = {.calls = true, .open_calls = true};
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

/* A run that ended has an archive instead of logs. */
static bool has_archive(const struct sg_live_job *job)
{
    char *anchor;
    bool has;

    if (asprintf(&anchor, "%s/traces.otf2", job->directory) < 0)
        return false;
    has = access(anchor, F_OK) == 0;
    free(anchor);
    return has;
}

static enum sg_status say_too_few(const struct sg_live_job *job)
{
    if (job->log_count > 0) {
        sg_log("%s: " SG_LOGREAD_TOO_FEW, job->directory, (int)job->log_count,
               job->logs[0].header.world_size, SG_LOGREAD_MISSING_PER_LOG);
        return SG_ERR_FORMAT;
    }
    if (job->refused_count == 0 && has_archive(job)) {
        char word[SG_WORD_BYTES];

        sg_log("%s: the run has ended: stagger report %s", job->directory,
               sg_text_word(job->directory, word, sizeof word));
        return SG_ERR_MISSING;
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
    /* Logs of a job that has just begun may not exist or be readable yet. */
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
        if (status == SG_OK)
            status = sg_live_samples_create(job.ranks, &job.samples);
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
    sg_live_samples_destroy(job->samples);
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
    return sg_live_log_clock_ns(log, job->seen_ns);
}

uint64_t sg_live_log_begin_ns(const struct sg_live_log *log)
{
    return log->header.init_begin_ns > 0 ? log->header.init_begin_ns : log->header.monotonic_ns;
}

/* ---- outside MPI ----------------------------------------------------------------------------- */

#define TEXT_BYTES 4096
/* The kernel updates a running thread's processor time only at ticks: shorter intervals tell
 * nothing. */
#define SHORTEST_NS UINT64_C(50000000)

/* ---- files of the kernel --------------------------------------------------------------------- */

static bool read_text(const char *path, char text[TEXT_BYTES])
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length;

    if (file < 0)
        return false;
    length = read(file, text, TEXT_BYTES - 1);
    close(file);
    text[length > 0 ? length : 0] = '\0';
    return length > 0;
}

/* Reads a file of the thread that called MPI_Init, below /proc. */
static bool read_of_thread(const struct sg_log_header *header, const char *name,
                           char text[TEXT_BYTES])
{
    char path[128];

    snprintf(path, sizeof path, "/proc/%" PRIu32 "/task/%" PRIu32 "/%s", header->pid,
             header->init_thread, name);
    return read_text(path, text);
}

/* Reads the fields of stat after the name, which may contain any character: from the third field
 * on. */
static bool read_stat(const struct sg_log_header *header, struct sg_outside_figures *out)
{
    char text[TEXT_BYTES];
    const char *at;

    if (!read_of_thread(header, "stat", text) || (at = strrchr(text, ')')) == NULL)
        return false;
    return sscanf(at + 1,
                  " %*c %*d %*d %*d %*d %*d %*u %*u %*u %" SCNu64 " %*u %" SCNu64 " %" SCNu64,
                  &out->major_faults, &out->user_ticks, &out->system_ticks) == 3;
}

static bool read_io(const struct sg_log_header *header, uint64_t *out)
{
    char text[TEXT_BYTES];
    const char *reads, *writes;
    uint64_t read_bytes, written_bytes;

    if (!read_of_thread(header, "io", text))
        return false;
    reads = strstr(text, "\nread_bytes: ");
    writes = strstr(text, "\nwrite_bytes: ");
    if (reads == NULL || writes == NULL ||
        sscanf(reads, "\nread_bytes: %" SCNu64, &read_bytes) != 1 ||
        sscanf(writes, "\nwrite_bytes: %" SCNu64, &written_bytes) != 1)
        return false;
    *out = read_bytes + written_bytes;
    return true;
}

/* False only for a process in the same control group as this one, if that group has no quota. */
static bool may_be_throttled(const struct sg_log_header *header)
{
    char its[TEXT_BYTES], ours[TEXT_BYTES];
    struct sg_cgroup group;

    return sg_cgroup_own("/proc", "/sys", &group) || !read_of_thread(header, "cgroup", its) ||
           !read_text("/proc/self/cgroup", ours) || strcmp(its, ours) != 0;
}

/* False: the process is gone, or on another machine. */
static bool read_figures(const struct sg_log_header *header, struct sg_outside_figures *out)
{
    char text[TEXT_BYTES];

    *out = (struct sg_outside_figures){0};
    if (header->init_thread == 0 || header->machine != sg_clocksync_machine() ||
        header->pid_start == 0 || sg_procfs_stat((int32_t)header->pid).start != header->pid_start ||
        !read_of_thread(header, "schedstat", text) ||
        sscanf(text, "%" SCNu64 " %" SCNu64, &out->cpu_ns, &out->runnable_ns) != 2 ||
        !read_stat(header, out))
        return false;
    out->has_io = read_io(header, &out->io_bytes);
    out->may_be_throttled = may_be_throttled(header);
    return true;
}

/* ---- causes ---------------------------------------------------------------------------------- */

enum sg_cause sg_outside_cause(const struct sg_outside_figures *before,
                               const struct sg_outside_figures *now,
                               const struct sg_outside_spent *spent)
{
    uint64_t user = now->user_ticks - before->user_ticks;
    uint64_t system = now->system_ticks - before->system_ticks;

    if (spent->cpu_ns > spent->ns / 2)
        return system > user ? SG_CAUSE_KERNEL : SG_CAUSE_COMPUTING;
    if (spent->runnable_ns > spent->ns / 2)
        return now->may_be_throttled ? SG_CAUSE_UNKNOWN : SG_CAUSE_PREEMPTED;
    if (spent->off_ns <= spent->ns / 2)
        return SG_CAUSE_UNKNOWN;
    if (now->major_faults != before->major_faults)
        return SG_CAUSE_IO;
    if (!before->has_io || !now->has_io)
        return SG_CAUSE_UNKNOWN;
    return now->io_bytes != before->io_bytes ? SG_CAUSE_IO : SG_CAUSE_ASLEEP;
}

static uint64_t at_most(uint64_t value, uint64_t limit)
{
    return value < limit ? value : limit;
}

static void spend(const struct sg_outside *before, const struct sg_outside *now,
                  struct sg_outside_spent *out)
{
    if (now->figures.cpu_ns < before->figures.cpu_ns ||
        now->figures.runnable_ns < before->figures.runnable_ns)
        return;
    out->is_known = true;
    out->out_ns = now->looked_ns - now->since_ns;
    out->ns = now->looked_ns - before->looked_ns;
    out->cpu_ns = at_most(now->figures.cpu_ns - before->figures.cpu_ns, out->ns);
    out->runnable_ns =
        at_most(now->figures.runnable_ns - before->figures.runnable_ns, out->ns - out->cpu_ns);
    out->off_ns = out->ns - out->cpu_ns - out->runnable_ns;
    out->cause = sg_outside_cause(&before->figures, &now->figures, out);
}

/* True if an open call of the rank would be in its log. */
static bool tells_open_calls(const struct sg_live_log *log)
{
    const struct sg_log_header *header = &log->header;

    return log->state == SG_LIVE_RUNS && header->trace_mode == SG_TRACE_OTF2 &&
           header->finalize_begin_ns == 0 && header->init_end_ns > 0 &&
           atomic_load_explicit(&header->thread_count, memory_order_relaxed) <=
               1 + (header->progress_thread != 0) &&
           atomic_load_explicit(&header->dropped_events, memory_order_relaxed) == 0;
}

void sg_outside_look(struct sg_outside *outside, const struct sg_live_log *log, uint64_t calls,
                     bool in_call, struct sg_outside_spent *out)
{
    struct sg_outside now = {.calls = calls, .looked_ns = sg_clock_ns()};
    bool stayed;

    *out = (struct sg_outside_spent){0};
    now.is_out = !in_call && tells_open_calls(log) && read_figures(&log->header, &now.figures);
    stayed = now.is_out && outside->is_out && outside->calls == calls;
    now.since_ns = stayed ? outside->since_ns : now.looked_ns;
    if (stayed && now.looked_ns - outside->looked_ns < SHORTEST_NS)
        return;
    if (stayed)
        spend(outside, &now, out);
    *outside = now;
}
