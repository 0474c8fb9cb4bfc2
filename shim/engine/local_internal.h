/* Shared by the files shim/engine/local*.c. */
#ifndef SG_ENGINE_LOCAL_INTERNAL_H
#define SG_ENGINE_LOCAL_INTERNAL_H

#include "engine/local.h"

/* An operation that the user defined, under way. */
struct sg_user_fold {
    MPI_Op op;
    MPI_Datatype datatype;
    size_t extent_bytes;
    void *scratch; /* for a left operand that is also where the result goes */
    size_t scratch_bytes;
};

struct sg_user_fold *sg_local_user_fold(struct sg_local *local);

/* The rank that does not come, or is somewhere else: one rank speaks, once an instance. */
void sg_local_report_stall(const struct sg_local *local, const struct sg_call *call,
                           uint64_t position, int seconds);

/* Ranks that disagree on operation or size: both call sites, then the end of the job. */
void sg_local_report_mismatch(const struct sg_local *local, const struct sg_call *call,
                              uint64_t position, int rank) __attribute__((noreturn));

#endif
