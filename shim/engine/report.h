/* What a user reads when the ranks of a communicator disagree: which call each is in, and where.
 * By threads of the application, inside the intercepted call.
 */
#ifndef SG_ENGINE_REPORT_H
#define SG_ENGINE_REPORT_H

#include "engine/engine.h"
#include "engine/observer.h"
#include "node/layout.h"

#define SG_REPORT_CALL_BYTES 200

/* "MPI_Reduce", "MPI_Ireduce" */
const char *sg_report_function(const struct sg_call *call);

/* "MPI_Reduce of 8 bytes to root 1 at solver+0x12f0 #1f2e3d4c" */
const char *sg_report_call(const struct sg_node_about *about, char text[SG_REPORT_CALL_BYTES]);

/* A line for the user, and for whoever observes that kind of thing. */
void sg_report_line(void (*observed)(const char *text), const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Two call sites with two rules in one instance (architecture.md, trap 2). own, chosen: algorithms.
 * One line for the first rank of a communicator that meets the pair in an operation, whoever of the
 * two chose. told: in memory that its ranks share, zeroed at first; what does not fit is not told.
 */
void sg_report_choice(_Atomic uint64_t told[SG_NODE_WARNED], const struct sg_call *call, int rank,
                      int own, int chosen, int chooser);

/* Ranks that disagree on operation, size or root: both call sites, then the end of the job. other:
 * NULL where it is not known any more. */
void sg_report_mismatch(const struct sg_call *call, int rank, const struct sg_node_about *own,
                        int other_rank, const struct sg_node_about *other)
    __attribute__((noreturn));

#endif
