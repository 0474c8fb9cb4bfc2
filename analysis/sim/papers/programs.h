/* Paper 001's programs, under buffered coscheduling and as usual: what claims and figures measure.
 */
#ifndef SG_SIM_PAPERS_PROGRAMS_H
#define SG_SIM_PAPERS_PROGRAMS_H

#include "core/status.h"
#include "sim/program/patterns.h"
#include "sim/program/slices.h"
#include "sim/timed/world.h"

#define SG_PAPER_SLICE_US 250
#define SG_PAPER_NODE 17 /* any node of 32, of which local figures are */

/* Exchanges after each 3.5 ms (section 6.3). */
struct sg_pattern sg_paper_exchange(int32_t processes, bool nonblocking);
/* SAGE (table 5.3), with the imbalance that is fitted to what its calls take there. */
struct sg_pattern sg_paper_sage(int32_t processes, uint32_t calls);
/* Barriers after each 1.9 ms, on 32 nodes (section 5.3). */
struct sg_pattern sg_paper_barriers(uint32_t barriers);

/* Slices as the paper's: a strobe for each microphase, at every boundary, by the network card. */
struct sg_sliced_setup sg_paper_slices(const struct sg_network *network, bool restart_slice);

/* The same barriers by the protocol, message by message: `slice` is told of each slice. */
enum sg_status sg_paper_protocol(const struct sg_network *network, uint32_t barriers,
                                 void (*slice)(void *context, int32_t endpoint,
                                               const struct sg_slice *slice),
                                 void *context);

/* Run times, and what a call that waits takes under coscheduling, the mean. The pattern is made. */
struct sg_paper_times {
    double usual_ns, bcs_ns, call_ns;
};
enum sg_status sg_paper_run(const struct sg_network *network, struct sg_pattern *pattern,
                            bool restart_slice, struct sg_paper_times *out);

/* The coscheduled run time by the protocol, message by message. The pattern is made. */
enum sg_status sg_paper_run_protocol(const struct sg_network *network, struct sg_pattern *pattern,
                                     double *bcs_ns);

#endif
