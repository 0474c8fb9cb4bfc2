/* The collectives stagger handles. The numbers are stored in logs: append only. */
#ifndef SG_CORE_OPERATION_H
#define SG_CORE_OPERATION_H

enum sg_operation {
    SG_OPERATION_BARRIER = 0,
    SG_OPERATION_REDUCE = 1,
    SG_OPERATION_ALLREDUCE = 2,
    SG_OPERATION_COUNT = 3
};

/* "barrier", "reduce", "allreduce": as rules and reports spell them. */
extern const char *const sg_operation_names[SG_OPERATION_COUNT];
/* "MPI_Barrier", ...: as the trace's regions are called. */
extern const char *const sg_operation_regions[SG_OPERATION_COUNT];
/* "ibarrier", ... and "MPI_Ibarrier", ...: so are their nonblocking forms. */
extern const char *const sg_operation_nonblocking_names[SG_OPERATION_COUNT];
extern const char *const sg_operation_nonblocking_regions[SG_OPERATION_COUNT];

#endif
