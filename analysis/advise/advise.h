/* Finds which algorithm would have cost less at a call site of a recorded run, by how much, and how
 * certain that is.
 *
 * For each group of instances (sample.h) the recorded arrivals are replayed with every algorithm
 * that may run there, including the one that ran. The difference between that one's estimate and
 * the measured cost is the error e of the estimates. The gain of another algorithm is the
 * difference of the two estimates, instance by instance, with a bootstrap interval. The algorithm
 * is advised if the lower end of the interval is above e: then neither the choice of instances nor
 * the inaccuracy of the model explains the gain.
 *
 * Costs are processor time per call: the time blocked, plus the time spent on late contributions
 * outside of calls.
 */
#ifndef SG_ADVISE_ADVISE_H
#define SG_ADVISE_ADVISE_H

#include "advise/advised_rules.h"

#include <stdio.h>

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
