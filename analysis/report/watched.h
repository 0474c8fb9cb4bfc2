/* Watchers: while an archive is read, a watcher receives the data that the rows of the report lack
 * (single instances, late contributions with their times, the locations), in one pass and without
 * holding the archive in memory.
 *
 * Arguments are valid only during the call. Times are ns since the run's start. To end the reading,
 * a watcher returns SG_ERR_MEMORY, or another status that it has logged.
 */
#ifndef SG_REPORT_WATCHED_H
#define SG_REPORT_WATCHED_H

#include "report/quantiles.h"
#include "report/window.h"

#include <stdbool.h>

struct sg_aggregate;

struct sg_filter;

/* A complete instance, with the cost of each of its calls. */
struct sg_seen_instance {
    const struct sg_instance *instance;
    const struct sg_measure *measure;
    const struct sg_call_measure *costs; /* by member */
    const uint32_t *rows;                /* by member: the row that its call counts for */
    uint32_t row;                        /* the row that the instance as a whole counts for */
};

/* A contribution that was handled after its receiver's call had returned. The archive does not
 * record whether that call was nonblocking: it was, if its site has only nonblocking calls. */
struct sg_late_cost {
    uint32_t site, comm;
    enum sg_operation operation;
    uint64_t handler_ns;   /* time spent in the handler */
    uint64_t avoided_ns;   /* wait that was avoided */
    bool by_signal;        /* handled by a signal handler */
    bool in_call;          /* the rank was in a collective at that time */
    uint32_t rank, thread; /* rank and thread that handled it */
    int64_t begin_ns;
    bool has_seq;
    uint64_t seq; /* sequence number of the call's instance */
};

/* A thread of a rank, or whatever else a tool calls a location. */
struct sg_seen_location {
    uint32_t rank, thread; /* thread: number among the rank's locations */
    uint32_t node;         /* its machine in the system tree; UINT32_MAX: unknown */
    const char *name;      /* as recorded; "": unknown */
};

/* A rank's clock: the offsets recorded in the archive. */
struct sg_seen_clock {
    uint32_t rank;
    int64_t first_offset_ns, last_offset_ns;
    int64_t between_ns; /* time between the two offsets */
    uint64_t error_ns;  /* the largest error stated in the archive */
};

/* A thread of a rank. */
struct sg_seen_thread {
    uint32_t rank, thread;
};

/* The messages in one direction that a call began (sends) or completed (receives). */
struct sg_seen_messages {
    uint64_t count, bytes;
    uint32_t comm, peer, tag; /* of the last message; peer: rank in MPI_COMM_WORLD */
};

#define SG_SEEN_NO_COMM UINT32_MAX

/* An MPI call that has returned, and belongs to no instance. */
struct sg_seen_call {
    struct sg_seen_thread at;
    uint32_t function; /* number, the same for the same name */
    const char *name;  /* "MPI_Send" */
    uint32_t site;     /* index in the aggregate */
    int64_t begin_ns, end_ns;
    struct sg_seen_messages sent, received;
    /* Number of collectives that it completed. The communicator (SG_SEEN_NO_COMM: none) and root
     * (in MPI_COMM_WORLD; -1: none) are those of the last one. */
    uint64_t collectives;
    uint32_t comm;
    int64_t root;
    uint64_t sent_bytes, received_bytes;
};

/* A message that was sent and received. */
struct sg_seen_message {
    struct sg_seen_thread from, to;
    int64_t sent_ns;       /* begin of the call that began the send */
    int64_t completing_ns; /* begin of the call that completed the receive */
    int64_t received_ns;   /* within that call */
};

enum sg_seen_part_kind {
    SG_SEEN_SEND,  /* completed by the same call */
    SG_SEEN_ISEND, /* with a request */
    SG_SEEN_RECEIVE,
    SG_SEEN_RECEIVED, /* a completed receive request: its message */
    SG_SEEN_POST,     /* a receive request */
    SG_SEEN_SENT,     /* a completed send request */
    SG_SEEN_CANCELLED
};

/* A call's action on a message. The parts of a call are reported in order, before the call
 * itself. */
struct sg_seen_part {
    struct sg_seen_thread at;
    enum sg_seen_part_kind kind;
    uint32_t comm, peer, tag; /* of the first four kinds; peer: rank in MPI_COMM_WORLD */
    uint64_t bytes;           /* of the first four kinds */
    uint64_t request;         /* if any: unique on the rank until it is complete */
    bool has_gap;             /* earlier messages were not recorded */
};

/* An MPI call that has returned, and in which its rank waited for another. */
struct sg_seen_wait {
    struct sg_seen_thread at;
    int64_t begin_ns; /* begin of the call */
    uint64_t wait_ns;
};

/* A watcher's wishes and callbacks. Any callback may be NULL. */
struct sg_watch {
    const struct sg_filter *filter; /* selects what is counted; outlives the report */
    bool calls;      /* wants the statistics of all MPI calls (calls of struct sg_report) */
    bool waitstates; /* wants the wait states of all calls, with their sums */
    bool paths;      /* also wants the critical path and the causes of lateness */
    bool open_calls; /* wants the open calls; a run without an archive need not be recovered */
    bool rules;      /* wants the calls that the run's rules decided; needs no filter */
    bool just_ended; /* the run ended at this moment */
    void *context;
    enum sg_status (*location)(void *context, const struct sg_seen_location *location);
    enum sg_status (*clock)(void *context, const struct sg_seen_clock *clock);
    enum sg_status (*instance)(void *context, const struct sg_aggregate *aggregate,
                               const struct sg_seen_instance *seen);
    enum sg_status (*late)(void *context, const struct sg_aggregate *aggregate,
                           const struct sg_late_cost *late, uint32_t row);
    /* These require wait states, because they use their matching. A wait is reported after its
     * call, once all its causes are known. */
    enum sg_status (*call)(void *context, const struct sg_aggregate *aggregate,
                           const struct sg_seen_call *call);
    enum sg_status (*message)(void *context, const struct sg_seen_message *message);
    enum sg_status (*part)(void *context, const struct sg_seen_part *part);
    enum sg_status (*wait)(void *context, const struct sg_seen_wait *wait);
};

#endif
