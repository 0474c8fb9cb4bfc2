/* Advice: which algorithm would have cost less at a call site of a recorded run, by how much, and
 * how sure that is.
 *
 * For each group of instances (sample.h) the recorded arrivals are replayed with every algorithm
 * that may run there, the one that did run among them. What that one's estimate differs from what
 * was measured is the estimates' error, e. Of another algorithm the gain is its estimate's
 * difference to that estimate, instance by instance, with its interval by bootstrap. It is advised
 * where the interval's lower end is above e: where neither the choice of instances nor all that
 * the model leaves out explains it.
 *
 * Costs are per call and processor time (blocked, and spent on late contributions outside of
 * calls), which holds the time blocked.
 */
#ifndef SG_ADVISE_ADVISE_H
#define SG_ADVISE_ADVISE_H

#include "advise/candidates.h"
#include "advise/machine.h"
#include "advise/sample.h"

#include <stdio.h>

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
    int ran, best;          /* indices of estimates; -1: none */
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

struct sg_advise_options {
    const char *network;       /* as the simulator takes it; NULL: as measured */
    const char *configuration; /* text of the run's stagger.conf; NULL: not known */
    bool progress;             /* a line on stderr tells how far it is */
};

/* On failure one line has been logged. */
enum sg_status sg_advise(const char *path, const struct sg_advise_options *options,
                         struct sg_advice *out);
void sg_advice_clear(struct sg_advice *advice);

/* The row of the report by its number in the aggregate. */
const struct sg_report_site *sg_advice_site(const struct sg_advice *advice, uint32_t row);

/* As "[8-15]": what the group's size class holds; "" for a barrier. */
#define SG_ADVICE_RANGE_BYTES 48
void sg_advice_range(const struct sg_group *group, char text[SG_ADVICE_RANGE_BYTES]);

/* Turns advice that one rule cannot follow into SG_ADVICE_CONFLICT; sg_advise has done so. False:
 * no memory, nothing is turned. */
bool sg_advice_find_conflicts(struct sg_advice *advice);

/* The rules, for STAGGER_CONFIG. How many there are. */
uint32_t sg_advice_print_rules(const struct sg_advice *advice, FILE *out);

/* SG_ERR_MEMORY (logged); a stream that does not take it is the caller's to notice. top: as many
 * call sites in full; 0: all. */
enum sg_status sg_advice_print_text(const struct sg_advice *advice, uint32_t top, FILE *out);
enum sg_status sg_advice_print_json(const struct sg_advice *advice, FILE *out);

#endif
