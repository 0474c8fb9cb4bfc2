/* What came of trials (shim/rule/trial.h): what each arm's calls cost, and which arm costs least.
 *
 * One report for each trial and call site whose calls were in it; communicators on which other arms
 * had turns, and posts, apart. Its samples are rounds. The blocks of a communicator are gone
 * through in order, and a round ends when every arm has had its turn: so arms are compared under
 * what the machine and the program did at that time. Of each block the first instance is left out:
 * it may still bear the arm before. A block that is left with none, and what comes after the last
 * whole round, counts for no figure but calls.
 *
 * Intervals are of a bootstrap over rounds, in which all arms are drawn together. One arm wins
 * where it costs less than every other beyond what the rounds vary by; 95 in 100 is for all pairs
 * of arms together (Bonferroni), so that a trial of many arms finds no more by chance than one of
 * two.
 */
#ifndef SG_REPORT_TRIALS_RESULT_H
#define SG_REPORT_TRIALS_RESULT_H

#include "core/operation.h"

#include <stdbool.h>
#include <stdint.h>

#define SG_REPORT_ARMS_MAX 64

enum sg_tried {
    SG_TRIED_BLOCKED,   /* ns per call */
    SG_TRIED_PROCESSOR, /* blocked, and handling contributions outside of calls; likewise */
    SG_TRIED_SKEW,      /* ns per instance */
    SG_TRIED_COUNT
};

enum sg_tried_verdict {
    SG_TRIED_UNKNOWN, /* no events */
    SG_TRIED_FEW,     /* too few rounds */
    SG_TRIED_NONE,    /* no difference between the least and some other */
    SG_TRIED_WINNER,
    SG_TRIED_VERDICTS
};

struct sg_estimate {
    double mean, low, high; /* ns; low and high where there are rounds enough */
};

struct sg_report_arm {
    char *text;              /* as the user wrote it; owned */
    uint64_t calls;          /* over all ranks, all of them */
    uint64_t declined_calls; /* of them, that the arm's algorithm left to another */
    uint64_t blocks;
    uint64_t used_calls, used_instances;      /* that the figures are of */
    struct sg_estimate cost[SG_TRIED_COUNT];  /* without events: blocked alone, without interval */
    struct sg_estimate above[SG_TRIED_COUNT]; /* the least of all arms */
    bool like_least[SG_TRIED_COUNT];          /* no difference to it is seen */
};

struct sg_report_trial {
    char *place;   /* the trial's left side; owned */
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
    uint64_t first_calls; /* left out: of each block's first instance, */
    uint64_t loose_calls; /* and beyond whole rounds */
    uint64_t mixed_calls; /* of instances whose ranks tell of different arms: in no figure */
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
