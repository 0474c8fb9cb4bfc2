/* Requests to queue pairs, and their completions. All completions of a transport come to one queue.
 * A completion means that all earlier requests on its link are complete, too, so of the requests
 * that nobody waits for only every so many has one.
 *
 * The first completion with an error ends everything: the queue pair does nothing more, and its
 * requests are lost.
 */
#include "transport/verbs/queue.h"

#define BATCH 16
#define COUNT_BITS 24
#define COUNT_MASK ((1u << COUNT_BITS) - 1)

static uint64_t number_of(enum sg_verbs_request kind, uint32_t link, uint32_t index, uint32_t count)
{
    return (uint64_t)kind << 56 | (uint64_t)link << 40 | (uint64_t)index << COUNT_BITS |
           (count & COUNT_MASK);
}

void sg_verbs_fail(struct sg_transport *transport, struct sg_transport_fault fault)
{
    bool failed = false;

    if (!atomic_compare_exchange_strong_explicit(&transport->has_failed, &failed, true,
                                                 memory_order_relaxed, memory_order_relaxed))
        return;
    transport->fault = fault;
    /* Release: whoever sees it reads the fault. */
    atomic_store_explicit(&transport->fault_is_told, true, memory_order_release);
}

static bool is_own(enum ibv_wc_status status)
{
    switch (status) {
    case IBV_WC_LOC_LEN_ERR:
    case IBV_WC_LOC_QP_OP_ERR:
    case IBV_WC_LOC_EEC_OP_ERR:
    case IBV_WC_LOC_PROT_ERR:
    case IBV_WC_LOC_ACCESS_ERR:
    case IBV_WC_FATAL_ERR:
    case IBV_WC_GENERAL_ERR:
        return true;
    default:
        return false;
    }
}

static struct sg_verbs_link *link_of(struct sg_transport *transport, uint32_t index)
{
    return index < transport->links_max ? &transport->links[index] : transport->multicast_link;
}

static bool is_awaited(enum sg_verbs_request kind)
{
    return kind == SG_VERBS_OF_ACCESS || kind == SG_VERBS_OF_FETCH || kind == SG_VERBS_OF_PROBE;
}

static void not_awaited(struct sg_transport *transport)
{
    /* Relaxed: arm, the only one to read it without the lock, may be late. */
    atomic_fetch_sub_explicit(&transport->awaited, 1, memory_order_relaxed);
}

static void sent(struct sg_transport *transport, struct sg_verbs_link *link,
                 enum sg_verbs_request kind, uint32_t index, uint32_t count)
{
    link->reclaimed += (count - link->reclaimed) & COUNT_MASK;
    switch (kind) {
    case SG_VERBS_OF_ACCESS:
        link->reads -= transport->accesses[index].reads;
        transport->completed->access(transport, index);
        transport->open--;
        break;
    case SG_VERBS_OF_FETCH:
        link->reads--;
        transport->completed->fetch(transport, link->channel);
        transport->open--;
        break;
    case SG_VERBS_OF_PROBE:
        link->is_probed = false;
        break;
    default:
        break;
    }
    if (is_awaited(kind))
        not_awaited(transport);
}

/* Requests to receive are of no link. */
static struct sg_transport_fault fault_of(const struct ibv_wc *completion,
                                          enum sg_verbs_request kind,
                                          const struct sg_verbs_link *link)
{
    bool receives = kind == SG_VERBS_OF_DOORBELL || kind == SG_VERBS_OF_RECEIVED;

    return (struct sg_transport_fault){receives ? SG_TRANSPORT_NOBODY : link->peer,
                                       receives || is_own(completion->status),
                                       ibv_wc_status_str(completion->status)};
}

static void take(struct sg_transport *transport, const struct ibv_wc *completion)
{
    enum sg_verbs_request kind = (enum sg_verbs_request)(completion->wr_id >> 56);
    uint32_t index = completion->wr_id >> COUNT_BITS & 0xffff;
    struct sg_verbs_link *link = link_of(transport, completion->wr_id >> 40 & 0xffff);

    if (completion->status != IBV_WC_SUCCESS)
        sg_verbs_fail(transport, fault_of(completion, kind, link));
    else if (kind == SG_VERBS_OF_DOORBELL)
        transport->doorbells_missing++;
    else if (kind == SG_VERBS_OF_RECEIVED)
        transport->completed->datagram(transport, index, completion->byte_len);
    else
        sent(transport, link, kind, index, (uint32_t)completion->wr_id & COUNT_MASK);
}

/* What solicited messages have used up, in batches. */
static void replenish(struct sg_transport *transport)
{
    struct ibv_recv_wr requests[BATCH] = {0}, *bad;

    while (transport->doorbells_missing >= BATCH) {
        for (int i = 0; i < BATCH; i++) {
            requests[i].wr_id = number_of(SG_VERBS_OF_DOORBELL, 0, 0, 0);
            requests[i].next = i + 1 < BATCH ? &requests[i + 1] : NULL;
        }
        if (ibv_post_srq_recv(transport->doorbells, requests, &bad) != 0) {
            sg_verbs_fail(transport, (struct sg_transport_fault){SG_TRANSPORT_NOBODY, true,
                                                                 "receive requests are refused"});
            return;
        }
        transport->doorbells_missing -= BATCH;
    }
}

void sg_verbs_poll(struct sg_transport *transport)
{
    struct ibv_wc completions[BATCH];
    int count = BATCH;

    while (count == BATCH && !sg_verbs_has_failed(transport)) {
        count = ibv_poll_cq(transport->queue, BATCH, completions);
        if (count < 0)
            sg_verbs_fail(transport,
                          (struct sg_transport_fault){SG_TRANSPORT_NOBODY, true,
                                                      "the completion queue cannot be read"});
        for (int i = 0; i < count; i++)
            take(transport, &completions[i]);
    }
    replenish(transport);
}

bool sg_verbs_has_room(struct sg_transport *transport, struct sg_verbs_link *link)
{
    if (link->posted - link->reclaimed < link->depth)
        return true;
    sg_verbs_poll(transport);
    return link->posted - link->reclaimed < link->depth;
}

void sg_verbs_post_request(struct sg_transport *transport, struct sg_verbs_link *link,
                           struct ibv_send_wr *request, enum sg_verbs_request kind, uint32_t index)
{
    struct ibv_send_wr *bad;
    bool quiet = (kind == SG_VERBS_OF_ENTRY || kind == SG_VERBS_OF_DATAGRAM) &&
                 link->quiet + 1 < SG_VERBS_SIGNAL_EVERY;
    uint32_t which = link == transport->multicast_link ? transport->links_max
                                                       : (uint32_t)(link - transport->links);

    link->posted++;
    link->quiet = quiet ? link->quiet + 1 : 0;
    if (!quiet)
        request->send_flags |= IBV_SEND_SIGNALED;
    transport->open += kind == SG_VERBS_OF_ACCESS || kind == SG_VERBS_OF_FETCH;
    if (is_awaited(kind))
        atomic_fetch_add_explicit(&transport->awaited, 1, memory_order_relaxed);
    request->wr_id = number_of(kind, which, index, link->posted);
    transport->usage.requests++;
    if (ibv_post_send(link->pair, request, &bad) != 0)
        sg_verbs_fail(transport,
                      (struct sg_transport_fault){link->peer, true, "requests are refused"});
}

void sg_verbs_probe(struct sg_transport *transport)
{
    /* Acquire: those that have been connected. */
    uint32_t links = atomic_load_explicit(&transport->link_count, memory_order_acquire);

    sg_verbs_poll(transport);
    for (uint32_t i = 0; i < links && !sg_verbs_has_failed(transport); i++) {
        struct sg_verbs_link *link = &transport->links[i];
        struct ibv_send_wr request = {.opcode = IBV_WR_RDMA_WRITE,
                                      .wr.rdma = {link->memory, link->key}};

        if (link->is_probed || !sg_verbs_has_room(transport, link))
            continue;
        link->is_probed = true;
        sg_verbs_post_request(transport, link, &request, SG_VERBS_OF_PROBE, 0);
    }
}
