#include "core/operation.h"

const char *const sg_operation_names[SG_OPERATION_COUNT] = {
    [SG_OPERATION_BARRIER] = "barrier",
    [SG_OPERATION_REDUCE] = "reduce",
    [SG_OPERATION_ALLREDUCE] = "allreduce",
};

const char *const sg_operation_regions[SG_OPERATION_COUNT] = {
    [SG_OPERATION_BARRIER] = "MPI_Barrier",
    [SG_OPERATION_REDUCE] = "MPI_Reduce",
    [SG_OPERATION_ALLREDUCE] = "MPI_Allreduce",
};
