#include "internode/waiting.h"

#include "mpi/report.h"
#include "mpi/trace_events.h"

#include <stdio.h>
#include <stdlib.h>

#define RANKS_NAMED 16
#define TEXT_BYTES 4096
#define TAG_BYTES 24
#define PEER_BYTES 24
#define MESSAGE_REPORTED UINT64_MAX /* no instance has it */

static uint64_t stall_ns;

void sg_internode_stall_after(uint64_t ns)
{
    stall_ns = ns;
}

/* Appends; the text stays whole when it is full. */
static void append(char *text, int *used, int rank, const struct sg_rank_state *info)
{
    char call[SG_REPORT_CALL_BYTES];
    /* Relaxed: what is read is only shown. */
    bool came_once = atomic_load_explicit(&info->position, memory_order_relaxed) > 0;
    int length = snprintf(text + *used, (size_t)(TEXT_BYTES - *used), "; rank %d was %s%s", rank,
                          came_once ? "last in " : "in none before",
                          came_once ? sg_report_call(&info->call, call) : "");

    if (length > 0 && *used + length < TEXT_BYTES)
        *used += length;
    else
        text[*used] = '\0';
}

static __attribute__((noinline)) void report_stall(const struct sg_internode *internode,
                                                   const struct sg_call *call, uint64_t position)
{
    char *text, instance[SG_REPORT_CALL_BYTES];
    uint64_t tag = position + 1;
    int used = 0, missing = 0, here = 0;

    if (atomic_exchange(&internode->header->stall_reported, tag) == tag ||
        (text = calloc(1, TEXT_BYTES)) == NULL)
        return;
    for (int rank = 0; rank < internode->ranks; rank++) {
        const struct sg_rank_state *info;

        if (!sg_internode_is_here(internode, rank))
            continue;
        here++;
        info = sg_internode_rank_state(internode, rank);
        if (atomic_load_explicit(&info->position, memory_order_relaxed) > position)
            continue;
        if (missing++ < RANKS_NAMED)
            append(text, &used, rank, info);
    }
    sg_report_line(SG_TRACE_LINE_STALL,
                   "rank %d waits in %s for more than %d s, %s: %d of %d ranks%s have not come%s",
                   internode->rank, sg_report_function(call),
                   (int)(stall_ns / UINT64_C(1000000000)),
                   sg_report_instance(call, position, internode->ranks, instance), missing, here,
                   here < internode->ranks ? " of this machine" : "", text);
    free(text);
}

/* "tag 5" */
static const char *name_tag(int tag, char text[TAG_BYTES])
{
    if (tag == SG_ANY)
        return "any tag";
    snprintf(text, TAG_BYTES, "tag %d", tag);
    return text;
}

/* One line a communicator: where a message lacks, others often wait for what its receiver would do
 * next. */
static __attribute__((noinline)) void report_message(const struct sg_internode *internode,
                                                     const struct sg_carried_message *message)
{
    char tag[TAG_BYTES], peer[PEER_BYTES] = "any rank";

    if (atomic_exchange(&internode->header->stall_reported, MESSAGE_REPORTED) == MESSAGE_REPORTED)
        return;
    if (message->peer != SG_ANY)
        snprintf(peer, sizeof peer, "rank %d", message->peer);
    sg_report_line(SG_TRACE_LINE_STALL,
                   message->kind == SG_POST_SEND
                       ? "rank %d waits for more than %d s: %s does not receive its message (%s, "
                         "%u bytes) on a communicator of %d ranks"
                       : "rank %d waits for more than %d s: %s does not send it a message (%s, "
                         "%u bytes at most) on a communicator of %d ranks",
                   internode->rank, (int)(stall_ns / UINT64_C(1000000000)), peer,
                   name_tag(message->tag, tag), message->bytes, internode->ranks);
}

void sg_internode_wait(struct sg_internode *internode, struct sg_internode_waiting *waiting,
                       bool (*is_over)(void *context), void *context)
{
    bool reported = (waiting->call == NULL && waiting->message == NULL) || stall_ns == 0;

    while (!is_over(context)) {
        if (!sg_wait_step(&waiting->wait, &internode->wait_queue, is_over, context))
            continue;
        sg_progress_poll();
        if (!reported && sg_wait_elapsed_ns(&waiting->wait) > stall_ns) {
            reported = true;
            if (waiting->call != NULL)
                report_stall(internode, waiting->call, waiting->position);
            else
                report_message(internode, waiting->message);
        }
    }
}
