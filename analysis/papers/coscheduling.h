/* Paper 001's programs, under buffered coscheduling and as usual, which claims and figures measure;
 * and the LogP model of paper 004's measuring schemes.
 */
#ifndef SG_PAPERS_COSCHEDULING_H
#define SG_PAPERS_COSCHEDULING_H

#include "bcs/program_patterns.h"
#include "bcs/program_slices.h"
#include "core/status.h"
#include "sim/timed_world.h"

#include <stdint.h>

#define SG_PAPER_SLICE_US 250
#define SG_PAPER_NODE 17 /* any of the 32 nodes, for local figures */

/* Exchanges after each 3.5 ms (section 6.3). */
struct sg_pattern sg_paper_exchange(int32_t processes, bool nonblocking);
/* SAGE (table 5.3), with an imbalance fitted to the paper's call times there. */
struct sg_pattern sg_paper_sage(int32_t processes, uint32_t calls);
/* Runs the barriers of section 5.3 by the protocol, message by message; calls `slice` for each
 * slice. */
enum sg_status sg_paper_protocol(const struct sg_network *network, uint32_t barriers,
                                 void (*slice)(void *context, int32_t endpoint,
                                               const struct sg_slice *slice),
                                 void *context);

/* Run times as usual and under coscheduling, and the mean time under coscheduling of a call that
 * waits. sg_paper_run makes the pattern. */
struct sg_paper_times {
    double usual_ns, bcs_ns, call_ns;
};

enum sg_status sg_paper_run(const struct sg_network *network, struct sg_pattern *pattern,
                            bool restart_slice, struct sg_paper_times *out);

/* Schemes of measuring a collective, under LogP (paper 004, section 1.2, figures 1 to 3).
 *
 * The collective is a linear broadcast from rank 0. As in the paper's figures only L and g count: a
 * sender leaves with its last message, and two messages that a process sends, or receives, are
 * separated by at least g. Times are in any one unit. Pure functions.
 */

#define SG_SCHEME_PROCESSES 128

struct sg_logp {
    double latency, gap; /* L, g */
    int32_t processes;   /* 2 to SG_SCHEME_PROCESSES */
};

/* The benchmark's preparation before the calls, and the time it reports. */
enum sg_scheme {
    SG_SCHEME_LOOP,    /* none; the longest time of any process, divided by the calls */
    SG_SCHEME_MPPTEST, /* a barrier; rank 0's time divided by the calls */
    SG_SCHEME_MPBENCH, /* none; rank 0's time divided by the calls */
    SG_SCHEME_IMB,     /* barriers; the longest time of any process */
    SG_SCHEME_WINDOW,  /* an agreed start time; the longest time, of one call */
    SG_SCHEME_COUNT
};

/* One call: exits[rank] - entries[rank] is the time each process spends in it. */
void sg_scheme_call(const struct sg_logp *network, const double *entries, double *exits);
/* A linear barrier through rank 0, with the same entries and exits. */
void sg_scheme_barrier(const struct sg_logp *network, const double *entries, double *exits);
/* The longest time of any process in one call that all begin at once. */
double sg_scheme_true(const struct sg_logp *network);
/* The scheme's result for `calls` calls in a row, 1 or more; all processes begin at once. The
 * window scheme always takes one call. */
double sg_scheme_reported(enum sg_scheme scheme, const struct sg_logp *network, uint32_t calls);

#endif
