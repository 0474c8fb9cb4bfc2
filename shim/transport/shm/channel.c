/* Channels of the transport `shm`: messages from one endpoint to another, exactly once.
 *
 * A channel belongs to one (receiver, sender) pair and has `inflight` places. Three words of bits
 * describe a place, each written by one side only:
 *   sent    the sender flips the bit when the message is in place
 *   seen    the receiver flips it when it takes the message
 *   taken   the receiver flips it when it gives the message back
 * So sent ^ seen are the messages to receive, and places with sent == taken are free. Messages are
 * given back in any order, and a sender that is killed while it writes has claimed nothing.
 *
 * A receiver learns which channels to check from its word of senders: a sender sets its bit after
 * `sent`; the receiver clears it when it finds the channel empty, then checks once more. By the
 * order of the changes of that one word, either the receiver's clearing comes after the setting,
 * and its second check sees the message, or the bit is set again.
 *
 * Why not one ring for each receiver: a place that is claimed and never published, or that is held,
 * would stop everyone when the ring comes round to it, and one sender could use up everybody's
 * room.
 */
#include "transport/shm/layout.h"

struct channel {
    /* The sender's. `known` is `taken` as it last saw it, so that it seldom reads their line. */
    _Atomic uint64_t *sent;
    uint64_t *known, *next_free;
    /* The receiver's. */
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

/* A word that only the caller's endpoint writes, with a bit turned over: to be stored there. */
static uint64_t turned(const _Atomic uint64_t *words, uint32_t index)
{
    return atomic_load_explicit(&words[index / 64], memory_order_relaxed) ^ UINT64_C(1)
                                                                                << index % 64;
}

/* The bits of a word, those from `from` on first: the lowest of them, else the lowest at all. */
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
    /* Acquire: the receiver has read the message before the sender writes over it. */
    for (uint32_t word = 0; word < transport->channel_words; word++)
        channel->known[word] = atomic_load_explicit(&channel->taken[word], memory_order_acquire);
    return free_among_known(transport, channel, index);
}

/* A free buffer of the sender; it is marked once it is filled, so that a process killed before
 * has taken none. Acquire: its last receiver has read it. */
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
    /* Relaxed: the receiver clears it only after it has acquired `sent`, below. */
    if (staged)
        atomic_fetch_or_explicit(&sg_shm_stages_used(transport, self)[stage / 64],
                                 UINT64_C(1) << stage % 64, memory_order_relaxed);
    /* Release: the message comes with it. */
    atomic_store_explicit(&channel.sent[index / 64], turned(channel.sent, index),
                          memory_order_release);
    /* Release: whoever clears the bit sees `sent`. */
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
        /* Acquire: the message comes with it. `seen` is this endpoint's own. */
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
    /* Relaxed: read by this endpoint alone, and by pending(), which promises no more than a look.
     */
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
        /* Acquire: what was sent before the bit was set is seen by the second look. */
        atomic_fetch_and_explicit(word, ~bit, memory_order_acquire);
        if (!find_ready(transport, &channel, &index))
            return false;
        /* Relaxed: a note to this endpoint's own processes that there may be more. */
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

    /* The first word twice: from `next` on, and at the end what lies before. */
    for (uint32_t i = 0; i <= words; i++) {
        uint32_t word = (next / 64 + i) % words;
        uint64_t from = UINT64_MAX << next % 64;
        /* Relaxed: which channels to look at; the channel's own words carry the order. */
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

    /* Release, both: the payload has been read before the sender writes over it. */
    if (stage != 0)
        atomic_fetch_and_explicit(&sg_shm_stages_used(transport, sender)[(stage - 1) / 64],
                                  ~(UINT64_C(1) << (stage - 1) % 64), memory_order_release);
    atomic_store_explicit(&channel.taken[index / 64], turned(channel.taken, index),
                          memory_order_release);
}

/* A bit may still be set for a channel that has been emptied: the channel itself tells. */
bool sg_shm_channel_pending(const struct sg_transport *transport, int self)
{
    _Atomic uint64_t *senders = sg_shm_senders(transport, self);

    for (uint32_t word = 0; word < transport->endpoint_words; word++) {
        /* Sequentially consistent, with the fence of a sender: see transport.h. */
        uint64_t bits = atomic_load(&senders[word]);

        for (; bits != 0; bits &= bits - 1) {
            struct channel channel =
                find_channel(transport, self, (int)(word * 64) + __builtin_ctzll(bits));

            /* Relaxed, both: a look; whoever receives acquires. */
            for (uint32_t i = 0; i < transport->channel_words; i++) {
                if (atomic_load_explicit(&channel.sent[i], memory_order_relaxed) !=
                    atomic_load_explicit(&channel.seen[i], memory_order_relaxed))
                    return true;
            }
        }
    }
    return false;
}
