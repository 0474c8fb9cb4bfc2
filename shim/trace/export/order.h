/* The order of a log's events: by thread, then by time, what encloses before what is enclosed. */
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

struct sg_order_entry { /* small: there is one for each record */
    uint64_t begin_ns;
    uint32_t slot; /* of the record, or SG_SLOT_... */
    uint16_t thread;
    bool nests; /* a late contribution: may lie inside another region */
};

/* All calls, late contributions and header regions that are sound; failed calls are not events.
 * malloc'ed. */
enum sg_status sg_order_make(struct sg_logread *log, struct sg_order_entry **out, size_t *count);

#endif
