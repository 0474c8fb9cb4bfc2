#include "internode/consistency.h"

#include "core/hash.h"
#include "internode/words.h"
#include "mpi/operands.h"
#include "mpi/report.h"

#include <stddef.h>

/* A note: the position + 1, of which so many bits, above the signature. */
#define POSITION_MASK 0xffffu
#define POSITION_SHIFT 16

uint16_t sg_consistency_signature(const struct sg_call *call)
{
    uint64_t form = (uint64_t)call->operation << 2 | (uint64_t)sg_call_is_in_place(call) << 1 |
                    (call->request != NULL);
    uint64_t hash = sg_hash_mix(call->bytes ^ sg_hash_mix(form << 32 | (uint32_t)call->root));

    return (uint16_t)hash;
}

bool sg_consistency_compare(struct sg_internode *internode, const struct sg_call *call,
                            uint64_t position)
{
    _Atomic uint64_t *word = &internode->header->signatures[position % SG_INTERNODE_SIGNATURES];
    uint32_t own = sg_consistency_signature(call);
    const struct sg_rank_state *other;
    struct sg_internode_found found;

    if (position >= SG_INTERNODE_SIGNATURES && !sg_internode_is_taken(word, position) &&
        !sg_internode_is_read_by_all(internode, offsetof(struct sg_rank_state, left),
                                     &internode->all_entered,
                                     position + 1 - SG_INTERNODE_SIGNATURES))
        return false;
    found = sg_internode_meet(internode, word, position, own);
    if (found.brought == own)
        return true;
    /* The end of the job is for a thread of the application, which comes to it by itself. */
    if (sg_progress_by() != SG_PROGRESS_BY_CALL)
        return false;
    other = sg_internode_rank_state(internode, found.rank);
    /* Where it is in a later one, what it says of itself is about that. */
    sg_report_end(call, internode->rank, &sg_internode_rank_state(internode, internode->rank)->call,
                  found.rank,
                  atomic_load_explicit(&other->position, memory_order_relaxed) == position + 1
                      ? &other->call
                      : NULL);
}

/* ---- between machines ---- */

uint32_t sg_consistency_note(const struct sg_internode *internode,
                             const struct sg_internode_instance *instance)
{
    uint32_t position = (uint32_t)(instance->position + 1) & POSITION_MASK;

    /* One in 65536 has none: 0 says that there is none. */
    return internode->remote == NULL || position == 0
               ? 0
               : position << POSITION_SHIFT | instance->signature;
}

static void keep_foreign(struct sg_internode *internode,
                         const struct sg_internode_instance *instance, int32_t from)
{
    uint64_t none = 0;

    atomic_compare_exchange_strong(&sg_internode_endpoint(internode, internode->endpoint)->foreign,
                                   &none,
                                   instance->position << 16 | (uint64_t)(uint32_t)(from + 1));
}

static bool is_of(uint32_t note, const struct sg_internode_instance *instance)
{
    return note >> POSITION_SHIFT == ((uint32_t)(instance->position + 1) & POSITION_MASK);
}

bool sg_consistency_check(struct sg_internode *internode,
                          const struct sg_transport_message *message)
{
    struct sg_endpoint *endpoint = sg_internode_endpoint(internode, internode->endpoint);
    uint32_t note = (uint32_t)(message->protocol >> 32);
    uint32_t position = (note >> POSITION_SHIFT) - 1;
    struct sg_internode_instance *instance;

    if (note == 0)
        return true;
    /* The depth need not divide what the position's bits count to: both rings are small. */
    for (uint32_t i = 0; i < internode->depth; i++) {
        instance = &endpoint->instances[i];
        if (instance->arrived == 0 || !is_of(note, instance))
            continue;
        if ((note & POSITION_MASK) == instance->signature)
            return true;
        keep_foreign(internode, instance, message->message.from);
        return false;
    }
    endpoint->remote_note[position % SG_INTERNODE_INSTANCES_MAX] =
        (struct sg_remote_note){note, message->message.from};
    return true;
}

void sg_consistency_check_instance(struct sg_internode *internode,
                                   const struct sg_internode_instance *instance)
{
    const struct sg_remote_note *remote_note =
        &sg_internode_endpoint(internode, internode->endpoint)
             ->remote_note[instance->position % SG_INTERNODE_INSTANCES_MAX];

    if (remote_note->note != 0 && is_of(remote_note->note, instance) &&
        (remote_note->note & POSITION_MASK) != instance->signature)
        keep_foreign(internode, instance, remote_note->from);
}
