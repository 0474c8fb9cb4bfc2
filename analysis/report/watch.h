/* Watchers: while an archive is read, a watcher sees what the rows of the report do not contain
 * (single instances, late contributions with their times, the locations), in one pass and without
 * holding the archive in memory.
 *
 * Everything passed to a watcher is valid during the call only. Times are ns since the run's start.
 * A watcher returns SG_ERR_MEMORY, or another status that it has logged, to end the reading.
 */
#ifndef SG_REPORT_WATCH_H
#define SG_REPORT_WATCH_H

#include "report/measure.h"
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
    bool in_call;          /* the rank was in a collective at that time */
    uint32_t rank, thread; /* that handled it */
    int64_t begin_ns;
    bool has_seq;
    uint64_t seq; /* of the call's instance */
};

/* A thread of a rank, or whatever else a tool calls a location. */
struct sg_seen_location {
    uint32_t rank, thread; /* thread: number among the rank's locations, as in struct sg_call */
    uint32_t node;         /* its process's place in the system tree; UINT32_MAX: not known */
    const char *name;      /* as recorded; "": not known */
};

/* A rank's clock: the offsets recorded in the archive. */
struct sg_seen_clock {
    uint32_t rank;
    int64_t first_offset_ns, last_offset_ns;
    int64_t between_ns; /* time from the first to the last of them */
    uint64_t error_ns;  /* the largest error that the archive states */
};

/* Any member may be NULL. */
struct sg_watch {
    const struct sg_filter *filter; /* what is counted; outlives the report */
    bool calls;      /* the statistics of all calls of MPI are wanted (struct sg_report, calls) */
    bool waitstates; /* wait states of all calls are wanted, with their sums */
    void *context;
    enum sg_status (*location)(void *context, const struct sg_seen_location *location);
    enum sg_status (*clock)(void *context, const struct sg_seen_clock *clock);
    enum sg_status (*instance)(void *context, const struct sg_aggregate *aggregate,
                               const struct sg_seen_instance *seen);
    enum sg_status (*late)(void *context, const struct sg_aggregate *aggregate,
                           const struct sg_late_cost *late, uint32_t row);
};

#endif
