/* The order of a log's events: by thread, then by time; an enclosing event before the enclosed one,
 * a start before its completion. */
#ifndef SG_TRACE_ORDER_H
#define SG_TRACE_ORDER_H

#include "core/status.h"
#include "trace/export/logread.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Slots that stand for the regions the log's header tells of. */
#define SG_SLOT_INIT (UINT32_MAX - 1)
#define SG_SLOT_FINALIZE UINT32_MAX

enum sg_order_what {                    /* in this order where times are equal */
                     SG_ORDER_INTERVAL, /* the end of an interval between calls: a moment */
                     SG_ORDER_CALL,     /* an MPI call: lies in no other region */
                     SG_ORDER_COMPLETE, /* of a nonblocking call: a moment, wherever it falls */
                     SG_ORDER_REQUEST,  /* what happens to a request: likewise */
                     SG_ORDER_SLICE,    /* the end of a slice: likewise */
                     SG_ORDER_LATE,     /* a late contribution: may lie inside another region */
};

struct
    sg_order_entry { /* small: there is one for each record, of a completed nonblocking call two */
    uint64_t begin_ns;
    uint32_t slot; /* of the record, or SG_SLOT_... */
    uint16_t thread;
    uint8_t what; /* enum sg_order_what */
};

/* All calls, nonblocking calls, late contributions, intervals between calls, slices and header
 * regions that are sound; collectives that failed are not events. malloc'ed. */
enum sg_status sg_order_make(struct sg_logread *log, struct sg_order_entry **out, size_t *count);

#endif
