/* What happens apart from the statistics of calls, for whoever keeps a log. */
#ifndef SG_MPI_TRACE_EVENTS_H
#define SG_MPI_TRACE_EVENTS_H

#include "core/slice.h"
#include "mpi/call.h"

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
bool sg_trace_event_site(uint32_t site, const char *module, uint64_t offset, char *text,
                         size_t text_bytes);

#endif
