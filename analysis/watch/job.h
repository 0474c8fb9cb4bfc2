/* A running job: the logs of its output directory, which may appear late and disappear at any time,
 * and the state of its processes outside MPI, from the kernel.
 *
 * Reads only: neither writes to the job's files nor locks them. Not thread-safe. */
#ifndef SG_WATCH_JOB_H
#define SG_WATCH_JOB_H

#include "core/status.h"
#include "report/cause_table.h"
#include "report/filter.h"
#include "report/report.h"
#include "report/source_stats.h"
#include "watch/watch_arrivals.h"
#include "watch/watch_log.h"

#include <stdbool.h>
#include <stdint.h>

/* A file that is named like a log of the job but cannot be read. */
struct sg_live_refused {
    int rank;
    struct sg_refusal why;
};

struct sg_live_job {
    const char *directory;    /* owned by the caller */
    uint32_t ranks;           /* size of MPI_COMM_WORLD */
    struct sg_live_log *logs; /* by rank */
    uint32_t log_count;
    uint32_t living; /* ranks that run, as far as is known */
    struct sg_live_refused *refused;
    uint32_t refused_count;
    struct sg_live_arrivals *arrivals;
    struct sg_live_samples *samples;
    struct sg_log_names names; /* call sites */
    uint64_t seen_ns;          /* time of the last look, by this process's clock */
    enum sg_status status;     /* of adding a log */
};

/* Opens the logs that the directory has now; *out is written only on success. SG_ERR_MISSING,
 * SG_ERR_FORMAT, ...: none can be read (logs one line). */
enum sg_status sg_live_job_open(const char *directory, struct sg_live_job *out);
void sg_live_job_close(struct sg_live_job *job);
/* Reads the new records of all logs. SG_ERR_MEMORY (logged). */
enum sg_status sg_live_job_look(struct sg_live_job *job);
/* Makes the report of `stagger report` from the logs as last read. Errors are logged. */
enum sg_status sg_live_job_report(struct sg_live_job *job, struct sg_report *out);
/* True if the job left an archive, as a job that ends normally does. */
bool sg_live_job_has_archive(const struct sg_live_job *job);
/* Time on the clock of the log's machine at the last look: exact on this machine; on another one as
 * accurate as the two times of day agree. */
uint64_t sg_live_job_clock_ns(const struct sg_live_job *job, const struct sg_live_log *log);
/* Time at which the rank started, on that clock. */
uint64_t sg_live_log_begin_ns(const struct sg_live_log *log);

/* Classifies a rank's time while it is in no recorded MPI call, from the kernel's accounts of
 * another process on this machine (proc(5)). This is the open interval, which is in no log yet.
 *
 * It covers the time between two looks at a rank that was outside calls both times and ended none
 * in between, so that all of the time lies in one interval. It describes the thread that called
 * MPI_Init, and only if no other thread calls MPI. The cause is unknown if the kernel gives no or
 * too little data. Not thread-safe. */

/* Totals since the thread began. */
struct sg_outside_figures {
    uint64_t cpu_ns, runnable_ns;
    uint64_t user_ticks, system_ticks;
    uint64_t io_bytes, major_faults;
    bool has_io;
    bool may_be_throttled; /* its control group differs from this process's, or has a quota */
};

/* A rank at the last look; zeroed before the first. */
struct sg_outside {
    bool is_out;
    uint64_t calls, looked_ns, since_ns; /* since_ns: it is known to be outside since then */
    struct sg_outside_figures figures;
};

struct sg_outside_spent {
    bool is_known;
    uint64_t out_ns; /* it has been outside for at least this long */
    uint64_t ns;     /* time since the previous look, split into the next three */
    uint64_t cpu_ns, runnable_ns, off_ns;
    enum sg_cause cause; /* cause of more than half of it */
};

/* calls: number of calls that ended in the run. in_call: the rank is in a call. */
void sg_outside_look(struct sg_outside *outside, const struct sg_live_log *log, uint64_t calls,
                     bool in_call, struct sg_outside_spent *out);
/* Returns the cause of most of the time. */
enum sg_cause sg_outside_cause(const struct sg_outside_figures *before,
                               const struct sg_outside_figures *now,
                               const struct sg_outside_spent *spent);

/* Samples of the calls that ranks are in, between looks, at random times: four in a second on
 * average, fewer if they would take much of a processor. A call that waits for a message from one
 * rank, or for one rank to receive, has a late rank if that one is outside MPI: since the call
 * began or for a millisecond. The sums are in the logs. The functions return SG_OK or
 * SG_ERR_MEMORY, not logged. Not thread-safe. */

struct sg_live_samples;

enum sg_status sg_live_samples_create(uint32_t ranks, struct sg_live_samples **out);
void sg_live_samples_destroy(struct sg_live_samples *samples);
/* Takes the communicators from a log as last read. */
enum sg_status sg_live_samples_learn(struct sg_live_samples *samples,
                                     const struct sg_live_log *log);
/* Time of this process's clock at which to take the next sample. */
uint64_t sg_live_samples_due_ns(const struct sg_live_samples *samples);
enum sg_status sg_live_samples_take(struct sg_live_samples *samples, struct sg_live_job *job);

/* Each rank's share of the calls of each function at each call site, from the statistics in its log
 * and its open calls. The report's tables sum over ranks; this table keeps ranks separate, with
 * their values at the previous look.
 *
 * Memory grows with call sites and ranks. Not thread-safe. */

struct sg_live_part {
    uint64_t calls, time_ns; /* of calls that have ended */
    uint64_t open_ns;        /* time so far in open calls */
    uint32_t open_calls;
    /* Samples that found the rank in such a call, with one rank that it waits for; and those that
     * found another rank in it that waited for this one, which was outside MPI. */
    uint64_t samples, late_samples, late_ns;
};

struct sg_live_place {
    uint32_t id;                       /* id of the call site; 0: unknown */
    uint32_t function;                 /* index in `functions` */
    struct sg_live_part *now, *before; /* by rank in MPI_COMM_WORLD */
};

/* An open call of a rank's thread. */
struct sg_live_stay {
    const struct sg_live_log *log;
    uint32_t place;
    uint32_t site; /* index in the log's numbering */
    uint64_t open_ns;
    const struct sg_live_call *call; /* owned by the log, valid until the next look at the job */
};

struct sg_live_tally { /* zeroed except for the number of ranks: empty */
    uint32_t ranks;
    struct sg_live_place *places;
    uint32_t place_count;
    struct sg_map place_by_key;
    struct sg_names functions; /* "MPI_Send" */
    struct sg_live_stay *stays;
    uint32_t stay_count;
};

/* Makes the current values the previous ones, and reads current ones from the job's logs.
 * SG_ERR_MEMORY, not logged. */
enum sg_status sg_live_tally_take(struct sg_live_tally *tally, const struct sg_live_job *job);
void sg_live_tally_clear(struct sg_live_tally *tally);

/* NULL if nothing is known of the call site. */
const struct sg_live_place *sg_live_tally_find(const struct sg_live_tally *tally, uint32_t id,
                                               const char *function);

/* Time that the calls took from the rank since the previous look. */
uint64_t sg_live_part_gain_ns(const struct sg_live_place *place, uint32_t rank);
/* Calls that ended since the previous look; all calls if the program has reset its counters. */
uint64_t sg_live_part_gain_calls(const struct sg_live_place *place, uint32_t rank);

#endif
