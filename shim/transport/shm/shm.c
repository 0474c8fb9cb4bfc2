/* The transport between endpoints of one machine: set-up and the table of operations. Messages to
 * one endpoint go by channels (channel.c), multicasts by multicast.c, accesses directly to memory.
 *
 * A process may be killed at any instruction. In this transport no endpoint waits for another, so
 * the others go on; only the killed endpoint loses something:
 *   while it sends      the message does not exist, or it is there; at worst one of its buffers
 *                       stays marked as used, or its receiver notices it with the next message
 *   while it holds      the message stays held: its place in that channel, the sender's buffer or
 *                       the copy is not used again
 */
#include "transport/memory.h"
#include "transport/shm/layout.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

static bool is_possible(const struct sg_transport_setup *setup)
{
    return setup->endpoints >= 1 && setup->endpoints <= SG_SHM_ENDPOINTS_MAX &&
           setup->inflight >= 1 && setup->inflight <= SG_SHM_INFLIGHT_MAX &&
           setup->staged <= SG_TRANSPORT_STAGED_MAX && setup->eager_bytes <= SG_SHM_EAGER_MAX &&
           (setup->staged >= 1 || setup->eager_bytes == 0);
}

/* Computes the rest from transport->setup. False: such a setup is not possible. */
static bool lay_out(struct sg_transport *transport)
{
    const struct sg_transport_setup *setup = &transport->setup;
    size_t end = 0, count;

    if (!is_possible(setup))
        return false;
    count = (size_t)setup->endpoints;
    transport->endpoint_words = ((uint32_t)setup->endpoints + 63) / 64;
    transport->channel_words = (setup->inflight + 63) / 64;
    transport->stage_words = (setup->staged + 63) / 64;
    transport->payload_bytes = sg_transport_payload_room(setup);
    transport->endpoint_bytes =
        sg_transport_round(transport->endpoint_words * 8u, SG_TRANSPORT_LINE_BYTES) +
        sizeof(struct sg_shm_receiver) + sg_transport_round(count * 8, SG_TRANSPORT_LINE_BYTES);
    /* Two arrays of words and a number, each side on lines of its own. */
    transport->channel_sender_bytes =
        sg_transport_round((2u * transport->channel_words + 1) * 8, SG_TRANSPORT_LINE_BYTES);
    transport->channel_control_bytes = 2 * transport->channel_sender_bytes;
    transport->channel_bytes =
        transport->channel_control_bytes + setup->inflight * sizeof(struct sg_shm_entry);

    sg_transport_lay(&end, sizeof(struct sg_shm_header));
    transport->tails_at = sg_transport_lay(&end, count * 8);
    transport->endpoints_at = sg_transport_lay(&end, count * transport->endpoint_bytes);
    transport->stages_used_at = sg_transport_lay(
        &end, count * sg_transport_round(transport->stage_words * 8u, SG_TRANSPORT_LINE_BYTES));
    transport->channels_at = sg_transport_lay(&end, count * count * transport->channel_bytes);
    transport->stages_at = sg_transport_lay(&end, count * setup->staged * transport->payload_bytes);
    transport->multicasts_at =
        sg_transport_lay(&end, count * SG_SHM_MULTICASTS *
                                   (sizeof(struct sg_shm_multicast) + transport->payload_bytes));
    transport->copies_at =
        sg_transport_lay(&end, count * SG_TRANSPORT_HELD * transport->payload_bytes);
    transport->bytes = end;
    return true;
}

static size_t shm_bytes(const struct sg_transport_setup *setup)
{
    struct sg_transport transport = {.setup = *setup};

    return lay_out(&transport) ? transport.bytes : 0;
}

/* Of all that the layout follows from: never 0, and no two alike, because is_possible keeps the
 * numbers to 13, 13, 13 and 25 bits. */
static uint64_t signature(const struct sg_transport_setup *setup)
{
    return ((uint64_t)setup->endpoints << 51) ^ ((uint64_t)setup->inflight << 38) ^
           ((uint64_t)setup->staged << 25) ^ ((uint64_t)setup->eager_bytes);
}

static enum sg_status shm_open_shared(const struct sg_transport_setup *setup, void *shared,
                                      struct sg_transport **out)
{
    uint64_t found = 0;
    struct sg_transport *transport = calloc(1, sizeof *transport);

    if (transport == NULL)
        return SG_ERR_MEMORY;
    transport->setup = *setup;
    transport->base = shared;
    if ((uintptr_t)shared % SG_TRANSPORT_LINE_BYTES != 0 || !lay_out(transport))
        goto err_free;
    /* Guards against processes that disagree; nothing else is read by way of it. */
    if (!atomic_compare_exchange_strong_explicit(&sg_shm_header(transport)->signature, &found,
                                                 signature(setup), memory_order_relaxed,
                                                 memory_order_relaxed) &&
        found != signature(setup))
        goto err_free;
    *out = transport;
    return SG_OK;

err_free:
    free(transport);
    errno = EINVAL;
    return SG_ERR_ARGUMENT;
}

static void shm_close(struct sg_transport *transport)
{
    free(transport);
}

static enum sg_transport_result shm_send(struct sg_transport *transport, int self, int to,
                                         const struct sg_transport_send *send)
{
    assert(sg_transport_send_fits(&transport->setup, send));
    if (to != SG_TRANSPORT_ALL)
        return sg_shm_channel_send(transport, self, to, send);
    sg_shm_multicast_send(transport, self, send);
    return SG_TRANSPORT_DONE;
}

static bool shm_receive(struct sg_transport *transport, int self, struct sg_transport_message *out)
{
    /* In turn, so that a stream of the one does not starve the other. */
    if (sg_shm_receiver(transport, self)->turn++ % 2 == 0)
        return sg_shm_channel_receive(transport, self, out) ||
               sg_shm_multicast_receive(transport, self, out);
    return sg_shm_multicast_receive(transport, self, out) ||
           sg_shm_channel_receive(transport, self, out);
}

static void shm_release(struct sg_transport *transport, int self,
                        const struct sg_transport_message *message)
{
    if (message->message.multicast)
        sg_shm_multicast_release(transport, self, message);
    else
        sg_shm_channel_release(transport, self, message);
}

static bool shm_pending(const struct sg_transport *transport, int self)
{
    return sg_shm_channel_pending(transport, self) || sg_shm_multicast_pending(transport, self);
}

const struct sg_transport_ops sg_transport_shm = {
    .name = "shm",
    .capabilities = SG_TRANSPORT_ONE_SIDED,
    .shared_bytes = shm_bytes,
    .open = shm_open_shared,
    .close = shm_close,
    .send = shm_send,
    .receive = shm_receive,
    .release = shm_release,
    .access = sg_transport_access_memory,
    .pending = shm_pending,
};
