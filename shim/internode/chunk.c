#include "internode/chunk.h"

#include "core/hash.h"
#include "internode/communicator.h"
#include "internode/endpoint.h"
#include "intranode/fold.h"
#include "intranode/ring.h"

#include <stddef.h>
#include <string.h>

/* ---- planning ---- */

/* Returns the bytes of one chunk at most. */
static uint32_t room_of(const struct sg_internode_protocol *protocol, enum sg_operation operation)
{
    uint32_t chunk_bytes = sg_algo_chunk_bytes(&protocol->needs, operation);

    return chunk_bytes < protocol->slot_bytes ? chunk_bytes : protocol->slot_bytes;
}

void sg_chunk_plan(const struct sg_internode *internode, struct sg_internode_plan *plan)
{
    const struct sg_internode_protocol *protocol = &internode->protocols[plan->protocol];

    plan->extent_bytes = sg_element_extent_bytes(plan->operands.element);
    plan->room = room_of(protocol, plan->call->operation) / plan->extent_bytes;
    plan->side_by_side = protocol->algo->uses & SG_ALGO_PIPELINED && sg_chunk_count(plan) > 1;
}

size_t sg_chunk_count(const struct sg_internode_plan *plan)
{
    if (plan->call->operation == SG_OPERATION_BARRIER || plan->count <= plan->room)
        return 1;
    return (plan->count + plan->room - 1) / plan->room;
}

static void cut(const struct sg_internode_plan *plan, size_t index, struct sg_chunk *chunk)
{
    *chunk = (struct sg_chunk){.stage = SG_CHUNK_QUEUED, .is_first = index == 0};
    if (plan->call->operation != SG_OPERATION_BARRIER) {
        size_t left = plan->count - index * plan->room;
        size_t offset = index * plan->room * plan->extent_bytes;

        chunk->count = (uint32_t)(left < plan->room ? left : plan->room);
        chunk->bytes = (uint32_t)(chunk->count * plan->extent_bytes);
        if (plan->own != NULL)
            chunk->own = (const char *)plan->own + offset;
        if (plan->result != NULL)
            chunk->result = (char *)plan->result + offset;
    }
    /* A user's operation runs only in its own call: see endpoint.h. */
    chunk->stays = chunk->result != NULL || sg_operation_synchronises(plan->call->operation) ||
                   plan->user != NULL;
}

/* ---- entering ---- */

static void describe(struct sg_internode *internode, const struct sg_internode_plan *plan,
                     uint64_t position)
{
    struct sg_rank_state *info = sg_internode_own_state(internode);
    const struct sg_call *call = plan->call;

    info->call.bytes = call->bytes;
    info->call.operation = (uint8_t)call->operation;
    info->call.algorithm = (uint8_t)sg_executed_algorithm(plan->executed);
    info->call.nonblocking = call->request != NULL;
    info->call.in_place = sg_call_is_in_place(call);
    info->call.root = call->root;
    if (call->site != NULL)
        sg_call_info_set_site(&info->call, call->site->id, call->site->offset, call->site->module);
    /* Release: publishes this rank's description of the call, written before. */
    atomic_store_explicit(&info->position, position + 1, memory_order_release);
}

/* True if the ring slot of this instance is free: the protocol has finished the slot's last
 * instance, and every local rank has left it. */
static bool has_place(struct sg_internode *internode, uint64_t position)
{
    const struct sg_internode_instance *instance = sg_internode_instance_at(internode, position);
    uint64_t before = position + 1 - internode->depth; /* positions that must have been left */
    int first = sg_internode_first_state(internode);
    struct sg_internode_readers locals = {first, first + internode->locals,
                                          offsetof(struct sg_rank_state, left)};

    if (position < internode->depth)
        return true;
    /* Acquire: earlier uses of the slot come before. If a local rank has already taken the slot for
     * this instance, the slot has passed both conditions. */
    return atomic_load_explicit(&instance->finished, memory_order_acquire) >= before &&
           sg_internode_is_read_by_all(internode, locals, &internode->all_left, before);
}

/* ---- comparison ----
 *
 * Ranks of one machine compare their calls' signatures in the segment. disagree.c handles those
 * that differ.
 */

uint16_t sg_chunk_signature(const struct sg_call *call)
{
    uint64_t form = (uint64_t)call->operation << 2 | (uint64_t)sg_call_is_in_place(call) << 1 |
                    (call->request != NULL);
    uint64_t hash = sg_hash_mix(call->bytes ^ sg_hash_mix(form << 32 | (uint32_t)call->root));

    return (uint16_t)hash;
}

static void describe_first(const struct sg_internode *internode,
                           const struct sg_internode_plan *plan, uint64_t position)
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

enum comparison {
    UNKNOWN, /* ask again when other ranks have progressed */
    ALIKE,
    DIFFERENT, /* differs from the first rank's call */
};

/* Compares this rank's call with the first rank's, once it has entered an instance of the call.
 * is_first: the instance is the call's first. */
static enum comparison compare(struct sg_internode *internode, const struct sg_internode_plan *plan,
                               uint64_t position, bool is_first)
{
    _Atomic uint64_t *word = &internode->header->signatures[position % SG_INTERNODE_SIGNATURES];
    uint32_t own = sg_chunk_signature(plan->call);
    bool is_taken = sg_internode_is_taken(word, position);
    bool is_told = is_first && internode->remote == NULL;
    struct sg_internode_readers readers = {0, sg_internode_states(internode),
                                           offsetof(struct sg_rank_state, left)};
    struct sg_internode_found found;

    /* A receiver must let the root come first: it may get fewer or more bytes than it expects, and
     * needs the root's data. */
    if (!is_taken && is_told && plan->follows)
        return UNKNOWN;
    if (!is_taken && position >= SG_INTERNODE_SIGNATURES &&
        !sg_internode_is_read_by_all(internode, readers, &internode->all_entered,
                                     position + 1 - SG_INTERNODE_SIGNATURES))
        return UNKNOWN;
    found = sg_internode_meet(internode, word, position, own);
    if (is_told && found.rank == internode->rank)
        describe_first(internode, plan, position);
    return found.brought == own ? ALIKE : DIFFERENT;
}

/* ---- arriving ---- */

/* False for floating-point numbers, even for MAX and MIN: with a NaN, or zeros of both signs, the
 * result depends on the order of the operands. */
static bool is_exact(const struct sg_operands *operands)
{
    return operands->element <= SG_ELEMENT_LOGICAL || operands->element == SG_ELEMENT_LONG_INT ||
           operands->element == SG_ELEMENT_INT_INT || operands->element == SG_ELEMENT_SHORT_INT;
}

/* Under the lock: the first local rank describes the instance. */
static void fill(const struct sg_internode *internode, struct sg_internode_instance *instance,
                 const struct sg_internode_plan *plan, const struct sg_chunk *chunk)
{
    const struct sg_call *call = plan->call;

    instance->position = chunk->position;
    instance->arrived = 0;
    instance->protocol = plan->protocol;
    instance->protocol_seq = 0;
    instance->bytes = chunk->bytes;
    instance->operation = (uint8_t)call->operation;
    instance->signature = sg_chunk_signature(call);
    instance->told = false;
    atomic_store_explicit(&instance->slice, 0, memory_order_relaxed);
    instance->root = sg_internode_root_endpoint(internode, call->root);
    instance->flags = 0;
    if (plan->user != NULL)
        instance->flags |= SG_CALL_USER;
    if (plan->user == NULL || plan->commutes)
        instance->flags |= SG_CALL_COMMUTATIVE;
    if (call->request != NULL || plan->side_by_side)
        instance->flags |= SG_CALL_SPLIT;
    if (plan->side_by_side)
        instance->flags |= SG_CALL_LONG;
    if (chunk->bytes > 0) {
        instance->reduction =
            plan->user != NULL ? SG_INTERNODE_USERS : (uint8_t)plan->operands.reduction;
        instance->element = (uint8_t)plan->operands.element;
        if (plan->user == NULL && is_exact(&plan->operands))
            instance->flags |= SG_CALL_EXACT;
    }
}

struct contributions {
    const struct sg_internode *internode;
    uint64_t position;
};

static const void *local_operand(void *context, int local)
{
    const struct contributions *contributions = context;

    return sg_internode_contribution(contributions->internode, contributions->position, local);
}

/* Under the lock: the last local rank folds the local operands into the endpoint's. */
static void fold(const struct sg_internode *internode, const struct sg_internode_plan *plan,
                 const struct sg_chunk *chunk)
{
    struct contributions contributions = {internode, chunk->position};
    struct sg_shape shape = {SG_SHAPE_DOUBLING, internode->locals, 0};
    struct sg_user_fold *user = plan->user;
    struct sg_folding folding = {
        .shape = &shape,
        .fold = user != NULL ? sg_user_fold : sg_operands_fold,
        .fold_context = user != NULL ? (void *)user : sg_operands_fold_context(&plan->operands),
        .element_bytes = plan->extent_bytes,
        .operand = local_operand,
        .operand_context = &contributions};

    sg_fold_all(&folding, chunk->count, sg_internode_contribution(internode, chunk->position, 0));
}

/* This process cannot deliver its ready CALL. A rank that serves the endpoint and is in a call sees
 * it there, or as it leaves the call; otherwise this rings the master. */
static void leave_to_others(struct sg_internode *internode)
{
    struct sg_endpoint *endpoint = sg_internode_endpoint(internode, internode->endpoint);

    /* Sequentially consistent, both, as in sg_internode_leave. */
    atomic_exchange(&endpoint->doorbell.pending, 1);
    if (atomic_load(&endpoint->doorbell.inside) == 0)
        sg_progress_ring_master(atomic_load_explicit(&endpoint->master, memory_order_relaxed) - 1);
}

/* A broadcast's root uses operand 0, whatever its local number. */
static void contribute(const struct sg_internode *internode, enum sg_operation operation,
                       const struct sg_chunk *chunk)
{
    int local = operation == SG_OPERATION_BCAST ? 0 : internode->local;

    if (chunk->bytes > 0 && chunk->own != NULL)
        memcpy(sg_internode_contribution(internode, chunk->position, local), chunk->own,
               chunk->bytes);
}

/* True if this rank delivers the endpoint's CALL: the last local rank. In a broadcast it is the
 * root, which waits for nobody; at other endpoints, the first local rank. */
static bool completes_call(const struct sg_internode *internode,
                           const struct sg_internode_instance *instance,
                           const struct sg_chunk *chunk)
{
    if (instance->operation != SG_OPERATION_BCAST)
        return instance->arrived == (uint32_t)internode->locals;
    return instance->root == internode->endpoint ? chunk->own != NULL : instance->arrived == 1;
}

/* The CALL is delivered at once, or when the CALL before it is complete. */
static void arrive(struct sg_internode *internode, const struct sg_internode_plan *plan,
                   struct sg_chunk *chunk)
{
    const struct sg_call *call = plan->call;
    struct sg_internode_instance *instance = sg_internode_instance_at(internode, chunk->position);
    /* Without asynchronous progress the last rank stays until the instance is finished: it might
     * otherwise leave and wait, in MPICH, for a rank that waits for this endpoint. It also stays if
     * chunks run side by side, for speed. */
    bool last_stays =
        chunk->stays ||
        (call->request == NULL && internode->servers == internode->locals &&
         (plan->side_by_side || !sg_progress_comes(internode->protocols[plan->protocol].progress)));

    contribute(internode, call->operation, chunk);
    sg_endpoint_lock(internode);
    internode->names[chunk->position % internode->depth] =
        (struct sg_instance_name){chunk->position, call->name};
    if (instance->arrived == 0 || instance->position != chunk->position) {
        fill(internode, instance, plan, chunk);
        if (internode->remote != NULL)
            sg_endpoint_check_instance(internode, instance);
    }
    instance->arrived++;
    chunk->calls = completes_call(internode, instance, chunk);
    if (chunk->calls) {
        chunk->stays = instance->stays = last_stays;
        if (internode->locals > 1 && chunk->bytes > 0 && instance->operation != SG_OPERATION_BCAST)
            fold(internode, plan, chunk);
        if (plan->user != NULL)
            atomic_fetch_add_explicit(&sg_internode_endpoint(internode, internode->endpoint)->users,
                                      1, memory_order_relaxed);
        if (sg_internode_serves(internode))
            sg_endpoint_receive(internode);
        instance->ready = chunk->position + 1;
        if (sg_internode_serves(internode))
            sg_endpoint_deliver_calls(internode);
    }
    sg_endpoint_unlock(internode);
    if (chunk->calls && !sg_internode_serves(internode))
        leave_to_others(internode);
    if (chunk->calls)
        sg_wait_wake(&internode->wait_queue);
}

/* ---- leaving ---- */

static bool is_over(const struct sg_internode *internode, const struct sg_call *call,
                    const struct sg_chunk *chunk)
{
    const struct sg_endpoint *endpoint = sg_internode_endpoint(internode, internode->endpoint);
    const struct sg_internode_instance *instance =
        sg_internode_instance_at(internode, chunk->position);

    /* Acquire, both: pair with FINISH and COMPLETE. */
    if (chunk->stays)
        return atomic_load_explicit(&instance->finished, memory_order_acquire) > chunk->position;
    /* At the endpoint of a reduce's root, the root itself waits. The next CALL is delivered only
     * after the COMPLETE of this one. */
    return !chunk->calls || call->request != NULL ||
           (instance->operation == SG_OPERATION_REDUCE && instance->root == internode->endpoint) ||
           atomic_load_explicit(&endpoint->completed, memory_order_acquire) > chunk->position;
}

static void deliver(const struct sg_chunk *chunk, sg_copy copy, const void *result)
{

    if (copy != NULL)
        copy(chunk->result, result, chunk->count);
    else
        memcpy(chunk->result, result, chunk->bytes);
}

/* Returns the dissent that a rank finds after it has waited for all others: one of them was in
 * another call; 0: none. */
static uint64_t dissent_of(const struct sg_internode *internode, const struct sg_call *call,
                           const struct sg_chunk *chunk)
{
    const struct sg_first_call *first =
        &internode->header->first_calls[chunk->position % SG_INTERNODE_SIGNATURES];
    uint64_t dissent;

    /* Relaxed, both: a dissenting rank stores its dissent before it arrives. */
    if (!atomic_load_explicit(&internode->header->has_dissent, memory_order_relaxed) ||
        !chunk->is_first ||
        !(sg_operation_synchronises(call->operation) ||
          (call->operation == SG_OPERATION_REDUCE && chunk->result != NULL)))
        return 0;
    dissent = atomic_load_explicit(&first->dissent, memory_order_relaxed);
    return sg_internode_is_of(dissent, chunk->position) ? dissent : 0;
}

static void leave(struct sg_internode *internode, const struct sg_internode_plan *plan,
                  struct sg_chunk *chunk)
{
    sg_copy copy = plan->operands.copy;
    const struct sg_internode_instance *instance =
        sg_internode_instance_at(internode, chunk->position);

    chunk->dissent = dissent_of(internode, plan->call, chunk);
    /* Relaxed: a rank that waited for the end has seen FINISH or COMPLETE; for others the value may
     * be missing. */
    chunk->slice = atomic_load_explicit(&instance->slice, memory_order_relaxed);
    /* At the root's endpoint, ranks read a broadcast's data from the root's contribution. */
    if (chunk->result != NULL && instance->operation == SG_OPERATION_BCAST &&
        instance->root == internode->endpoint)
        deliver(chunk, copy, sg_internode_contribution(internode, chunk->position, 0));
    else if (chunk->result != NULL)
        deliver(chunk, copy,
                sg_internode_result(internode, instance->protocol, instance->protocol_seq));
    internode->left_beyond |= UINT64_C(1) << (chunk->position - internode->left);
    while (internode->left_beyond & 1) {
        internode->left_beyond >>= 1;
        internode->left++;
    }
    /* Release: the result was read before its slot is reused. */
    atomic_store_explicit(&sg_internode_own_state(internode)->left, internode->left,
                          memory_order_release);
}

static bool step(struct sg_internode *internode, const struct sg_internode_plan *plan,
                 struct sg_chunk *chunk)
{
    enum comparison comparison;

    switch (chunk->stage) {
    case SG_CHUNK_QUEUED:
        /* Acquire: the chunk before this one may have arrived in another thread. */
        if (atomic_load_explicit(&internode->arrived, memory_order_acquire) != chunk->position)
            return false;
        describe(internode, plan, chunk->position);
        chunk->stage = SG_CHUNK_ENTERED;
        __attribute__((fallthrough));
    case SG_CHUNK_ENTERED:
        comparison = compare(internode, plan, chunk->position, chunk->is_first);
        chunk->differs = comparison == DIFFERENT;
        if (comparison != ALIKE)
            return false;
        chunk->stage = SG_CHUNK_ALIKE;
        __attribute__((fallthrough));
    case SG_CHUNK_ALIKE:
        if (!has_place(internode, chunk->position)) {
            if (!chunk->stalled)
                atomic_fetch_add_explicit(
                    &sg_internode_endpoint(internode, internode->endpoint)->counters.stalls, 1,
                    memory_order_relaxed);
            chunk->stalled = true;
            return false;
        }
        arrive(internode, plan, chunk);
        atomic_store_explicit(&internode->arrived, chunk->position + 1, memory_order_release);
        chunk->stage = SG_CHUNK_ARRIVED;
        __attribute__((fallthrough));
    case SG_CHUNK_ARRIVED:
        if (!is_over(internode, plan->call, chunk))
            return false;
        leave(internode, plan, chunk);
        chunk->stage = SG_CHUNK_LEFT;
        __attribute__((fallthrough));
    case SG_CHUNK_LEFT:
        break;
    }
    return true;
}

/* ---- the window ---- */

void sg_chunk_window_begin(struct sg_internode *internode, struct sg_chunk_window *window)
{
    window->position = internode->position;
    internode->position += window->count;
}

bool sg_chunk_window_step(struct sg_internode *internode, struct sg_chunk_window *window)
{
    for (size_t i = window->left; i < window->count && i < window->left + window->width; i++) {
        struct sg_chunk *chunk = &window->chunks[i % window->width];

        if (i == window->begun) {
            cut(window->plan, i, chunk);
            chunk->position = window->position + i;
            window->begun++;
        }
        if (step(internode, window->plan, chunk) && i == window->left) {
            window->slice = chunk->slice;
            window->left++;
        }
        window->differs |= chunk->differs;
        window->dissent |= chunk->dissent;
        if (chunk->stage < SG_CHUNK_ARRIVED)
            break;
    }
    return window->left == window->count;
}
