/* The result of trials (shim/rule/trial.h): the cost of each arm's calls, and which arm costs
 * least.
 *
 * There is one report for each trial and call site with calls in it; communicators that tried other
 * arms have reports of their own, and so have nonblocking calls. The samples are rounds: the blocks
 * of a communicator are taken in order, and a round ends when every arm has had its turn. So arms
 * are compared while the machine and the program were in the same state. The first instance of each
 * block is left out: the arm before may still affect it. A block without other instances, and
 * everything after the last whole round, count in no figure except the number of calls.
 *
 * Intervals are from a bootstrap over rounds that draws all arms together. An arm wins if it costs
 * less than every other by more than the rounds vary. The level of 95 % is for all pairs of arms
 * together (Bonferroni), so that a trial of many arms does not find more by chance than one of two.
 */
#ifndef SG_REPORT_RESULT_H
#define SG_REPORT_RESULT_H

#include "core/text.h"

#include <stdbool.h>
#include <stdint.h>

#define SG_REPORT_ARMS_MAX 64

enum sg_tried {
    SG_TRIED_BLOCKED,   /* ns per call */
    SG_TRIED_PROCESSOR, /* blocked, and handling late contributions outside of calls; likewise */
    SG_TRIED_SKEW,      /* ns per instance */
    SG_TRIED_COUNT
};

enum sg_tried_verdict {
    SG_TRIED_UNKNOWN, /* no events */
    SG_TRIED_FEW,     /* too few rounds */
    SG_TRIED_NONE,    /* no difference between the least and some other arm */
    SG_TRIED_WINNER,
    SG_TRIED_VERDICTS
};

struct sg_estimate {
    double mean, low, high; /* ns; low and high if there are enough rounds */
};

struct sg_report_arm {
    char *text;              /* as the user wrote it; owned */
    uint64_t calls;          /* of all its calls, over all ranks */
    uint64_t declined_calls; /* those that the arm's algorithm left to another one */
    uint64_t blocks;
    uint64_t used_calls, used_instances;      /* that the figures are of */
    struct sg_estimate cost[SG_TRIED_COUNT];  /* without events: blocked only, without interval */
    struct sg_estimate above[SG_TRIED_COUNT]; /* the least of all arms */
    bool like_least[SG_TRIED_COUNT];          /* its difference to the least is within the noise */
};

struct sg_report_trial {
    char *place;   /* the trial's left side in its rule; owned */
    uint32_t site; /* number in the aggregate */
    enum sg_operation operation;
    bool nonblocking;
    /* The call site, as in struct sg_report_site. */
    uint32_t id, line;
    bool has_id;
    const char *function, *file, *module;
    uint64_t offset;

    uint64_t block;       /* collectives; 0: not known */
    uint64_t rounds;      /* whole ones */
    uint64_t first_calls; /* left out: the first instance of each block, */
    uint64_t loose_calls; /* and beyond whole rounds */
    uint64_t mixed_calls; /* of instances whose ranks report different arms: in no figure */
    enum sg_tried_verdict verdict[SG_TRIED_COUNT];
    uint32_t least[SG_TRIED_COUNT]; /* the arm that costs least */
    struct sg_report_arm *arms;     /* by time blocked, the least first */
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

#endif
