#include "engine/engine.h"

#include "engine/local.h"

/* Up to here the flat exchange, which costs the square of the ranks in lines, beats a climb. */
#define FLAT_RANKS_MAX 8
#define FLAT_BYTES_MAX 1024
/* Up to here a climb beats folding in shares. */
#define CLIMB_BYTES_MAX 4096
/* From here on reading another process's memory beats copying through shared buffers. */
#define SINGLE_BYTES_MIN (256u * 1024u)

typedef int (*sg_runner)(const struct sg_call *call, const struct sg_local_plan *plan,
                         const struct sg_choice *choice, struct sg_outcome *outcome);

static int run_handoff(const struct sg_call *call, const struct sg_local_plan *plan,
                       const struct sg_choice *choice, struct sg_outcome *outcome)
{
    return sg_local_run(call->local, call, plan, SG_NODE_HANDOFF, outcome);
}

/* MPI has either all ranks pass MPI_IN_PLACE or none. */
static bool reads_directly(const struct sg_call *call, const struct sg_local_plan *plan)
{
    return call->operation == SG_OPERATION_ALLREDUCE && call->send != MPI_IN_PLACE &&
           plan->size_bytes >= SINGLE_BYTES_MIN && sg_local_node(call->local)->reader != NULL;
}

static int run_srm(const struct sg_call *call, const struct sg_local_plan *plan,
                   const struct sg_choice *choice, struct sg_outcome *outcome)
{
    enum sg_node_method method = SG_NODE_HANDOFF;

    if (plan->shape.size <= FLAT_RANKS_MAX && plan->size_bytes <= FLAT_BYTES_MAX)
        method = SG_NODE_FLAT;
    else if (plan->size_bytes > CLIMB_BYTES_MAX && sg_local_node(call->local)->pool != NULL)
        method = reads_directly(call, plan) ? SG_NODE_SINGLE : SG_NODE_CHUNKS;
    return sg_local_run(call->local, call, plan, method, outcome);
}

static const sg_runner runners[] = {
    [SG_ALGORITHM_MPICH] = NULL,
    [SG_ALGORITHM_HANDOFF] = run_handoff,
    [SG_ALGORITHM_SRM] = run_srm,
};

int sg_engine_run(const struct sg_call *call, const struct sg_choice *choice,
                  struct sg_outcome *outcome)
{
    struct sg_local_plan plan;

    outcome->algorithm = SG_ALGORITHM_MPICH;
    if (call->local == NULL || (choice->algorithm == SG_ALGORITHM_MPICH && call->rules == NULL) ||
        !sg_local_plan(call->local, call, &plan))
        return call->pass(call);
    if (call->rules != NULL)
        choice = sg_local_agree(call->local, call, choice);
    if (choice->algorithm == SG_ALGORITHM_MPICH) {
        sg_local_skip(call->local);
        return call->pass(call);
    }
    outcome->algorithm = (uint8_t)choice->algorithm;
    return runners[choice->algorithm](call, &plan, choice, outcome);
}
