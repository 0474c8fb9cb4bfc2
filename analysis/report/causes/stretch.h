/* How a thread (location) spent a stretch of time: in calls of MPI, and between them, as far as the
 * intervals were sampled. Pure, but for the history's file.
 */
#ifndef SG_REPORT_CAUSES_STRETCH_H
#define SG_REPORT_CAUSES_STRETCH_H

#include "report/causes/intervals.h"
#include "report/path/history.h"
#include "report/waitstates/places.h"

#include <stdbool.h>
#include <stdint.h>

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
