#include "engine/engine.h"

#include "internode/internode.h"
#include "intranode/mpi/local.h"
#include "mpi/device.h"
#include "mpi/device_call.h"
#include "mpi/real.h"
#include "progress/progress.h"

/* Forms of srm by ranks and bytes: docs/decisions/0005-thresholds.md. */
#define FLAT_RANKS_MAX 8
#define FLAT_BYTES_MAX 1024
#define CLIMB_BYTES_MAX 4096
#define SINGLE_BYTES_MIN (64u * 1024u)
/* What a fold of all ranks' lines has room for on its stack. */
#define FLAT_BYTES_LIMIT 1024

typedef int (*sg_runner)(const struct sg_call *call, const struct sg_local_plan *plan,
                         const struct sg_choice *choice, struct sg_outcome *outcome);

static int run_handoff(const struct sg_call *call, const struct sg_local_plan *plan,
                       const struct sg_choice *choice, struct sg_outcome *outcome)
{
    return sg_local_run(call->local, call, plan, SG_NODE_HANDOFF, outcome);
}

/* MPI has either all ranks pass MPI_IN_PLACE or none. */
static bool can_read(const struct sg_call *call, const struct sg_local_plan *plan)
{
    return call->operation == SG_OPERATION_ALLREDUCE && call->send != MPI_IN_PLACE &&
           plan->copy == NULL && sg_local_node(call->local)->reader != NULL;
}

static enum sg_srm_form form_of(const struct sg_call *call, const struct sg_local_plan *plan)
{
    if (plan->size_bytes <= FLAT_BYTES_MAX && plan->shape.size <= FLAT_RANKS_MAX)
        return SG_SRM_FLAT;
    if (plan->size_bytes <= CLIMB_BYTES_MAX)
        return SG_SRM_CLIMB;
    return plan->size_bytes >= SINGLE_BYTES_MIN ? SG_SRM_SINGLE : SG_SRM_CHUNKS;
}

static enum sg_node_method method_of(const struct sg_call *call, const struct sg_local_plan *plan,
                                     enum sg_srm_form form)
{
    const struct sg_node *node = sg_local_node(call->local);

    if (form == SG_SRM_AUTO)
        form = form_of(call, plan);
    if (form == SG_SRM_FLAT && plan->size_bytes <= FLAT_BYTES_LIMIT)
        return SG_NODE_FLAT;
    if (form == SG_SRM_SINGLE && can_read(call, plan))
        return SG_NODE_SINGLE;
    if (form >= SG_SRM_CHUNKS && node->pool != NULL && plan->size_bytes > 0)
        return SG_NODE_CHUNKS;
    return SG_NODE_HANDOFF;
}

static int run_srm(const struct sg_call *call, const struct sg_local_plan *plan,
                   const struct sg_choice *choice, struct sg_outcome *outcome)
{
    enum sg_srm_form form = (enum sg_srm_form)choice->parameters[0];

    return sg_local_run(call->local, call, plan, method_of(call, plan, form), outcome);
}

static const sg_runner runners[] = {
    [SG_ALGORITHM_MPICH] = NULL,
    [SG_ALGORITHM_HANDOFF] = run_handoff,
    [SG_ALGORITHM_SRM] = run_srm,
};

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

bool sg_engine_plan_post(const struct sg_call *call, const struct sg_choice **choice,
                         struct sg_span_plan *plan)
{
    if (call->span == NULL || is_left_to_mpich(call))
        return false;
    /* A call that is wrong on this rank alone takes no turn in what all ranks choose. */
    if (call->rules != NULL && sg_span_takes(call->span, call))
        *choice = sg_span_agree(call->span, call, *choice);
    /* Where nobody comes for what arrives, a program that posts and then waits for something else
     * would wait in vain. */
    return sg_real.x_Grequest_start != NULL && sg_progress_is_to_come(*choice) &&
           sg_span_plan(call->span, *choice, call, plan) &&
           sg_span_reaches(call->span, plan, call, false);
}

/* ---- what the rules can ask for ---- */

/* A trial's turns are counted in a segment, whatever its arms. */
static bool runs_here(const struct sg_choice *choice)
{
    return choice->algorithm != SG_ALGORITHM_MPICH || choice->arm != 0;
}

static bool takes_form(const struct sg_choice *choice, enum sg_srm_form form)
{
    return choice->algorithm == SG_ALGORITHM_SRM && choice->parameters[0] == form;
}

static bool takes_pool(const struct sg_choice *choice)
{
    return takes_form(choice, SG_SRM_CHUNKS) || takes_form(choice, SG_SRM_SINGLE);
}

static bool may_take_pool(const struct sg_choice *choice)
{
    return takes_pool(choice) || takes_form(choice, SG_SRM_AUTO);
}

static bool reads(const struct sg_choice *choice)
{
    return takes_form(choice, SG_SRM_SINGLE);
}

static bool may_read(const struct sg_choice *choice)
{
    return reads(choice) || takes_form(choice, SG_SRM_AUTO);
}

/* Elements may take up twice their size. */
#define SIZE_OF_EXTENT(bytes) ((bytes) / 2)

bool sg_engine_wants_segment(const struct sg_ruleset *rules, const char *name, int size)
{
    const struct sg_rule_comm comm = {.name = name, .size = size, .reach = SG_REACH_NODE};
    bool wants = false;

    for (int operation = 0; operation < SG_OPERATION_COUNT && !wants; operation++)
        wants = sg_ruleset_may_choose(rules, (enum sg_operation)operation, &comm, 0, runs_here);
    return wants;
}

bool sg_engine_wants_pool(const struct sg_ruleset *rules)
{
    static const enum sg_operation with_data[] = {SG_OPERATION_REDUCE, SG_OPERATION_ALLREDUCE};
    const struct sg_rule_comm any = {.reach = SG_REACH_NODE};
    bool wants = false;

    for (int i = 0; i < 2 && !wants; i++)
        wants = sg_ruleset_may_choose(rules, with_data[i], &any, SIZE_OF_EXTENT(CLIMB_BYTES_MAX),
                                      may_take_pool) ||
                sg_ruleset_may_choose(rules, with_data[i], &any, 1, takes_pool);
    return wants;
}

bool sg_engine_wants_reading(const struct sg_ruleset *rules)
{
    const struct sg_rule_comm any = {.reach = SG_REACH_NODE};

    return sg_ruleset_may_choose(rules, SG_OPERATION_ALLREDUCE, &any,
                                 SIZE_OF_EXTENT(SINGLE_BYTES_MIN), may_read) ||
           sg_ruleset_may_choose(rules, SG_OPERATION_ALLREDUCE, &any, 1, reads);
}

/* ---- running ---- */

/* MPICH's own, by choice or because what was chosen does not take the call. */
static int pass(const struct sg_call *call, const struct sg_choice *choice,
                struct sg_outcome *outcome)
{
    outcome->ran = sg_ran(SG_ALGORITHM_MPICH, choice->arm);
    return call->pass(call);
}

static int run_across(const struct sg_call *call, const struct sg_choice *choice,
                      struct sg_outcome *outcome)
{
    struct sg_span_plan plan;

    if (call->rules != NULL && sg_span_takes(call->span, call))
        choice = sg_span_agree(call->span, call, choice);
    if (!sg_span_plan(call->span, choice, call, &plan) ||
        !sg_span_reaches(call->span, &plan, call, true))
        return pass(call, choice, outcome);
    return sg_span_run(call->span, call, &plan, outcome);
}

static int leave_to_mpich(const struct sg_call *call, const struct sg_choice *choice,
                          struct sg_outcome *outcome)
{
    sg_device_say_mpich(call);
    return pass(call, choice, outcome);
}

static int run_inside(const struct sg_call *call, const struct sg_choice *choice,
                      struct sg_outcome *outcome)
{
    struct sg_local_plan plan;

    if ((choice->algorithm == SG_ALGORITHM_MPICH && call->rules == NULL) ||
        !sg_local_plan(call->local, call, &plan))
        return pass(call, choice, outcome);
    if (call->devices && call->operation != SG_OPERATION_BARRIER &&
        sg_local_any(call->local, call, sg_device_has_buffer(call)))
        return leave_to_mpich(call, choice, outcome);
    if (call->rules != NULL)
        choice = sg_local_agree(call->local, call, choice);
    if (choice->algorithm == SG_ALGORITHM_MPICH) {
        sg_local_skip(call->local);
        return pass(call, choice, outcome);
    }
    outcome->ran = (uint8_t)choice->ran;
    return runners[choice->algorithm](call, &plan, choice, outcome);
}

/* On buffers of the host, or with ranks that tell each other whose are not. */
static int run(const struct sg_call *call, const struct sg_choice *choice,
               struct sg_outcome *outcome)
{
    if (call->span != NULL)
        return run_across(call, choice, outcome);
    return call->local != NULL ? run_inside(call, choice, outcome) : pass(call, choice, outcome);
}

int sg_engine_run(const struct sg_call *call, const struct sg_choice *choice,
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
    return leave_to_mpich(call, choice, outcome);
}
