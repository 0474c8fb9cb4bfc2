/* A call on a communicator over several nodes: it is begun, and unless it is a nonblocking one
 * (nonblocking.c) waited for. Its parts go through a window: chunk by chunk, contribution in,
 * result out. */
#include "core/clock.h"
#include "internode/layout.h"
#include "mpi/real.h"

static uint64_t stall_ns;

void sg_span_stall_after(uint64_t ns)
{
    stall_ns = ns;
}

/* ---- waiting ---- */

struct waiting {
    struct sg_wait wait;
    const struct sg_call *call;
    uint64_t position; /* of what is waited for */
};

static void wait_until(struct sg_span *span, struct waiting *waiting,
                       bool (*is_over)(void *context), void *context)
{
    bool reported = false;

    while (!is_over(context)) {
        if (!sg_wait_step(&waiting->wait, &span->bed, is_over, context))
            continue;
        sg_progress_poll();
        if (stall_ns > 0 && !reported && sg_wait_elapsed_ns(&waiting->wait) > stall_ns) {
            reported = true;
            sg_span_report_stall(span, waiting->call, waiting->position,
                                 (int)(stall_ns / UINT64_C(1000000000)));
        }
    }
}

void sg_span_wait(struct sg_span *span, bool (*is_over)(void *context), void *context,
                  const struct sg_call *call, uint64_t position)
{
    struct waiting waiting = {.call = call, .position = position};

    wait_until(span, &waiting, is_over, context);
}

/* ---- the parts of a call ---- */

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
            sg_span_cut(window->call, window->plan, i, part);
            part->position = window->position + i;
            window->begun++;
        }
        if (sg_span_step(span, part) && i == window->left)
            window->left++;
        if (part->stage < SG_SPAN_ARRIVED)
            break;
    }
    return window->left == window->count;
}

struct awaited {
    struct sg_span *span;
    struct sg_span_window *window;
    struct waiting waiting;
};

static bool is_over(void *context)
{
    struct awaited *awaited = context;
    struct sg_span_window *window = awaited->window;
    size_t left = window->left;
    bool has_left;

    sg_span_progress(awaited->span);
    has_left = sg_span_step_call(awaited->span, window);
    if (window->left > left) {
        /* Each part has its own time. */
        awaited->waiting.wait.begin_ns = 0;
        awaited->waiting.position = window->position + window->left;
    }
    return has_left;
}

static __attribute__((noinline)) void await(struct sg_span *span, struct sg_span_window *window)
{
    struct awaited awaited = {
        span, window, {.call = window->call, .position = window->position + window->left}};

    wait_until(span, &awaited.waiting, is_over, &awaited);
}

/* ---- entering and leaving ---- */

void sg_span_enter(struct sg_span *span)
{
    struct sg_span_endpoint *endpoint = sg_span_endpoint(span, span->endpoint);

    if (!sg_span_serves(span))
        return;
    atomic_fetch_add(&endpoint->bell.inside, 1);
    sg_progress_disarm(&span->client);
}

/* The highest mode that the rules of outstanding instances ask for, and of CALLs that wait for
 * their turn, which whoever is rung will feed. What comes for the endpoint while its lock is held
 * is looked for on the way out. */
static enum sg_progress_mode mode_asked(struct sg_span *span)
{
    const struct sg_span_endpoint *endpoint = sg_span_endpoint(span, span->endpoint);
    enum sg_progress_mode highest = span->progress_low;
    uint64_t next;

    if (span->progress_low == span->progress_high)
        return highest;
    sg_span_lock(span);
    /* Relaxed: under the lock. */
    next = atomic_load_explicit(&endpoint->fed, memory_order_relaxed);
    for (; sg_span_place(span, next)->ready == next + 1; next++) {
        const struct sg_span_object *object = &span->objects[sg_span_place(span, next)->object];

        if (object->progress > highest)
            highest = object->progress;
    }
    for (uint32_t i = 0; i < (uint32_t)span->object_count; i++) {
        const struct sg_span_object *object = &span->objects[i];
        const struct sg_algo_head *head = (void *)sg_span_region(span, i, span->endpoint);

        if (object->algo != NULL && head->outstanding > 0 && object->progress > highest)
            highest = object->progress;
    }
    sg_span_unlock(span);
    return highest;
}

/* Between machines a message is told to one process of its receiver, which is not to be chosen:
 * each that has left is told while the instance it came for is not over here. */
static bool leaves_before_others(const struct sg_span *span)
{
    if (span->wire == NULL || span->locals == 1 || span->position == 0)
        return false;
    return atomic_load_explicit(&sg_span_place(span, span->position - 1)->finished,
                                memory_order_relaxed) < span->position;
}

static bool is_left_something(const struct sg_span *span)
{
    const struct sg_span_endpoint *endpoint = sg_span_endpoint(span, span->endpoint);

    if (span->servers < span->locals && atomic_load(&endpoint->bell.pending) > 0)
        return true;
    return atomic_load_explicit(&endpoint->bell.outstanding, memory_order_relaxed) > 0 &&
           (span->ops->pending(span->transport, span->endpoint) ||
            atomic_load_explicit(&endpoint->watch_count, memory_order_relaxed) > 0);
}

/* Sequentially consistent: a sender that still saw us inside has its message seen below. */
void sg_span_leave(struct sg_span *span)
{
    struct sg_span_endpoint *endpoint = sg_span_endpoint(span, span->endpoint);

    if (!sg_span_serves(span))
        return;
    /* What is asked of an adapter comes to this process alone. */
    if (span->wire != NULL) {
        sg_span_lock(span);
        sg_span_settle(span);
        sg_span_unlock(span);
    }
    if (atomic_load_explicit(&endpoint->bell.outstanding, memory_order_relaxed) > 0 ||
        leaves_before_others(span))
        sg_progress_arm(&span->client, mode_asked(span));
    atomic_fetch_sub(&endpoint->bell.inside, 1);
    if (is_left_something(span))
        sg_span_progress(span);
    sg_progress_left(&span->client);
}

/* What does not depend on the choice; not of a barrier. */
static bool plan_operands(const struct sg_span *span, const struct sg_call *call,
                          struct sg_span_plan *plan)
{
    return call->count > 0 && sg_operands_of(call, &plan->operands) &&
           (call->operation != SG_OPERATION_REDUCE ||
            (call->root >= 0 && call->root < span->ranks)) &&
           sg_buffers_of(call, span->rank, &plan->own, &plan->result);
}

bool sg_span_takes(const struct sg_span *span, const struct sg_call *call)
{
    struct sg_span_plan plan;

    return call->operation == SG_OPERATION_BARRIER || plan_operands(span, call, &plan);
}

bool sg_span_plan(const struct sg_span *span, const struct sg_choice *choice,
                  const struct sg_call *call, struct sg_span_plan *plan)
{
    int index = sg_ruleset_index(span->rules, choice);

    *plan = (struct sg_span_plan){.object = (uint32_t)index, .ran = (uint8_t)choice->ran};
    if (index < 0 || index >= span->object_count || span->objects[index].algo == NULL ||
        (span->objects[index].algo->operations & 1u << call->operation) == 0)
        return false;
    if (call->operation == SG_OPERATION_BARRIER)
        return true;
    if (!plan_operands(span, call, plan))
        return false;
    plan->extent_bytes = sg_element_extent_bytes(plan->operands.element);
    plan->room = span->objects[index].slot_bytes / plan->extent_bytes;
    plan->side_by_side =
        span->objects[index].algo->uses & SG_ALGO_PIPELINED && sg_span_part_count(call, plan) > 1;
    return true;
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

void sg_span_tell(struct sg_span *span, struct sg_outcome *outcome)
{
    struct sg_span_endpoint *endpoint = sg_span_endpoint(span, span->endpoint);
    struct sg_span_counters *counters = &endpoint->counters;

    outcome->late = take_few(&counters->late);
    outcome->early = take_few(&counters->early);
    outcome->signals = take_few(&endpoint->bell.handled);
    outcome->ignored = take_few(&endpoint->bell.ignored);
    outcome->stalls = take_few(&counters->stalls);
    outcome->copies = take_few(&counters->copies);
    outcome->moves = take_few(&counters->moves);
    outcome->repeats = take_few(&counters->repeats);
    outcome->handler_ns = take(&counters->handler_ns);
    outcome->outstanding = atomic_load_explicit(&endpoint->bell.outstanding, memory_order_relaxed);
}

int sg_span_run(struct sg_span *span, const struct sg_call *call, const struct sg_span_plan *plan,
                struct sg_outcome *outcome)
{
    struct sg_span_part parts[SG_SPAN_PLACES_MAX];
    struct sg_span_window window = {.call = call,
                                    .plan = plan,
                                    .count = sg_span_part_count(call, plan),
                                    .width = plan->side_by_side ? span->depth : 1,
                                    .parts = parts};

    outcome->ran = plan->ran;
    sg_span_enter(span);
    sg_span_begin(span, &window);
    if (!sg_span_step_call(span, &window))
        await(span, &window);
    sg_span_leave(span);
    sg_span_tell(span, outcome);
    return MPI_SUCCESS;
}
