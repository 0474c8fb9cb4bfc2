#include "watch/outside.h"

#include "core/cgroup.h"
#include "core/clock.h"
#include "core/clocksync.h"
#include "core/procfs.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TEXT_BYTES 4096
/* Processor time of a thread that runs is as old as the last tick: shorter times tell nothing. */
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

/* The directory below /proc of the thread that called MPI_Init. */
static bool read_of_thread(const struct sg_log_header *header, const char *name,
                           char text[TEXT_BYTES])
{
    char path[128];

    snprintf(path, sizeof path, "/proc/%" PRIu32 "/task/%" PRIu32 "/%s", header->pid,
             header->init_thread, name);
    return read_text(path, text);
}

/* The fields of stat behind the name, which may hold anything: from the third on. */
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

/* In our group, which has no quota, it has none either. */
static bool may_be_throttled(const struct sg_log_header *header)
{
    char its[TEXT_BYTES], ours[TEXT_BYTES];
    struct sg_cgroup group;

    return sg_cgroup_own("/proc", "/sys", &group) || !read_of_thread(header, "cgroup", its) ||
           !read_text("/proc/self/cgroup", ours) || strcmp(its, ours) != 0;
}

/* False: it is not there, or is on another machine. */
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

/* ---- what it is spent with ------------------------------------------------------------------- */

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

/* Whether a call that it were in would be in the log. */
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
