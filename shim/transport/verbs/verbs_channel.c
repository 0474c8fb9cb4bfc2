/* Messages by channels (verbs_layout.h): written into the other endpoint's ring, found in this
 * endpoint's own. Also requests to queue pairs, and their completions.
 *
 * A receiver frees the places of messages by number, in order. Before it returns a message, it
 * copies payload that is in the ring, and reads other payload from the sender's memory. So a
 * message may be held for any time while its channel continues.
 *
 * Each message reports how far its sender has received in the other direction. If there is none,
 * the receiver writes the number into a word at the other endpoint: each time it has taken half of
 * the in-flight limit of messages, or of multicasts along the tree, and at once after it has read
 * payload, because all the sender's channels share its buffers. A sender without capacity checks
 * that word, and looks ahead at incoming messages that have not been received yet.
 */
#include "transport/verbs/verbs_channel.h"

#include "core/hash.h"

#include <assert.h>
#include <string.h>

/* Requests to queue pairs, and their completions. All completions of a transport go to one queue. A
 * completion means that all earlier requests on its link are complete, too, so only one in
 * SG_VERBS_SIGNAL_EVERY of the requests that nobody awaits has one.
 *
 * The first completion with an error ends everything: the queue pair stops, and its requests are
 * lost.
 */

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
    /* Release: publishes the fault. */
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
    /* Relaxed: arm, the only reader without the lock, may see it late. */
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

/* Receive requests belong to no link. */
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

/* Reposts the receive requests that solicited messages have consumed, in batches. */
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
    /* Acquire: connected links are complete. */
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

/* Handles: no buffer, a held copy, a fetched payload. */
#define HANDLE_NONE UINT64_C(0)
#define HANDLE_HELD (UINT64_C(1) << 32)
#define HANDLE_FETCHED (UINT64_C(2) << 32)
/* Places checked beyond that of a missing message. */
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

/* ---- progress of the other endpoint --------------------------------------------------------- */

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

/* True if the place has the message of that number, as far as a check without the hash can say. */
static bool has_come(const struct sg_transport *transport, uint32_t index, uint64_t number)
{
    /* Acquire: the adapter's earlier writes; the hash detects missing ones. */
    return atomic_load_explicit(&sg_verbs_ring(transport, index, number)->number,
                                memory_order_acquire) == number;
}

static bool is_whole(const struct sg_transport *transport, const struct sg_verbs_entry *entry)
{
    return (entry->stage != 0 || entry->payload_bytes <= transport->layout.inline_bytes) &&
           entry->hash == hash_of(entry);
}

/* Validates a message's own fields, on which all later code relies. */
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
    /* Relaxed, all of `scanned` and `taken`: this endpoint's own; pending() is only a hint. */
    uint64_t number = atomic_load_explicit(&channel->scanned, memory_order_relaxed);

    while (has_come(transport, index, number + 1)) {
        const struct sg_verbs_entry *entry = sg_verbs_ring(transport, index, number + 1);

        if (!is_whole(transport, entry))
            return;
        if (!is_sound(transport, entry)) {
            sg_verbs_fail(transport,
                          (struct sg_transport_fault){transport->peers[index].endpoint, false,
                                                      "it sent an invalid message"});
            return;
        }
        free_until(transport, index, entry->taken);
        atomic_store_explicit(&channel->scanned, ++number, memory_order_relaxed);
    }
}

/* Frees places that the channel's other endpoint has reported as taken, by words or messages. */
static void hear(struct sg_transport *transport, uint32_t index)
{
    struct sg_verbs_told *told = sg_verbs_told(transport, index);

    for (int32_t server = 0; server < transport->peers[index].servers; server++)
        /* Acquire: the receiver has read those places, which this endpoint will overwrite. */
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

/* Finds a free buffer: messages use the first ones, multicasts along the tree the last. False:
 * none. */
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
        /* Checks all channels, because they share the buffers for payload. */
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

/* Reports `taken` if no message has: into this process's word at the other end. A write that is
 * sent late takes the word's value at that time, which is as good. */
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

/* False: the payload has not arrived yet. */
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

/* Puts the payload where it stays until it is released. False: not yet. */
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

/* Takes the channel's next message. False: none is available. */
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
    /* Acquire: connected channels are complete. */
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

/* True if a message has arrived ahead of a missing one. Several processes send for an endpoint,
 * each by a separate queue pair: a solicited message of one may arrive before an unsolicited one of
 * another, which would cause no notification itself. */
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
        /* Relaxed, both: a hint. */
        uint64_t number = atomic_load_explicit(&channel->taken, memory_order_relaxed) + 1;
        const struct sg_verbs_entry *entry = sg_verbs_ring(transport, i, number);

        if (has_come(transport, i, number)
                ? entry->kind != SG_VERBS_FORWARD || transport->multicasts_held < SG_TRANSPORT_HELD
                : is_overtaken(transport, i, number))
            return true;
    }
    return false;
}
