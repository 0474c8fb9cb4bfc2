/* Fortran 2008 symbols of the intercepted routines without a buffer; MPICH's own call PMPI_*
 * directly. (Routines with a buffer, and all of mpif.h and `use mpi`, reach the C symbols.)
 *
 * MPICH's are one call and the store of ierror, which these repeat. If another MPI uses the same
 * names, its own function is called.
 */
#include "intercept/passing.h"
#include "intercept/wrap.h"
#include "internode/request.h"
#include "profile/profile.h"
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

/* MPICH's own function sets Fortran's results. before: runs first, while stagger runs; error: the
 * last argument, ierror. */
#define F08_BEFORE(name, function, count, error, before)                                           \
    void f08_##name(PARAMETERS(count)) SG_INTERCEPTS("mpi_" #name "_f08_");                        \
    void f08_##name(PARAMETERS(count))                                                             \
    {                                                                                              \
        sg_word words[] = {GIVEN(count)};                                                          \
        struct sg_profile_call call;                                                               \
        bool counted = sg_profile_begin(&call, SG_FUNCTION_##function, true, words,                \
                                        __builtin_frame_address(0), __builtin_return_address(0));  \
                                                                                                   \
        if (sg_real_is_mpich() && sg_process_running())                                            \
            before;                                                                                \
        ORIGINAL(name, (PARAMETERS(count)))(PASSED(count));                                        \
        if (counted)                                                                               \
            sg_profile_end(&call, words, sg_word_error(error));                                    \
    }

F08_BEFORE(wait, Wait, 3, c, sg_request_wait(*(const MPI_Request *)a))
F08_BEFORE(request_get_status, Request_get_status, 4, d, sg_request_poll(*(const MPI_Request *)a))
F08_BEFORE(request_get_status_all, Request_get_status_all, 5, e,
           sg_wrap_poll(*(const int *)a, (const MPI_Request *)b))
F08_BEFORE(request_get_status_any, Request_get_status_any, 6, f,
           sg_wrap_poll(*(const int *)a, (const MPI_Request *)b))
F08_BEFORE(request_get_status_some, Request_get_status_some, 6, f,
           sg_wrap_poll(*(const int *)a, (const MPI_Request *)b))
