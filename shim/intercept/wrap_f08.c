/* The Fortran 2008 symbols of the intercepted routines that have no buffer: MPICH's call PMPI_*
 * directly. (Those with a buffer, and all of mpif.h and `use mpi`, reach the C symbols.)
 *
 * MPICH's own are one call and the store of ierror, which these repeat. Another MPI may use the
 * same names; then its own is called.
 */
#include "intercept/wrap.h"
#include "internode/request.h"
#include "runtime/process.h"

static void store(int *ierror, int error)
{
    if (ierror != NULL)
        *ierror = error;
}

#define ORIGINAL(name, parameters) ((void(*) parameters)sg_real_find("mpi_" #name "_f08_"))

/* result: the error of our wrapper, in C. */
#define F08(name, parameters, arguments, result)                                                   \
    void f08_##name parameters SG_INTERCEPTS("mpi_" #name "_f08_");                                \
    void f08_##name parameters                                                                     \
    {                                                                                              \
        if (!sg_real_is_mpich())                                                                   \
            ORIGINAL(name, parameters) arguments;                                                  \
        else                                                                                       \
            store(ierror, result);                                                                 \
    }

F08(init, (int *ierror), (ierror), sg_wrap_init(0, 0))
F08(init_thread, (int *required, int *provided, int *ierror), (required, provided, ierror),
    sg_wrap_init_thread(0, 0, *required, (sg_word)provided))
F08(finalize, (int *ierror), (ierror), sg_wrap_finalize())
F08(session_init, (MPI_Info * info, MPI_Errhandler *handler, MPI_Session *session, int *ierror),
    (info, handler, session, ierror), sg_wrap_session_init(*info, *handler, (sg_word)session))
F08(session_finalize, (MPI_Session * session, int *ierror), (session, ierror),
    sg_wrap_session_finalize((sg_word)session))
F08(abort, (MPI_Comm * comm, int *code, int *ierror), (comm, code, ierror),
    sg_wrap_abort(*comm, *code))
F08(comm_free, (MPI_Comm * comm, int *ierror), (comm, ierror), sg_wrap_comm_free((sg_word)comm))
F08(comm_disconnect, (MPI_Comm * comm, int *ierror), (comm, ierror),
    sg_wrap_comm_disconnect((sg_word)comm))
F08(comm_dup, (MPI_Comm * comm, MPI_Comm *copy, int *ierror), (comm, copy, ierror),
    sg_wrap_comm_dup(*comm, (sg_word)copy))
F08(pcontrol, (int *level, int *ierror), (level, ierror), sg_wrap_pcontrol(*level))
F08(barrier, (MPI_Comm * comm, int *ierror), (comm, ierror),
    sg_wrap_barrier(*comm, __builtin_return_address(0)))
F08(ibarrier, (MPI_Comm * comm, MPI_Request *request, int *ierror), (comm, request, ierror),
    sg_wrap_ibarrier(*comm, (sg_word)request, __builtin_return_address(0)))

/* MPICH's own sets what is Fortran's. before: what stagger does first, where it is running. */
#define F08_BEFORE(name, parameters, arguments, before)                                            \
    void f08_##name parameters SG_INTERCEPTS("mpi_" #name "_f08_");                                \
    void f08_##name parameters                                                                     \
    {                                                                                              \
        if (sg_real_is_mpich() && sg_process_running())                                            \
            before;                                                                                \
        ORIGINAL(name, parameters) arguments;                                                      \
    }

F08_BEFORE(wait, (MPI_Request * request, void *status, int *ierror), (request, status, ierror),
           sg_request_wait(*request))
F08_BEFORE(request_get_status, (MPI_Request * request, void *flag, void *status, int *ierror),
           (request, flag, status, ierror), sg_request_poll(*request))
F08_BEFORE(request_get_status_all,
           (int *count, MPI_Request *requests, void *flag, void *statuses, int *ierror),
           (count, requests, flag, statuses, ierror), sg_wrap_poll(*count, requests))
F08_BEFORE(request_get_status_any,
           (int *count, MPI_Request *requests, int *index, void *flag, void *status, int *ierror),
           (count, requests, index, flag, status, ierror), sg_wrap_poll(*count, requests))
F08_BEFORE(request_get_status_some,
           (int *count, MPI_Request *requests, int *done, int *indices, void *statuses,
            int *ierror),
           (count, requests, done, indices, statuses, ierror), sg_wrap_poll(*count, requests))
