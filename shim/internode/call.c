/* A call on a communicator over several nodes: planned, begun, and unless it is a nonblocking one
 * (nonblocking.h) waited for. Both go the same way, chunk by chunk through a window (chunk.h).
 */
#include "internode/agree.h"
#include "internode/connect.h"
#include "internode/endpoint.h"
#include "internode/nonblocking.h"
#include "internode/statistics.h"
#include "internode/waiting.h"
#include "mpi/real.h"

/* ---- planning ---- */

/* What does not depend on the choice; not of a barrier. */
static bool plan_operands(const struct sg_span *span, const struct sg_call *call,
                          struct sg_span_plan *plan)
{
    return call->count > 0 && sg_operands_of(call, &plan->operands) &&
           (call->operation != SG_OPERATION_REDUCE ||
            (call->root >= 0 && call->root < span->ranks)) &&
           sg_buffers_of(call, span->rank, &plan->own, &plan->result);
}

/* False: whatever is chosen, MPICH runs the call. No protocol here takes its type, which is alike
 * on all ranks; or an argument of this rank's is wrong, which MPICH reports. */
static bool is_taken(const struct sg_span *span, const struct sg_call *call)
{
    struct sg_span_plan plan;

    return call->operation == SG_OPERATION_BARRIER || plan_operands(span, call, &plan);
}

/* Where nobody comes for what arrives, a program that posts and then waits for something else
 * would wait in vain. */
static bool can_post(const struct sg_choice *choice)
{
    return sg_real.x_Grequest_start != NULL && sg_progress_is_to_come(choice);
}

static bool plan_chosen(const struct sg_span *span, const struct sg_call *call,
                        const struct sg_choice *choice, struct sg_span_plan *plan)
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

bool sg_span_plan(struct sg_span *span, const struct sg_call *call, const struct sg_choice **choice,
                  struct sg_span_plan *plan)
{
    bool waits = call->request == NULL;

    /* A call that is wrong on this rank alone takes no turn in what all ranks choose. */
    if (call->rules != NULL && is_taken(span, call))
        *choice = sg_span_agree(span, call, *choice);
    return (waits || can_post(*choice)) && plan_chosen(span, call, *choice, plan) &&
           sg_span_reaches(span, plan, call, waits);
}

/* ---- waiting ---- */

struct awaited {
    struct sg_span *span;
    struct sg_span_window *window;
    struct sg_span_waiting waiting;
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

    sg_span_wait(span, &awaited.waiting, is_over, &awaited);
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
