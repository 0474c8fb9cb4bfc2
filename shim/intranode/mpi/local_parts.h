/* Shared by the files of shim/intranode/mpi. */
#ifndef SG_INTRANODE_MPI_LOCAL_PARTS_H
#define SG_INTRANODE_MPI_LOCAL_PARTS_H

#include "intranode/mpi/local.h"

/* An operation that the user defined, under way. */
struct sg_user_fold {
    MPI_Op op;
    MPI_Datatype datatype;
    size_t extent_bytes;
    sg_copy copy;  /* NULL: elements have no holes */
    void *scratch; /* for a left operand that is also where the result goes */
    size_t scratch_bytes;
    int error; /* the first that MPI_Reduce_local gave in the call under way */
};

struct sg_user_fold *sg_local_user_fold(struct sg_local *local);

/* The rank that does not come, or is somewhere else: one rank speaks, once an instance. */
void sg_local_report_stall(const struct sg_local *local, const struct sg_call *call,
                           uint64_t position, int seconds);

/* Ranks that disagree on operation or size: both call sites, then the end of the job. */
void sg_local_report_mismatch(const struct sg_local *local, const struct sg_call *call,
                              uint64_t position, int rank) __attribute__((noreturn));

#endif
