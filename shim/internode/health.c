#include "internode/health.h"

#include "core/clock.h"
#include "internode/consistency.h"
#include "internode/endpoint.h"
#include "mpi/real.h"
#include "mpi/report.h"

#include <stdio.h>
#include <stdlib.h>

#define RANKS_TEXT_BYTES 64
#define HOST_TEXT_BYTES 256

#define PROBE_NS UINT64_C(1000000000)

/* An endpoint's ranks, as text: "3", "4 to 7" where they are in a row, else the first "and others".
 */
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
    sg_report_line(SG_TRACE_LINE_MISMATCH,
                   "ranks of one communicator disagree on a collective: rank %d is in %s, %s on "
                   "%s in another operation, size, root or form, or one in place; the job ends",
                   internode->rank,
                   is_in ? sg_report_call(&info->call, call) : "one that it has left", ranks,
                   internode->hosts[first]);
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
        sg_log("rank %d on %s: its RDMA adapter failed%s%s (%s); the job ends", internode->rank,
               internode->hosts[internode->rank], is_about_others ? " on the way to " : "",
               is_about_others ? other : "", fault->what);
    else
        sg_log("rank %d on %s: %s cannot be reached any more (%s); the job ends", internode->rank,
               internode->hosts[internode->rank], other, fault->what);
    end_job();
}

/* Under the lock: tells peers what is waited for here, once an instance. Ranks in different calls
 * may wait for messages that nobody will send; these notices reveal it. If there is no room, the
 * peer has other messages to read. */
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

/* One thread at a time, every second while something is outstanding. */
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
