/* What libstagger.so exports in C: one thin wrapper per MPI function. It builds the call and hands
 * it on; where stagger is not running the arguments go through as they came.
 */
#include "intercept/wrap.h"
#include "core/clock.h"
#include "intercept/comm.h"
#include "intercept/dispatch.h"
#include "intercept/process.h"
#include "internode/request.h"
#include "mpi/real.h"

/* Each function's passing-through form: register-wide arguments, whatever their types are. */
typedef int (*pass1)(sg_word);
typedef int (*pass2)(sg_word, sg_word);
typedef int (*pass3)(sg_word, sg_word, sg_word);
typedef int (*pass4)(sg_word, sg_word, sg_word, sg_word);
typedef int (*pass6)(sg_word, sg_word, sg_word, sg_word, sg_word, sg_word);
typedef int (*pass7)(sg_word, sg_word, sg_word, sg_word, sg_word, sg_word, sg_word);
typedef int (*pass8)(sg_word, sg_word, sg_word, sg_word, sg_word, sg_word, sg_word, sg_word);

/* Resolves at the first call; a launcher or shell never gets here. */
#define PASS(form, name) (sg_real_is_mpich(), (form)(void (*)(void))sg_real.name)

int sg_wrap_init(sg_word argc, sg_word argv)
{
    uint64_t begin_ns = sg_clock_ns();
    int error = PASS(pass2, Init)(argc, argv);

    if (error == MPI_SUCCESS)
        sg_process_start(begin_ns);
    return error;
}

int sg_wrap_init_thread(sg_word argc, sg_word argv, sg_word required, sg_word provided)
{
    uint64_t begin_ns = sg_clock_ns();
    int error = PASS(pass4, Init_thread)(argc, argv, required, provided);

    if (error == MPI_SUCCESS)
        sg_process_start(begin_ns);
    return error;
}

int sg_wrap_finalize(void)
{
    sg_process_finalize();
    return sg_real_is_mpich(), sg_real.Finalize();
}

int sg_wrap_abort(sg_word comm, sg_word code)
{
    sg_process_abort();
    return PASS(pass2, Abort)(comm, code);
}

static void part(sg_word comm)
{
    if (comm != 0 && sg_process_running())
        sg_comm_part(*(MPI_Comm *)comm);
}

/* State follows by the attribute's delete callback, which runs beside the application's own. */
int sg_wrap_comm_free(sg_word comm)
{
    struct sg_stack_frame before =
        sg_dispatch_hold(__builtin_frame_address(0), __builtin_return_address(0));
    int error;

    part(comm);
    error = PASS(pass1, Comm_free)(comm);
    sg_dispatch_release(before);
    return error;
}

int sg_wrap_comm_disconnect(sg_word comm)
{
    struct sg_stack_frame before =
        sg_dispatch_hold(__builtin_frame_address(0), __builtin_return_address(0));
    int error;

    part(comm);
    error = PASS(pass1, Comm_disconnect)(comm);
    sg_dispatch_release(before);
    return error;
}

int sg_wrap_pcontrol(int level)
{
    if (sg_process_running())
        sg_process_control(level);
    return sg_real_is_mpich(), sg_real.Pcontrol(level);
}

/* Member by member: a struct that is built aside and copied costs a barrier's exchange. */
static inline void fill_call(struct sg_call *call, enum sg_operation operation, sg_word send,
                             sg_word receive, MPI_Count count, sg_word datatype, sg_word op,
                             int root, sg_word comm, int (*pass)(const struct sg_call *))
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
    call->local = NULL;
    call->span = NULL;
    call->devices = false;
    call->rules = NULL;
    call->request = NULL;
    call->pass = pass;
}

static int pass_barrier(const struct sg_call *call)
{
    return sg_real.Barrier(call->comm);
}

int sg_wrap_barrier(sg_word comm, void *caller)
{
    struct sg_call call;

    if (!sg_process_running())
        return PASS(pass1, Barrier)(comm);
    fill_call(&call, SG_OPERATION_BARRIER, 0, 0, 0, 0, 0, -1, comm, pass_barrier);
    return sg_dispatch(&call, caller);
}

static int pass_ibarrier(const struct sg_call *call)
{
    return sg_real.Ibarrier(call->comm, call->request);
}

int sg_wrap_ibarrier(sg_word comm, sg_word request, void *caller)
{
    struct sg_call call;

    if (!sg_process_running() || request == 0)
        return PASS(pass2, Ibarrier)(comm, request);
    fill_call(&call, SG_OPERATION_BARRIER, 0, 0, 0, 0, 0, -1, comm, pass_ibarrier);
    call.request = (MPI_Request *)request;
    return sg_dispatch(&call, caller);
}

static int pass_reduce(const struct sg_call *call)
{
    return sg_real.Reduce(call->send, call->receive, (int)call->count, call->datatype, call->op,
                          call->root, call->comm);
}

static int pass_reduce_c(const struct sg_call *call)
{
    return sg_real.Reduce_c(call->send, call->receive, call->count, call->datatype, call->op,
                            call->root, call->comm);
}

static int pass_allreduce(const struct sg_call *call)
{
    return sg_real.Allreduce(call->send, call->receive, (int)call->count, call->datatype, call->op,
                             call->comm);
}

static int pass_allreduce_c(const struct sg_call *call)
{
    return sg_real.Allreduce_c(call->send, call->receive, call->count, call->datatype, call->op,
                               call->comm);
}

static int pass_ireduce(const struct sg_call *call)
{
    return sg_real.Ireduce(call->send, call->receive, (int)call->count, call->datatype, call->op,
                           call->root, call->comm, call->request);
}

static int pass_ireduce_c(const struct sg_call *call)
{
    return sg_real.Ireduce_c(call->send, call->receive, call->count, call->datatype, call->op,
                             call->root, call->comm, call->request);
}

static int pass_iallreduce(const struct sg_call *call)
{
    return sg_real.Iallreduce(call->send, call->receive, (int)call->count, call->datatype, call->op,
                              call->comm, call->request);
}

static int pass_iallreduce_c(const struct sg_call *call)
{
    return sg_real.Iallreduce_c(call->send, call->receive, call->count, call->datatype, call->op,
                                call->comm, call->request);
}

/* The exported C symbols. caller is taken here: one frame below the application. */
int mpi_init(sg_word argc, sg_word argv) SG_INTERCEPTS("MPI_Init");
int mpi_init_thread(sg_word argc, sg_word argv, sg_word required, sg_word provided)
    SG_INTERCEPTS("MPI_Init_thread");
int mpi_finalize(void) SG_INTERCEPTS("MPI_Finalize");
int mpi_abort(sg_word comm, sg_word code) SG_INTERCEPTS("MPI_Abort");
int mpi_comm_free(sg_word comm) SG_INTERCEPTS("MPI_Comm_free");
int mpi_comm_disconnect(sg_word comm) SG_INTERCEPTS("MPI_Comm_disconnect");
int mpi_pcontrol(int level, ...) SG_INTERCEPTS("MPI_Pcontrol");
int mpi_barrier(sg_word comm) SG_INTERCEPTS("MPI_Barrier");
int mpi_reduce(sg_word send, sg_word receive, sg_word count, sg_word datatype, sg_word op,
               sg_word root, sg_word comm) SG_INTERCEPTS("MPI_Reduce");
int mpi_reduce_c(sg_word send, sg_word receive, sg_word count, sg_word datatype, sg_word op,
                 sg_word root, sg_word comm) SG_INTERCEPTS("MPI_Reduce_c");
int mpi_allreduce(sg_word send, sg_word receive, sg_word count, sg_word datatype, sg_word op,
                  sg_word comm) SG_INTERCEPTS("MPI_Allreduce");
int mpi_allreduce_c(sg_word send, sg_word receive, sg_word count, sg_word datatype, sg_word op,
                    sg_word comm) SG_INTERCEPTS("MPI_Allreduce_c");
int mpi_wait(sg_word request, sg_word status) SG_INTERCEPTS("MPI_Wait");
int mpi_request_get_status(sg_word request, sg_word flag, sg_word status)
    SG_INTERCEPTS("MPI_Request_get_status");
int mpi_ibarrier(sg_word comm, sg_word request) SG_INTERCEPTS("MPI_Ibarrier");
int mpi_ireduce(sg_word send, sg_word receive, sg_word count, sg_word datatype, sg_word op,
                sg_word root, sg_word comm, sg_word request) SG_INTERCEPTS("MPI_Ireduce");
int mpi_ireduce_c(sg_word send, sg_word receive, sg_word count, sg_word datatype, sg_word op,
                  sg_word root, sg_word comm, sg_word request) SG_INTERCEPTS("MPI_Ireduce_c");
int mpi_iallreduce(sg_word send, sg_word receive, sg_word count, sg_word datatype, sg_word op,
                   sg_word comm, sg_word request) SG_INTERCEPTS("MPI_Iallreduce");
int mpi_iallreduce_c(sg_word send, sg_word receive, sg_word count, sg_word datatype, sg_word op,
                     sg_word comm, sg_word request) SG_INTERCEPTS("MPI_Iallreduce_c");

int mpi_init(sg_word argc, sg_word argv)
{
    return sg_wrap_init(argc, argv);
}

int mpi_init_thread(sg_word argc, sg_word argv, sg_word required, sg_word provided)
{
    return sg_wrap_init_thread(argc, argv, required, provided);
}

int mpi_finalize(void)
{
    return sg_wrap_finalize();
}

int mpi_abort(sg_word comm, sg_word code)
{
    return sg_wrap_abort(comm, code);
}

int mpi_comm_free(sg_word comm)
{
    return sg_wrap_comm_free(comm);
}

int mpi_comm_disconnect(sg_word comm)
{
    return sg_wrap_comm_disconnect(comm);
}

int mpi_pcontrol(int level, ...)
{
    return sg_wrap_pcontrol(level);
}

int mpi_barrier(sg_word comm)
{
    return sg_wrap_barrier(comm, __builtin_return_address(0));
}

int mpi_reduce(sg_word send, sg_word receive, sg_word count, sg_word datatype, sg_word op,
               sg_word root, sg_word comm)
{
    struct sg_call call;

    if (!sg_process_running())
        return PASS(pass7, Reduce)(send, receive, count, datatype, op, root, comm);
    fill_call(&call, SG_OPERATION_REDUCE, send, receive, (int)count, datatype, op, (int)root, comm,
              pass_reduce);
    return sg_dispatch(&call, __builtin_return_address(0));
}

int mpi_reduce_c(sg_word send, sg_word receive, sg_word count, sg_word datatype, sg_word op,
                 sg_word root, sg_word comm)
{
    struct sg_call call;

    if (!sg_process_running())
        return PASS(pass7, Reduce_c)(send, receive, count, datatype, op, root, comm);
    fill_call(&call, SG_OPERATION_REDUCE, send, receive, (MPI_Count)count, datatype, op, (int)root,
              comm, pass_reduce_c);
    return sg_dispatch(&call, __builtin_return_address(0));
}

int mpi_allreduce(sg_word send, sg_word receive, sg_word count, sg_word datatype, sg_word op,
                  sg_word comm)
{
    struct sg_call call;

    if (!sg_process_running())
        return PASS(pass6, Allreduce)(send, receive, count, datatype, op, comm);
    fill_call(&call, SG_OPERATION_ALLREDUCE, send, receive, (int)count, datatype, op, -1, comm,
              pass_allreduce);
    return sg_dispatch(&call, __builtin_return_address(0));
}

int mpi_allreduce_c(sg_word send, sg_word receive, sg_word count, sg_word datatype, sg_word op,
                    sg_word comm)
{
    struct sg_call call;

    if (!sg_process_running())
        return PASS(pass6, Allreduce_c)(send, receive, count, datatype, op, comm);
    fill_call(&call, SG_OPERATION_ALLREDUCE, send, receive, (MPI_Count)count, datatype, op, -1,
              comm, pass_allreduce_c);
    return sg_dispatch(&call, __builtin_return_address(0));
}

int mpi_wait(sg_word request, sg_word status)
{
    if (sg_process_running() && request != 0)
        sg_request_wait(*(MPI_Request *)request);
    return PASS(pass2, Wait)(request, status);
}

int mpi_request_get_status(sg_word request, sg_word flag, sg_word status)
{
    if (sg_process_running())
        sg_request_poll((MPI_Request)request);
    return PASS(pass3, Request_get_status)(request, flag, status);
}

int mpi_ibarrier(sg_word comm, sg_word request)
{
    return sg_wrap_ibarrier(comm, request, __builtin_return_address(0));
}

int mpi_ireduce(sg_word send, sg_word receive, sg_word count, sg_word datatype, sg_word op,
                sg_word root, sg_word comm, sg_word request)
{
    struct sg_call call;

    if (!sg_process_running() || request == 0)
        return PASS(pass8, Ireduce)(send, receive, count, datatype, op, root, comm, request);
    fill_call(&call, SG_OPERATION_REDUCE, send, receive, (int)count, datatype, op, (int)root, comm,
              pass_ireduce);
    call.request = (MPI_Request *)request;
    return sg_dispatch(&call, __builtin_return_address(0));
}

int mpi_ireduce_c(sg_word send, sg_word receive, sg_word count, sg_word datatype, sg_word op,
                  sg_word root, sg_word comm, sg_word request)
{
    struct sg_call call;

    if (!sg_process_running() || request == 0)
        return PASS(pass8, Ireduce_c)(send, receive, count, datatype, op, root, comm, request);
    fill_call(&call, SG_OPERATION_REDUCE, send, receive, (MPI_Count)count, datatype, op, (int)root,
              comm, pass_ireduce_c);
    call.request = (MPI_Request *)request;
    return sg_dispatch(&call, __builtin_return_address(0));
}

int mpi_iallreduce(sg_word send, sg_word receive, sg_word count, sg_word datatype, sg_word op,
                   sg_word comm, sg_word request)
{
    struct sg_call call;

    if (!sg_process_running() || request == 0)
        return PASS(pass7, Iallreduce)(send, receive, count, datatype, op, comm, request);
    fill_call(&call, SG_OPERATION_ALLREDUCE, send, receive, (int)count, datatype, op, -1, comm,
              pass_iallreduce);
    call.request = (MPI_Request *)request;
    return sg_dispatch(&call, __builtin_return_address(0));
}

int mpi_iallreduce_c(sg_word send, sg_word receive, sg_word count, sg_word datatype, sg_word op,
                     sg_word comm, sg_word request)
{
    struct sg_call call;

    if (!sg_process_running() || request == 0)
        return PASS(pass7, Iallreduce_c)(send, receive, count, datatype, op, comm, request);
    fill_call(&call, SG_OPERATION_ALLREDUCE, send, receive, (MPI_Count)count, datatype, op, -1,
              comm, pass_iallreduce_c);
    call.request = (MPI_Request *)request;
    return sg_dispatch(&call, __builtin_return_address(0));
}
