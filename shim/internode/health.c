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
static const char *name_ranks(const struct sg_span *span, int endpoint, char text[RANKS_TEXT_BYTES],
                              int *first)
{
    int last = -1, count = 0;

    *first = -1;
    for (int rank = 0; rank < span->ranks; rank++) {
        if (span->endpoint_of[rank] != endpoint)
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

static void report_foreign(const struct sg_span *span, uint64_t foreign)
{
    const struct sg_span_about *about = sg_span_about(span, span->rank);
    uint64_t position = foreign >> 16;
    char call[SG_REPORT_CALL_BYTES], ranks[RANKS_TEXT_BYTES];
    bool is_in = atomic_load_explicit(&about->position, memory_order_relaxed) == position + 1;
    int first;

    name_ranks(span, (int)(foreign & 0xffff) - 1, ranks, &first);
    sg_report_line(SG_TRACE_LINE_MISMATCH,
                   "ranks of one communicator disagree on a collective: rank %d is in %s, %s on "
                   "%s in another operation, size, root or form, or one in place; the job ends",
                   span->rank, is_in ? sg_report_call(&about->call, call) : "one that it has left",
                   ranks, span->hosts[first]);
    end_job();
}

static void report_fault(const struct sg_span *span, const struct sg_transport_fault *fault)
{
    char ranks[RANKS_TEXT_BYTES], other[RANKS_TEXT_BYTES + HOST_TEXT_BYTES] = "all others";
    bool is_about_others = fault->peer != SG_TRANSPORT_NOBODY;
    int first;

    if (fault->peer >= 0) {
        name_ranks(span, fault->peer, ranks, &first);
        snprintf(other, sizeof other, "%s on %s", ranks, span->hosts[first]);
    }
    if (fault->is_own)
        sg_log("rank %d on %s: its RDMA adapter failed%s%s (%s); the job ends", span->rank,
               span->hosts[span->rank], is_about_others ? " on the way to " : "",
               is_about_others ? other : "", fault->what);
    else
        sg_log("rank %d on %s: %s cannot be reached any more (%s); the job ends", span->rank,
               span->hosts[span->rank], other, fault->what);
    end_job();
}

/* Under the lock: what is waited for here, once an instance. Ranks in different calls may wait for
 * messages that nobody is going to send, and these tell them. Where there is no room there is
 * something else to be read. */
static void tell_peers(struct sg_span *span)
{
    struct sg_span_endpoint *endpoint = sg_span_endpoint(span, span->endpoint);

    for (uint32_t i = 0; i < span->depth; i++) {
        struct sg_span_instance *place = &endpoint->places[i];
        struct sg_transport_send message = {.object = (uint64_t)sg_span_note(span, place) << 32 |
                                                      SG_SPAN_NOTE_ONLY};

        if (place->arrived == 0 || place->told ||
            atomic_load_explicit(&place->finished, memory_order_relaxed) > place->position)
            continue;
        place->told = true;
        for (int peer = 0; peer < span->peer_count; peer++)
            span->ops->send(span->transport, span->endpoint, span->peers[peer], &message);
    }
}

/* One thread at a time, each second while something is outstanding. */
static void probe(struct sg_span *span)
{
    uint64_t now_ns = sg_clock_ns();
    uint64_t before_ns = atomic_load_explicit(&span->probed_ns, memory_order_relaxed);

    if (now_ns - before_ns < PROBE_NS ||
        !atomic_compare_exchange_strong(&span->probed_ns, &before_ns, now_ns))
        return;
    sg_span_lock(span);
    span->wire->probe(span->transport);
    tell_peers(span);
    sg_span_unlock(span);
}

void sg_span_mind(struct sg_span *span)
{
    struct sg_span_endpoint *endpoint = sg_span_endpoint(span, span->endpoint);
    uint64_t foreign = atomic_load_explicit(&endpoint->foreign, memory_order_relaxed);
    struct sg_transport_fault fault;

    if (span->wire == NULL)
        return;
    if (foreign != 0)
        report_foreign(span, foreign);
    if (span->wire->fault(span->transport, &fault))
        report_fault(span, &fault);
    /* Who does not serve the endpoint has no connections. */
    if (sg_span_serves(span) &&
        (atomic_load_explicit(&endpoint->bell.outstanding, memory_order_relaxed) > 0 ||
         span->asking.is_waiting))
        probe(span);
}
