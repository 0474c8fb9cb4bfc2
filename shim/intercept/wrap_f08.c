/* The Fortran 2008 symbols of the intercepted routines that have no buffer: MPICH's call PMPI_*
 * directly. (Those with a buffer, and all of mpif.h and `use mpi`, reach the C symbols.)
 *
 * MPICH's own are one call and the store of ierror, which these repeat. Another MPI may use the
 * same names; then its own is called.
 */
#include "intercept/process.h"
#include "intercept/wrap.h"
#include "internode/request.h"

typedef void (*original1)(void *);
typedef void (*original2)(void *, void *);
typedef void (*original3)(void *, void *, void *);
typedef void (*original4)(void *, void *, void *, void *);
typedef void (*original5)(void *, void *, void *, void *, void *);
typedef void (*original6)(void *, void *, void *, void *, void *, void *);

#define ORIGINAL(form, symbol) ((form)sg_real_find(symbol))

static void store(int *ierror, int error)
{
    if (ierror != NULL)
        *ierror = error;
}

void f08_init(int *ierror) SG_INTERCEPTS("mpi_init_f08_");
void f08_init_thread(int *required, int *provided, int *ierror)
    SG_INTERCEPTS("mpi_init_thread_f08_");
void f08_finalize(int *ierror) SG_INTERCEPTS("mpi_finalize_f08_");
void f08_abort(MPI_Comm *comm, int *code, int *ierror) SG_INTERCEPTS("mpi_abort_f08_");
void f08_comm_free(MPI_Comm *comm, int *ierror) SG_INTERCEPTS("mpi_comm_free_f08_");
void f08_comm_disconnect(MPI_Comm *comm, int *ierror) SG_INTERCEPTS("mpi_comm_disconnect_f08_");
void f08_pcontrol(int *level, int *ierror) SG_INTERCEPTS("mpi_pcontrol_f08_");
void f08_barrier(MPI_Comm *comm, int *ierror) SG_INTERCEPTS("mpi_barrier_f08_");
void f08_ibarrier(MPI_Comm *comm, MPI_Request *request, int *ierror)
    SG_INTERCEPTS("mpi_ibarrier_f08_");
void f08_wait(MPI_Request *request, void *status, int *ierror) SG_INTERCEPTS("mpi_wait_f08_");
void f08_request_get_status(MPI_Request *request, void *flag, void *status, int *ierror)
    SG_INTERCEPTS("mpi_request_get_status_f08_");
void f08_request_get_status_all(int *count, MPI_Request *requests, void *flag, void *statuses,
                                int *ierror) SG_INTERCEPTS("mpi_request_get_status_all_f08_");
void f08_request_get_status_any(int *count, MPI_Request *requests, int *index, void *flag,
                                void *status, int *ierror)
    SG_INTERCEPTS("mpi_request_get_status_any_f08_");
void f08_request_get_status_some(int *count, MPI_Request *requests, int *done, int *indices,
                                 void *statuses, int *ierror)
    SG_INTERCEPTS("mpi_request_get_status_some_f08_");

void f08_init(int *ierror)
{
    if (!sg_real_is_mpich())
        ORIGINAL(original1, "mpi_init_f08_")(ierror);
    else
        store(ierror, sg_wrap_init(0, 0));
}

void f08_init_thread(int *required, int *provided, int *ierror)
{
    if (!sg_real_is_mpich())
        ORIGINAL(original3, "mpi_init_thread_f08_")(required, provided, ierror);
    else
        store(ierror, sg_wrap_init_thread(0, 0, *required, (sg_word)provided));
}

void f08_finalize(int *ierror)
{
    if (!sg_real_is_mpich())
        ORIGINAL(original1, "mpi_finalize_f08_")(ierror);
    else
        store(ierror, sg_wrap_finalize());
}

void f08_abort(MPI_Comm *comm, int *code, int *ierror)
{
    if (!sg_real_is_mpich())
        ORIGINAL(original3, "mpi_abort_f08_")(comm, code, ierror);
    else
        store(ierror, sg_wrap_abort(*comm, *code));
}

void f08_comm_free(MPI_Comm *comm, int *ierror)
{
    if (!sg_real_is_mpich())
        ORIGINAL(original2, "mpi_comm_free_f08_")(comm, ierror);
    else
        store(ierror, sg_wrap_comm_free((sg_word)comm));
}

void f08_comm_disconnect(MPI_Comm *comm, int *ierror)
{
    if (!sg_real_is_mpich())
        ORIGINAL(original2, "mpi_comm_disconnect_f08_")(comm, ierror);
    else
        store(ierror, sg_wrap_comm_disconnect((sg_word)comm));
}

void f08_pcontrol(int *level, int *ierror)
{
    if (!sg_real_is_mpich())
        ORIGINAL(original2, "mpi_pcontrol_f08_")(level, ierror);
    else
        store(ierror, sg_wrap_pcontrol(*level));
}

void f08_barrier(MPI_Comm *comm, int *ierror)
{
    if (!sg_real_is_mpich())
        ORIGINAL(original2, "mpi_barrier_f08_")(comm, ierror);
    else
        store(ierror, sg_wrap_barrier(*comm, __builtin_return_address(0)));
}

void f08_ibarrier(MPI_Comm *comm, MPI_Request *request, int *ierror)
{
    if (!sg_real_is_mpich())
        ORIGINAL(original3, "mpi_ibarrier_f08_")(comm, request, ierror);
    else
        store(ierror, sg_wrap_ibarrier(*comm, (sg_word)request, __builtin_return_address(0)));
}

/* In all that follow, what is Fortran's is set by MPICH's own. */
void f08_wait(MPI_Request *request, void *status, int *ierror)
{
    if (sg_real_is_mpich() && sg_process_running())
        sg_request_wait(*request);
    ORIGINAL(original3, "mpi_wait_f08_")(request, status, ierror);
}

void f08_request_get_status(MPI_Request *request, void *flag, void *status, int *ierror)
{
    if (sg_real_is_mpich() && sg_process_running())
        sg_request_poll(*request);
    ORIGINAL(original4, "mpi_request_get_status_f08_")(request, flag, status, ierror);
}

static void poll_all(int count, const MPI_Request *requests)
{
    if (!sg_real_is_mpich() || !sg_process_running())
        return;
    for (int i = 0; i < count; i++)
        sg_request_poll(requests[i]);
}

void f08_request_get_status_all(int *count, MPI_Request *requests, void *flag, void *statuses,
                                int *ierror)
{
    poll_all(*count, requests);
    ORIGINAL(original5, "mpi_request_get_status_all_f08_")(count, requests, flag, statuses, ierror);
}

void f08_request_get_status_any(int *count, MPI_Request *requests, int *index, void *flag,
                                void *status, int *ierror)
{
    poll_all(*count, requests);
    ORIGINAL(original6, "mpi_request_get_status_any_f08_")
    (count, requests, index, flag, status, ierror);
}

void f08_request_get_status_some(int *count, MPI_Request *requests, int *done, int *indices,
                                 void *statuses, int *ierror)
{
    poll_all(*count, requests);
    ORIGINAL(original6, "mpi_request_get_status_some_f08_")
    (count, requests, done, indices, statuses, ierror);
}
