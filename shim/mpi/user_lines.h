/* What a user reads when the ranks of a communicator disagree: which call each is in, and where.
 * By threads of the application, inside the intercepted call.
 */
#ifndef SG_MPI_USER_LINES_H
#define SG_MPI_USER_LINES_H

#include "core/slice.h"
#include "intranode/method.h"
#include "mpi/call.h"

/* What happens apart from the statistics of calls, for whoever keeps a log. */

struct sg_record_slice_sum;

/* A contribution that was handled after its receiver's call had returned. */
struct sg_late {
    struct sg_call_name call; /* the receiver's */
    enum sg_operation operation;
    int child; /* the first rank of the node whose contribution it was */
    uint64_t bytes;
    uint64_t begin_ns, end_ns; /* it was handled */
    uint64_t avoided_ns;       /* since the call returned, or the last one before it was handled */
};

/* A communicator over several nodes in this process's log. */
struct sg_comm_log {
    uint32_t comm;                   /* UINT32_MAX: it is not there */
    uint32_t node;                   /* this rank's, among the job's */
    struct sg_record_slice_sum *sum; /* for slices without a record of their own; NULL: none */
};

/* A slice that is over at this rank's node. */
struct sg_told_slice {
    const struct sg_slice *slice;
    uint32_t first_seq; /* of the first collective that ran in it; UINT32_MAX: none */
    const struct sg_comm_log *log;
    uint64_t now_ns;
    uint64_t *kept; /* slices of this node that have records, by whichever process has the lock */
};

/* What a line tells of. A note, and what `auto` has learned, are of no fault and on no terminal. */
enum sg_trace_line {
    SG_TRACE_LINE_STALL,
    SG_TRACE_LINE_MISMATCH,
    SG_TRACE_LINE_NOTE,
    SG_TRACE_LINE_LEARNED
};

struct sg_trace_events {
    /* Any thread of the process, or a signal handler: async-signal-safe. */
    void (*late)(const struct sg_late *late);
    void (*slice)(const struct sg_told_slice *told); /* likewise */
    /* By a thread of the application, inside its call, with the line that the user reads. */
    void (*line)(enum sg_trace_line kind, const char *text);
    /* Likewise: where a call site is, as "FUNCTION FILE:LINE"; module: the base name, maybe cut
     * from the left. False: not known. */
    bool (*site)(uint32_t site, const char *module, uint64_t offset, char *text, size_t text_bytes);
};

/* In MPI_Init, before any call is run; NULL: none. */
void sg_trace_events_set(const struct sg_trace_events *events);
/* These call the functions that have been set, if any. */
void sg_trace_event_late(const struct sg_late *late);
void sg_trace_event_slice(const struct sg_told_slice *told);
void sg_trace_event_line(enum sg_trace_line kind, const char *text);

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
