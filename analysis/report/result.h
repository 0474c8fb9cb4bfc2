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
#ifndef SG_REPORT_RESULT_H
#define SG_REPORT_RESULT_H

#include "core/text.h"

#include <stdbool.h>
#include <stdint.h>

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

#endif
