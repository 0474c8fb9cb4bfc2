#include "rule/algorithm.h"

#include <string.h>

#define EVERY_OPERATION                                                                            \
    (1u << SG_OPERATION_BARRIER | 1u << SG_OPERATION_REDUCE | 1u << SG_OPERATION_ALLREDUCE)

/* By enum sg_srm_form. */
static const struct sg_parameter srm_parameters[] = {
    {"form", SG_PARAMETER_CHOICE, 0, 0, "auto|flat|climb|chunks|single", "auto",
     "how operands move; auto: by ranks and bytes"},
    {NULL, SG_PARAMETER_INTEGER, 0, 0, NULL, NULL, NULL},
};

const struct sg_algorithm sg_algorithms[] = {
    [SG_ALGORITHM_MPICH] = {"mpich", EVERY_OPERATION, NULL, "MPICH's own, called as it is"},
    [SG_ALGORITHM_HANDOFF] = {"handoff", EVERY_OPERATION, NULL,
                              "a tree climbed by whoever is late; ranks of one machine"},
    [SG_ALGORITHM_SRM] = {"srm", EVERY_OPERATION, srm_parameters,
                          "exchange of lines, or pipelined chunks; ranks of one machine"},
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
