/* Watchers: while an archive is read, a watcher sees what the rows of the report do not contain
 * (single instances, late contributions with their times, the locations), in one pass and without
 * holding the archive in memory.
 *
 * Everything passed to a watcher is valid during the call only. Times are ns since the run's start.
 * A watcher returns SG_ERR_MEMORY, or another status that it has logged, to end the reading.
 */
#ifndef SG_REPORT_WATCHED_H
#define SG_REPORT_WATCHED_H

#include "report/quantiles.h"
#include "report/window.h"

#include <stdbool.h>

struct sg_aggregate;

struct sg_filter;

/* One complete instance, with the cost of each of its calls. */
struct sg_seen_instance {
    const struct sg_instance *instance;
    const struct sg_measure *measure;
    const struct sg_call_measure *costs; /* by member */
    const uint32_t *rows;                /* by member: the row that its call counts for */
    uint32_t row;                        /* the row that the instance as a whole counts for */
};

/* A contribution that was handled after its receiver's call had returned. Whether that call was
 * nonblocking is not recorded: if its site has nonblocking calls only, it was. */
struct sg_late_cost {
    uint32_t site, comm;
    enum sg_operation operation;
    uint64_t handler_ns;   /* it took */
    uint64_t avoided_ns;   /* of waiting for it */
    bool by_signal;        /* a signal handler did */
    bool in_call;          /* the rank was in a collective at that time */
    uint32_t rank, thread; /* that handled it */
    int64_t begin_ns;
    bool has_seq;
    uint64_t seq; /* of the call's instance */
};

/* A thread of a rank, or whatever else a tool calls a location. */
struct sg_seen_location {
    uint32_t rank,
        thread;       /* thread: number among the rank's locations, as in struct sg_member_call */
    uint32_t node;    /* its process's place in the system tree; UINT32_MAX: not known */
    const char *name; /* as recorded; "": not known */
};

/* A rank's clock: the offsets recorded in the archive. */
struct sg_seen_clock {
    uint32_t rank;
    int64_t first_offset_ns, last_offset_ns;
    int64_t between_ns; /* time from the first to the last of them */
    uint64_t error_ns;  /* the largest error that the archive states */
};

/* A thread of a rank. */
struct sg_seen_thread {
    uint32_t rank, thread;
};

/* The messages in one direction that a call began (sends) or completed (receives). */
struct sg_seen_messages {
    uint64_t count, bytes;
    uint32_t comm, peer, tag; /* of the last one; peer: rank in MPI_COMM_WORLD */
};

#define SG_SEEN_NO_COMM UINT32_MAX

/* A call of MPI that has returned, and is part of no instance. */
struct sg_seen_call {
    struct sg_seen_thread at;
    uint32_t function; /* its number, the same for the same name */
    const char *name;  /* "MPI_Send" */
    uint32_t site;     /* index in the aggregate */
    int64_t begin_ns, end_ns;
    struct sg_seen_messages sent, received;
    /* Collectives that it completed; communicator (SG_SEEN_NO_COMM: none) and root (in
     * MPI_COMM_WORLD; -1: none) are the last one's. */
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
    int64_t received_ns;   /* within it */
};

enum sg_seen_part_kind {
    SG_SEEN_SEND,  /* that its call completes */
    SG_SEEN_ISEND, /* with a request */
    SG_SEEN_RECEIVE,
    SG_SEEN_RECEIVED, /* of a request that is complete: whose message it was */
    SG_SEEN_POST,     /* of a receive, with a request */
    SG_SEEN_SENT,     /* a request that is complete */
    SG_SEEN_CANCELLED
};

/* What a call does with a message, told in their order before the call is. */
struct sg_seen_part {
    struct sg_seen_thread at;
    enum sg_seen_part_kind kind;
    uint32_t comm, peer, tag; /* of the first four; peer: rank in MPI_COMM_WORLD */
    uint64_t bytes;           /* likewise */
    uint64_t request;         /* where it has one: unique on the rank while it is not complete */
    bool has_gap;             /* messages before it were not recorded */
};

/* A call of MPI that has returned, and in which its rank waited for another. */
struct sg_seen_wait {
    struct sg_seen_thread at;
    int64_t begin_ns; /* of the call */
    uint64_t wait_ns;
};

/* Any member may be NULL. */
struct sg_watch {
    const struct sg_filter *filter; /* what is counted; outlives the report */
    bool calls;      /* the statistics of all calls of MPI are wanted (struct sg_report, calls) */
    bool waitstates; /* wait states of all calls are wanted, with their sums */
    bool paths;      /* with them, the critical path and causes of lateness */
    void *context;
    enum sg_status (*location)(void *context, const struct sg_seen_location *location);
    enum sg_status (*clock)(void *context, const struct sg_seen_clock *clock);
    enum sg_status (*instance)(void *context, const struct sg_aggregate *aggregate,
                               const struct sg_seen_instance *seen);
    enum sg_status (*late)(void *context, const struct sg_aggregate *aggregate,
                           const struct sg_late_cost *late, uint32_t row);
    /* These only where wait states are wanted, whose matching they use. A wait is told after its
     * call, when all is known of it. */
    enum sg_status (*call)(void *context, const struct sg_aggregate *aggregate,
                           const struct sg_seen_call *call);
    enum sg_status (*message)(void *context, const struct sg_seen_message *message);
    enum sg_status (*part)(void *context, const struct sg_seen_part *part);
    enum sg_status (*wait)(void *context, const struct sg_seen_wait *wait);
};

#endif
