/* Lines for the user about one call or communicator, such as ranks that disagree on a collective,
 * and the trace events that go to a log if there is one. A line also goes to the trace.
 *
 * Application threads, inside the intercepted call, unless a function says otherwise.
 */
#ifndef SG_MPI_USER_LINES_H
#define SG_MPI_USER_LINES_H

#include "core/slice.h"
#include "intranode/method.h"
#include "mpi/call.h"

/* ---- trace events: outside the statistics of calls ---- */

struct sg_record_slice_sum;

/* A contribution handled after its receiver's call had returned. */
struct sg_late {
    struct sg_call_name call; /* the receiver's */
    enum sg_operation operation;
    int child; /* first rank of the contributing node */
    uint64_t bytes;
    uint64_t begin_ns, end_ns; /* while it was handled */
    uint64_t avoided_ns;       /* since the call returned, or the last one before it was handled */
};

/* A communicator over several nodes, in this process's log. */
struct sg_comm_log {
    uint32_t comm;                   /* UINT32_MAX: not in the log */
    uint32_t node;                   /* this rank's node in the job */
    struct sg_record_slice_sum *sum; /* sums of slices without a record; NULL: none */
};

/* A slice that has ended at this rank's node. */
struct sg_told_slice {
    const struct sg_slice *slice;
    uint32_t first_seq; /* of the first collective in the slice; UINT32_MAX: none */
    const struct sg_comm_log *log;
    uint64_t now_ns;
    uint64_t *kept; /* records of this node's slices; the lock's holder counts */
};

/* Kind of a line. A note and what `auto` has learned report no fault and do not go to the
 * terminal. */
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
    /* In an application thread, inside its call, with the line that the user reads. */
    void (*line)(enum sg_trace_line kind, const char *text);
    /* Likewise: finds a call site as "FUNCTION FILE:LINE". module: the base name, maybe cut from
     * the left. False: not known. */
    bool (*site)(uint32_t site, const char *module, uint64_t offset, char *text, size_t text_bytes);
    /* Likewise: describes the present call, or the last one, of a rank of MPI_COMM_WORLD on this
     * machine. False: not known. */
    bool (*present)(int world_rank, char *text, size_t text_bytes);
};

/* Call in MPI_Init, before any collective; NULL: none. */
void sg_trace_events_set(const struct sg_trace_events *events);
/* These call the functions that have been set, if any. */
void sg_trace_event_late(const struct sg_late *late);
void sg_trace_event_slice(const struct sg_told_slice *told);
void sg_trace_event_line(enum sg_trace_line kind, const char *text);

#define SG_REPORT_CALL_BYTES 300

/* "MPI_Reduce", "MPI_Ireduce" */
const char *sg_report_function(const struct sg_call *call);
/* "instance #12 on MPI_COMM_WORLD, 4 ranks, at solve solver.c:88". position: used if the call's
 * number is not recorded. */
const char *sg_report_instance(const struct sg_call *call, uint64_t position, int ranks,
                               char text[SG_REPORT_CALL_BYTES]);
/* "MPI_Reduce of 8 bytes to root 1 at solve solver.c:88 #1f2e3d4c" */
const char *sg_report_call(const struct sg_call_info *info, char text[SG_REPORT_CALL_BYTES]);
/* Returns the rank's number in MPI_COMM_WORLD; MPI_UNDEFINED: not known. */
int sg_report_world_rank(MPI_Comm comm, int rank);
/* "in MPI_Recv from rank 0 at solve solver.c:88, for 31 s": describes the present call of a rank of
 * the call's communicator on this machine, whichever function it is of. False: not known. */
bool sg_report_present(const struct sg_call *call, int rank, char text[SG_REPORT_CALL_BYTES]);
/* Logs a line for the user, and passes it to the trace. */
void sg_report_line(enum sg_trace_line kind, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Reports two call sites with different rules in one instance. own, chosen: algorithms. The first
 * rank of a communicator that meets the pair in an operation logs one line, whichever was chosen.
 * told: shared memory of the ranks, zeroed at first; pairs beyond its capacity get no line. */
void sg_report_choice(_Atomic uint64_t told[SG_NODE_WARNED], const struct sg_call *call, int rank,
                      int own, int chosen, int chooser);
/* Reports a nonblocking call too far ahead to be agreed on: rules by call site end on the
 * communicator (docs/decisions/07). */
void sg_report_far_ahead(const struct sg_call *call, int rank, int calls);
/* Reports ranks that disagree on operation, size, root or MPI_IN_PLACE, with both call sites, then
 * ends the job. other: NULL if it is no longer known. sg_report_mismatch returns, with a marker in
 * the trace, if errors on the communicator are not fatal: the caller then fails the call. */
void sg_report_mismatch(const struct sg_call *call, int rank, const struct sg_call_info *own,
                        int other_rank, const struct sg_call_info *other);
void sg_report_end(const struct sg_call *call, int rank, const struct sg_call_info *own,
                   int other_rank, const struct sg_call_info *other) __attribute__((noreturn));
/* True if an error on the communicator ends the job. */
bool sg_report_is_fatal(MPI_Comm comm);
/* Returns the error class for a rank whose call differs from another rank's. */
int sg_report_error(const struct sg_call_info *own, const struct sg_call_info *other);

#endif
