/* Waits of a call or a message: the wait loop and its report of a stall; the health check between
 * machines, which aborts the job; and the first counts of instances. See call_waiting.h. */
#include "internode/call_waiting.h"

#include "core/clock.h"
#include "internode/consistency.h"
#include "internode/endpoint.h"
#include "internode/internode.h"
#include "mpi/real.h"
#include "mpi/user_lines.h"

#include <stdio.h>
#include <stdlib.h>

#define RANKS_NAMED 16
#define TEXT_BYTES 4096
#define TAG_BYTES 24
#define PEER_BYTES 24
#define MESSAGE_REPORTED UINT64_MAX /* no instance has this number */

static uint64_t stall_ns;

void sg_internode_stall_after(uint64_t ns)
{
    stall_ns = ns;
}

/* Appends a rank's state; leaves the text unchanged if it does not fit. */
static void append(char *text, int *used, int rank, const struct sg_rank_state *info)
{
    char call[SG_REPORT_CALL_BYTES];
    /* Relaxed: the value is only displayed. */
    bool came_once = atomic_load_explicit(&info->position, memory_order_relaxed) > 0;
    int length = snprintf(text + *used, (size_t)(TEXT_BYTES - *used), "; rank %d %s%s", rank,
                          came_once ? "was last in " : "has entered none",
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
    sg_report_line(
        SG_TRACE_LINE_STALL,
        "rank %d has waited in %s for more than %d s, %s: %d of %d ranks%s have not arrived%s",
        internode->rank, sg_report_function(call), (int)(stall_ns / UINT64_C(1000000000)),
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

/* Reports one line for each communicator: when a message is missing, other ranks often wait for its
 * receiver's next step. */
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
                       ? "rank %d has waited for more than %d s: %s has not received its message "
                         "(%s, %u bytes) on a communicator of %d ranks"
                       : "rank %d has waited for more than %d s: %s has not sent it a message (%s, "
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

#define RANKS_TEXT_BYTES 64
#define HOST_TEXT_BYTES 256

#define PROBE_NS UINT64_C(1000000000)

/* Names an endpoint's ranks: "3", "4 to 7" for consecutive ranks, else the first "and others". */
static const char *name_ranks(const struct sg_internode *internode, int endpoint,
                              char text[RANKS_TEXT_BYTES], int *first)
{
    int last = -1, count = 0;

    *first = -1;
    for (int rank = 0; rank < internode->ranks; rank++) {
        if (internode->endpoint_of[rank] != endpoint)
            continue;
        if (*first < 0)
            *first = rank;
        last = rank;
        count++;
    }
    if (count == 1)
        snprintf(text, RANKS_TEXT_BYTES, "rank %d", *first);
    else if (last - *first + 1 == count)
        snprintf(text, RANKS_TEXT_BYTES, "ranks %d to %d", *first, last);
    else
        snprintf(text, RANKS_TEXT_BYTES, "rank %d and others", *first);
    return text;
}

static void __attribute__((noreturn)) end_job(void)
{
    sg_log_drain();
    sg_real.Abort(MPI_COMM_WORLD, 1);
    abort();
}

static void report_foreign(const struct sg_internode *internode, uint64_t foreign)
{
    const struct sg_rank_state *info = sg_internode_rank_state(internode, internode->rank);
    uint64_t position = foreign >> 16;
    char call[SG_REPORT_CALL_BYTES], ranks[RANKS_TEXT_BYTES];
    bool is_in = atomic_load_explicit(&info->position, memory_order_relaxed) == position + 1;
    int first;

    name_ranks(internode, (int)(foreign & 0xffff) - 1, ranks, &first);
    sg_report_line(
        SG_TRACE_LINE_MISMATCH,
        "ranks of one communicator disagree on a collective: rank %d is in %s, %s on %s in a call "
        "with another operation, size, root, form or use of MPI_IN_PLACE; aborting the job",
        internode->rank, is_in ? sg_report_call(&info->call, call) : "a call that it has left",
        ranks, internode->hosts[first]);
    end_job();
}

static void report_fault(const struct sg_internode *internode,
                         const struct sg_transport_fault *fault)
{
    char ranks[RANKS_TEXT_BYTES], other[RANKS_TEXT_BYTES + HOST_TEXT_BYTES] = "all others";
    bool is_about_others = fault->peer != SG_TRANSPORT_NOBODY;
    int first;

    if (fault->peer >= 0) {
        name_ranks(internode, fault->peer, ranks, &first);
        snprintf(other, sizeof other, "%s on %s", ranks, internode->hosts[first]);
    }
    if (fault->is_own)
        sg_log("rank %d on %s: its RDMA adapter failed%s%s (%s); aborting the job", internode->rank,
               internode->hosts[internode->rank], is_about_others ? " on the way to " : "",
               is_about_others ? other : "", fault->what);
    else
        sg_log("rank %d on %s: %s can no longer be reached (%s); aborting the job", internode->rank,
               internode->hosts[internode->rank], other, fault->what);
    end_job();
}

/* Under the lock: notifies peers of the instances that ranks here wait for, once for each instance.
 * Ranks in different calls may wait for messages that nobody will send; these notices reveal it. If
 * a channel is full, the peer has other messages to read. */
static void tell_peers(struct sg_internode *internode)
{
    struct sg_endpoint *endpoint = sg_internode_endpoint(internode, internode->endpoint);

    for (uint32_t i = 0; i < internode->depth; i++) {
        struct sg_internode_instance *place = &endpoint->instances[i];
        struct sg_transport_send message = {
            .protocol =
                (uint64_t)sg_consistency_note(internode, place) << 32 | SG_INTERNODE_NOTE_ONLY};

        if (place->arrived == 0 || place->told ||
            atomic_load_explicit(&place->finished, memory_order_relaxed) > place->position)
            continue;
        place->told = true;
        for (int peer = 0; peer < internode->peer_count; peer++)
            internode->ops->send(internode->transport, internode->endpoint, internode->peers[peer],
                                 &message);
    }
}

/* Runs every second while something is outstanding, in one thread at a time. */
static void probe(struct sg_internode *internode)
{
    uint64_t now_ns = sg_clock_ns();
    uint64_t before_ns = atomic_load_explicit(&internode->probed_ns, memory_order_relaxed);

    if (now_ns - before_ns < PROBE_NS ||
        !atomic_compare_exchange_strong(&internode->probed_ns, &before_ns, now_ns))
        return;
    sg_endpoint_lock(internode);
    internode->remote->probe(internode->transport);
    tell_peers(internode);
    sg_endpoint_unlock(internode);
}

void sg_internode_check_health(struct sg_internode *internode)
{
    struct sg_endpoint *endpoint = sg_internode_endpoint(internode, internode->endpoint);
    uint64_t foreign = atomic_load_explicit(&endpoint->foreign, memory_order_relaxed);
    struct sg_transport_fault fault;

    if (internode->remote == NULL)
        return;
    if (foreign != 0)
        report_foreign(internode, foreign);
    if (internode->remote->fault(internode->transport, &fault))
        report_fault(internode, &fault);
    /* A process that does not serve the endpoint has no connections. */
    if (sg_internode_serves(internode) &&
        (atomic_load_explicit(&endpoint->doorbell.outstanding, memory_order_relaxed) > 0 ||
         internode->asking.is_waiting))
        probe(internode);
}

static uint64_t first_count;

void sg_internode_count_from(uint64_t first)
{
    first_count = first;
}

uint64_t sg_counts_first(void)
{
    return first_count;
}

void sg_counts_init(struct sg_internode *internode)
{
    for (int number = 0; number < internode->ranks_here; number++) {
        struct sg_rank_state *state =
            (struct sg_rank_state *)sg_internode_at(internode, internode->rank_states_at) + number;

        state->position = state->left = first_count;
        state->chosen = internode->chosen;
    }
    for (int index = 0; index < internode->here; index++) {
        struct sg_endpoint *endpoint =
            (struct sg_endpoint *)sg_internode_at(internode, internode->endpoints_at) + index;

        endpoint->delivered = endpoint->completed = first_count;
        for (uint32_t i = 0; i < internode->depth; i++)
            endpoint->instances[i].finished = first_count;
    }
}
