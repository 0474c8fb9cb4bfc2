/* Fortran 2008 symbols of the intercepted routines without a buffer; MPICH's own call PMPI_*
 * directly. (Routines with a buffer, and all of mpif.h and `use mpi`, reach the C symbols.)
 *
 * MPICH's are one call and the store of ierror, which these repeat. If another MPI uses the same
 * names, its own function is called.
 */
#include "intercept/wrap.h"
#include "runtime/settings.h"

static void store(int *ierror, int error)
{
    if (ierror != NULL)
        *ierror = error;
}

#define ORIGINAL(name, parameters) ((void(*) parameters)sg_real_find("mpi_" #name "_f08_"))

/* result: the error of the C wrapper. */
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
