#include "rule/rule.h"

#include <string.h>

#define ALL_BUT_BCAST                                                                              \
    (1u << SG_OPERATION_BARRIER | 1u << SG_OPERATION_REDUCE | 1u << SG_OPERATION_ALLREDUCE)
#define EVERY_OPERATION (ALL_BUT_BCAST | 1u << SG_OPERATION_BCAST)

const struct sg_algorithm sg_algorithms[] = {
    [SG_ALGORITHM_MPICH] = {"mpich", EVERY_OPERATION, NULL, "MPICH's own algorithm", 0},
    [SG_ALGORITHM_HANDOFF] = {"handoff", ALL_BUT_BCAST, sg_parameters_handoff,
                              "a tree climbed by late ranks; inside a node and between nodes",
                              SG_REACH_NODE | SG_REACH_INTERNODE},
    [SG_ALGORITHM_SRM] =
        {"srm", EVERY_OPERATION, sg_parameters_srm,
         "exchange of cache lines, or pipelined chunks; inside a node and between nodes",
         SG_REACH_NODE | SG_REACH_INTERNODE},
    [SG_ALGORITHM_BYPASS] = {"bypass", 1u << SG_OPERATION_REDUCE | 1u << SG_OPERATION_BCAST,
                             sg_parameters_bypass,
                             "returns before late children arrive; between nodes",
                             SG_REACH_INTERNODE},
    [SG_ALGORITHM_ADAPTIVE] = {"adaptive",
                               1u << SG_OPERATION_BARRIER | 1u << SG_OPERATION_ALLREDUCE,
                               sg_parameters_adaptive,
                               "a tree whose root moves to the last rank; between nodes",
                               SG_REACH_INTERNODE},
    [SG_ALGORITHM_TREE] = {"tree", EVERY_OPERATION, sg_parameters_tree,
                           "gather and broadcast in a fixed tree; between nodes",
                           SG_REACH_INTERNODE},
    [SG_ALGORITHM_DISSEMINATION] = {"dissemination", 1u << SG_OPERATION_BARRIER,
                                    sg_parameters_dissemination,
                                    "rounds of notifications; between nodes", SG_REACH_INTERNODE},
    [SG_ALGORITHM_PAIRWISE] = {"pairwise", 1u << SG_OPERATION_ALLREDUCE, sg_parameters_pairwise,
                               "recursive doubling; between nodes", SG_REACH_INTERNODE},
    [SG_ALGORITHM_BCS] = {"bcs", EVERY_OPERATION, sg_parameters_bcs,
                          "buffered coscheduling in slices of time; between nodes",
                          SG_REACH_INTERNODE},
    [SG_ALGORITHM_AUTO] = {"auto", EVERY_OPERATION, sg_parameters_auto,
                           "learns which algorithm costs least; inside a node and between nodes",
                           SG_REACH_NODE | SG_REACH_INTERNODE},
};
const int sg_algorithm_count = sizeof sg_algorithms / sizeof *sg_algorithms;

_Static_assert(sizeof sg_algorithms / sizeof *sg_algorithms <= SG_EXECUTED_LIMIT, "bits in a log");

unsigned sg_algorithm_reach(const struct sg_algorithm *algorithm, const int64_t *parameters)
{
    const struct sg_parameter *parameter = algorithm->parameters;

    for (int i = 0; parameter != NULL && parameters != NULL && parameter[i].name != NULL; i++) {
        if (strcmp(parameter[i].name, "where") == 0 && parameters[i] > 0)
            return algorithm->reach & 1u << (parameters[i] - 1);
    }
    return algorithm->reach;
}

int sg_parameter_find(int algorithm, const char *name)
{
    const struct sg_parameter *parameters = sg_algorithms[algorithm].parameters;

    for (int i = 0; parameters != NULL && parameters[i].name != NULL; i++) {
        if (strcmp(parameters[i].name, name) == 0)
            return i;
    }
    return -1;
}
