/* Parts of the wrappers of MPI functions, and the C names of some wrappers for the Fortran 2008
 * symbols of routines without a buffer: MPICH's own symbols call PMPI_* and would bypass the C
 * wrappers.
 */
#ifndef SG_INTERCEPT_WRAP_H
#define SG_INTERCEPT_WRAP_H

#include "mpi/call.h"
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

/* Runs a call while sg_process_running: finds call site and communicator, chooses an algorithm,
 * runs the engine, writes the log. Returns what the MPI call returns. Once a site, a communicator
 * and a size class have been seen, this path has no lock, no malloc and no system call (except one
 * fallocate every 16384 calls). */
int sg_dispatch(struct sg_call *call, void *return_address);

/* Sets each member: building a struct aside and copying it costs as much as a barrier's
 * exchange. */
static inline void sg_wrap_fill(struct sg_call *call, enum sg_operation operation, sg_word send,
                                sg_word receive, MPI_Count count, sg_word datatype, sg_word op,
                                int root, sg_word comm, MPI_Request *request,
                                int (*pass)(const struct sg_call *))
{
    call->operation = operation;
    call->send = (const void *)send;
    call->receive = (void *)receive;
    call->count = count;
    call->datatype = (MPI_Datatype)datatype;
    call->op = (MPI_Op)op;
    call->root = root;
    call->comm = (MPI_Comm)comm;
    call->bytes = 0;
    call->arrival_ns = 0;
    call->site = NULL;
    call->name.recorded = false;
    call->intranode = NULL;
    call->internode = NULL;
    call->devices = false;
    call->rules = NULL;
    call->original = NULL;
    call->request = request;
    call->pass = pass;
}

/* Returns the error that a Fortran 2008 routine stored in ierror; the caller may omit ierror. */
static inline int sg_word_error(sg_word ierror)
{
    return ierror != 0 ? *(const int *)ierror : MPI_SUCCESS;
}

#endif
