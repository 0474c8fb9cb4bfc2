/* Advice as rules for STAGGER_CONFIG, and the conflicts where one call site would need several
 * rules. */
#ifndef SG_ADVISE_ADVISED_RULES_H
#define SG_ADVISE_ADVISED_RULES_H

#include "advise/remedies.h"
#include "advise/replay.h"
#include "advise/sample.h"

#include <stdio.h>

/* The advice for a run: for each group of instances the estimated cost of each algorithm, and the
 * verdict. Costs are per call.
 */

enum sg_advice_verdict {
    SG_ADVICE_CHANGE,       /* another algorithm is advised */
    SG_ADVICE_BEST,         /* none is estimated to cost less */
    SG_ADVICE_WITHIN_ERROR, /* the saving is within the error of the estimates */
    SG_ADVICE_FEW,          /* too few instances */
    SG_ADVICE_SITES,        /* an instance's ranks call from sites that rules distinguish */
    SG_ADVICE_CONFLICT,     /* one rule would apply to instances that need different ones */
    SG_ADVICE_OBSTACLE,     /* cannot be replayed: `why` */
    SG_ADVICE_LEFT_OUT,     /* costs too little, among many others, to be replayed */
    SG_ADVICE_VERDICTS
};

/* "change", ...: for JSON. */
extern const char *const sg_advice_verdict_names[SG_ADVICE_VERDICTS];

/* ns per call. */
struct sg_advise_estimate {
    int candidate;
    double blocked_ns, processor_ns;
    double gain_ns, low_ns, high_ns; /* processor time saved against the algorithm that ran */
};

struct sg_advice_item {
    const struct sg_group *group;
    const struct sg_report_site *site;
    uint32_t replayed;                                 /* instances */
    double measured_blocked_ns, measured_processor_ns; /* of those; ns per call */
    /* By processor time, the least first; without a processor time there are no estimates. */
    struct sg_advise_estimate estimates[SG_CANDIDATES_MAX];
    int estimate_count;
    int executed, best; /* indices of estimates; -1: none */
    /* candidates, a bit each, that could run there but that the simulator lacks */
    uint32_t not_simulated;
    double error_ns;
    enum sg_advice_verdict verdict;
    const char *why; /* of OBSTACLE */
};

struct sg_advice {
    struct sg_report report;
    struct sg_sampling sampling;
    struct sg_machine machine;
    int depth;                    /* frames of a call site's id in that run */
    struct sg_advice_item *items; /* sorted by time blocked, the most first */
    uint32_t item_count;
    uint32_t counts[SG_ADVICE_VERDICTS];
    struct sg_remedies remedies;
};

void sg_advice_clear(struct sg_advice *advice);
/* Sorts the report's rows by their index in the aggregate, to look them up. */
void sg_advice_sort_sites(struct sg_advice *advice);
const struct sg_report_site *sg_advice_site(const struct sg_advice *advice, uint32_t row);

/* Turns advice that one rule cannot express into SG_ADVICE_CONFLICT; sg_advise calls it. False: no
 * memory, nothing has changed. */
bool sg_advice_find_conflicts(struct sg_advice *advice);
/* Prints the rules for STAGGER_CONFIG. Returns their number. */
uint32_t sg_advice_print_rules(const struct sg_advice *advice, FILE *out);

#endif
