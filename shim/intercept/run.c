#include "intercept/run.h"

#include "internode/internode.h"
#include "intranode/mpi/choose.h"
#include "mpi/device.h"
#include "mpi/device_call.h"

/* ---- buffers in a GPU's memory ---- */

/* Buffers of a thread's last call without a driver: what was the host's stays so, and most calls
 * are of buffers that were in the call before. */
static __thread struct {
    const void *send, *receive;
} of_host;

static __attribute__((noinline)) bool is_driver_there(const struct sg_call *call)
{
    if (sg_device_is_there())
        return true;
    of_host.send = call->send;
    of_host.receive = call->receive;
    return false;
}

/* Whether the call's buffers are to be looked at. */
static inline bool is_near_devices(const struct sg_call *call)
{
    if (call->operation == SG_OPERATION_BARRIER)
        return false;
    return call->devices || ((call->send != of_host.send || call->receive != of_host.receive) &&
                             is_driver_there(call));
}

/* True, alike on all ranks: a nonblocking call is MPICH's, because it cannot wait for a word of the
 * others. */
static bool is_left_to_mpich(const struct sg_call *call)
{
    if (!is_near_devices(call))
        return false;
    if (sg_device_has_buffer(call) && !call->devices)
        sg_device_end_job(call);
    return call->devices;
}

/* ---- running ---- */

/* MPICH's own, by choice or because what was chosen does not take the call. */
static int pass(const struct sg_call *call, const struct sg_choice *choice,
                struct sg_outcome *outcome)
{
    outcome->ran = sg_ran(SG_ALGORITHM_MPICH, choice->arm);
    return call->pass(call);
}

static int run_between_nodes(const struct sg_call *call, const struct sg_choice *choice,
                             struct sg_outcome *outcome)
{
    struct sg_span_plan plan;

    if (!sg_span_plan(call->span, call, &choice, &plan))
        return pass(call, choice, outcome);
    return sg_span_run(call->span, call, &plan, outcome);
}

static int run_in_node(const struct sg_call *call, const struct sg_choice *choice,
                       struct sg_outcome *outcome)
{
    struct sg_local_plan plan;

    if (!sg_local_choose(call->local, call, &choice, &plan))
        return pass(call, choice, outcome);
    return sg_local_run_chosen(call->local, call, choice, &plan, outcome);
}

/* On buffers of the host, or with ranks that tell each other whose are not. */
static int run(const struct sg_call *call, const struct sg_choice *choice,
               struct sg_outcome *outcome)
{
    if (call->span != NULL)
        return run_between_nodes(call, choice, outcome);
    return call->local != NULL ? run_in_node(call, choice, outcome) : pass(call, choice, outcome);
}

int sg_call_run(const struct sg_call *call, const struct sg_choice *choice,
                struct sg_outcome *outcome)
{
    if (__builtin_expect(!is_near_devices(call), 1) || (call->span == NULL && call->local == NULL))
        return run(call, choice, outcome);
    if (!call->devices)
        return sg_device_has_buffer(call) ? sg_device_run_staged(call, choice, outcome, run)
                                          : run(call, choice, outcome);
    if (call->span == NULL)
        return run(call, choice, outcome);
    sg_device_has_buffer(call); /* counts it */
    sg_device_say_mpich(call);
    return pass(call, choice, outcome);
}

bool sg_call_plan_post(const struct sg_call *call, const struct sg_choice **choice,
                       struct sg_span_plan *plan)
{
    return call->span != NULL && !is_left_to_mpich(call) &&
           sg_span_plan(call->span, call, choice, plan);
}
