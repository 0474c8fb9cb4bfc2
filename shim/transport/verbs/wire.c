/* What a transport between machines has beside (transport.h): events, signs of life, figures. */
#include "transport/verbs/impl.h"

static int descriptor(const struct sg_transport *transport)
{
    return transport->channel->fd;
}

/* Whoever waits for what it has asked for is told of any completion. */
static void arm(struct sg_transport *transport)
{
    /* Relaxed: this process's own. */
    bool awaits = atomic_load_explicit(&transport->awaited, memory_order_relaxed) > 0;

    ibv_req_notify_cq(transport->queue, !awaits);
}

static int take_events(struct sg_transport *transport)
{
    struct ibv_cq *queue;
    void *context;
    int count = 0;

    while (ibv_get_cq_event(transport->channel, &queue, &context) == 0)
        count++;
    /* Relaxed: read when the transport is closed. */
    atomic_fetch_add_explicit(&transport->events, (uint32_t)count, memory_order_relaxed);
    return count;
}

static bool settled(struct sg_transport *transport)
{
    sg_verbs_poll(transport);
    return sg_verbs_has_failed(transport) || (transport->open == 0 && transport->replies == 0);
}

static void probe(struct sg_transport *transport)
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
        sg_verbs_post(transport, link, &request, SG_VERBS_OF_PROBE, 0);
    }
}

static bool fault(const struct sg_transport *transport, struct sg_transport_fault *out)
{
    /* Acquire: what was written before it. */
    if (!atomic_load_explicit(&transport->fault_is_told, memory_order_acquire))
        return false;
    *out = transport->fault;
    return true;
}

static void usage(const struct sg_transport *transport, struct sg_transport_usage *out)
{
    *out = transport->usage;
}

const struct sg_transport_wire sg_verbs_wire = {
    .connect = sg_verbs_connect,
    .descriptor = descriptor,
    .arm = arm,
    .take_events = take_events,
    .settled = settled,
    .probe = probe,
    .fault = fault,
    .usage = usage,
};
