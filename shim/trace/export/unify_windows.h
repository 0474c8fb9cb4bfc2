/* Windows of all ranks, each once: a window is known by its communicator and its place among the
 * windows of that. Those whose communicator the archive does not have are left out, and what tells
 * of them is counted. So are groups of ranks that windows are synchronised with, by their members.
 */
#ifndef SG_TRACE_UNIFY_WINDOWS_H
#define SG_TRACE_UNIFY_WINDOWS_H

#include "core/status.h"
#include "trace/export/plan.h"
#include "trace/export/strings.h"
#include "trace/export/summary.h"

#include <stdbool.h>
#include <stdint.h>

struct sg_unified_windows {
    struct sg_window_definition {
        uint32_t name; /* string */
        uint32_t comm; /* ref */
        bool has_life; /* its making, and its end if it came, are told of */
    } * windows;       /* by ref */
    struct sg_group_definition {
        const uint32_t *members; /* world ranks, the summaries' */
        uint32_t size;
    } * groups; /* by ref, from SG_GROUP_REF_OTHERS */
    uint32_t window_count, group_count;
    uint64_t dropped; /* events that the archive does not have */
};

/* After sg_unify_profile_comms. */
enum sg_status sg_unify_windows(const struct sg_summary *summaries, int summary_count,
                                struct sg_strings *strings, struct sg_plan *plan,
                                struct sg_unified_windows *out);
void sg_unified_windows_clear(struct sg_unified_windows *windows);

#endif
