/* The collectives stagger handles. The numbers are stored in logs: append only. */
#ifndef SG_CORE_OPERATION_H
#define SG_CORE_OPERATION_H

#include <stdbool.h>

enum sg_operation {
    SG_OPERATION_BARRIER = 0,
    SG_OPERATION_REDUCE = 1,
    SG_OPERATION_ALLREDUCE = 2,
    SG_OPERATION_BCAST = 3,
    SG_OPERATION_COUNT = 4
};

/* "barrier", "reduce", "allreduce", "bcast": as rules and reports spell them. */
extern const char *const sg_operation_names[SG_OPERATION_COUNT];
/* "MPI_Barrier", ...: as the trace's regions are called. */
extern const char *const sg_operation_regions[SG_OPERATION_COUNT];
/* "ibarrier", ... and "MPI_Ibarrier", ...: so are their nonblocking forms. */
extern const char *const sg_operation_nonblocking_names[SG_OPERATION_COUNT];
extern const char *const sg_operation_nonblocking_regions[SG_OPERATION_COUNT];

/* Whether one of its members is not like the others. */
static inline bool sg_operation_has_root(enum sg_operation operation)
{
    return operation == SG_OPERATION_REDUCE || operation == SG_OPERATION_BCAST;
}

/* Whether no member can leave before all have come. */
static inline bool sg_operation_synchronises(enum sg_operation operation)
{
    return !sg_operation_has_root(operation);
}

#endif
