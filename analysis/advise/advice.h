/* What advice there is of a run: for each group of instances what each algorithm is estimated to
 * cost, and the verdict. Costs are per call.
 */
#ifndef SG_ADVISE_ADVICE_H
#define SG_ADVISE_ADVICE_H

#include "advise/candidates.h"
#include "advise/machine.h"
#include "advise/sample.h"

enum sg_advice_verdict {
    SG_ADVICE_CHANGE,       /* another algorithm is advised */
    SG_ADVICE_BEST,         /* none is estimated to cost less */
    SG_ADVICE_WITHIN_ERROR, /* what one would cost less is within the estimates' error */
    SG_ADVICE_FEW,          /* too few instances */
    SG_ADVICE_SITES,        /* ranks reach an instance from call sites that rules tell apart */
    SG_ADVICE_CONFLICT,     /* one rule would hold for instances that need different ones */
    SG_ADVICE_OBSTACLE,     /* cannot be replayed: `why` */
    SG_ADVICE_LEFT_OUT,     /* costs too little among many others to be looked at */
    SG_ADVICE_VERDICTS
};

/* "change", ...: for JSON. */
extern const char *const sg_advice_verdict_names[SG_ADVICE_VERDICTS];

/* ns per call. */
struct sg_advise_estimate {
    int candidate;
    double blocked_ns, processor_ns;
    double gain_ns, low_ns, high_ns; /* processor time less than by the algorithm that ran */
};

struct sg_advice_item {
    const struct sg_group *group;
    const struct sg_report_site *site;
    uint32_t replayed;                                 /* instances */
    double measured_blocked_ns, measured_processor_ns; /* of those; ns per call */
    /* By processor time, the least first; without any there are no estimates. */
    struct sg_advise_estimate estimates[SG_CANDIDATES_MAX];
    int estimate_count;
    int executed, best;     /* indices of estimates; -1: none */
    uint32_t not_simulated; /* candidates, a bit each, that may run there but for the simulator */
    double error_ns;
    enum sg_advice_verdict verdict;
    const char *why; /* of OBSTACLE */
};

struct sg_advice {
    struct sg_report report;
    struct sg_sampling sampling;
    struct sg_machine machine;
    int depth;                    /* frames of a call site's id in that run */
    struct sg_advice_item *items; /* those that cost most time blocked first */
    uint32_t item_count;
    uint32_t counts[SG_ADVICE_VERDICTS];
};

void sg_advice_clear(struct sg_advice *advice);

/* Sorts the report's rows, so that they are found by their number in the aggregate. */
void sg_advice_sort_sites(struct sg_advice *advice);
const struct sg_report_site *sg_advice_site(const struct sg_advice *advice, uint32_t row);

#endif
