/* A running job: the logs of its output directory, which may appear late and go at any time.
 *
 * Nothing of the job's is written to or locked. Not thread-safe.
 */
#ifndef SG_WATCH_JOB_H
#define SG_WATCH_JOB_H

#include "core/status.h"
#include "report/cause_table.h"
#include "report/report.h"
#include "report/source_stats.h"
#include "watch/watch_arrivals.h"
#include "watch/watch_log.h"

#include <stdbool.h>
#include <stdint.h>

/* A file that looks like a log of the job and cannot be read. */
struct sg_live_refused {
    int rank;
    struct sg_refusal why;
};

struct sg_live_job {
    const char *directory;    /* the caller's */
    uint32_t ranks;           /* of MPI_COMM_WORLD */
    struct sg_live_log *logs; /* by rank */
    uint32_t log_count;
    uint32_t living; /* ranks that run, as far as is known */
    struct sg_live_refused *refused;
    uint32_t refused_count;
    struct sg_live_arrivals *arrivals;
    struct sg_log_names names; /* of call sites */
    uint64_t seen_ns;          /* when it was looked at, by our clock */
    enum sg_status status;     /* of adding a log */
};

/* Zeroed at first: the directory's logs as they are now. SG_ERR_MISSING, SG_ERR_FORMAT, ...: there
 * are none that can be read (one line). */
enum sg_status sg_live_job_open(const char *directory, struct sg_live_job *out);
void sg_live_job_close(struct sg_live_job *job);
/* Reads what is new in all logs. SG_ERR_MEMORY (logged). */
enum sg_status sg_live_job_look(struct sg_live_job *job);
/* What `stagger report` says of the logs as they were looked at. Errors are logged. */
enum sg_status sg_live_job_report(struct sg_live_job *job, struct sg_report *out);
/* Whether the job left an archive, as one that ends well does. */
bool sg_live_job_has_archive(const struct sg_live_job *job);
/* The clock of a log's machine, when the job was looked at: exact on this machine, on another one
 * as good as their times of day agree. */
uint64_t sg_live_job_clock_ns(const struct sg_live_job *job, const struct sg_live_log *log);
/* Since when, on that clock, the rank has run. */
uint64_t sg_live_log_begin_ns(const struct sg_live_log *log);

/* What a rank does while it is in no recorded call of MPI, as the kernel tells of another process
 * of this machine (proc(5)): the open interval, which is in no log yet.
 *
 * Only of the time between two looks at a rank that ended no call meanwhile and was in none either
 * time, so that all of it lies in one interval; of the thread that called MPI_Init, where no other
 * thread calls MPI. Where the kernel does not tell, or not enough, the cause is not told apart.
 * Not thread-safe.
 */

/* Since the thread began. */
struct sg_outside_figures {
    uint64_t cpu_ns, runnable_ns;
    uint64_t user_ticks, system_ticks;
    uint64_t io_bytes, major_faults;
    bool has_io;
    bool may_be_throttled; /* its control group is another one than ours, or has a quota */
};

/* A rank as it was looked at last; zeroed: not yet. */
struct sg_outside {
    bool is_out;
    uint64_t calls, looked_ns, since_ns; /* since_ns: it is known to be out since then */
    struct sg_outside_figures figures;
};

struct sg_outside_spent {
    bool is_known;
    uint64_t out_ns; /* it has been out for so long, or longer */
    uint64_t ns;     /* since the look before: the next three are of it */
    uint64_t cpu_ns, runnable_ns, off_ns;
    enum sg_cause cause; /* of more than half of it */
};

/* calls: that have ended in the run, in all. in_call: it is in one. */
void sg_outside_look(struct sg_outside *outside, const struct sg_live_log *log, uint64_t calls,
                     bool in_call, struct sg_outside_spent *out);
/* What most of the time was spent with. */
enum sg_cause sg_outside_cause(const struct sg_outside_figures *before,
                               const struct sg_outside_figures *now,
                               const struct sg_outside_spent *spent);

#endif
