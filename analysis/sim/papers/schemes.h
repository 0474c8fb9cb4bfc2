/* Schemes of measuring a collective, under LogP (paper 004, section 1.2, figures 1 to 3).
 *
 * The collective is a linear broadcast from rank 0. As in the paper's figures only L and g count:
 * a sender leaves with its last message, messages of one process leave, and are taken, at least g
 * apart. Times are in any one unit. Pure functions.
 */
#ifndef SG_SIM_PAPERS_SCHEMES_H
#define SG_SIM_PAPERS_SCHEMES_H

#include <stdint.h>

#define SG_SCHEME_PROCESSES 128

struct sg_logp {
    double latency, gap; /* L, g */
    int32_t processes;   /* 2 to SG_SCHEME_PROCESSES */
};

/* What a benchmark does before the calls, and what it reports. */
enum sg_scheme {
    SG_SCHEME_LOOP,    /* nothing; the longest time of any process over the number of calls */
    SG_SCHEME_MPPTEST, /* a barrier; rank 0's time over that number */
    SG_SCHEME_MPBENCH, /* nothing; rank 0's */
    SG_SCHEME_IMB,     /* barriers; the longest time of any process */
    SG_SCHEME_WINDOW,  /* all begin at an agreed time; the longest, of one call */
    SG_SCHEME_COUNT
};

/* One call: exits[rank] - entries[rank] is how long each process is in it. */
void sg_scheme_call(const struct sg_logp *network, const double *entries, double *exits);

/* A linear barrier through rank 0, likewise. */
void sg_scheme_barrier(const struct sg_logp *network, const double *entries, double *exits);

/* The longest time of any process in one call that all begin at once. */
double sg_scheme_true(const struct sg_logp *network);

/* The scheme's result for so many calls in a row, 1 or more; all begin at once. The window takes
 * one call whatever their number. */
double sg_scheme_reported(enum sg_scheme scheme, const struct sg_logp *network, uint32_t calls);

#endif
