/* Communicators of all ranks, each once: its members, and the instances that every member recorded.
 * A communicator whose members are not all known (their logs are lost) has no complete instance and
 * is left out; one that lacks a member's log stays, without instances.
 */
#ifndef SG_TRACE_UNIFY_COMMS_H
#define SG_TRACE_UNIFY_COMMS_H

#include "core/status.h"
#include "trace/export/plan.h"
#include "trace/export/strings.h"
#include "trace/export/summary.h"

#include <stdint.h>

struct sg_comm_definition {
    uint32_t name;   /* string */
    uint32_t parent; /* ref or SG_NO_COMM; less than the own ref */
    uint32_t size;
    uint32_t remote_size; /* of an intercommunicator's second group; else 0 */
    uint32_t *members;    /* world ranks, of both groups */
    /* Of a Cartesian topology: sizes of the dimensions, then whether they are periodic. */
    const uint32_t *grid; /* of a summary */
    uint32_t dimensions;  /* 0: there is none */
};

struct sg_unified_comms {
    struct sg_comm_definition *definitions; /* by ref less 2 */
    uint32_t count;
    uint64_t calls;   /* of kept instances, over all ranks */
    uint64_t dropped; /* of others */
};

/* Fills in the plan's part of them, too. */
enum sg_status sg_unify_comms(const struct sg_summary *summaries, int summary_count,
                              struct sg_strings *strings, struct sg_plan *plan,
                              struct sg_unified_comms *out);
void sg_unified_comms_clear(struct sg_unified_comms *comms);

#endif
