#include "engine/engine.h"

typedef int (*sg_runner)(const struct sg_call *call, const struct sg_choice *choice,
                         struct sg_outcome *outcome);

static int run_mpich(const struct sg_call *call, const struct sg_choice *choice,
                     struct sg_outcome *outcome)
{
    return call->pass(call);
}

static const sg_runner runners[] = {
    [SG_ALGORITHM_MPICH] = run_mpich,
};

int sg_engine_run(const struct sg_call *call, const struct sg_choice *choice,
                  struct sg_outcome *outcome)
{
    return runners[choice->algorithm](call, choice, outcome);
}
