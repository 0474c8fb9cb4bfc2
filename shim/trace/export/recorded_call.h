/* A rank's part in one collective, blocking or not, as its record contains it: the exporter uses
 * this form, so that the two kinds of record are distinguished in one place. Also checks which
 * records are plausible.
 */
#ifndef SG_TRACE_RECORDED_CALL_H
#define SG_TRACE_RECORDED_CALL_H

#include "core/executed.h"
#include "core/operation.h"
#include "trace/record.h"

#include <stdbool.h>
#include <stdint.h>

struct sg_recorded_call {
    const struct sg_record_call *call; /* has its counts; NULL: a nonblocking one, which has none */
    uint8_t operation;                 /* of the blocking form */
    uint8_t algorithm;
    uint8_t arm;   /* of a trial; 0: of none */
    uint8_t flags; /* enum sg_call_flags */
    uint16_t thread;
    uint64_t slice; /* where SG_CALL_SLICE */
    uint32_t site, comm; /* the log's indices */
    uint32_t seq;
    int32_t root;
    uint64_t bytes;
    uint64_t begin_ns;
    uint64_t end_ns; /* of the MPI call; 0: still open */
    /* of a nonblocking call */
    uint64_t complete_ns; /* the request was completed; 0: not yet */
    uint64_t exposed_ns;  /* in waits and tests */
    uint16_t tests;       /* how many those were */
};

/* False: the record is no part of a collective. */
bool sg_recorded_call_read(const void *record, struct sg_recorded_call *out);

/* Whether its times can be; others are left out. */
bool sg_recorded_call_is_sound(const struct sg_recorded_call *recorded);
bool sg_late_is_sound(const struct sg_record_late *late);
bool sg_event_is_sound(const struct sg_record_event *event);
bool sg_request_is_sound(const struct sg_record_request *request);
bool sg_interval_is_sound(const struct sg_record_interval *interval);
bool sg_slice_is_sound(const struct sg_record_slice *slice);

/* Of a completed nonblocking call: its time in neither its start nor waits and tests. */
static inline uint64_t sg_recorded_call_hidden_ns(const struct sg_recorded_call *recorded)
{
    return recorded->complete_ns - recorded->end_ns - recorded->exposed_ns;
}

#endif
