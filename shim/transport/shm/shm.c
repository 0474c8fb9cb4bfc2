/* The transport between endpoints of one machine: set-up and the table of operations, then channels
 * for messages to one endpoint, then multicasts. Accesses go directly to memory.
 *
 * A process may be killed at any instruction. In this transport no endpoint waits for another, so
 * the others go on; only the killed endpoint loses something:
 *   while it sends      the message does not exist, or it is complete; at worst one of its buffers
 *                       stays marked as used, or its receiver notices it with the next message
 *   while it holds      the message stays held: its place in that channel, the sender's buffer or
 *                       the copy is not used again
 */
#include "transport/local_memory.h"
#include "transport/shm/shm_layout.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_possible(const struct sg_transport_setup *setup)
{
    return setup->endpoints >= 1 && setup->endpoints <= SG_SHM_ENDPOINTS_MAX &&
           setup->inflight >= 1 && setup->inflight <= SG_SHM_INFLIGHT_MAX &&
           setup->staged <= SG_TRANSPORT_STAGED_MAX && setup->eager_bytes <= SG_SHM_EAGER_MAX &&
           (setup->staged >= 1 || setup->eager_bytes == 0);
}

/* Computes the layout from transport->setup. False: the setup is not possible. */
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
    /* Two arrays of words and a number; each side's are on separate lines. */
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

/* Identifies the inputs of the layout: never 0 and unique, because is_possible limits the numbers
 * to 13, 13, 13 and 25 bits. */
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
    /* Relaxed: detects processes that disagree; publishes nothing else. */
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
    /* Alternates, so that a stream of one kind does not starve the other. */
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

/* Channels of the transport `shm`: messages from one endpoint to another, exactly once.
 *
 * A channel belongs to one (receiver, sender) pair and has `inflight` places. Three words of bits
 * describe a place, each written by one side only:
 *   sent    the sender flips the bit when the message is in place
 *   seen    the receiver flips it when it takes the message
 *   taken   the receiver flips it when it returns the place
 * So sent ^ seen are the messages to receive, and places with sent == taken are free. Places are
 * returned in any order, and a sender that is killed while it writes has claimed nothing.
 *
 * A receiver learns which channels to check from its word of senders: a sender sets its bit after
 * `sent`; the receiver clears it when it finds the channel empty, then checks once more. By the
 * order of the changes of that one word, either the receiver's clearing comes after the setting,
 * and its second check sees the message, or the bit is set again.
 *
 * One ring for each receiver would not work: a place that is claimed and never published, or that
 * is held, would stop every sender when the ring comes round to it, and one sender could use up the
 * capacity of all.
 */

struct channel {
    /* The sender's words. `known` caches `taken`, to avoid reads of the receiver's line. */
    _Atomic uint64_t *sent;
    uint64_t *known, *next_free;
    /* The receiver's words. */
    _Atomic uint64_t *seen, *taken;
    uint64_t *next_seen;
    struct sg_shm_entry *entries;
};

static struct channel find_channel(const struct sg_transport *transport, int receiver, int sender)
{
    unsigned char *at = transport->base + transport->channels_at +
                        ((size_t)receiver * (size_t)transport->setup.endpoints + (size_t)sender) *
                            transport->channel_bytes;
    uint32_t words = transport->channel_words;
    struct channel channel;

    channel.sent = (_Atomic uint64_t *)at;
    channel.known = (uint64_t *)at + words;
    channel.next_free = channel.known + words;
    channel.seen = (_Atomic uint64_t *)(at + transport->channel_sender_bytes);
    channel.taken = channel.seen + words;
    channel.next_seen = (uint64_t *)(channel.taken + words);
    channel.entries = (struct sg_shm_entry *)(at + transport->channel_control_bytes);
    return channel;
}

static uint64_t valid(uint32_t word, uint32_t count)
{
    uint32_t rest = count - word * 64;

    return rest >= 64 ? UINT64_MAX : (UINT64_C(1) << rest) - 1;
}

/* Returns a word with one bit flipped, to be stored there. Only the caller's endpoint writes it. */
static uint64_t turned(const _Atomic uint64_t *words, uint32_t index)
{
    return atomic_load_explicit(&words[index / 64], memory_order_relaxed) ^ UINT64_C(1)
                                                                                << index % 64;
}

/* Returns the lowest bit from `from` on; without any, the lowest bit. */
static uint32_t pick(uint64_t bits, uint32_t from)
{
    uint64_t later = bits & UINT64_MAX << from;

    return (uint32_t)__builtin_ctzll(later != 0 ? later : bits);
}

static bool free_among_known(const struct sg_transport *transport, const struct channel *channel,
                             uint32_t *index)
{
    uint32_t next = (uint32_t)*channel->next_free;

    for (uint32_t i = 0; i < transport->channel_words; i++) {
        uint32_t word = (next / 64 + i) % transport->channel_words;
        uint64_t sent = atomic_load_explicit(&channel->sent[word], memory_order_relaxed);
        uint64_t bits = ~(sent ^ channel->known[word]) & valid(word, transport->setup.inflight);

        if (bits != 0) {
            *index = word * 64 + pick(bits, i == 0 ? next % 64 : 0);
            *channel->next_free = (*index + 1) % transport->setup.inflight;
            return true;
        }
    }
    return false;
}

static bool find_free(const struct sg_transport *transport, const struct channel *channel,
                      uint32_t *index)
{
    if (free_among_known(transport, channel, index))
        return true;
    /* Acquire: the receiver has read the message before the sender overwrites it. */
    for (uint32_t word = 0; word < transport->channel_words; word++)
        channel->known[word] = atomic_load_explicit(&channel->taken[word], memory_order_acquire);
    return free_among_known(transport, channel, index);
}

/* Finds a free buffer of the sender. It is marked once filled, so a process killed before that has
 * taken none. Acquire: its last receiver has read it. */
static bool find_stage(const struct sg_transport *transport, int self, uint32_t *index)
{
    _Atomic uint64_t *used = sg_shm_stages_used(transport, self);

    for (uint32_t word = 0; word < transport->stage_words; word++) {
        uint64_t bits = ~atomic_load_explicit(&used[word], memory_order_acquire) &
                        valid(word, transport->setup.staged);

        if (bits != 0) {
            *index = word * 64 + (uint32_t)__builtin_ctzll(bits);
            return true;
        }
    }
    return false;
}

enum sg_transport_result sg_shm_channel_send(struct sg_transport *transport, int self, int to,
                                             const struct sg_transport_send *send)
{
    struct channel channel = find_channel(transport, to, self);
    uint32_t index, stage = 0;
    bool staged = sg_transport_payload_bytes(&send->header) > SG_SHM_INLINE_BYTES;
    struct sg_shm_entry *entry;

    if ((staged && !find_stage(transport, self, &stage)) || !find_free(transport, &channel, &index))
        return SG_TRANSPORT_FULL;
    entry = &channel.entries[index];
    entry->header = send->header;
    entry->protocol = send->protocol;
    entry->solicited = send->solicited;
    entry->stage = staged ? stage + 1 : 0;
    sg_transport_gather(send, staged ? sg_shm_stage(transport, self, stage) : entry->payload);
    /* Relaxed: the receiver clears the bit only after it has acquired `sent`, below. */
    if (staged)
        atomic_fetch_or_explicit(&sg_shm_stages_used(transport, self)[stage / 64],
                                 UINT64_C(1) << stage % 64, memory_order_relaxed);
    /* Release: publishes the message. */
    atomic_store_explicit(&channel.sent[index / 64], turned(channel.sent, index),
                          memory_order_release);
    /* Release: a receiver that clears the bit sees `sent`. */
    atomic_fetch_or_explicit(&sg_shm_senders(transport, to)[self / 64], UINT64_C(1) << self % 64,
                             memory_order_release);
    return SG_TRANSPORT_DONE;
}

static bool find_ready(const struct sg_transport *transport, const struct channel *channel,
                       uint32_t *index)
{
    uint32_t next = (uint32_t)*channel->next_seen;

    for (uint32_t i = 0; i < transport->channel_words; i++) {
        uint32_t word = (next / 64 + i) % transport->channel_words;
        /* Acquire: the message was written before. `seen` is this endpoint's own. */
        uint64_t bits = atomic_load_explicit(&channel->sent[word], memory_order_acquire) ^
                        atomic_load_explicit(&channel->seen[word], memory_order_relaxed);

        if (bits != 0) {
            *index = word * 64 + pick(bits, i == 0 ? next % 64 : 0);
            return true;
        }
    }
    return false;
}

static void take(const struct sg_transport *transport, const struct channel *channel, int sender,
                 uint32_t index, struct sg_transport_message *out)
{
    const struct sg_shm_entry *entry = &channel->entries[index];

    out->protocol = entry->protocol;
    out->solicited = entry->solicited != 0;
    out->is_reply = false;
    out->message.from = sender;
    out->message.multicast = false;
    out->message.header = entry->header;
    out->parts = entry->stage != 0 ? sg_shm_stage(transport, sender, entry->stage - 1)
                                   : (const void *)entry->payload;
    out->handle = index;
    *channel->next_seen = (index + 1) % transport->setup.inflight;
    /* Relaxed: read by this endpoint alone, and by pending(), which is only a hint. */
    atomic_store_explicit(&channel->seen[index / 64], turned(channel->seen, index),
                          memory_order_relaxed);
}

static bool receive_from(struct sg_transport *transport, int self, int sender,
                         struct sg_transport_message *out)
{
    struct channel channel = find_channel(transport, self, sender);
    _Atomic uint64_t *word = &sg_shm_senders(transport, self)[sender / 64];
    uint64_t bit = UINT64_C(1) << sender % 64;
    uint32_t index;

    if (!find_ready(transport, &channel, &index)) {
        /* Acquire: the second check sees messages sent before the bit was set. */
        atomic_fetch_and_explicit(word, ~bit, memory_order_acquire);
        if (!find_ready(transport, &channel, &index))
            return false;
        /* Relaxed: a hint to this endpoint's own processes that there may be more. */
        atomic_fetch_or_explicit(word, bit, memory_order_relaxed);
    }
    take(transport, &channel, sender, index, out);
    return true;
}

bool sg_shm_channel_receive(struct sg_transport *transport, int self,
                            struct sg_transport_message *out)
{
    struct sg_shm_receiver *receiver = sg_shm_receiver(transport, self);
    _Atomic uint64_t *senders = sg_shm_senders(transport, self);
    uint32_t next = receiver->next_sender, words = transport->endpoint_words;

    /* The first word twice: from `next` on, and at the end the bits before it. */
    for (uint32_t i = 0; i <= words; i++) {
        uint32_t word = (next / 64 + i) % words;
        uint64_t from = UINT64_MAX << next % 64;
        /* Relaxed: selects the channels to check; the channel's own words carry the order. */
        uint64_t bits = atomic_load_explicit(&senders[word], memory_order_relaxed);

        bits &= i == 0 ? from : i == words ? ~from : UINT64_MAX;
        for (; bits != 0; bits &= bits - 1) {
            int sender = (int)(word * 64) + __builtin_ctzll(bits);

            if (receive_from(transport, self, sender, out)) {
                receiver->next_sender =
                    ((uint32_t)sender + 1) % (uint32_t)transport->setup.endpoints;
                return true;
            }
        }
    }
    return false;
}

void sg_shm_channel_release(struct sg_transport *transport, int self,
                            const struct sg_transport_message *message)
{
    int sender = message->message.from;
    struct channel channel = find_channel(transport, self, sender);
    uint32_t index = (uint32_t)message->handle;
    uint32_t stage = channel.entries[index].stage;

    /* Release, both: the payload has been read before the sender overwrites it. */
    if (stage != 0)
        atomic_fetch_and_explicit(&sg_shm_stages_used(transport, sender)[(stage - 1) / 64],
                                  ~(UINT64_C(1) << (stage - 1) % 64), memory_order_release);
    atomic_store_explicit(&channel.taken[index / 64], turned(channel.taken, index),
                          memory_order_release);
}

/* Checks the channel itself: a bit may still be set after its channel is empty. */
bool sg_shm_channel_pending(const struct sg_transport *transport, int self)
{
    _Atomic uint64_t *senders = sg_shm_senders(transport, self);

    for (uint32_t word = 0; word < transport->endpoint_words; word++) {
        /* Sequentially consistent, with the fence of a sender: see transport.h. */
        uint64_t bits = atomic_load(&senders[word]);

        for (; bits != 0; bits &= bits - 1) {
            struct channel channel =
                find_channel(transport, self, (int)(word * 64) + __builtin_ctzll(bits));

            /* Relaxed, both: a hint; the receiver acquires. */
            for (uint32_t i = 0; i < transport->channel_words; i++) {
                if (atomic_load_explicit(&channel.sent[i], memory_order_relaxed) !=
                    atomic_load_explicit(&channel.seen[i], memory_order_relaxed))
                    return true;
            }
        }
    }
    return false;
}

/* Multicasts of the transport `shm`, each written once and read by all.
 *
 * Every endpoint has a few slots for its own multicasts, used in rotation, and a count of those
 * written (its tail). Each receiver has a cursor for each sender. No sender waits for a receiver:
 * one that falls behind by more than the slots misses the older ones. Every multicast rings the
 * same doorbell, so an idle receiver reads one word.
 *
 * A multicast may be overwritten while it is read. A message must stay valid until its receiver
 * releases it, and the protocol cannot undo the effects of a torn one, so a check at the release
 * would be too late. The receiver therefore copies the payload to its own memory, then compares the
 * multicast's number. Words are stored with release and loaded with acquire: a reader that got any
 * word of a later multicast then also sees that multicast's number, or the mark that it is being
 * written. (This needs no fences, and is free on x86.)
 */

/* Sequence of a complete multicast. */
static uint64_t written(uint64_t number)
{
    return 2 * (number + 1);
}

static void store_words(_Atomic uint64_t *to, const void *from, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += 8) {
        uint64_t word = 0;

        memcpy(&word, (const char *)from + at, bytes - at < 8 ? bytes - at : 8);
        atomic_store_explicit(&to[at / 8], word, memory_order_release);
    }
}

static void load_words(void *to, const _Atomic uint64_t *from, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += 8) {
        uint64_t word = atomic_load_explicit(&from[at / 8], memory_order_acquire);

        memcpy((char *)to + at, &word, 8);
    }
}

void sg_shm_multicast_send(struct sg_transport *transport, int self,
                           const struct sg_transport_send *send)
{
    _Atomic uint64_t *tail = &sg_shm_tails(transport)[self];
    /* Relaxed: this endpoint's own. A process killed in here leaves a multicast that its successor
     * overwrites. */
    uint64_t number = atomic_load_explicit(tail, memory_order_relaxed);
    struct sg_shm_multicast *slot = sg_shm_multicast(transport, self, number);
    size_t stride = sg_transport_stride(&send->header);

    /* Relaxed: the stores that follow release it. */
    atomic_store_explicit(&slot->sequence, written(number) - 1, memory_order_relaxed);
    store_words(slot->header, &send->header, sizeof send->header);
    atomic_store_explicit(&slot->protocol, send->protocol, memory_order_release);
    atomic_store_explicit(&slot->solicited, send->solicited, memory_order_release);
    if (send->header.bytes > 0) {
        for (int i = 0; i < send->header.parts; i++)
            store_words(slot->payload + (size_t)i * stride / 8, send->parts[i], send->header.bytes);
    }
    /* Relaxed: the tail releases it. The tail's release also covers the words before. */
    atomic_store_explicit(&slot->sequence, written(number), memory_order_relaxed);
    atomic_store_explicit(tail, number + 1, memory_order_release);
    /* Release: a receiver that sees the ring sees the tail. */
    atomic_fetch_add_explicit(&sg_shm_header(transport)->doorbell, 1, memory_order_release);
}

/* False: overwritten before it was copied. */
static bool copy_multicast(const struct sg_transport *transport,
                           const struct sg_shm_multicast *slot, uint64_t number,
                           struct sg_transport_message *out, unsigned char *copy)
{
    size_t payload_bytes;

    /* Relaxed: the acquired tail was stored after the multicast's words. */
    if (atomic_load_explicit(&slot->sequence, memory_order_relaxed) != written(number))
        return false;
    load_words(&out->message.header, slot->header, sizeof out->message.header);
    out->protocol = atomic_load_explicit(&slot->protocol, memory_order_acquire);
    out->solicited = atomic_load_explicit(&slot->solicited, memory_order_acquire) != 0;
    /* Relaxed, here and below: the loads before have acquired their values' stores. The length must
     * be known to be complete before it is used. */
    if (atomic_load_explicit(&slot->sequence, memory_order_relaxed) != written(number))
        return false;
    payload_bytes = sg_transport_payload_bytes(&out->message.header);
    load_words(copy, slot->payload, payload_bytes);
    if (atomic_load_explicit(&slot->sequence, memory_order_relaxed) != written(number))
        return false;
    out->message.multicast = true;
    out->is_reply = false;
    out->parts = copy;
    return true;
}

static bool multicast_receive_from(const struct sg_transport *transport, int self, int sender,
                                   struct sg_transport_message *out, unsigned char *copy)
{
    _Atomic uint64_t *cursor = &sg_shm_cursors(transport, self)[sender];
    /* Relaxed: this endpoint's own. */
    uint64_t number = atomic_load_explicit(cursor, memory_order_relaxed);
    uint64_t tail = atomic_load_explicit(&sg_shm_tails(transport)[sender], memory_order_acquire);
    bool found = false;

    if (tail == number)
        return false;
    /* Advances to the oldest available multicast; bounded, because a fast sender may keep
     * overwriting. */
    for (int tries = 0; tries < 2 * SG_SHM_MULTICASTS && !found && number < tail; tries++) {
        if (tail - number > SG_SHM_MULTICASTS)
            number = tail - SG_SHM_MULTICASTS;
        found = copy_multicast(transport, sg_shm_multicast(transport, sender, number), number, out,
                               copy);
        number++;
        tail = atomic_load_explicit(&sg_shm_tails(transport)[sender], memory_order_acquire);
    }
    atomic_store_explicit(cursor, number, memory_order_relaxed);
    out->message.from = sender;
    return found;
}

bool sg_shm_multicast_receive(struct sg_transport *transport, int self,
                              struct sg_transport_message *out)
{
    struct sg_shm_receiver *receiver = sg_shm_receiver(transport, self);
    /* Acquire: the tails of all multicasts that have rung. */
    uint64_t doorbell =
        atomic_load_explicit(&sg_shm_header(transport)->doorbell, memory_order_acquire);
    uint64_t held = atomic_load_explicit(&receiver->copies_held, memory_order_relaxed);
    uint32_t endpoints = (uint32_t)transport->setup.endpoints, index;

    if (doorbell == atomic_load_explicit(&receiver->doorbell_seen, memory_order_relaxed) ||
        held == (UINT64_C(1) << SG_TRANSPORT_HELD) - 1)
        return false;
    index = (uint32_t)__builtin_ctzll(~held);
    for (uint32_t i = 0; i < endpoints; i++) {
        uint32_t sender = (receiver->next_multicast + i) % endpoints;

        if ((int)sender != self && multicast_receive_from(transport, self, (int)sender, out,
                                                          sg_shm_copy(transport, self, index))) {
            out->handle = index;
            receiver->next_multicast = (sender + 1) % endpoints;
            /* Relaxed, these and their loads: this endpoint's own; pending() is only a hint. */
            atomic_store_explicit(&receiver->copies_held, held | UINT64_C(1) << index,
                                  memory_order_relaxed);
            return true;
        }
    }
    atomic_store_explicit(&receiver->doorbell_seen, doorbell, memory_order_relaxed);
    return false;
}

void sg_shm_multicast_release(struct sg_transport *transport, int self,
                              const struct sg_transport_message *message)
{
    _Atomic uint64_t *held = &sg_shm_receiver(transport, self)->copies_held;
    uint64_t value = atomic_load_explicit(held, memory_order_relaxed);

    atomic_store_explicit(held, value & ~(UINT64_C(1) << message->handle), memory_order_relaxed);
}

bool sg_shm_multicast_pending(const struct sg_transport *transport, int self)
{
    const struct sg_shm_receiver *receiver = sg_shm_receiver(transport, self);
    _Atomic uint64_t *tails = sg_shm_tails(transport), *cursors = sg_shm_cursors(transport, self);

    /* Sequentially consistent, with the fence of a sender: see transport.h. The rest is relaxed: a
     * hint; the receiver acquires. The doorbell also rings for this endpoint's own multicasts. */
    if (atomic_load(&sg_shm_header(transport)->doorbell) ==
            atomic_load_explicit(&receiver->doorbell_seen, memory_order_relaxed) ||
        atomic_load_explicit(&receiver->copies_held, memory_order_relaxed) ==
            (UINT64_C(1) << SG_TRANSPORT_HELD) - 1)
        return false;
    for (int sender = 0; sender < transport->setup.endpoints; sender++) {
        if (sender != self && atomic_load_explicit(&tails[sender], memory_order_relaxed) !=
                                  atomic_load_explicit(&cursors[sender], memory_order_relaxed))
            return true;
    }
    return false;
}
