/* The intervals between calls of MPI that were sampled, the latest of each thread (location), until
 * the collective that they led to is told.
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

/* What is not known is 0, and has no bit in `known`. */
struct sg_sampled_interval {
    int64_t begin_ns, end_ns;
    uint64_t cpu_ns, runnable_ns;
    uint64_t throttled_ns; /* the control group's, part of runnable as far as it is the thread's */
    uint64_t user_ns, system_ns;
    uint64_t faults, blocks; /* faults of both kinds; blocks read and written, and major faults */
    uint64_t instructions, cycles;
    /* Of the call before it (trace/figure.h). */
    uint64_t resumed_ns, away_ns, was_ready;
    uint64_t call_cpu_ns, call_runnable_ns;
    uint64_t call_threads_here_ns, call_threads_elsewhere_ns, call_throttled_ns;
    uint64_t threads_here_ns, threads_elsewhere_ns;
    uint32_t known; /* enum sg_interval_known */
};

enum sg_interval_known {
    SG_KNOWN_CPU = 1,
    SG_KNOWN_RUNNABLE = 2,
    SG_KNOWN_USAGE = 4,
    SG_KNOWN_INSTRUCTIONS = 8,
    SG_KNOWN_SWITCH = 16, /* resumed_ns, away_ns, was_ready */
    SG_KNOWN_CALL = 32,
    SG_KNOWN_THREADS = 64,      /* threads_here_ns, threads_elsewhere_ns */
    SG_KNOWN_CALL_OTHERS = 128, /* those of the call, and what of it was throttled */
};

enum sg_status sg_intervals_kept_create(uint32_t locations, struct sg_intervals_kept **out);
void sg_intervals_kept_destroy(struct sg_intervals_kept *kept);
/* In the order of time of each location. */
enum sg_status sg_intervals_kept_add(struct sg_intervals_kept *kept, uint32_t location,
                                     const struct sg_sampled_interval *interval);
/* The last one, whose figures may still come; NULL: none. */
struct sg_sampled_interval *sg_intervals_kept_last(struct sg_intervals_kept *kept,
                                                   uint32_t location);

/* How a thread (location) spent a part of a call of MPI: on a processor, ready to run without one
 * and who had it, or asleep; as far as the figures tell that the interval behind the call has of
 * it. Pure.
 *
 * These are the thread's last switch, which gives the call's last part moment by moment, and sums
 * over the call, which give bounds for the rest: of what the whole call had of something, no more
 * than its other parts' length can have been in those. What may have been one thing or another is
 * not told.
 */

struct sg_in_call {
    int64_t begin_ns, end_ns; /* of the call */
    int64_t from_ns, to_ns;   /* the part of it */
};

struct sg_in_call_spent {
    double cpu_ns, ready_ns, asleep_ns;
    double throttled_ns; /* ready, but its control group had used up its quota */
    double untold_ns;    /* the five sum up to the part's length */
    /* Of ready_ns: what the process's other threads had of the thread's processor, and what they,
     * or a quota, perhaps had. */
    double threads_here_ns, threads_elsewhere_ns;
};

/* The interval behind a call that ends then; NULL: it was not sampled, or is no longer kept. */
const struct sg_sampled_interval *sg_in_call_find(const struct sg_intervals_kept *intervals,
                                                  uint32_t location, int64_t end_ns);
/* behind: the interval behind the call; NULL: nothing is told. */
void sg_in_call_split(const struct sg_in_call *call, const struct sg_sampled_interval *behind,
                      struct sg_in_call_spent *out);

/* How a thread (location) spent a stretch of time: in calls of MPI, and between them, as far as the
 * intervals were sampled. Pure, but for the history's file.
 */

/* Of time runnable: what the process's other threads had of the thread's processor, and what they
 * perhaps had. Where it is not known, they perhaps had all of it. */
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
    SG_PART_CALLS,   /* the figures do not tell more */
    SG_PART_UNKNOWN, /* between calls, not sampled */
    SG_PARTS
};

/* Sums over the sampled intervals. */
enum sg_aside { SG_ASIDE_USER, SG_ASIDE_SYSTEM, SG_ASIDE_FAULTS, SG_ASIDE_INSTRUCTIONS, SG_ASIDES };

struct sg_stretch {
    double ns[SG_PARTS]; /* they sum up to its length */
    double asides[SG_ASIDES];
    struct sg_stretch_threads threads, threads_in_calls;
    double between_ns;                /* calls */
    double unsampled_ns;              /* of it */
    bool has_usage, has_instructions; /* for all its sampled intervals */
    /* Of the longest interval; SG_NO_PLACE: there is none. */
    uint32_t after, until;
    double longest_ns;
    /* The call that has most of a part; SG_NO_PLACE: none has. */
    uint32_t call[SG_PARTS];
    double call_ns[SG_PARTS];
};

/* Whether all but a twentieth of the time between calls was sampled. */
bool sg_stretch_is_sampled(const struct sg_stretch *stretch);
void sg_stretch_measure(struct sg_history *history, const struct sg_intervals_kept *intervals,
                        uint32_t location, int64_t from_ns, int64_t to_ns, struct sg_stretch *out);

#endif
