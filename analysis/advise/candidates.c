#include "advise/candidates.h"

#include "rule/algorithm.h"

#include <string.h>

const char *const sg_candidates[] = {
    "mpich",
    "handoff",
    "srm",
    "bypass",
    "adaptive",
    "tree",
    "dissemination",
    "pairwise",
    "bypass(linger=auto)",
    "adaptive(predict=1)",
    "adaptive(tokens=2)",
};
const int sg_candidate_count = sizeof sg_candidates / sizeof *sg_candidates;

_Static_assert(sizeof sg_candidates / sizeof *sg_candidates <= SG_CANDIDATES_MAX, "has its room");

static size_t name_length(int candidate)
{
    return strcspn(sg_candidates[candidate], "(");
}

int sg_candidate_find(const char *algorithm)
{
    for (int i = 0; i < sg_candidate_count; i++) {
        if (strlen(algorithm) == name_length(i) &&
            memcmp(algorithm, sg_candidates[i], name_length(i)) == 0)
            return i;
    }
    return -1;
}

bool sg_candidate_runs(int candidate, enum sg_operation operation, bool inside)
{
    unsigned reach = inside ? SG_REACH_NODE : SG_REACH_INTERNODE;

    /* Nobody waits for children in a broadcast. */
    if (operation == SG_OPERATION_BCAST && strstr(sg_candidates[candidate], "linger") != NULL)
        return false;
    for (int i = 0; i < sg_algorithm_count; i++) {
        const struct sg_algorithm *algorithm = &sg_algorithms[i];

        if (strlen(algorithm->name) == name_length(candidate) &&
            memcmp(algorithm->name, sg_candidates[candidate], name_length(candidate)) == 0)
            return (algorithm->operations & 1U << operation) != 0 &&
                   (algorithm->reach == 0 || (algorithm->reach & reach) != 0);
    }
    return false;
}

const char *sg_candidate_stock(enum sg_operation operation)
{
    static const char *const protocols[SG_OPERATION_COUNT] = {
        [SG_OPERATION_BARRIER] = "dissemination",
        [SG_OPERATION_REDUCE] = "tree(degree=1)",
        [SG_OPERATION_ALLREDUCE] = "pairwise",
        /* MPICH has no reports of what has been received, which credits cost. */
        [SG_OPERATION_BCAST] = "tree(degree=1,credits=64)",
    };

    return protocols[operation];
}
