#include "engine/engine.h"

#include "engine/local.h"
#include "engine/progress.h"
#include "engine/real.h"
#include "engine/span.h"

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
static bool can_read(const struct sg_call *call)
{
    return call->operation == SG_OPERATION_ALLREDUCE && call->send != MPI_IN_PLACE &&
           sg_local_node(call->local)->reader != NULL;
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
    if (form == SG_SRM_SINGLE && can_read(call))
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

bool sg_engine_plan_post(const struct sg_call *call, const struct sg_choice **choice,
                         struct sg_span_plan *plan)
{
    if (call->span == NULL)
        return false;
    if (call->rules != NULL)
        *choice = sg_span_agree(call->span, call, *choice);
    /* Where nobody comes for what arrives, a program that posts and then waits for something else
     * would wait in vain. */
    return sg_real.x_Grequest_start != NULL && sg_progress_is_to_come(*choice) &&
           sg_span_plan(call->span, *choice, call, plan) &&
           sg_span_reaches(call->span, plan, call, false);
}

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

    if (call->rules != NULL)
        choice = sg_span_agree(call->span, call, choice);
    if (!sg_span_plan(call->span, choice, call, &plan) ||
        !sg_span_reaches(call->span, &plan, call, true))
        return pass(call, choice, outcome);
    return sg_span_run(call->span, call, &plan, outcome);
}

int sg_engine_run(const struct sg_call *call, const struct sg_choice *choice,
                  struct sg_outcome *outcome)
{
    struct sg_local_plan plan;

    if (call->span != NULL)
        return run_across(call, choice, outcome);
    if (call->local == NULL || (choice->algorithm == SG_ALGORITHM_MPICH && call->rules == NULL) ||
        !sg_local_plan(call->local, call, &plan))
        return pass(call, choice, outcome);
    if (call->rules != NULL)
        choice = sg_local_agree(call->local, call, choice);
    if (choice->algorithm == SG_ALGORITHM_MPICH) {
        sg_local_skip(call->local);
        return pass(call, choice, outcome);
    }
    outcome->ran = (uint8_t)choice->ran;
    return runners[choice->algorithm](call, &plan, choice, outcome);
}
