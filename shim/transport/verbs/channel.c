/* Messages by channels (layout.h): written into the other endpoint's ring, found in this endpoint's
 * own.
 *
 * The room of a message is given back by its number, in order: before it hands a message out, a
 * receiver copies payload that is in the ring, and reads payload that is not from the sender's
 * memory. So a message may be held for any time while its channel goes on.
 *
 * Each message tells how far its sender has got in receiving the other way. If there is none, the
 * number is written into a word of the other endpoint's: each time half of what may be in flight
 * has been taken, of messages or of multicasts along the tree, and at once for payload that was
 * read, because all the sender's channels share its buffers. The sender checks that word when it
 * finds no room, and checks ahead at messages that nobody has received yet.
 */
#include "transport/verbs/channel.h"

#include "core/hash.h"
#include "transport/verbs/queue.h"

#include <assert.h>
#include <string.h>

/* Handles: for nothing, for a held copy, for a fetched payload. */
#define HANDLE_NONE UINT64_C(0)
#define HANDLE_HELD (UINT64_C(1) << 32)
#define HANDLE_FETCHED (UINT64_C(2) << 32)
/* How far ahead of a message that is not there others are looked for. */
#define LOOK_AHEAD 8

static size_t entry_bytes(const struct sg_verbs_entry *entry)
{
    size_t payload_bytes = entry->stage != 0 ? 0 : entry->payload_bytes;

    return sizeof *entry + sg_transport_round(payload_bytes, 8);
}

static uint64_t hash_of(const struct sg_verbs_entry *entry)
{
    return sg_hash_words((const unsigned char *)entry + sizeof entry->hash,
                         entry_bytes(entry) - sizeof entry->hash);
}

static unsigned char *stage_of(const struct sg_transport *transport, uint32_t index)
{
    return sg_verbs_own(transport, transport->layout.stages_at +
                                       (size_t)index * transport->layout.payload_bytes);
}

static unsigned char *fetch_of(const struct sg_transport *transport, uint32_t index)
{
    return sg_verbs_own(transport, transport->layout.fetches_at +
                                       (size_t)index * transport->layout.payload_bytes);
}

static uint64_t *stages_used(const struct sg_transport *transport)
{
    return (uint64_t *)sg_verbs_own(transport, transport->layout.stages_used_at);
}

/* ---- what the other side has taken ----------------------------------------------------------- */

static void free_until(struct sg_transport *transport, uint32_t index, uint64_t number)
{
    struct sg_verbs_channel *channel = sg_verbs_channel(transport, index);

    while (channel->freed < number && channel->freed < channel->sent) {
        const struct sg_verbs_entry *entry = sg_verbs_mirror(transport, index, ++channel->freed);

        if (entry->stage != 0)
            stages_used(transport)[(entry->stage - 1) / 64] &=
                ~(UINT64_C(1) << (entry->stage - 1) % 64);
        channel->forwarded -= entry->kind == SG_VERBS_FORWARD;
    }
}

/* Whether the message of that number is in its place, as far as a look without the hash can say. */
static bool has_come(const struct sg_transport *transport, uint32_t index, uint64_t number)
{
    /* Acquire: what the adapter wrote before it; the hash tells what is not there yet. */
    return atomic_load_explicit(&sg_verbs_ring(transport, index, number)->number,
                                memory_order_acquire) == number;
}

static bool is_whole(const struct sg_transport *transport, const struct sg_verbs_entry *entry)
{
    return (entry->stage != 0 || entry->payload_bytes <= transport->layout.inline_bytes) &&
           entry->hash == hash_of(entry);
}

/* What a message may say of itself: all else that is done with it relies on that. */
static bool is_sound(const struct sg_transport *transport, const struct sg_verbs_entry *entry)
{
    const struct sg_verbs_layout *layout = &transport->layout;

    return entry->payload_bytes == sg_transport_payload_bytes(&entry->header) &&
           entry->payload_bytes <= layout->payload_bytes && entry->stage <= layout->stages &&
           (entry->kind == SG_VERBS_MESSAGE ||
            (entry->kind == SG_VERBS_FORWARD && entry->from >= 0 &&
             entry->from < transport->setup.endpoints && entry->from != transport->location.self));
}

static void scan(struct sg_transport *transport, uint32_t index)
{
    struct sg_verbs_channel *channel = sg_verbs_channel(transport, index);
    /* Relaxed, all of `scanned` and `taken`: this endpoint's own; pending() only looks. */
    uint64_t number = atomic_load_explicit(&channel->scanned, memory_order_relaxed);

    while (has_come(transport, index, number + 1)) {
        const struct sg_verbs_entry *entry = sg_verbs_ring(transport, index, number + 1);

        if (!is_whole(transport, entry))
            return;
        if (!is_sound(transport, entry)) {
            sg_verbs_fail(transport,
                          (struct sg_transport_fault){transport->peers[index].endpoint, false,
                                                      "it sent a message that cannot be"});
            return;
        }
        free_until(transport, index, entry->taken);
        atomic_store_explicit(&channel->scanned, ++number, memory_order_relaxed);
    }
}

/* What the channel's other endpoint has told, in whatever way. */
static void hear(struct sg_transport *transport, uint32_t index)
{
    struct sg_verbs_told *told = sg_verbs_told(transport, index);

    for (int32_t server = 0; server < transport->peers[index].servers; server++)
        /* Acquire: with it go what the receiver has read of the places, which are written again. */
        free_until(transport, index,
                   atomic_load_explicit(&told->told[server], memory_order_acquire));
    scan(transport, index);
}

/* ---- sending --------------------------------------------------------------------------------- */

static bool is_within(const struct sg_transport *transport, const struct sg_verbs_channel *channel,
                      enum sg_verbs_entry_kind kind)
{
    return kind == SG_VERBS_FORWARD ? channel->forwarded < SG_VERBS_FORWARDED
                                    : channel->sent - channel->freed - channel->forwarded <
                                          transport->layout.message_room;
}

/* A free buffer: those of messages first, then those for posts. False: there is none. */
static bool find_stage(const struct sg_transport *transport, enum sg_verbs_entry_kind kind,
                       uint32_t *index)
{
    const uint64_t *used = stages_used(transport);
    uint32_t end = transport->layout.stages, first = end - SG_VERBS_FORWARDED;
    uint32_t from = kind == SG_VERBS_FORWARD ? first : 0,
             to = kind == SG_VERBS_FORWARD ? end : first;

    for (uint32_t i = from; i < to; i++) {
        if ((used[i / 64] >> i % 64 & 1) == 0) {
            *index = i;
            return true;
        }
    }
    return false;
}

static void lay_payload(const struct sg_verbs_content *content, unsigned char *out)
{
    if (content->payload != NULL)
        memcpy(out, content->payload, sg_transport_payload_bytes(&content->send->header));
    else
        sg_transport_gather(content->send, out);
}

static void fill(struct sg_transport *transport, uint32_t index, struct sg_verbs_entry *entry,
                 const struct sg_verbs_content *content, uint32_t stage)
{
    struct sg_verbs_channel *channel = sg_verbs_channel(transport, index);
    const struct sg_transport_send *send = content->send;

    memset(entry, 0, sizeof *entry);
    atomic_store_explicit(&entry->number, ++channel->sent, memory_order_relaxed);
    entry->taken = atomic_load_explicit(&channel->taken, memory_order_relaxed);
    channel->due = 0;
    entry->kind = (uint8_t)content->kind;
    entry->from = content->from;
    entry->protocol = send->protocol;
    entry->solicited = send->solicited;
    entry->header = send->header;
    entry->payload_bytes = (uint32_t)sg_transport_payload_bytes(&send->header);
    entry->stage = stage;
    lay_payload(content, stage != 0 ? stage_of(transport, stage - 1) : entry->payload);
    channel->forwarded += content->kind == SG_VERBS_FORWARD;
    if (stage != 0)
        stages_used(transport)[(stage - 1) / 64] |= UINT64_C(1) << (stage - 1) % 64;
    entry->hash = hash_of(entry);
}

static void write_entry(struct sg_transport *transport, uint32_t index,
                        const struct sg_verbs_entry *entry)
{
    const struct sg_verbs_peer *peer = &transport->peers[index];
    struct sg_verbs_link *link = &transport->links[peer->link];
    size_t bytes = entry_bytes(entry);
    size_t at =
        transport->layout.rings_at +
        sg_verbs_entry_at(transport, peer->channel, sg_verbs_channel(transport, index)->sent);
    struct ibv_sge piece = {(uintptr_t)entry, (uint32_t)bytes, transport->memory->lkey};
    struct ibv_send_wr request = {
        .sg_list = &piece,
        .num_sge = 1,
        .opcode = entry->solicited ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE,
        .send_flags = entry->solicited ? IBV_SEND_SOLICITED : 0,
        .wr.rdma = {sg_verbs_remote(transport, peer, at), link->key},
    };

    if (bytes <= link->inline_bytes)
        request.send_flags |= IBV_SEND_INLINE;
    sg_verbs_post_request(transport, link, &request, SG_VERBS_OF_ENTRY, 0);
}

bool sg_verbs_put(struct sg_transport *transport, uint32_t index,
                  const struct sg_verbs_content *content)
{
    struct sg_verbs_channel *channel = sg_verbs_channel(transport, index);
    const struct sg_transport_send *send = content->send;
    struct sg_verbs_entry *entry;
    uint32_t stage = 0;
    bool staged = sg_transport_payload_bytes(&send->header) > transport->layout.inline_bytes;

    if (!is_within(transport, channel, content->kind) ||
        (staged && !find_stage(transport, content->kind, &stage))) {
        /* Of all channels: they share the buffers for payload. */
        for (uint32_t i = 0;
             i < atomic_load_explicit(&transport->channel_count, memory_order_acquire); i++)
            hear(transport, i);
        if (!is_within(transport, channel, content->kind) ||
            (staged && !find_stage(transport, content->kind, &stage)))
            return false;
    }
    if (!sg_verbs_has_room(transport, &transport->links[transport->peers[index].link]))
        return false;
    entry = sg_verbs_mirror(transport, index, channel->sent + 1);
    fill(transport, index, entry, content, staged ? stage + 1 : 0);
    write_entry(transport, index, entry);
    return true;
}

/* ---- receiving ------------------------------------------------------------------------------- */

static void taken(struct sg_transport *transport, uint32_t index,
                  const struct sg_verbs_entry *entry)
{
    struct sg_verbs_channel *channel = sg_verbs_channel(transport, index);

    atomic_store_explicit(&channel->taken, entry->number, memory_order_relaxed);
    if (entry->stage != 0)
        channel->due = transport->layout.note_after;
    else
        channel->due += entry->kind == SG_VERBS_FORWARD
                            ? transport->layout.note_after * 2 / SG_VERBS_FORWARDED + 1
                            : 1;
}

/* Where no message has told it: into this process's word at the other end. A write that goes out
 * late takes what the word says then, which is as good. */
static void tell_if_due(struct sg_transport *transport, uint32_t index)
{
    struct sg_verbs_channel *channel = sg_verbs_channel(transport, index);
    const struct sg_verbs_peer *peer = &transport->peers[index];
    struct sg_verbs_link *link = &transport->links[peer->link];
    size_t server = (size_t)transport->location.server;
    _Atomic uint64_t *word = &sg_verbs_told(transport, index)->telling[server];
    size_t at = transport->layout.told_at + peer->channel * sizeof(struct sg_verbs_told) +
                server * sizeof(uint64_t);
    struct ibv_sge piece = {(uintptr_t)word, sizeof *word, transport->memory->lkey};
    struct ibv_send_wr request = {
        .sg_list = &piece,
        .num_sge = 1,
        .opcode = IBV_WR_RDMA_WRITE,
        .wr.rdma = {sg_verbs_remote(transport, peer, at), link->key},
    };

    if (channel->due < transport->layout.note_after || !sg_verbs_has_room(transport, link))
        return;
    channel->due = 0;
    atomic_store_explicit(word, atomic_load_explicit(&channel->taken, memory_order_relaxed),
                          memory_order_relaxed);
    sg_verbs_post_request(transport, link, &request, SG_VERBS_OF_ENTRY, 0);
}

/* False: the payload is not here yet. */
static bool fetch(struct sg_transport *transport, uint32_t index,
                  const struct sg_verbs_entry *entry)
{
    struct sg_verbs_channel *channel = sg_verbs_channel(transport, index);
    struct sg_verbs_endpoint *endpoint = sg_verbs_endpoint(transport);
    const struct sg_verbs_peer *peer = &transport->peers[index];
    struct sg_verbs_link *link = &transport->links[peer->link];
    uint64_t all = (UINT64_C(1) << transport->layout.fetches) - 1;
    size_t at =
        transport->layout.stages_at + (size_t)(entry->stage - 1) * transport->layout.payload_bytes;
    struct ibv_sge piece = {.length = entry->payload_bytes, .lkey = transport->memory->lkey};
    struct ibv_send_wr request = {
        .sg_list = &piece,
        .num_sge = 1,
        .opcode = IBV_WR_RDMA_READ,
        .wr.rdma = {sg_verbs_remote(transport, peer, at), link->key},
    };
    uint32_t buffer;

    if (channel->fetch != 0 || endpoint->fetching == all || !sg_verbs_has_room(transport, link))
        return channel->fetched != 0;
    buffer = (uint32_t)__builtin_ctzll(~endpoint->fetching);
    endpoint->fetching |= UINT64_C(1) << buffer;
    channel->fetch = buffer + 1;
    piece.addr = (uintptr_t)fetch_of(transport, buffer);
    link->reads++;
    sg_verbs_post_request(transport, link, &request, SG_VERBS_OF_FETCH, 0);
    return false;
}

void sg_verbs_channel_fetched(struct sg_transport *transport, uint32_t channel)
{
    sg_verbs_channel(transport, channel)->fetched = 1;
}

/* The payload where it stays until it is released. False: not yet. */
static bool hold(struct sg_transport *transport, uint32_t index, const struct sg_verbs_entry *entry,
                 struct sg_transport_message *out)
{
    struct sg_verbs_channel *channel = sg_verbs_channel(transport, index);
    struct sg_verbs_endpoint *endpoint = sg_verbs_endpoint(transport);
    uint32_t buffer;
    unsigned char *copy;

    out->parts = NULL;
    out->handle = HANDLE_NONE;
    if (entry->payload_bytes == 0)
        return true;
    if (entry->stage != 0) {
        if (!fetch(transport, index, entry))
            return false;
        buffer = channel->fetch - 1;
        channel->fetch = 0;
        channel->fetched = 0;
        out->parts = fetch_of(transport, buffer);
        out->handle = HANDLE_FETCHED | buffer;
        return true;
    }
    buffer = ~endpoint->held == 0 ? 64 : (uint32_t)__builtin_ctzll(~endpoint->held);
    if (buffer >= transport->layout.held)
        return false;
    endpoint->held |= UINT64_C(1) << buffer;
    copy = sg_verbs_own(transport, transport->layout.held_at +
                                       (size_t)buffer * transport->layout.inline_bytes);
    memcpy(copy, entry->payload, entry->payload_bytes);
    out->parts = copy;
    out->handle = HANDLE_HELD | buffer;
    return true;
}

/* The next message of the channel. False: none that can be handed out. */
static bool take_next(struct sg_transport *transport, uint32_t index,
                      struct sg_transport_message *out)
{
    struct sg_verbs_channel *channel = sg_verbs_channel(transport, index);
    uint64_t number = atomic_load_explicit(&channel->taken, memory_order_relaxed) + 1;
    const struct sg_verbs_entry *entry = sg_verbs_ring(transport, index, number);

    if (number > atomic_load_explicit(&channel->scanned, memory_order_relaxed) ||
        (entry->kind == SG_VERBS_FORWARD && transport->multicasts_held == SG_TRANSPORT_HELD) ||
        !hold(transport, index, entry, out))
        return false;
    out->protocol = entry->protocol;
    out->solicited = entry->solicited != 0;
    out->message.from = transport->peers[index].endpoint;
    out->message.multicast = entry->kind == SG_VERBS_FORWARD;
    out->message.header = entry->header;
    if (entry->kind == SG_VERBS_FORWARD) {
        out->message.from = entry->from;
        transport->multicasts_held++;
    }
    taken(transport, index, entry);
    return true;
}

bool sg_verbs_channel_receive(struct sg_transport *transport, struct sg_transport_message *out,
                              int32_t *came_by)
{
    struct sg_verbs_endpoint *endpoint = sg_verbs_endpoint(transport);
    /* Acquire: the channels that have been connected. */
    uint32_t channels = atomic_load_explicit(&transport->channel_count, memory_order_acquire);

    for (uint32_t i = 0; i < channels; i++) {
        uint32_t index = (endpoint->next_channel + i) % channels;
        bool found;

        scan(transport, index);
        found = take_next(transport, index, out);
        tell_if_due(transport, index);
        if (found) {
            endpoint->next_channel = (index + 1) % channels;
            *came_by = transport->peers[index].endpoint;
            return true;
        }
    }
    return false;
}

void sg_verbs_channel_release(struct sg_transport *transport,
                              const struct sg_transport_message *message)
{
    struct sg_verbs_endpoint *endpoint = sg_verbs_endpoint(transport);
    uint64_t bit = UINT64_C(1) << (message->handle & 63);

    transport->multicasts_held -= message->message.multicast;
    if (message->handle & HANDLE_HELD)
        endpoint->held &= ~bit;
    else if (message->handle & HANDLE_FETCHED)
        endpoint->fetching &= ~bit;
}

/* Whether a message is there that comes after one that is not. Several processes send for an
 * endpoint, each by a queue pair of its own: what one of them was to be told of may come before
 * what the other sent without a word, and nobody would be told of that. */
static bool is_overtaken(const struct sg_transport *transport, uint32_t index, uint64_t number)
{
    for (uint64_t ahead = 1; ahead <= LOOK_AHEAD && transport->peers[index].servers > 1; ahead++) {
        if (has_come(transport, index, number + ahead))
            return true;
    }
    return false;
}

bool sg_verbs_channel_pending(const struct sg_transport *transport)
{
    uint32_t channels = atomic_load_explicit(&transport->channel_count, memory_order_acquire);

    for (uint32_t i = 0; i < channels; i++) {
        struct sg_verbs_channel *channel = sg_verbs_channel(transport, i);
        /* Relaxed, both: a look. */
        uint64_t number = atomic_load_explicit(&channel->taken, memory_order_relaxed) + 1;
        const struct sg_verbs_entry *entry = sg_verbs_ring(transport, i, number);

        if (has_come(transport, i, number)
                ? entry->kind != SG_VERBS_FORWARD || transport->multicasts_held < SG_TRANSPORT_HELD
                : is_overtaken(transport, i, number))
            return true;
    }
    return false;
}
