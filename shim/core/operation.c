#include "core/operation.h"

const char *const sg_operation_names[SG_OPERATION_COUNT] = {
    [SG_OPERATION_BARRIER] = "barrier",
    [SG_OPERATION_REDUCE] = "reduce",
    [SG_OPERATION_ALLREDUCE] = "allreduce",
    [SG_OPERATION_BCAST] = "bcast",
};

const char *const sg_operation_regions[SG_OPERATION_COUNT] = {
    [SG_OPERATION_BARRIER] = "MPI_Barrier",
    [SG_OPERATION_REDUCE] = "MPI_Reduce",
    [SG_OPERATION_ALLREDUCE] = "MPI_Allreduce",
    [SG_OPERATION_BCAST] = "MPI_Bcast",
};

const char *const sg_operation_nonblocking_names[SG_OPERATION_COUNT] = {
    [SG_OPERATION_BARRIER] = "ibarrier",
    [SG_OPERATION_REDUCE] = "ireduce",
    [SG_OPERATION_ALLREDUCE] = "iallreduce",
    [SG_OPERATION_BCAST] = "ibcast",
};

const char *const sg_operation_nonblocking_regions[SG_OPERATION_COUNT] = {
    [SG_OPERATION_BARRIER] = "MPI_Ibarrier",
    [SG_OPERATION_REDUCE] = "MPI_Ireduce",
    [SG_OPERATION_ALLREDUCE] = "MPI_Iallreduce",
    [SG_OPERATION_BCAST] = "MPI_Ibcast",
};
