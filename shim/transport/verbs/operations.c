/* The table of the transport `verbs`. Messages go to channels, multicasts to datagrams or the tree.
 * Also the further operations of a transport between machines (transport.h): events, signs of life,
 * usage. */
#include "transport/verbs/access.h"
#include "transport/verbs/verbs_channel.h"
#include "transport/verbs/verbs_multicast.h"
#include "transport/verbs/verbs_open.h"

#include <assert.h>

/* ---- messages -------------------------------------------------------------------------------- */

static enum sg_transport_result send_message(struct sg_transport *transport, int self, int to,
                                             const struct sg_transport_send *send)
{
    struct sg_verbs_content content = {.kind = SG_VERBS_MESSAGE, .send = send};

    assert(self == transport->location.self && sg_transport_send_fits(&transport->setup, send));
    if (sg_verbs_has_failed(transport))
        return SG_TRANSPORT_DONE;
    if (to != SG_TRANSPORT_ALL) {
        uint32_t channel = sg_verbs_channel_of(transport, to);

        assert(channel != 0);
        return sg_verbs_put(transport, channel - 1, &content) ? SG_TRANSPORT_DONE
                                                              : SG_TRANSPORT_FULL;
    }
    if (transport->multicast != NULL)
        sg_verbs_multicast_send(transport, send);
    else
        sg_verbs_tree_send(transport, send);
    return SG_TRANSPORT_DONE;
}

static bool receive_by_lane(struct sg_transport *transport, struct sg_transport_message *out)
{
    int32_t came_by;

    if (!sg_verbs_channel_receive(transport, out, &came_by))
        return false;
    if (out->message.multicast)
        sg_verbs_tree_forward(transport, out, came_by);
    return true;
}

static bool receive_multicast(struct sg_transport *transport, struct sg_transport_message *out)
{
    return transport->multicast != NULL && sg_verbs_multicast_receive(transport, out);
}

static bool receive(struct sg_transport *transport, int self, struct sg_transport_message *out)
{
    struct sg_verbs_endpoint *endpoint = sg_verbs_endpoint(transport);

    assert(self == transport->location.self);
    sg_verbs_poll(transport);
    if (sg_verbs_has_failed(transport))
        return false;
    if (sg_verbs_access_reply(transport, out))
        return true;
    out->is_reply = false;
    /* Alternates, so that a stream of one kind does not starve the other. */
    if (endpoint->turn++ % 2 == 0)
        return receive_by_lane(transport, out) || receive_multicast(transport, out);
    return receive_multicast(transport, out) || receive_by_lane(transport, out);
}

static void release(struct sg_transport *transport, int self,
                    const struct sg_transport_message *message)
{
    if (message->is_reply)
        return;
    if (message->message.multicast && transport->multicast != NULL)
        sg_verbs_multicast_release(transport, message);
    else
        sg_verbs_channel_release(transport, message);
}

static bool pending(const struct sg_transport *transport, int self)
{
    return sg_verbs_channel_pending(transport) ||
           (transport->multicast != NULL && sg_verbs_multicast_pending(transport));
}

/* ---- between machines ------------------------------------------------------------------------ */

static int descriptor(const struct sg_transport *transport)
{
    return transport->completion_channel->fd;
}

/* A process that awaits completions is notified of any completion, not only of solicited messages.
 */
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

    while (ibv_get_cq_event(transport->completion_channel, &queue, &context) == 0)
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

static bool fault(const struct sg_transport *transport, struct sg_transport_fault *out)
{
    /* Acquire: the fault was written before. */
    if (!atomic_load_explicit(&transport->fault_is_told, memory_order_acquire))
        return false;
    *out = transport->fault;
    return true;
}

static void usage(const struct sg_transport *transport, struct sg_transport_usage *out)
{
    *out = transport->usage;
}

/* ---- the tables ------------------------------------------------------------------------------ */

static const struct sg_transport_remote_ops remote = {
    .connect = sg_verbs_connect,
    .descriptor = descriptor,
    .arm = arm,
    .take_events = take_events,
    .settled = settled,
    .probe = sg_verbs_probe,
    .fault = fault,
    .usage = usage,
};

static const struct sg_transport_ops ops = {
    .name = "verbs",
    .capabilities = SG_TRANSPORT_ONE_SIDED,
    .remote = &remote,
    .shared_bytes = sg_verbs_shared_bytes,
    .open = sg_verbs_open,
    .close = sg_verbs_close,
    .send = send_message,
    .receive = receive,
    .release = release,
    .access = sg_verbs_access,
    .pending = pending,
};

__attribute__((visibility("default"))) const struct sg_verbs sg_verbs = {
    .version = SG_VERBS_VERSION,
    .ops = &ops,
    .start = sg_verbs_start,
    .describe = sg_verbs_describe,
    .stop = sg_verbs_stop,
    .forget = sg_verbs_forget,
};
