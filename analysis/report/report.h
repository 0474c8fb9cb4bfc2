/* The contents of a report, whichever source it was read from, and the functions that read it.
 *
 * Sources: the OTF2 archive; the statistics in the logs if no events were recorded; both if some
 * events were left out. report/quantiles.h and docs/report-json.md define the figures.
 *
 * Strings are as recorded (any bytes): printers clean them. NULL means unknown.
 */
#ifndef SG_REPORT_REPORT_H
#define SG_REPORT_REPORT_H

#include "core/calibration.h"
#include "core/status.h"
#include "core/text.h"
#include "core/waiting.h"
#include "output/progress_line.h"
#include "report/counts.h"
#include "report/efficiency.h"
#include "report/learned.h"
#include "report/watched.h"

#include <stdbool.h>
#include <stdint.h>

/* The result of trials (shim/rule/trial.h): the cost of each candidate's calls, and the candidate
 * that costs least. Identifiers call a candidate an arm.
 *
 * Each trial has one report for each call site with calls in it; communicators that tried other
 * candidates have separate reports, and so have nonblocking calls. The samples are rounds: the
 * blocks of a communicator are taken in order, and a round ends when every candidate has run.
 * Candidates are thus compared in the same state of machine and program. The first instance of each
 * block is left out, because the previous candidate may still affect it. A block with no other
 * instances, and everything after the last whole round, count only in the number of calls.
 *
 * Intervals are from a bootstrap over rounds that draws all candidates together. A candidate wins
 * if it costs less than every other by more than the rounds vary. The level of 95 % is for all
 * pairs of candidates together (Bonferroni), so that a trial of many candidates finds no more by
 * chance than a trial of two.
 */

#define SG_REPORT_ARMS_MAX 64

enum sg_tried {
    SG_TRIED_BLOCKED,   /* ns per call */
    SG_TRIED_PROCESSOR, /* ns per call: blocked, plus late contributions handled outside calls */
    SG_TRIED_SKEW,      /* ns per instance */
    SG_TRIED_COUNT
};

enum sg_tried_verdict {
    SG_TRIED_UNKNOWN, /* no events */
    SG_TRIED_FEW,     /* too few rounds */
    SG_TRIED_NONE,    /* no difference between the cheapest and some other candidate */
    SG_TRIED_WINNER,
    SG_TRIED_VERDICTS
};

struct sg_estimate {
    double mean, low, high; /* ns; low and high only with enough rounds */
};

struct sg_report_arm {
    char *text;              /* as the user wrote it; owned */
    uint64_t calls;          /* all its calls, over all ranks */
    uint64_t declined_calls; /* calls that its algorithm left to another one */
    uint64_t blocks;
    uint64_t used_calls, used_instances;      /* calls and instances in the figures */
    struct sg_estimate cost[SG_TRIED_COUNT];  /* without events: blocked only, without interval */
    struct sg_estimate above[SG_TRIED_COUNT]; /* difference to the cheapest candidate */
    bool like_least[SG_TRIED_COUNT]; /* the difference to the cheapest is within the noise */
};

struct sg_report_trial {
    char *place;   /* left side of the trial's rule; owned */
    uint32_t site; /* index in the aggregate */
    enum sg_operation operation;
    bool nonblocking;
    /* The call site, as in struct sg_report_site. */
    uint32_t id, line;
    bool has_id;
    const char *function, *file, *module;
    uint64_t offset;

    uint64_t block;       /* collectives per block; 0: unknown */
    uint64_t rounds;      /* whole rounds */
    uint64_t first_calls; /* left out: in the first instance of a block */
    uint64_t loose_calls; /* left out: beyond whole rounds */
    uint64_t mixed_calls; /* left out: the ranks of the instance report different candidates */
    enum sg_tried_verdict verdict[SG_TRIED_COUNT];
    uint32_t least[SG_TRIED_COUNT]; /* the cheapest candidate */
    struct sg_report_arm *arms;     /* by time blocked, the shortest first */
    uint32_t arm_count;
};

static inline bool sg_trial_has_intervals(const struct sg_report_trial *trial)
{
    return trial->verdict[SG_TRIED_BLOCKED] >= SG_TRIED_NONE;
}

extern const char *const sg_tried_names[SG_TRIED_COUNT];

extern const char *const sg_tried_verdict_names[SG_TRIED_VERDICTS];

static inline const char *sg_trial_operation(const struct sg_report_trial *trial)
{
    return (trial->nonblocking ? sg_operation_nonblocking_names
                               : sg_operation_names)[trial->operation];
}

/* A row: a call site, a communicator and an operation, blocking or nonblocking; or the sum of such
 * rows over all communicators. */
struct sg_report_site {
    uint32_t row;  /* index of the row in the aggregate, or of the sum; watchers use it */
    uint32_t site; /* index of the call site in the aggregate */
    uint32_t id;   /* valid if has_id */
    bool has_id;
    enum sg_operation operation;
    bool nonblocking; /* MPI_Ibarrier and so on */
    const char *function;
    const char *file;
    const char *module;
    uint32_t line;           /* 0: unknown */
    uint64_t offset;         /* valid if module is not NULL */
    uint32_t comms;          /* number of communicators: 1 except in sums */
    const char *comm;        /* NULL: several */
    const char *comm_parent; /* the communicator it was made from; NULL: unknown, or several */
    uint32_t comm_size;      /* 0: several of different sizes */
    uint32_t comm_index;     /* distinguishes communicators of the same name */
    char *algorithm;         /* several are joined by '+' in order of use; "": unknown; owned */

    uint64_t calls;       /* over all ranks */
    uint64_t event_calls; /* calls that are in the events */
    uint64_t bytes;
    uint64_t blocked_ns, blocked_max_ns; /* sum, and the longest call */
    struct sg_call_times own;            /* of all calls */
    struct sg_call_times latency;        /* if nonblocking; without squares */
    struct sg_counts counts;
    uint64_t handler_ns;                              /* time spent on late contributions */
    uint64_t hidden_ns;                               /* if nonblocking */
    uint64_t wait_ns, wait_avoided_ns, completion_ns; /* if event_calls > 0 */
    uint64_t exposed_ns;                              /* if nonblocking and event_calls > 0 */
    uint64_t ran_ahead, late_by_signal;               /* if event_calls > 0 */

    uint64_t instances; /* that count for this row: for skew, last rank and worst */
    uint64_t skew_p50_ns, skew_p95_ns, skew_max_ns, skew_sum_ns;
    uint64_t last_count; /* instances in which last_rank came last */
    int64_t last_rank;   /* in MPI_COMM_WORLD; -1: a communicator of one rank, or no instance */
    uint64_t worst_seq;
    int64_t worst_time_ns; /* its first arrival, from the run's start */
    const char *worst_comm;
    uint32_t worst_comm_size;
};

struct sg_report_rank {
    uint64_t run_ns;
    uint64_t calls;
    uint64_t blocked_ns; /* over all threads */
    /* The part of blocked_ns that may be in other calls: waits and tests for nonblocking
     * operations. In statistics, all the time of these operations. */
    uint64_t exposed_ns;
    uint64_t wait_ns;    /* as far as events show it */
    uint64_t last_count; /* instances in which it came last */
    uint32_t threads;    /* threads that called MPI, among them the one that called MPI_Init */
    /* The rank's run time, and for each further thread the time from its first call to the end of
     * its last, as far as events show it; else the run time again. At least the time of the rank's
     * calls, so that no share of it exceeds 1. */
    uint64_t thread_ns;
    uint64_t ends_ns; /* in MPI_Init and MPI_Finalize */
    uint64_t open_ns; /* in calls that have not ended; mpi_ns includes it */
    uint64_t mpi_ns;  /* in all other calls of MPI, over all threads; valid if has_mpi */
    bool has_mpi;
};

struct sg_report {
    char *path;          /* the archive or the directory; owned */
    char *program;       /* owned */
    bool has_events;     /* read from an archive */
    bool has_statistics; /* read from logs */
    bool partial;
    bool unrecovered; /* the logs have events, and the run ended without an archive */
    uint32_t living;  /* ranks that were still running when their logs were read */
    /* Events are complete up to this time from the run's start; 0: to its end, or not known. */
    uint64_t recorded_ns;
    bool all_sampled; /* the run had STAGGER_CAUSES=all */
    uint64_t off_ns;  /* the longest time for which a rank's recording was off (MPI_Pcontrol) */
    uint64_t wanted_bytes;          /* STAGGER_TRACE_BYTES for all events; 0: not known */
    uint64_t dropped_calls;         /* left out of the events, or not in a complete instance */
    uint64_t unmanaged_calls;       /* passed to MPICH without being recorded */
    uint64_t unmanaged_nonblocking; /* the nonblocking calls among them */
    uint64_t unmanaged_full;        /* those that a rank's full table had no row for */
    /* The time that stagger itself adds to calls, over the calls that were timed; long calls are
     * only counted. */
    uint64_t overhead_calls, overhead_ns, overhead_long_calls;
    /* costs that the run measured on its machine at its start */
    struct sg_calibration calibration;
    struct sg_run_waiting waiting; /* unknown if told is 0 */
    uint64_t run_ns;               /* the longest run time of a rank */
    uint64_t ranks_run_ns;         /* rank time: the sum over all threads of the ranks */
    uint64_t clock_violations;
    uint64_t largest_violation_ns;
    bool has_offset_error;
    uint64_t offset_error_ns;          /* the largest error of the archive's clock offsets */
    bool has_offsets;                  /* some offset is not 0 */
    uint64_t locations_without_offset; /* locations without offsets, if others have some */
    size_t window_max;                 /* largest number of instances held at once */

    struct sg_report_site *sites; /* one row for each communicator */
    uint32_t site_count;
    struct sg_report_site *sums; /* one sum of rows for each call site and operation */
    uint32_t sum_count;
    struct sg_report_site total; /* sums over all rows */
    struct sg_report_rank *ranks;
    uint32_t rank_count;
    struct sg_efficiency efficiency;
    struct sg_calls *calls; /* all MPI calls (report/profile_calls.h); NULL: unknown */
    /* wait states of all MPI calls in the events (report/wait_sums.h); NULL: unknown */
    struct sg_waitstates *waitstates;
    /* report/critical_path.h and report/cause_table.h; NULL: unknown; they refer to the wait
     * states */
    struct sg_path *critical_path;
    struct sg_causes_found *causes;
    /* report/open_calls.h; NULL: all ranks have finished, or not wanted */
    struct sg_open_calls *open_calls;
    struct sg_report_trial *trials;
    uint32_t trial_count;
    struct sg_learned learned; /* by the algorithm auto */
    struct sg_rule_use *rules; /* the user's (report/rule_use.h); NULL: not known */
    uint32_t rule_count;

    const struct sg_filter *filter; /* the part that is reported; NULL: all; owned by the caller */
    void *strings;                  /* owns the texts of the rows */
};

/* Finds the path of a run's archive from the run's directory or from that path itself; malloc'ed.
 * NULL: no archive; one log line says what there is instead. */
enum sg_status sg_report_find_archive(const char *path, char **anchor);

/* Reads a run from its directory or from the path of its archive. The watch (NULL: none) receives
 * the events of an archive. With progress, a line on stderr shows the progress of a reading that
 * takes over a second. A failure is logged in one line. */
enum sg_status sg_report_read(const char *path, bool progress, const struct sg_watch *watch,
                              struct sg_report *out);
/* Reads open logs in the same way, from their statistics. path: the name of the report.
 */
struct sg_log_set;
enum sg_status sg_report_of_logs(const struct sg_log_set *set, const char *path,
                                 struct sg_progress_line *progress, const struct sg_watch *watch,
                                 struct sg_report *out);
void sg_report_clear(struct sg_report *report);

/* Sets the efficiency from the ranks, all calls and wait states, which must be known by now, unless
 * events gave it. SG_ERR_MEMORY only, not logged. */
enum sg_status sg_report_set_efficiency(struct sg_report *report);

/* The time that stagger itself added to all calls, estimated from the calls that were timed; 0 if
 * none was timed. */
uint64_t sg_report_overhead_ns(const struct sg_report *report);

/* Number of calls that only the statistics contain. */
static inline uint64_t sg_report_unseen_calls(const struct sg_report *report)
{
    return report->total.calls - report->total.event_calls;
}

/* True if the archive has all offsets, all are 0, and they have no error. */
static inline bool sg_report_has_one_clock(const struct sg_report *report)
{
    return report->has_offset_error && report->offset_error_ns == 0 && !report->has_offsets &&
           report->locations_without_offset == 0;
}

/* Time outside the recorded collectives; it is unknown whether the rank computed then. */
static inline uint64_t sg_rank_elsewhere_ns(const struct sg_report_rank *rank)
{
    return rank->thread_ns > rank->blocked_ns ? rank->thread_ns - rank->blocked_ns : 0;
}

/* "barrier", "ibarrier", ... */
static inline const char *sg_site_operation(const struct sg_report_site *site)
{
    return (site->nonblocking ? sg_operation_nonblocking_names
                              : sg_operation_names)[site->operation];
}

/* False if the wait of the row is unknown; the others likewise for exposed time and skew. */
static inline bool sg_site_has_wait(const struct sg_report_site *site)
{
    return site->event_calls > 0;
}

static inline bool sg_site_has_exposed(const struct sg_report_site *site)
{
    return site->nonblocking && sg_site_has_wait(site);
}

static inline bool sg_site_has_skew(const struct sg_report_site *site)
{
    return site->instances > 0;
}

#endif
