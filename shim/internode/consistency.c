#include "internode/consistency.h"

#include "core/hash.h"
#include "internode/words.h"
#include "mpi/operands.h"
#include "mpi/report.h"

#include <stddef.h>

/* A note: the position + 1, of which so many bits, above the signature. */
#define POSITION_MASK 0xffffu
#define POSITION_SHIFT 16

uint16_t sg_span_signature(const struct sg_call *call)
{
    uint64_t form = (uint64_t)call->operation << 2 | (uint64_t)sg_call_is_in_place(call) << 1 |
                    (call->request != NULL);
    uint64_t hash = sg_hash_mix(call->bytes ^ sg_hash_mix(form << 32 | (uint32_t)call->root));

    return (uint16_t)hash;
}

bool sg_span_compare(struct sg_span *span, const struct sg_call *call, uint64_t position)
{
    _Atomic uint64_t *word = &span->header->signatures[position % SG_SPAN_SIGNATURES];
    uint32_t own = sg_span_signature(call);
    const struct sg_span_about *other;
    struct sg_span_found found;

    if (position >= SG_SPAN_SIGNATURES && !sg_span_is_taken(word, position) &&
        !sg_span_is_read_by_all(span, offsetof(struct sg_span_about, left), &span->all_entered,
                                position + 1 - SG_SPAN_SIGNATURES))
        return false;
    found = sg_span_meet(span, word, position, own);
    if (found.brought == own)
        return true;
    /* The end of the job is for a thread of the application, which comes to it by itself. */
    if (sg_progress_by() != SG_PROGRESS_BY_CALL)
        return false;
    other = sg_span_about(span, found.rank);
    /* Where it is in a later one, what it says of itself is about that. */
    sg_report_mismatch(call, span->rank, &sg_span_about(span, span->rank)->call, found.rank,
                       atomic_load_explicit(&other->position, memory_order_relaxed) == position + 1
                           ? &other->call
                           : NULL);
}

/* ---- between machines ---- */

uint32_t sg_span_note(const struct sg_span *span, const struct sg_span_instance *place)
{
    uint32_t position = (uint32_t)(place->position + 1) & POSITION_MASK;

    /* One in 65536 has none: 0 says that there is none. */
    return span->wire == NULL || position == 0 ? 0 : position << POSITION_SHIFT | place->signature;
}

static void keep_foreign(struct sg_span *span, const struct sg_span_instance *place, int32_t from)
{
    uint64_t none = 0;

    atomic_compare_exchange_strong(&sg_span_endpoint(span, span->endpoint)->foreign, &none,
                                   place->position << 16 | (uint64_t)(uint32_t)(from + 1));
}

static bool is_of(uint32_t note, const struct sg_span_instance *place)
{
    return note >> POSITION_SHIFT == ((uint32_t)(place->position + 1) & POSITION_MASK);
}

bool sg_span_hear(struct sg_span *span, const struct sg_transport_message *message)
{
    struct sg_span_endpoint *endpoint = sg_span_endpoint(span, span->endpoint);
    uint32_t note = (uint32_t)(message->object >> 32);
    uint32_t position = (note >> POSITION_SHIFT) - 1;
    struct sg_span_instance *place;

    if (note == 0)
        return true;
    /* The depth need not divide what the position's bits count to: both rings are small. */
    for (uint32_t i = 0; i < span->depth; i++) {
        place = &endpoint->places[i];
        if (place->arrived == 0 || !is_of(note, place))
            continue;
        if ((note & POSITION_MASK) == place->signature)
            return true;
        keep_foreign(span, place, message->message.from);
        return false;
    }
    endpoint->heard[position % SG_SPAN_PLACES_MAX] =
        (struct sg_span_heard){note, message->message.from};
    return true;
}

void sg_span_recall(struct sg_span *span, const struct sg_span_instance *place)
{
    const struct sg_span_heard *heard =
        &sg_span_endpoint(span, span->endpoint)->heard[place->position % SG_SPAN_PLACES_MAX];

    if (heard->note != 0 && is_of(heard->note, place) &&
        (heard->note & POSITION_MASK) != place->signature)
        keep_foreign(span, place, heard->from);
}
