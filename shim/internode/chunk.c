#include "internode/chunk.h"

#include "internode/consistency.h"
#include "internode/endpoint.h"
#include "internode/feed.h"
#include "intranode/fold.h"
#include "intranode/ring.h"

#include <string.h>

/* ---- of a call ---- */

size_t sg_span_part_count(const struct sg_call *call, const struct sg_span_plan *plan)
{
    if (call->operation == SG_OPERATION_BARRIER || (size_t)call->count <= plan->room)
        return 1;
    return ((size_t)call->count + plan->room - 1) / plan->room;
}

static void cut(const struct sg_call *call, const struct sg_span_plan *plan, size_t index,
                struct sg_span_part *part)
{
    *part = (struct sg_span_part){.call = call, .plan = plan, .stage = SG_SPAN_QUEUED};
    if (call->operation != SG_OPERATION_BARRIER) {
        size_t left = (size_t)call->count - index * plan->room;
        size_t offset = index * plan->room * plan->extent_bytes;

        part->count = (uint32_t)(left < plan->room ? left : plan->room);
        part->bytes = (uint32_t)(part->count * plan->extent_bytes);
        part->own = (const char *)plan->own + offset;
        if (plan->result != NULL)
            part->result = (char *)plan->result + offset;
    }
    part->stays = part->result != NULL || call->operation != SG_OPERATION_REDUCE;
}

/* ---- entering ---- */

static void describe(struct sg_span *span, const struct sg_span_part *part)
{
    struct sg_span_about *about = sg_span_about(span, span->rank);
    const struct sg_call *call = part->call;

    about->call.bytes = call->bytes;
    about->call.operation = (uint8_t)call->operation;
    about->call.algorithm = (uint8_t)sg_ran_algorithm(part->plan->ran);
    about->call.posted = call->request != NULL;
    about->call.in_place = sg_call_is_in_place(call);
    about->call.root = call->root;
    if (call->site != NULL)
        sg_node_about_site(&about->call, call->site->id, call->site->offset, call->site->module);
    /* Release: what this rank says of the call was written before. */
    atomic_store_explicit(&about->position, part->position + 1, memory_order_release);
}

/* The place that this instance takes is free: its last instance has left the protocol here, and
 * every local rank has left it. */
static bool has_place(const struct sg_span *span, uint64_t position)
{
    const struct sg_span_instance *place = sg_span_place(span, position);
    uint64_t before = position + 1 - span->depth; /* positions left, at least */

    if (position < span->depth)
        return true;
    /* Acquire: what was done with the place comes before. A place that a local rank has taken for
     * this instance already is past all that. */
    if (atomic_load_explicit(&place->finished, memory_order_acquire) < before)
        return false;
    for (int rank = 0; rank < span->ranks; rank++) {
        if (span->endpoint_of[rank] == span->endpoint &&
            atomic_load_explicit(&sg_span_about(span, rank)->left, memory_order_acquire) < before)
            return false;
    }
    return true;
}

/* ---- arriving ---- */

/* Of floating-point numbers MAX and MIN are not either: with a NaN, or zeros of both signs, the
 * result depends on who is on the left. */
static bool is_exact(const struct sg_operands *operands)
{
    return operands->element <= SG_ELEMENT_LOGICAL || operands->element == SG_ELEMENT_LONG_INT ||
           operands->element == SG_ELEMENT_INT_INT || operands->element == SG_ELEMENT_SHORT_INT;
}

/* Under the lock, by the first local rank. */
static void fill(const struct sg_span *span, struct sg_span_instance *place,
                 const struct sg_span_part *part)
{
    const struct sg_call *call = part->call;

    place->position = part->position;
    place->arrived = 0;
    place->object = part->plan->object;
    place->object_seq = 0;
    place->bytes = part->bytes;
    place->operation = (uint8_t)call->operation;
    place->signature = sg_span_signature(call);
    place->told = false;
    place->root = call->root >= 0 ? span->endpoint_of[call->root] : -1;
    place->flags = SG_CALL_COMMUTATIVE;
    if (call->request != NULL || part->plan->side_by_side)
        place->flags |= SG_CALL_SPLIT;
    if (part->plan->side_by_side)
        place->flags |= SG_CALL_LONG;
    if (part->bytes > 0) {
        place->reduction = (uint8_t)part->plan->operands.reduction;
        place->element = (uint8_t)part->plan->operands.element;
        if (is_exact(&part->plan->operands))
            place->flags |= SG_CALL_EXACT;
    }
}

struct contributions {
    const struct sg_span *span;
    uint64_t position;
};

static const void *local_operand(void *context, int local)
{
    const struct contributions *contributions = context;

    return sg_span_contribution(contributions->span, contributions->position, local);
}

/* Under the lock, by the last local rank: one operand of the endpoint's. */
static void fold(const struct sg_span *span, const struct sg_span_part *part)
{
    struct contributions contributions = {span, part->position};
    struct sg_shape shape = {SG_SHAPE_DOUBLING, span->locals, 0};
    struct sg_folding folding = {.shape = &shape,
                                 .fold = sg_operands_fold,
                                 .fold_context = sg_operands_fold_context(&part->plan->operands),
                                 .element_bytes = part->plan->extent_bytes,
                                 .operand = local_operand,
                                 .operand_context = &contributions};

    sg_fold_all(&folding, part->count, sg_span_contribution(span, part->position, 0));
}

/* A CALL is ready that this process cannot feed: who serves the endpoint and is in a call sees it
 * there, or on the way out; else the master is rung. */
static void leave_to_others(struct sg_span *span)
{
    struct sg_span_endpoint *endpoint = sg_span_endpoint(span, span->endpoint);

    /* Sequentially consistent, both, as the way out of a call. */
    atomic_exchange(&endpoint->bell.pending, 1);
    if (atomic_load(&endpoint->bell.inside) == 0)
        sg_progress_ring_master(atomic_load_explicit(&endpoint->master, memory_order_relaxed) - 1);
}

/* The last local rank has the CALL fed: at once, or by whoever brings the one before it to its
 * COMPLETE. */
static void arrive(struct sg_span *span, struct sg_span_part *part)
{
    struct sg_span_instance *place = sg_span_place(span, part->position);
    /* Where nobody comes for what arrives later, the last rank stays for it: it may go on to wait,
     * in MPICH, for a rank that waits for this endpoint's part. Likewise where parts go on side by
     * side, which is for speed. */
    bool last_stays =
        part->stays || (part->call->request == NULL && span->servers == span->locals &&
                        (part->plan->side_by_side ||
                         !sg_progress_comes(span->objects[part->plan->object].progress)));

    span->names[part->position % span->depth] =
        (struct sg_span_name){part->position, part->call->name};
    if (part->bytes > 0)
        memcpy(sg_span_contribution(span, part->position, span->local), part->own, part->bytes);
    sg_span_lock(span);
    if (place->arrived == 0 || place->position != part->position) {
        fill(span, place, part);
        if (span->wire != NULL)
            sg_span_recall(span, place);
    }
    place->arrived++;
    part->is_last = place->arrived == (uint32_t)span->locals;
    if (part->is_last) {
        part->stays = place->stays = last_stays;
        if (span->locals > 1 && part->bytes > 0)
            fold(span, part);
        if (sg_span_serves(span))
            sg_span_take(span);
        place->ready = part->position + 1;
        if (sg_span_serves(span))
            sg_span_feed_calls(span);
    }
    sg_span_unlock(span);
    if (part->is_last && !sg_span_serves(span))
        leave_to_others(span);
    if (part->is_last)
        sg_wait_wake(&span->bed);
}

/* ---- leaving ---- */

static bool is_over(const struct sg_span *span, const struct sg_span_part *part)
{
    const struct sg_span_endpoint *endpoint = sg_span_endpoint(span, span->endpoint);
    const struct sg_span_instance *place = sg_span_place(span, part->position);

    /* Acquire, both: pair with FINISH and COMPLETE. */
    if (part->stays)
        return atomic_load_explicit(&place->finished, memory_order_acquire) > part->position;
    /* At the root's endpoint the root itself is the one who waits; the next CALL has its turn only
     * after this one's COMPLETE. */
    return !part->is_last || part->call->request != NULL || place->root == span->endpoint ||
           atomic_load_explicit(&endpoint->completed, memory_order_acquire) > part->position;
}

static void deliver(const struct sg_span_part *part, const void *result)
{
    sg_copy copy = part->plan->operands.copy;

    if (copy != NULL)
        copy(part->result, result, part->count);
    else
        memcpy(part->result, result, part->bytes);
}

static void leave(struct sg_span *span, struct sg_span_part *part)
{
    const struct sg_span_instance *place = sg_span_place(span, part->position);

    if (part->result != NULL)
        deliver(part, sg_span_result(span, place->object, place->object_seq));
    span->left_beyond |= UINT64_C(1) << (part->position - span->left);
    while (span->left_beyond & 1) {
        span->left_beyond >>= 1;
        span->left++;
    }
    /* Release: the result was read before its slot is used again. */
    atomic_store_explicit(&sg_span_about(span, span->rank)->left, span->left, memory_order_release);
}

static bool step(struct sg_span *span, struct sg_span_part *part)
{
    switch (part->stage) {
    case SG_SPAN_QUEUED:
        /* Acquire: who brought the part before this one here may be another thread. */
        if (atomic_load_explicit(&span->arrived, memory_order_acquire) != part->position)
            return false;
        describe(span, part);
        part->stage = SG_SPAN_ENTERED;
        __attribute__((fallthrough));
    case SG_SPAN_ENTERED:
        if (!sg_span_compare(span, part->call, part->position))
            return false;
        part->stage = SG_SPAN_ALIKE;
        __attribute__((fallthrough));
    case SG_SPAN_ALIKE:
        if (!has_place(span, part->position)) {
            if (!part->stalled)
                atomic_fetch_add_explicit(&sg_span_endpoint(span, span->endpoint)->counters.stalls,
                                          1, memory_order_relaxed);
            part->stalled = true;
            return false;
        }
        arrive(span, part);
        atomic_store_explicit(&span->arrived, part->position + 1, memory_order_release);
        part->stage = SG_SPAN_ARRIVED;
        __attribute__((fallthrough));
    case SG_SPAN_ARRIVED:
        if (!is_over(span, part))
            return false;
        leave(span, part);
        part->stage = SG_SPAN_LEFT;
        __attribute__((fallthrough));
    case SG_SPAN_LEFT:
        break;
    }
    return true;
}

/* ---- the window ---- */

void sg_span_begin(struct sg_span *span, struct sg_span_window *window)
{
    window->position = span->position;
    span->position += window->count;
}

bool sg_span_step_window(struct sg_span *span, struct sg_span_window *window)
{
    for (size_t i = window->left; i < window->count && i < window->left + window->width; i++) {
        struct sg_span_part *part = &window->parts[i % SG_SPAN_PLACES_MAX];

        if (i == window->begun) {
            cut(window->call, window->plan, i, part);
            part->position = window->position + i;
            window->begun++;
        }
        if (step(span, part) && i == window->left)
            window->left++;
        if (part->stage < SG_SPAN_ARRIVED)
            break;
    }
    return window->left == window->count;
}
