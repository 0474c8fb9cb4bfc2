#include "intranode/mpi/stall.h"

#include "intranode/ring.h"
#include "mpi/report.h"

#include <stdio.h>
#include <stdlib.h>

#define RANKS_NAMED 16

/* What another rank is doing: in this instance, in another, or in none. */
static void describe_rank(const struct sg_node *node, uint64_t position, int rank,
                          char text[SG_REPORT_CALL_BYTES])
{
    uint64_t left = sg_ring_left(node, rank);
    const struct sg_call_info *info = sg_node_call_info(node, left, rank);

    if (info != NULL)
        sg_report_call(info, text);
    else if (left <= position)
        snprintf(text, SG_REPORT_CALL_BYTES, "in no collective of this communicator");
    else
        snprintf(text, SG_REPORT_CALL_BYTES, "ahead of it");
}

/* The rank that does not come, or is somewhere else: one rank speaks, once an instance. */
void sg_intranode_report_stall(struct sg_node *node, const struct sg_call *call, int seconds)
{
    uint64_t position = node->position;
    uint64_t tag = sg_ring_tag(position, 0);
    char text[SG_REPORT_CALL_BYTES];
    size_t all_bytes = (1 + RANKS_NAMED) * (SG_REPORT_CALL_BYTES + 16);
    char *all; /* every line of it */
    int used;

    if (atomic_exchange(&node->header->stall_reported, tag) == tag ||
        (all = malloc(all_bytes)) == NULL)
        return;
    used =
        snprintf(all, all_bytes, "waiting for more than %d s in %s, %s:", seconds,
                 sg_report_function(call), sg_report_instance(call, position, node->ranks, text));
    sg_log("%s", all);
    for (int rank = 0; rank < node->ranks && rank < RANKS_NAMED; rank++) {
        describe_rank(node, position, rank, text);
        sg_log("  rank %d: %s", rank, text);
        used += snprintf(all + used, all_bytes - (size_t)used, " rank %d: %s;", rank, text);
    }
    all[used - 1] = '\0';
    sg_trace_event_line(SG_TRACE_LINE_STALL, all);
    free(all);
}
