/* Multicasts of the transport `shm`, each written once and read by all.
 *
 * Every endpoint has a few slots for its own multicasts, written in turn, and a count of those
 * written (its tail). Each receiver has a cursor for each sender. Nobody waits for a receiver: one
 * that falls behind by more than the slots misses the older ones. Every multicast rings the same
 * doorbell, so a receiver that has nothing to do reads one word.
 *
 * A multicast may be overwritten while it is read. What a receiver gets must stay valid until it
 * releases it, and its protocol cannot undo what it did with a torn one, so a check at the release
 * would be too late: the payload is copied to the receiver's own memory, and the multicast's number
 * compared after that. Words are stored with release and loaded with acquire: a reader that got any
 * word of a later multicast then also sees that multicast's number, or the mark that it is being
 * written. (This needs no fences, and is free on x86.)
 */
#include "transport/shm/layout.h"

#include <string.h>

/* The number of the multicast that is in place. */
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
     * writes anew. */
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
    /* Relaxed: the tail releases it. Release: the words before. */
    atomic_store_explicit(&slot->sequence, written(number), memory_order_relaxed);
    atomic_store_explicit(tail, number + 1, memory_order_release);
    /* Release: whoever hears it sees the tail. */
    atomic_fetch_add_explicit(&sg_shm_header(transport)->doorbell, 1, memory_order_release);
}

/* False: overwritten before it was copied. */
static bool copy_multicast(const struct sg_transport *transport,
                           const struct sg_shm_multicast *slot, uint64_t number,
                           struct sg_transport_message *out, unsigned char *copy)
{
    size_t payload_bytes;

    /* Relaxed: the tail, which has been acquired, came behind the multicast's words. */
    if (atomic_load_explicit(&slot->sequence, memory_order_relaxed) != written(number))
        return false;
    load_words(&out->message.header, slot->header, sizeof out->message.header);
    out->protocol = atomic_load_explicit(&slot->protocol, memory_order_acquire);
    out->solicited = atomic_load_explicit(&slot->solicited, memory_order_acquire) != 0;
    /* Relaxed, here and below: the loads before have acquired whatever they saw. The length must
     * be known to be whole before it is used. */
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

static bool receive_from(const struct sg_transport *transport, int self, int sender,
                         struct sg_transport_message *out, unsigned char *copy)
{
    _Atomic uint64_t *cursor = &sg_shm_cursors(transport, self)[sender];
    /* Relaxed: this endpoint's own. */
    uint64_t number = atomic_load_explicit(cursor, memory_order_relaxed);
    uint64_t tail = atomic_load_explicit(&sg_shm_tails(transport)[sender], memory_order_acquire);
    bool found = false;

    if (tail == number)
        return false;
    /* To the oldest that may still be there; while a fast sender goes on overwriting, not for
     * ever. */
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
    /* Acquire: the tails of all that have rung. */
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

        if ((int)sender != self &&
            receive_from(transport, self, (int)sender, out, sg_shm_copy(transport, self, index))) {
            out->handle = index;
            receiver->next_multicast = (sender + 1) % endpoints;
            /* Relaxed, these and the loads of them: this endpoint's own; pending() only looks. */
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

    /* Sequentially consistent, with the fence of a sender: see transport.h. Relaxed, the rest: a
     * look; whoever receives acquires. The doorbell rings for one's own multicasts, too. */
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
