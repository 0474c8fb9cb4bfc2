/* The transport within one process (loop.h). */
#include "transport/loop.h"

#include "transport/local_memory.h"
#include "transport/payload.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#define MULTICASTS 8
_Static_assert(MULTICASTS > SG_TRANSPORT_HELD, "a multicast finds a place that is not held");

enum { FREE, READY, HELD };

struct place {
    uint64_t order; /* messages sent before it, by anybody */
    int state, from;
    uint64_t protocol;
    bool solicited, multicast;
    struct sg_header header;
};

struct sg_transport {
    struct sg_transport_setup setup;
    uint64_t sent;
};

/* Offsets from struct sg_transport, which is where the shared memory begins. */
struct layout {
    size_t inflight_at; /* uint32_t per (receiver, sender) */
    size_t staged_at;   /* uint32_t per sender */
    size_t places_at, place_bytes, bytes;
    uint32_t places; /* per receiver */
};

static struct layout lay_out(const struct sg_transport_setup *setup)
{
    size_t endpoints = (size_t)setup->endpoints;
    struct layout layout;

    layout.inflight_at = sg_transport_round(sizeof(struct sg_transport), 64);
    layout.staged_at = layout.inflight_at + endpoints * endpoints * sizeof(uint32_t);
    layout.places_at = sg_transport_round(layout.staged_at + endpoints * sizeof(uint32_t), 64);
    layout.place_bytes =
        sg_transport_round(sizeof(struct place), 64) + sg_transport_payload_room(setup);
    layout.places = (uint32_t)endpoints * setup->inflight + MULTICASTS;
    layout.bytes = layout.places_at + endpoints * layout.places * layout.place_bytes;
    return layout;
}

static size_t loop_bytes(const struct sg_transport_setup *setup)
{
    if (setup->endpoints < 1 || setup->endpoints > 1024 || setup->inflight < 1 ||
        setup->inflight > 4096 || setup->eager_bytes > 1 << 24 ||
        (setup->staged == 0 && setup->eager_bytes > 0))
        return 0;
    return lay_out(setup).bytes;
}

static enum sg_status loop_open(const struct sg_transport_setup *setup, void *shared,
                                struct sg_transport **out)
{
    struct sg_transport *transport = shared;

    if (loop_bytes(setup) == 0 ||
        (transport->setup.endpoints != 0 &&
         memcmp(&transport->setup, setup, sizeof transport->setup) != 0)) {
        errno = EINVAL;
        return SG_ERR_ARGUMENT;
    }
    transport->setup = *setup;
    *out = transport;
    return SG_OK;
}

static void loop_close(struct sg_transport *transport)
{
}

static struct place *find_place(const struct sg_transport *transport, int receiver, uint32_t index)
{
    struct layout layout = lay_out(&transport->setup);

    return (struct place *)((unsigned char *)transport + layout.places_at +
                            ((size_t)receiver * layout.places + index) * layout.place_bytes);
}

static unsigned char *payload_of(struct place *place)
{
    return (unsigned char *)place + sg_transport_round(sizeof *place, 64);
}

static uint32_t *count_inflight(struct sg_transport *transport, int receiver, int sender)
{
    struct layout layout = lay_out(&transport->setup);

    return (uint32_t *)((unsigned char *)transport + layout.inflight_at) +
           (size_t)receiver * (size_t)transport->setup.endpoints + sender;
}

static uint32_t *count_staged(struct sg_transport *transport, int sender)
{
    struct layout layout = lay_out(&transport->setup);

    return (uint32_t *)((unsigned char *)transport + layout.staged_at) + sender;
}

static void fill(struct sg_transport *transport, struct place *place, int self,
                 const struct sg_transport_send *send, bool multicast)
{
    place->order = transport->sent++;
    place->state = READY;
    place->from = self;
    place->protocol = send->protocol;
    place->solicited = send->solicited;
    place->multicast = multicast;
    place->header = send->header;
    sg_transport_gather(send, payload_of(place));
}

/* Among those for multicasts: a free one, else the oldest that is not held. */
static struct place *place_for_multicast(const struct sg_transport *transport, int receiver)
{
    uint32_t first = (uint32_t)transport->setup.endpoints * transport->setup.inflight;
    struct place *best = NULL;

    for (uint32_t i = 0; i < MULTICASTS; i++) {
        struct place *place = find_place(transport, receiver, first + i);

        if (place->state == FREE)
            return place;
        if (place->state == READY && (best == NULL || place->order < best->order))
            best = place;
    }
    return best;
}

static struct place *place_for_message(const struct sg_transport *transport, int receiver,
                                       int sender)
{
    for (uint32_t i = 0;; i++) {
        struct place *place =
            find_place(transport, receiver, (uint32_t)sender * transport->setup.inflight + i);

        assert(i < transport->setup.inflight);
        if (place->state == FREE)
            return place;
    }
}

static enum sg_transport_result loop_send(struct sg_transport *transport, int self, int to,
                                          const struct sg_transport_send *send)
{
    bool staged = sg_transport_payload_bytes(&send->header) > 0;

    assert(sg_transport_send_fits(&transport->setup, send));
    if (to == SG_TRANSPORT_ALL) {
        for (int receiver = 0; receiver < transport->setup.endpoints; receiver++) {
            if (receiver != self)
                fill(transport, place_for_multicast(transport, receiver), self, send, true);
        }
        return SG_TRANSPORT_DONE;
    }
    if (*count_inflight(transport, to, self) == transport->setup.inflight ||
        (staged && *count_staged(transport, self) == transport->setup.staged))
        return SG_TRANSPORT_FULL;
    ++*count_inflight(transport, to, self);
    *count_staged(transport, self) += staged;
    fill(transport, place_for_message(transport, to, self), self, send, false);
    return SG_TRANSPORT_DONE;
}

/* The oldest message that may be received, or -1. */
static int find_ready(const struct sg_transport *transport, int self)
{
    uint32_t places = lay_out(&transport->setup).places, held = 0;
    uint64_t message_order = UINT64_MAX, multicast_order = UINT64_MAX;
    int message = -1, multicast = -1;

    for (uint32_t i = 0; i < places; i++) {
        const struct place *place = find_place(transport, self, i);

        held += place->state == HELD && place->multicast;
        if (place->state == READY && place->multicast && place->order < multicast_order) {
            multicast = (int)i;
            multicast_order = place->order;
        } else if (place->state == READY && !place->multicast && place->order < message_order) {
            message = (int)i;
            message_order = place->order;
        }
    }
    return held < SG_TRANSPORT_HELD && multicast_order < message_order ? multicast : message;
}

static bool loop_receive(struct sg_transport *transport, int self, struct sg_transport_message *out)
{
    int index = find_ready(transport, self);

    if (index < 0)
        return false;
    struct place *place = find_place(transport, self, (uint32_t)index);
    place->state = HELD;
    out->protocol = place->protocol;
    out->solicited = place->solicited;
    out->message.from = place->from;
    out->message.multicast = place->multicast;
    out->is_reply = false;
    out->message.header = place->header;
    out->parts = payload_of(place);
    out->handle = (uint64_t)index;
    return true;
}

static void loop_release(struct sg_transport *transport, int self,
                         const struct sg_transport_message *message)
{
    struct place *place = find_place(transport, self, (uint32_t)message->handle);

    assert(place->state == HELD);
    place->state = FREE;
    if (!place->multicast) {
        --*count_inflight(transport, self, place->from);
        *count_staged(transport, place->from) -= sg_transport_payload_bytes(&place->header) > 0;
    }
}

static bool loop_pending(const struct sg_transport *transport, int self)
{
    return find_ready(transport, self) >= 0;
}

const struct sg_transport_ops loop = {
    .name = "loop",
    .capabilities = SG_TRANSPORT_ONE_SIDED,
    .shared_bytes = loop_bytes,
    .open = loop_open,
    .close = loop_close,
    .send = loop_send,
    .receive = loop_receive,
    .release = loop_release,
    .access = sg_transport_access_memory,
    .pending = loop_pending,
};
