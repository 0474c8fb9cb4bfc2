/* A call on a communicator over several nodes: chunk by chunk, contribution in, result out. */
#include "core/clock.h"
#include "engine/real.h"
#include "engine/span_layout.h"
#include "node/fold.h"

#include <sched.h>
#include <string.h>

/* Some microseconds: what a holder takes, if it has a processor. */
#define SPINS_TO_YIELD 100u

static uint64_t stall_ns;

void sg_span_stall_after(uint64_t ns)
{
    stall_ns = ns;
}

/* One chunk of one call. */
struct entering {
    struct sg_span *span;
    const struct sg_call *call;
    const struct sg_span_plan *plan;
    uint64_t position;
    const void *own;
    uint32_t count, bytes;
    bool (*ready)(struct entering *entering);
    bool fed, stays;
    struct sg_wait wait;
    bool reported;
};

static bool is_ready(void *context)
{
    struct entering *entering = context;

    sg_span_progress(entering->span);
    return entering->ready(entering);
}

/* Waits, making progress here and in MPICH. True: it had to. */
static bool wait_for(struct entering *entering, bool (*ready)(struct entering *))
{
    struct sg_span *span = entering->span;
    bool waited = false;

    entering->ready = ready;
    while (!is_ready(entering)) {
        waited = true;
        if (!sg_wait_step(&entering->wait, &span->bed, is_ready, entering))
            continue;
        sg_progress_poll();
        if (stall_ns > 0 && !entering->reported && sg_wait_elapsed_ns(&entering->wait) > stall_ns) {
            entering->reported = true;
            sg_span_report_stall(span, entering->call, entering->position,
                                 (int)(stall_ns / UINT64_C(1000000000)));
        }
    }
    return waited;
}

/* The place that this instance takes is free: its last instance has left the protocol here, and
 * every local rank has left it. */
static bool has_place(struct entering *entering)
{
    const struct sg_span *span = entering->span;
    const struct sg_span_instance *place = sg_span_place(span, entering->position);
    uint64_t before = entering->position + 1 - span->depth; /* positions left, at least */

    if (entering->position < span->depth)
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

static bool is_compared(struct entering *entering)
{
    return sg_span_compare(entering->span, entering->call, entering->position);
}

static bool is_completed(struct entering *entering)
{
    const struct sg_span_endpoint *endpoint =
        sg_span_endpoint(entering->span, entering->span->endpoint);

    /* Acquire: pairs with COMPLETE. */
    return atomic_load_explicit(&endpoint->completed, memory_order_acquire) > entering->position;
}

static bool is_finished(struct entering *entering)
{
    const struct sg_span_instance *place = sg_span_place(entering->span, entering->position);

    /* Acquire: pairs with FINISH. */
    return atomic_load_explicit(&place->finished, memory_order_acquire) > entering->position;
}

/* Holders are other ranks of the endpoint, the helper threads of their processes and this one's,
 * and signal handlers in other threads: all go on without this thread, though perhaps on its
 * processor. A handler in this thread never waits: it interrupts this loop, and then it has let
 * the lock go again before the loop goes on; or it interrupts the holder below, and fails. */
static void lock(struct sg_span *span)
{
    for (uint32_t tries = 1; !sg_span_try_lock(span); tries++) {
        if (tries % SPINS_TO_YIELD == 0)
            sched_yield();
        else
            __builtin_ia32_pause();
    }
}

/* Of floating-point numbers MAX and MIN are not either: with a NaN, or zeros of both signs, the
 * result depends on who is on the left. */
static bool is_exact(const struct sg_operands *operands)
{
    return operands->element <= SG_ELEMENT_LOGICAL || operands->element == SG_ELEMENT_LONG_INT ||
           operands->element == SG_ELEMENT_INT_INT || operands->element == SG_ELEMENT_SHORT_INT;
}

/* Under the lock: this rank's arrival; the first one's fills the place. */
static void arrive(struct entering *entering)
{
    struct sg_span *span = entering->span;
    struct sg_span_instance *place = sg_span_place(span, entering->position);
    const struct sg_call *call = entering->call;
    int root = call->root >= 0 ? span->endpoint_of[call->root] : -1;

    if (place->arrived == 0 || place->position != entering->position) {
        place->position = entering->position;
        place->arrived = 0;
        place->object = entering->plan->object;
        place->object_seq = 0;
        place->bytes = entering->bytes;
        place->operation = (uint8_t)call->operation;
        place->root = root;
        place->flags = SG_CALL_COMMUTATIVE;
        if (entering->bytes > 0 && is_exact(&entering->plan->operands))
            place->flags |= SG_CALL_EXACT;
    }
    place->arrived++;
}

static const void *local_operand(void *context, int local)
{
    const struct entering *entering = context;

    return sg_span_contribution(entering->span, entering->position, local);
}

/* Under the lock, by the last local rank: one operand of the endpoint's, and the CALL. */
static void feed_call(struct entering *entering)
{
    struct sg_span *span = entering->span;
    struct sg_span_endpoint *endpoint = sg_span_endpoint(span, span->endpoint);
    struct sg_span_instance *place = sg_span_place(span, entering->position);
    const struct sg_algo_head *head =
        (const void *)sg_span_region(span, entering->plan->object, span->endpoint);
    struct sg_event event = {.kind = SG_EVENT_CALL};

    if (span->locals > 1 && entering->bytes > 0) {
        struct sg_shape shape = {SG_SHAPE_DOUBLING, span->locals, 0};
        struct sg_folding folding = {.shape = &shape,
                                     .fold = sg_operands_fold,
                                     .fold_context =
                                         sg_operands_fold_context(&entering->plan->operands),
                                     .element_bytes = entering->plan->extent_bytes,
                                     .operand = local_operand,
                                     .operand_context = entering};

        sg_fold_all(&folding, entering->count, sg_span_contribution(span, entering->position, 0));
    }
    event.call.operation = entering->call->operation;
    event.call.flags = place->flags;
    event.call.bytes = entering->bytes;
    event.call.root = place->root;
    event.call.site = 0;
    place->object_seq = head->seq + 1;
    place->stays = entering->stays;
    if (entering->bytes > 0) {
        struct sg_span_kind *kind =
            &endpoint->kinds[place->object][place->object_seq % SG_SPAN_PLACES_MAX];

        kind->seq = place->object_seq;
        kind->reduction = (uint8_t)entering->plan->operands.reduction;
        kind->element = (uint8_t)entering->plan->operands.element;
    }
    atomic_store_explicit(&endpoint->fed, entering->position + 1, memory_order_relaxed);
    sg_span_feed(span, place->object, &event, NULL);
}

/* The CALLs of an endpoint are fed one after another; under the lock, when it is our turn. */
static bool is_turn(struct entering *entering)
{
    struct sg_span *span = entering->span;
    struct sg_span_endpoint *endpoint = sg_span_endpoint(span, span->endpoint);

    if (entering->fed) /* a wait asks more than once */
        return true;
    if (atomic_load_explicit(&endpoint->completed, memory_order_acquire) < entering->position ||
        !sg_span_try_lock(span))
        return false;
    sg_span_take(span);
    feed_call(entering);
    entering->fed = true;
    sg_span_unlock(span);
    sg_wait_wake(&span->bed);
    return true;
}

static void run_chunk(struct entering *entering, void *result)
{
    struct sg_span *span = entering->span;
    struct sg_span_about *about = sg_span_about(span, span->rank);
    struct sg_span_instance *place = sg_span_place(span, entering->position);
    bool is_last;

    /* Release: what this rank says of the call was written before. */
    atomic_store_explicit(&about->position, entering->position + 1, memory_order_release);
    wait_for(entering, is_compared);
    if (wait_for(entering, has_place))
        atomic_fetch_add_explicit(&sg_span_endpoint(span, span->endpoint)->counters.stalls, 1,
                                  memory_order_relaxed);
    span->names[entering->position % span->depth] =
        (struct sg_span_name){entering->position, entering->call->name};
    if (entering->bytes > 0)
        memcpy(sg_span_contribution(span, entering->position, span->local), entering->own,
               entering->bytes);
    lock(span);
    arrive(entering);
    is_last = place->arrived == (uint32_t)span->locals;
    sg_span_unlock(span);
    /* Where nobody comes for what arrives later, the last rank stays for it: it may go on to wait,
     * in MPICH, for a rank that waits for this endpoint's part. */
    entering->stays = result != NULL || entering->call->operation != SG_OPERATION_REDUCE ||
                      (is_last && !sg_progress_comes(span->objects[place->object].progress));
    if (is_last) {
        wait_for(entering, is_turn);
        /* At the root's endpoint the root itself is the one who waits; the next CALL has its turn
         * only after this one's COMPLETE. */
        if (place->root != span->endpoint || result != NULL)
            wait_for(entering, is_completed);
    }
    if (entering->stays)
        wait_for(entering, is_finished);
    if (result != NULL)
        memcpy(result, sg_span_result(span, place->object, place->object_seq), entering->bytes);
    /* Release: the result was read before its slot is used again. */
    atomic_store_explicit(&about->left, entering->position + 1, memory_order_release);
}

static void describe(struct sg_span *span, const struct sg_call *call, uint8_t algorithm)
{
    struct sg_node_about *about = &sg_span_about(span, span->rank)->call;

    about->bytes = call->bytes;
    about->operation = (uint8_t)call->operation;
    about->algorithm = algorithm;
    about->root = call->root;
    if (call->site != NULL)
        sg_node_about_site(about, call->site->id, call->site->offset, call->site->module);
}

static void enter(struct sg_span *span)
{
    struct sg_span_endpoint *endpoint = sg_span_endpoint(span, span->endpoint);

    atomic_fetch_add(&endpoint->inside, 1);
    sg_progress_disarm(span);
}

/* The highest mode that the rules of outstanding instances ask for. What comes for the endpoint
 * while its lock is held is looked for on the way out. */
static enum sg_progress_mode mode_asked(struct sg_span *span)
{
    enum sg_progress_mode highest = span->progress_low;

    if (span->progress_low == span->progress_high)
        return highest;
    lock(span);
    for (uint32_t i = 0; i < (uint32_t)span->object_count; i++) {
        const struct sg_span_object *object = &span->objects[i];
        const struct sg_algo_head *head = (void *)sg_span_region(span, i, span->endpoint);

        if (object->algo != NULL && head->outstanding > 0 && object->progress > highest)
            highest = object->progress;
    }
    sg_span_unlock(span);
    return highest;
}

/* Sequentially consistent: a sender that still saw us inside has its message seen below. */
static void leave(struct sg_span *span)
{
    struct sg_span_endpoint *endpoint = sg_span_endpoint(span, span->endpoint);

    if (atomic_load_explicit(&endpoint->outstanding, memory_order_relaxed) > 0)
        sg_progress_arm(span, mode_asked(span));
    atomic_fetch_sub(&endpoint->inside, 1);
    if (atomic_load_explicit(&endpoint->outstanding, memory_order_relaxed) > 0 &&
        span->ops->pending(span->transport, span->endpoint))
        sg_span_progress(span);
}

bool sg_span_plan(const struct sg_span *span, const struct sg_choice *choice,
                  const struct sg_call *call, struct sg_span_plan *plan)
{
    int index = sg_ruleset_index(span->rules, choice);

    *plan =
        (struct sg_span_plan){.object = (uint32_t)index, .algorithm = (uint8_t)choice->algorithm};
    if (index < 0 || index >= span->object_count || span->objects[index].algo == NULL ||
        (span->objects[index].algo->operations & 1u << call->operation) == 0)
        return false;
    if (call->operation == SG_OPERATION_BARRIER)
        return true;
    if (call->count <= 0 || !sg_operands_of(call, &plan->operands) ||
        (call->operation == SG_OPERATION_REDUCE && (call->root < 0 || call->root >= span->ranks)))
        return false;
    plan->extent_bytes = sg_element_extent_bytes(plan->operands.element);
    return sg_buffers_of(call, span->rank, &plan->own, &plan->result);
}

static uint64_t take(_Atomic uint64_t *counter)
{
    /* Most are 0 most of the time, and then not written. */
    if (atomic_load_explicit(counter, memory_order_relaxed) == 0)
        return 0;
    return atomic_exchange_explicit(counter, 0, memory_order_relaxed);
}

static uint32_t take_few(_Atomic uint64_t *counter)
{
    uint64_t count = take(counter);

    return (uint32_t)(count < UINT32_MAX ? count : UINT32_MAX);
}

static void tell(struct sg_span *span, struct sg_outcome *outcome)
{
    struct sg_span_endpoint *endpoint = sg_span_endpoint(span, span->endpoint);
    struct sg_span_counters *counters = &endpoint->counters;

    outcome->late = take_few(&counters->late);
    outcome->early = take_few(&counters->early);
    outcome->signals = take_few(&counters->signals);
    outcome->ignored = take_few(&counters->ignored);
    outcome->stalls = take_few(&counters->stalls);
    outcome->copies = take_few(&counters->copies);
    outcome->moves = take_few(&counters->moves);
    outcome->repeats = take_few(&counters->repeats);
    outcome->handler_ns = take(&counters->handler_ns);
    outcome->outstanding = atomic_load_explicit(&endpoint->outstanding, memory_order_relaxed);
}

int sg_span_run(struct sg_span *span, const struct sg_call *call, const struct sg_span_plan *plan,
                struct sg_outcome *outcome)
{
    bool has_data = call->operation != SG_OPERATION_BARRIER;
    size_t left = has_data ? (size_t)call->count : 0;
    size_t room = has_data ? SG_SPAN_SLOT_BYTES / plan->extent_bytes : 1;
    const char *own = plan->own;
    char *result = plan->result;

    outcome->algorithm = plan->algorithm;
    describe(span, call, outcome->algorithm);
    enter(span);
    do {
        size_t count = left < room ? left : room;
        struct entering entering = {.span = span,
                                    .call = call,
                                    .plan = plan,
                                    .position = span->position++,
                                    .own = own,
                                    .count = (uint32_t)count,
                                    .bytes = (uint32_t)(count * plan->extent_bytes)};

        run_chunk(&entering, result);
        own = own != NULL ? own + entering.bytes : NULL;
        result = result != NULL ? result + entering.bytes : NULL;
        left -= count;
    } while (left > 0);
    leave(span);
    tell(span, outcome);
    return MPI_SUCCESS;
}
