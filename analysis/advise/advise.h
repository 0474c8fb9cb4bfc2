/* Finds which algorithm would have cost less at a call site of a recorded run, by how much, and how
 * certain that is.
 *
 * For each group of instances (sample.h) the recorded arrivals are replayed with every algorithm
 * that may run there, including the one that ran. The difference between that one's estimate and
 * the measured cost is the error e of the estimates. The gain of another algorithm is the
 * difference of the two estimates, instance by instance, with a bootstrap interval. The algorithm
 * is advised if the lower end of the interval is above e: then neither the choice of instances nor
 * the inaccuracy of the model explains the gain. There is no advice where the measured cost and the
 * estimate differ by a factor above 1.5: a trial has to measure.
 *
 * Costs are rank time per call: the time blocked, plus the time spent on late contributions
 * outside of calls.
 */
#ifndef SG_ADVISE_ADVISE_H
#define SG_ADVISE_ADVISE_H

#include "advise/remedies.h"
#include "advise/replay.h"
#include "advise/sample.h"

#include <stdio.h>

/* The advice for a run: for each group of instances the estimated cost of each algorithm, and a
 * verdict. Advice is printed as rules for STAGGER_CONFIG; where one rule would have to serve call
 * sites that need different algorithms, the verdict becomes a conflict. Costs are per call. */

enum sg_advice_verdict {
    SG_ADVICE_CHANGE,       /* another algorithm is advised */
    SG_ADVICE_BEST,         /* no algorithm is estimated to cost less */
    SG_ADVICE_WITHIN_ERROR, /* the saving is within the error of the estimates */
    SG_ADVICE_MISSED,       /* the estimates are too far from the measured cost */
    SG_ADVICE_FEW,          /* too few instances */
    SG_ADVICE_SITES,        /* ranks of an instance call from sites with different rules */
    SG_ADVICE_CONFLICT,     /* one rule would apply to instances that need different ones */
    SG_ADVICE_OBSTACLE,     /* cannot be replayed; `why` says why */
    SG_ADVICE_LEFT_OUT,     /* not replayed: costs less than the replayed groups */
    SG_ADVICE_VERDICTS
};

/* "change", ...: the words of the JSON output. */
extern const char *const sg_advice_verdict_names[SG_ADVICE_VERDICTS];

/* Times are in ns per call. */
struct sg_advise_estimate {
    int candidate;
    double blocked_ns, processor_ns;
    double gain_ns, low_ns, high_ns; /* rank time saved against the algorithm that ran */
};

struct sg_advice_item {
    const struct sg_group *group;
    const struct sg_report_site *site;
    uint32_t replayed;                                 /* number of instances replayed */
    double measured_blocked_ns, measured_processor_ns; /* of the replayed instances; ns per call */
    /* By cost, the least first; empty unless the algorithm that ran was simulated. */
    struct sg_advise_estimate estimates[SG_CANDIDATES_MAX];
    int estimate_count;
    int executed, best; /* indices into estimates; -1: none */
    /* A bit for each candidate that could run there but that the simulator does not support. */
    uint32_t not_simulated;
    double error_ns;
    enum sg_advice_verdict verdict;
    const char *why; /* for SG_ADVICE_OBSTACLE */
};

struct sg_advice {
    struct sg_report report;
    struct sg_sampling sampling;
    struct sg_machine machine;
    int depth;                    /* stack frames in a call site's id in that run */
    struct sg_advice_item *items; /* sorted by blocked time, the most first */
    uint32_t item_count;
    uint32_t counts[SG_ADVICE_VERDICTS];
    struct sg_remedies remedies;
};

/* For an item with estimates. Measured by estimated cost of the algorithm that ran. */
double sg_advice_miss(const struct sg_advice_item *item);
/* The saving of the best algorithm in the whole run: the estimated share of the measured cost. */
double sg_advice_saved_ns(const struct sg_advice_item *item);
/* Index of the estimate of the same algorithm without parameters, if they hardly add to its gain;
 * else best. */
int sg_advice_plain(const struct sg_advice_item *item, int best);
/* Index of the estimate of the algorithm to try against the one that ran; -1: there is none. */
int sg_advice_rival(const struct sg_advice_item *item);
/* The STAGGER_TRIAL that measures both algorithms: "barrier@0000000a~2=mpich|srm"; malloc'ed. NULL:
 * there is none, or no memory. */
char *sg_advice_trial(const struct sg_advice *advice, const struct sg_advice_item *item);

void sg_advice_clear(struct sg_advice *advice);
/* Sorts the report's rows by their index in the aggregate, for sg_advice_site. */
void sg_advice_sort_sites(struct sg_advice *advice);
const struct sg_report_site *sg_advice_site(const struct sg_advice *advice, uint32_t row);

/* Marks advice that one rule cannot express as SG_ADVICE_CONFLICT; sg_advise calls it. False: out
 * of memory, and nothing has changed. */
bool sg_advice_find_conflicts(struct sg_advice *advice);
/* Prints the rules for STAGGER_CONFIG. Returns their number. */
uint32_t sg_advice_print_rules(const struct sg_advice *advice, FILE *out);

struct sg_advise_options {
    const char *network;       /* as for the simulator; NULL: the measured costs */
    const char *configuration; /* text of the run's stagger.conf; NULL: unknown */
    bool progress;             /* show a progress line on stderr */
};

/* Reads and analyses the run in path. On failure one line has been logged. */
enum sg_status sg_advise(const char *path, const struct sg_advise_options *options,
                         struct sg_advice *out);
/* Prints the advice; SG_ERR_MEMORY (logged). The caller checks the stream for errors. top: the
 * number of call sites to show in full; 0: all. */
enum sg_status sg_advice_print_text(const struct sg_advice *advice, uint32_t top, FILE *out);
enum sg_status sg_advice_print_json(const struct sg_advice *advice, FILE *out);

#endif
