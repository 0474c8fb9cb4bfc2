#include "rule/algorithm.h"

#include <string.h>

#define EVERY_OPERATION                                                                            \
    (1u << SG_OPERATION_BARRIER | 1u << SG_OPERATION_REDUCE | 1u << SG_OPERATION_ALLREDUCE)

#define END                                                                                        \
    {                                                                                              \
        NULL, SG_PARAMETER_INTEGER, 0, 0, NULL, NULL, NULL                                         \
    }
#define DETERMINISTIC                                                                              \
    {                                                                                              \
        "deterministic", SG_PARAMETER_INTEGER, 0, 1, NULL, "1",                                    \
            "0: combine in the order of arrival"                                                   \
    }
/* After "auto" the words are in the order of enum sg_progress_mode. */
#define PROGRESS                                                                                   \
    {                                                                                              \
        "progress", SG_PARAMETER_CHOICE, 0, 0, "auto|poll|thread|signal", "auto",                  \
            "who handles what is late; auto: as STAGGER_PROGRESS says"                             \
    }

/* Of those that have both; after "any" the words are in the order of SG_REACH_*. */
#define WHERE                                                                                      \
    {                                                                                              \
        "where", SG_PARAMETER_CHOICE, 0, 0, "any|inside|between", "any",                           \
            "the rule holds for ranks inside one node, or between nodes"                           \
    }

/* By enum sg_srm_form. */
static const struct sg_parameter srm_parameters[] = {
    {"form", SG_PARAMETER_CHOICE, 0, 0, "auto|flat|climb|chunks|single", "auto",
     "inside a node, how operands move; auto: by ranks and bytes"},
    WHERE,
    {"chunk", SG_PARAMETER_INTEGER, 1, 64, NULL, "16",
     "between nodes, KiB that are exchanged at once; more goes in chunks of it"},
    PROGRESS,
    END,
};

static const struct sg_parameter handoff_parameters[] = {
    WHERE,
    PROGRESS,
    END,
};

static const struct sg_parameter bypass_parameters[] = {
    {"linger", SG_PARAMETER_INTEGER, 0, 100000, "auto", "0",
     "microseconds a call waits for late children before it returns"},
    DETERMINISTIC,
    PROGRESS,
    END,
};

/* Of those that release by multicast. */
#define TIMEOUT                                                                                    \
    {                                                                                              \
        "timeout", SG_PARAMETER_INTEGER, 10, 1000000, NULL, "1000",                                \
            "microseconds after which a release that has not come is asked for"                    \
    }

static const struct sg_parameter adaptive_parameters[] = {
    {"degree", SG_PARAMETER_INTEGER, 2, 32, "auto", "auto",
     "children in the tree; auto: 8 in a barrier, 4 otherwise"},
    {"tokens", SG_PARAMETER_INTEGER, 1, 4, NULL, "1", "late ranks that are met half-way"},
    {"predict", SG_PARAMETER_INTEGER, 0, 1, NULL, "0", "1: start where the last rank usually is"},
    DETERMINISTIC,
    TIMEOUT,
    PROGRESS,
    END,
};

static const struct sg_parameter tree_parameters[] = {
    {"degree", SG_PARAMETER_INTEGER, 1, 32, "auto", "auto",
     "children in the tree; 1: binomial, auto: 8 in a barrier, 4 otherwise"},
    TIMEOUT,
    PROGRESS,
    END,
};

/* Of those that have no other. */
static const struct sg_parameter span_parameters[] = {
    PROGRESS,
    END,
};

const struct sg_algorithm sg_algorithms[] = {
    [SG_ALGORITHM_MPICH] = {"mpich", EVERY_OPERATION, NULL, "MPICH's own, called as it is", 0},
    [SG_ALGORITHM_HANDOFF] = {"handoff", EVERY_OPERATION, handoff_parameters,
                              "a tree climbed by whoever is late; inside a node and between nodes",
                              SG_REACH_NODE | SG_REACH_SPAN},
    [SG_ALGORITHM_SRM] = {"srm", EVERY_OPERATION, srm_parameters,
                          "exchange of lines, or pipelined chunks; inside a node and between nodes",
                          SG_REACH_NODE | SG_REACH_SPAN},
    [SG_ALGORITHM_BYPASS] = {"bypass", 1u << SG_OPERATION_REDUCE, bypass_parameters,
                             "returns before late children arrive; between nodes", SG_REACH_SPAN},
    [SG_ALGORITHM_ADAPTIVE] = {"adaptive",
                               1u << SG_OPERATION_BARRIER | 1u << SG_OPERATION_ALLREDUCE,
                               adaptive_parameters,
                               "a tree whose root moves to the last rank; between nodes",
                               SG_REACH_SPAN},
    [SG_ALGORITHM_TREE] = {"tree", EVERY_OPERATION, tree_parameters,
                           "gather and broadcast in a fixed tree; between nodes", SG_REACH_SPAN},
    [SG_ALGORITHM_DISSEMINATION] = {"dissemination", 1u << SG_OPERATION_BARRIER, span_parameters,
                                    "rounds of notifications; between nodes", SG_REACH_SPAN},
    [SG_ALGORITHM_PAIRWISE] = {"pairwise", 1u << SG_OPERATION_ALLREDUCE, span_parameters,
                               "recursive doubling; between nodes", SG_REACH_SPAN},
};
const int sg_algorithm_count = sizeof sg_algorithms / sizeof *sg_algorithms;

int sg_algorithm_find(const char *name)
{
    for (int i = 0; i < sg_algorithm_count; i++) {
        if (strcmp(sg_algorithms[i].name, name) == 0)
            return i;
    }
    return -1;
}

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
