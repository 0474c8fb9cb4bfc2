#include "internode/consistency.h"

#include "core/hash.h"
#include "internode/communicator.h"
#include "mpi/operands.h"

#include <stddef.h>

/* A note is the low bits of position + 1 (POSITION_MASK), shifted above the signature. */
#define POSITION_MASK 0xffffu
#define POSITION_SHIFT 16

uint16_t sg_consistency_signature(const struct sg_call *call)
{
    uint64_t form = (uint64_t)call->operation << 2 | (uint64_t)sg_call_is_in_place(call) << 1 |
                    (call->request != NULL);
    uint64_t hash = sg_hash_mix(call->bytes ^ sg_hash_mix(form << 32 | (uint32_t)call->root));

    return (uint16_t)hash;
}

static void describe(const struct sg_internode *internode, const struct sg_internode_plan *plan,
                     uint64_t position)
{
    const struct sg_call *call = plan->call;
    struct sg_first_call *first =
        &internode->header->first_calls[position % SG_INTERNODE_SIGNATURES];

    first->bytes = call->bytes;
    first->count = plan->count;
    first->root = call->root;
    first->operation = (uint8_t)call->operation;
    first->protocol = (uint8_t)plan->protocol;
    first->reduction = plan->user != NULL ? SG_INTERNODE_USERS : (uint8_t)plan->operands.reduction;
    first->element = (uint8_t)plan->operands.element;
    first->in_place = sg_call_is_in_place(call);
    first->nonblocking = call->request != NULL;
    first->chose = call->rules != NULL;
    /* Release: publishes the other members. */
    atomic_store_explicit(&first->number, position + 1, memory_order_release);
}

enum sg_consistency sg_consistency_compare(struct sg_internode *internode,
                                           const struct sg_internode_plan *plan, uint64_t position,
                                           bool is_first)
{
    _Atomic uint64_t *word = &internode->header->signatures[position % SG_INTERNODE_SIGNATURES];
    uint32_t own = sg_consistency_signature(plan->call);
    bool is_taken = sg_internode_is_taken(word, position);
    bool is_told = is_first && internode->remote == NULL;
    struct sg_internode_found found;

    /* A receiver must let the root come first: it may get fewer or more bytes than it expects, and
     * needs the root's data. */
    if (!is_taken && is_told && plan->follows)
        return SG_CONSISTENCY_UNKNOWN;
    if (!is_taken && position >= SG_INTERNODE_SIGNATURES &&
        !sg_internode_is_read_by_all(internode, offsetof(struct sg_rank_state, left),
                                     &internode->all_entered,
                                     position + 1 - SG_INTERNODE_SIGNATURES))
        return SG_CONSISTENCY_UNKNOWN;
    found = sg_internode_meet(internode, word, position, own);
    if (is_told && found.rank == internode->rank)
        describe(internode, plan, position);
    return found.brought == own ? SG_CONSISTENCY_ALIKE : SG_CONSISTENCY_DIFFERENT;
}

/* ---- between machines ---- */

uint32_t sg_consistency_note(const struct sg_internode *internode,
                             const struct sg_internode_instance *instance)
{
    uint32_t position = (uint32_t)(instance->position + 1) & POSITION_MASK;

    /* One position in 65536 has no note, because 0 means none. */
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
    /* The depth need not divide the range of the position's bits: both rings are small. */
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
