/* What a user reads when the ranks of a communicator disagree: which call each is in, and where.
 * By threads of the application, inside the intercepted call.
 */
#ifndef SG_MPI_REPORT_H
#define SG_MPI_REPORT_H

#include "intranode/layout.h"
#include "mpi/call.h"
#include "mpi/trace_events.h"

#define SG_REPORT_CALL_BYTES 300

/* "MPI_Reduce", "MPI_Ireduce" */
const char *sg_report_function(const struct sg_call *call);

/* "instance #12 on MPI_COMM_WORLD, 4 ranks, at solve solver.c:88"; position: where the
 * call's number is not recorded. */
const char *sg_report_instance(const struct sg_call *call, uint64_t position, int ranks,
                               char text[SG_REPORT_CALL_BYTES]);

/* "MPI_Reduce of 8 bytes to root 1 at solve solver.c:88 #1f2e3d4c" */
const char *sg_report_call(const struct sg_call_info *info, char text[SG_REPORT_CALL_BYTES]);

/* A line for the user, and for whoever records trace events. */
void sg_report_line(enum sg_trace_line kind, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Two call sites with two rules in one instance. own, chosen: algorithms. One line for the first
 * rank of a communicator that meets the pair in an operation, whichever of the two was chosen.
 * told: in memory that its ranks share, zeroed at first; pairs that do not fit get no line. */
void sg_report_choice(_Atomic uint64_t told[SG_NODE_WARNED], const struct sg_call *call, int rank,
                      int own, int chosen, int chooser);

/* A nonblocking call for which no word is free: rules by call site end (docs/decisions/0031). */
void sg_report_far_ahead(const struct sg_call *call, int rank, int calls);

/* Ranks that disagree on operation, size, root or MPI_IN_PLACE: both call sites, then the end of
 * the job. other: NULL where it is not known any more. Mismatch returns, with a marker in the
 * trace, if the communicator's errors are not fatal: then the call is to fail. */
void sg_report_mismatch(const struct sg_call *call, int rank, const struct sg_call_info *own,
                        int other_rank, const struct sg_call_info *other);
void sg_report_end(const struct sg_call *call, int rank, const struct sg_call_info *own,
                   int other_rank, const struct sg_call_info *other) __attribute__((noreturn));

/* Whether an error on it ends the job. */
bool sg_report_is_fatal(MPI_Comm comm);

/* The class of the error for a rank in one call where another rank is in another. */
int sg_report_error(const struct sg_call_info *own, const struct sg_call_info *other);

#endif
