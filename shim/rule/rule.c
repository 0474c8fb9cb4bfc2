#include "rule/rule.h"

#include <string.h>

enum {
    BARRIER = 1u << SG_OPERATION_BARRIER,
    REDUCE = 1u << SG_OPERATION_REDUCE,
    ALLREDUCE = 1u << SG_OPERATION_ALLREDUCE,
    BCAST = 1u << SG_OPERATION_BCAST,
    ALL_BUT_BCAST = BARRIER | REDUCE | ALLREDUCE,
    EVERY_OPERATION = ALL_BUT_BCAST | BCAST
};

enum { EVERYWHERE = 0, NODE = SG_REACH_NODE, BETWEEN = SG_REACH_INTERNODE };

#define ENTRY(number, name, protocol, operations, reach, parameters, documentation)                \
    {#name, operations, sg_parameters_##parameters, documentation, reach},
const struct sg_algorithm sg_algorithms[] = {SG_ALGORITHMS(ENTRY)};
const int sg_algorithm_count = sizeof sg_algorithms / sizeof *sg_algorithms;

_Static_assert(sizeof sg_algorithms / sizeof *sg_algorithms <= SG_EXECUTED_LIMIT, "bits in a log");

unsigned sg_algorithm_reach(const struct sg_algorithm *algorithm, const int64_t *parameters)
{
    const struct sg_parameter *parameter = algorithm->parameters;

    for (int i = 0; parameters != NULL && parameter[i].name != NULL; i++) {
        if (strcmp(parameter[i].name, "where") == 0 && parameters[i] > 0)
            return algorithm->reach & 1u << (parameters[i] - 1);
    }
    return algorithm->reach;
}

int sg_parameter_find(int algorithm, const char *name)
{
    const struct sg_parameter *parameters = sg_algorithms[algorithm].parameters;

    for (int i = 0; parameters[i].name != NULL; i++) {
        if (strcmp(parameters[i].name, name) == 0)
            return i;
    }
    return -1;
}
