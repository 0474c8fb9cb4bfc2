/* Keeps the intervals between calls of MPI that were sampled, the latest of each thread (location),
 * until the collective that they led to is complete. Measures with them how a thread spent a part
 * of a call, or any time span.
 *
 * Memory: SG_INTERVALS_KEPT a location at most; older ones are forgotten. Functions that return a
 * status: SG_ERR_MEMORY only, not logged. Not thread-safe.
 */
#ifndef SG_REPORT_CAUSE_INTERVALS_H
#define SG_REPORT_CAUSE_INTERVALS_H

#include "core/status.h"
#include "report/path_history.h"
#include "report/wait_sums.h"

#include <stdbool.h>
#include <stdint.h>

#define SG_INTERVALS_KEPT 4096

struct sg_intervals_kept;

/* A figure that is not known is 0, and has no bit in `known`. */
struct sg_sampled_interval {
    int64_t begin_ns, end_ns;
    uint64_t cpu_ns, runnable_ns;
    uint64_t throttled_ns; /* of the control group; part of runnable as far as it is the thread's */
    uint64_t user_ns, system_ns;
    uint64_t faults, blocks; /* minor faults; blocks read and written, and major faults */
    uint64_t instructions, cycles;
    /* Figures of the call before the interval (trace/figure.h). */
    uint64_t resumed_ns, away_ns, was_ready;
    uint64_t call_cpu_ns, call_runnable_ns;
    uint64_t call_threads_here_ns, call_threads_elsewhere_ns, call_throttled_ns;
    uint64_t threads_here_ns, threads_elsewhere_ns;
    uint32_t known; /* bits of enum sg_interval_known */
};

enum sg_interval_known {
    SG_KNOWN_CPU = 1,
    SG_KNOWN_RUNNABLE = 2,
    SG_KNOWN_USAGE = 4,
    SG_KNOWN_INSTRUCTIONS = 8,
    SG_KNOWN_SWITCH = 16, /* resumed_ns, away_ns, was_ready */
    SG_KNOWN_CALL = 32,
    SG_KNOWN_THREADS = 64,      /* threads_here_ns, threads_elsewhere_ns */
    SG_KNOWN_CALL_OTHERS = 128, /* call_threads_*_ns, call_throttled_ns */
};

enum sg_status sg_intervals_kept_create(uint32_t locations, struct sg_intervals_kept **out);
void sg_intervals_kept_destroy(struct sg_intervals_kept *kept);
/* Intervals of a location come in the order of time; one that ends before the last is left out. */
enum sg_status sg_intervals_kept_add(struct sg_intervals_kept *kept, uint32_t location,
                                     const struct sg_sampled_interval *interval);
/* Returns the last interval, to which later figures are added; NULL: none. */
struct sg_sampled_interval *sg_intervals_kept_last(struct sg_intervals_kept *kept,
                                                   uint32_t location);

/* Measures how a thread (location) spent a part of a call of MPI: on a processor, ready to run
 * without one and who had it, or asleep. Uses the figures of the interval after the call. Pure.
 *
 * The thread's last switch shows the call's last part moment by moment. Sums over the call bound
 * the rest: of the call's total, no more than the length of its other parts can lie in those. Time
 * that may be one thing or another is left unattributed (untold_ns).
 */

struct sg_in_call {
    int64_t begin_ns, end_ns; /* the call */
    int64_t from_ns, to_ns;   /* the part of it */
};

struct sg_in_call_spent {
    double cpu_ns, ready_ns, asleep_ns;
    double throttled_ns; /* ready, but its control group had used up its quota */
    double untold_ns;    /* unattributed; the five add up to the part's length */
    /* Parts of ready_ns: in which the process's other threads had the thread's processor, and in
     * which they, or a quota, may have had it. */
    double threads_here_ns, threads_elsewhere_ns;
};

/* Returns the interval after the call that ends at end_ns; NULL: it was not sampled, or is no
 * longer kept. */
const struct sg_sampled_interval *sg_in_call_find(const struct sg_intervals_kept *intervals,
                                                  uint32_t location, int64_t end_ns);
/* behind: the interval after the call; NULL: all time is unattributed. */
void sg_in_call_split(const struct sg_in_call *call, const struct sg_sampled_interval *behind,
                      struct sg_in_call_spent *out);

/* Measures how a thread (location) spent a time span: in calls of MPI, and between them, as far as
 * the intervals were sampled. Pure, except that it reads the history's file. */

/* Parts of runnable time: in which the process's other threads had the thread's processor, and in
 * which they may have had it. If that is not known, elsewhere_ns is all of it. */
struct sg_stretch_threads {
    double here_ns, elsewhere_ns;
};

enum sg_part {
    SG_PART_CPU,
    SG_PART_RUNNABLE,
    SG_PART_THROTTLED,
    SG_PART_IO,
    SG_PART_ASLEEP,
    SG_PART_CALLS_CPU,
    SG_PART_CALLS_RUNNABLE,
    SG_PART_CALLS_THROTTLED,
    SG_PART_CALLS_ASLEEP,
    SG_PART_CALLS,   /* not attributed by the figures */
    SG_PART_UNKNOWN, /* between calls, not sampled */
    SG_PARTS
};

/* Sums over the sampled intervals. */
enum sg_aside { SG_ASIDE_USER, SG_ASIDE_SYSTEM, SG_ASIDE_FAULTS, SG_ASIDE_INSTRUCTIONS, SG_ASIDES };

struct sg_stretch {
    double ns[SG_PARTS]; /* they add up to its length */
    double asides[SG_ASIDES];
    struct sg_stretch_threads threads, threads_in_calls;
    double between_ns;                /* time between calls */
    double unsampled_ns;              /* the part of it without samples */
    bool has_usage, has_instructions; /* all its sampled intervals have them */
    /* Ends of the longest interval; SG_NO_PLACE: there is none. */
    uint32_t after, until;
    double longest_ns;
    /* For each part the call with the most time; SG_NO_PLACE: none. */
    uint32_t call[SG_PARTS];
    double call_ns[SG_PARTS];
};

/* True if all but a twentieth of the time between calls was sampled. */
bool sg_stretch_is_sampled(const struct sg_stretch *stretch);
void sg_stretch_measure(struct sg_history *history, const struct sg_intervals_kept *intervals,
                        uint32_t location, int64_t from_ns, int64_t to_ns, struct sg_stretch *out);

#endif
