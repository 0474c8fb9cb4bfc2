/* Ranks whose calls at one position differ. If errors are not fatal, the call fails and the program
 * continues, so all ranks have to reach their next call at one position, with nothing left behind
 * in the protocols.
 *
 * All ranks therefore run the call of the first rank that comes, which publishes a description of
 * it. A rank whose call differs takes part with operands and results that nobody reads, and its own
 * call fails. It stores its dissent before it arrives: ranks that are in the same call as the first
 * one, and wait for all, fail, too. In a broadcast the root comes first (chunk.c), because
 * its receivers take what it sends.
 */
#include "internode/disagree.h"

#include "internode/communicator.h"
#include "mpi/user_lines.h"
#include "wait/wait.h"

#include <stdlib.h>
#include <string.h>

static struct sg_first_call *first_at(const struct sg_internode *internode, uint64_t position)
{
    return &internode->header->first_calls[position % SG_INTERNODE_SIGNATURES];
}

static struct sg_internode_found found_at(const struct sg_internode *internode, uint64_t position)
{
    /* Relaxed: this rank has read the word before. */
    return sg_internode_found_in(atomic_load_explicit(
        &internode->header->signatures[position % SG_INTERNODE_SIGNATURES], memory_order_relaxed));
}

static const struct sg_call_info *own_info(const struct sg_internode *internode)
{
    return &sg_internode_own_state(internode)->call;
}

/* Returns a rank's own description of its call; NULL: the rank is in a later call. */
static const struct sg_call_info *info_of(const struct sg_internode *internode, int rank,
                                          uint64_t position)
{
    const struct sg_rank_state *state = sg_internode_rank_state(internode, rank);

    return atomic_load_explicit(&state->position, memory_order_relaxed) == position + 1
               ? &state->call
               : NULL;
}

void sg_internode_end_different(const struct sg_internode *internode,
                                const struct sg_chunk_window *window)
{
    int other = found_at(internode, window->position).rank;

    sg_report_end(window->plan->call, internode->rank, own_info(internode), other,
                  info_of(internode, other, window->position));
}

/* ---- taking part ---- */

/* Waits for the first rank's description, which that rank stores right after it has come. */
static const struct sg_first_call *await_first(const struct sg_internode *internode,
                                               uint64_t position)
{
    const struct sg_first_call *first = first_at(internode, position);
    struct sg_wait wait = {0};

    /* Acquire: pairs with describe_first in chunk.c. */
    while (atomic_load_explicit(&first->number, memory_order_acquire) != position + 1)
        sg_wait_brief(&wait);
    return first;
}

/* True if choices and trial rounds stay counted alike, both calls are blocking or both nonblocking,
 * and neither needs a user's function. The root of a broadcast has data that this rank lacks. */
static bool can_take_part(const struct sg_internode *internode, const struct sg_call *own,
                          const struct sg_first_call *first)
{
    return internode->automatic == NULL && first->nonblocking == (own->request != NULL) &&
           first->chose == (own->rules != NULL) && first->reduction != SG_INTERNODE_USERS &&
           (first->operation != SG_OPERATION_BCAST || first->root != internode->rank);
}

static void make_call(const struct sg_call *own, const struct sg_first_call *first,
                      struct sg_call *call)
{
    *call = *own;
    call->operation = (enum sg_operation)first->operation;
    call->bytes = first->bytes;
    call->root = first->root;
    call->send = first->in_place ? MPI_IN_PLACE : NULL;
}

/* False: out of memory. */
static bool make_plan(const struct sg_internode *internode, const struct sg_first_call *first,
                      struct sg_others_call *others)
{
    struct sg_internode_plan *plan = &others->plan;
    enum sg_element element = (enum sg_element)first->element;
    size_t bytes = (size_t)first->count * sg_element_extent_bytes(element);

    plan->protocol = first->protocol;
    if (first->operation == SG_OPERATION_BARRIER)
        return true;
    others->buffers = calloc(2, bytes);
    if (others->buffers == NULL)
        return false;
    plan->count = (size_t)first->count;
    plan->operands.element = element;
    plan->commutes = true;
    if (first->operation != SG_OPERATION_BCAST) {
        plan->operands.reduction = (enum sg_reduction)first->reduction;
        plan->operands.kernel = sg_kernel_find(plan->operands.reduction, element);
        plan->operands.copy = sg_copy_find(element);
        plan->own = others->buffers;
    }
    if (first->operation != SG_OPERATION_REDUCE || first->root == internode->rank)
        plan->result = (char *)others->buffers + bytes;
    sg_chunk_plan(internode, plan);
    return true;
}

void sg_internode_conform(struct sg_internode *internode, const struct sg_chunk_window *window,
                          struct sg_others_call *out)
{
    uint64_t position = window->position;
    struct sg_internode_found found = found_at(internode, position);
    const struct sg_first_call *first;
    struct sg_call_info told;

    sg_report_mismatch(window->plan->call, internode->rank, own_info(internode), found.rank,
                       info_of(internode, found.rank, position));
    if (internode->remote != NULL)
        sg_internode_end_different(internode, window);
    first = await_first(internode, position);
    *out =
        (struct sg_others_call){.plan = {.call = &out->call, .executed = window->plan->executed}};
    make_call(window->plan->call, first, &out->call);
    if (!can_take_part(internode, window->plan->call, first) ||
        sg_chunk_signature(&out->call) != found.brought || !make_plan(internode, first, out))
        sg_internode_end_different(internode, window);
    told = (struct sg_call_info){
        .bytes = first->bytes, .root = first->root, .operation = first->operation};
    out->error = sg_report_error(own_info(internode), &told);
    /* Relaxed, both: they come before this rank's arrival. */
    atomic_store_explicit(
        &first_at(internode, position)->dissent,
        sg_internode_word_of(position, internode->rank,
                             (uint32_t)sg_report_error(&told, own_info(internode))),
        memory_order_relaxed);
    atomic_store_explicit(&internode->header->has_dissent, true, memory_order_relaxed);
}

void sg_internode_conformed(const struct sg_internode_plan *own, struct sg_others_call *others)
{
    const struct sg_call *call = own->call;
    size_t bytes = call->bytes < others->call.bytes ? (size_t)call->bytes : others->plan.count;

    if (call->operation == SG_OPERATION_BCAST && others->call.operation == SG_OPERATION_BCAST &&
        call->root == others->call.root)
        memcpy(own->result, others->plan.result, bytes);
    free(others->buffers);
}

int sg_internode_dissent(const struct sg_internode *internode, const struct sg_chunk_window *window)
{
    struct sg_internode_found found = sg_internode_found_in(window->dissent);

    /* The other rank describes the call in which it took part, not its own. */
    sg_report_mismatch(window->plan->call, internode->rank, own_info(internode), found.rank, NULL);
    return sg_internode_dissent_error(window->dissent);
}

int sg_internode_dissent_error(uint64_t dissent)
{
    return (int)sg_internode_found_in(dissent).brought;
}
