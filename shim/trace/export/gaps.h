/* Which messages come behind others that the log does not have (struct sg_record_gap), by the slots
 * of their records. */
#ifndef SG_TRACE_GAPS_H
#define SG_TRACE_GAPS_H

#include "core/status.h"
#include "trace/record.h"

#include <stdbool.h>
#include <stdint.h>

struct sg_gaps { /* zeroed at first */
    struct sg_gap {
        uint64_t slot;
        bool is_send;
        uint32_t count;
    } * items; /* by slot, once finished */
    uint32_t count;
};

enum sg_status sg_gaps_read(struct sg_gaps *gaps, const struct sg_record_gap *record);
/* When all are read. */
void sg_gaps_finish(struct sg_gaps *gaps);
/* How many messages are missing before the one that the slot's record sends or receives. */
uint32_t sg_gaps_before(const struct sg_gaps *gaps, uint64_t slot, bool is_send);
void sg_gaps_clear(struct sg_gaps *gaps);

#endif
