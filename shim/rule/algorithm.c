#include "rule/algorithm.h"

#include <string.h>

#define EVERY_OPERATION                                                                            \
    (1u << SG_OPERATION_BARRIER | 1u << SG_OPERATION_REDUCE | 1u << SG_OPERATION_ALLREDUCE)

const struct sg_algorithm sg_algorithms[] = {
    [SG_ALGORITHM_MPICH] = {"mpich", EVERY_OPERATION, NULL, "MPICH's own, called as it is"},
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
