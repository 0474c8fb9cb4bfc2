/* C names of the wrappers, for the Fortran 2008 symbols of routines without a buffer: MPICH's own
 * symbols call PMPI_* and would bypass the C wrappers.
 */
#ifndef SG_INTERCEPT_WRAP_H
#define SG_INTERCEPT_WRAP_H

#include "mpi/real.h"

int sg_wrap_init(sg_word argc, sg_word argv);
int sg_wrap_init_thread(sg_word argc, sg_word argv, sg_word required, sg_word provided);
int sg_wrap_finalize(void);
int sg_wrap_session_init(sg_word info, sg_word handler, sg_word session);
int sg_wrap_session_finalize(sg_word session);
int sg_wrap_abort(sg_word comm, sg_word code);
int sg_wrap_comm_free(sg_word comm);
int sg_wrap_comm_disconnect(sg_word comm);
int sg_wrap_comm_dup(sg_word comm, sg_word copy);
int sg_wrap_pcontrol(int level, ...);
/* caller: the return address into the application. */
int sg_wrap_barrier(sg_word comm, void *caller);
int sg_wrap_ibarrier(sg_word comm, sg_word request, void *caller);

/* Call before the functions that test several requests without polling them. requests: maybe
 * NULL. */
void sg_wrap_poll(int count, const MPI_Request *requests);

#endif
