/* What a user reads when ranks of a node wait for ever or disagree: which call each is in, and
 * where. */
#include "core/status.h"
#include "intranode/mpi/local_parts.h"
#include "intranode/ring.h"
#include "mpi/report.h"

#include <stdio.h>

#define RANKS_NAMED 16

/* What another rank is doing: in this instance, in another, or in none. */
static void describe_rank(const struct sg_local *local, uint64_t position, int rank,
                          char text[SG_REPORT_CALL_BYTES])
{
    const struct sg_node *node = sg_local_node((struct sg_local *)local);
    /* Acquire: what it wrote of later calls is not mistaken for those before. */
    uint64_t finished =
        atomic_load_explicit(&sg_ring_control(node, rank)->finished, memory_order_acquire);
    const struct sg_node_about *about = sg_node_about(node, finished, rank);

    if (about != NULL)
        sg_report_call(about, text);
    else if (finished <= position)
        snprintf(text, SG_REPORT_CALL_BYTES, "in no collective of this communicator");
    else
        snprintf(text, SG_REPORT_CALL_BYTES, "ahead of it");
}

void sg_local_report_stall(const struct sg_local *local, const struct sg_call *call,
                           uint64_t position, int seconds)
{
    struct sg_node *node = sg_local_node((struct sg_local *)local);
    uint64_t tag = sg_ring_tag(position, 0);
    char text[SG_REPORT_CALL_BYTES];
    char all[(1 + RANKS_NAMED) * (SG_REPORT_CALL_BYTES + 16)]; /* every line of it */
    int used;

    if (atomic_exchange(&node->header->stall_reported, tag) == tag)
        return;
    used =
        snprintf(all, sizeof all, "waiting for more than %d s in %s, %s:", seconds,
                 sg_report_function(call), sg_report_instance(call, position, node->ranks, text));
    sg_log("%s", all);
    for (int rank = 0; rank < node->ranks && rank < RANKS_NAMED; rank++) {
        describe_rank(local, position, rank, text);
        sg_log("  rank %d: %s", rank, text);
        used += snprintf(all + used, sizeof all - (size_t)used, " rank %d: %s;", rank, text);
    }
    all[used - 1] = '\0';
    sg_trace_event_line(SG_TRACE_LINE_STALL, all);
}

void sg_local_report_mismatch(const struct sg_local *local, const struct sg_call *call,
                              uint64_t position, int rank)
{
    const struct sg_node *node = sg_local_node((struct sg_local *)local);
    const struct sg_node_about *own = sg_node_about(node, position, node->rank);
    const struct sg_node_about *other = sg_node_about(node, position, rank);

    sg_report_mismatch(call, node->rank, own, rank, other);
}
