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

#include "advise/advice.h"

#include <stdio.h>

struct sg_advise_options {
    const char *network;       /* as the simulator takes it; NULL: as measured */
    const char *configuration; /* text of the run's stagger.conf; NULL: not known */
    bool progress;             /* a line on stderr tells how far it is */
};

/* On failure one line has been logged. */
enum sg_status sg_advise(const char *path, const struct sg_advise_options *options,
                         struct sg_advice *out);
/* SG_ERR_MEMORY (logged); a stream that does not take it is the caller's to notice. top: as many
 * call sites in full; 0: all. */
enum sg_status sg_advice_print_text(const struct sg_advice *advice, uint32_t top, FILE *out);
enum sg_status sg_advice_print_json(const struct sg_advice *advice, FILE *out);

#endif
