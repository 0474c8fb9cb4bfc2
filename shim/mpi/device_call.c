#include "mpi/device_call.h"

#include "core/status.h"
#include "mpi/device.h"
#include "mpi/real.h"
#include "mpi/report.h"
#include "mpi/types.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic uint64_t calls;

uint64_t sg_device_calls(void)
{
    return atomic_load_explicit(&calls, memory_order_relaxed);
}

static bool is_held(const void *buffer)
{
    return buffer != MPI_IN_PLACE && sg_device_holds(buffer);
}

/* A receive buffer means something only where there is a result. */
static bool receives(const struct sg_call *call)
{
    int rank = -1;

    sg_real.Comm_rank(call->comm, &rank);
    return call->operation == SG_OPERATION_ALLREDUCE || rank == call->root;
}

bool sg_device_has_buffer(const struct sg_call *call)
{
    if (call->count <= 0 || (!is_held(call->send) && !(is_held(call->receive) && receives(call))))
        return false;
    atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
    return true;
}

void sg_device_say_mpich(const struct sg_call *call)
{
    static atomic_bool said;
    int rank = -1;

    if (atomic_load_explicit(&said, memory_order_relaxed) ||
        sg_real.Comm_rank(call->comm, &rank) != MPI_SUCCESS || rank != 0 ||
        atomic_exchange(&said, true))
        return;
    if (call->internode != NULL)
        sg_log("a rank has a GPU's driver: reductions between nodes are MPICH's own");
    else
        sg_log("%s has buffers in a GPU's memory: such calls are MPICH's own",
               sg_report_function(call));
}

static void say_staged(const struct sg_call *call)
{
    static atomic_bool said;
    int rank = -1;

    if (atomic_exchange(&said, true))
        return;
    sg_real.Comm_rank(MPI_COMM_WORLD, &rank);
    sg_log("rank %d: %s has a buffer in a GPU's memory, but the driver (%s) came after the "
           "communicator was set up: such data go through the host's memory",
           rank, sg_report_function(call), sg_device_driver());
}

void sg_device_end_job(const struct sg_call *call)
{
    sg_log("%s has a buffer in a GPU's memory (%s), whose driver came after the communicator was "
           "set up: the job ends; load the driver before MPI_Init",
           sg_report_function(call), sg_device_driver());
    sg_log_drain();
    sg_real.Abort(call->comm, 1);
    abort();
}

/* ---- staging ---- */

/* MPICH alone knows how to reach the buffers: a reduction of one rank is a copy. */
static int copy(const struct sg_call *call, const void *from, void *to, size_t extent_bytes)
{
    int error = MPI_SUCCESS;

    for (MPI_Count done = 0; done < call->count && error == MPI_SUCCESS; done += INT_MAX) {
        MPI_Count left = call->count - done;
        size_t offset_bytes = (size_t)done * extent_bytes;

        error = sg_real.Allreduce((const char *)from + offset_bytes, (char *)to + offset_bytes,
                                  (int)(left < INT_MAX ? left : INT_MAX), call->datatype, call->op,
                                  MPI_COMM_SELF);
    }
    return error;
}

struct stage {
    void *send, *receive; /* on the host; NULL: the program's own is */
};

static int run_between(const struct sg_call *call, const struct sg_choice *choice,
                       struct sg_call_statistics *statistics, sg_device_runner run,
                       const struct stage *stage, size_t extent_bytes)
{
    struct sg_call host = *call;
    int error = MPI_SUCCESS;

    if (stage->send != NULL) {
        error = copy(call, call->send, stage->send, extent_bytes);
        host.send = stage->send;
    }
    if (stage->receive != NULL) {
        if (call->send == MPI_IN_PLACE)
            error = copy(call, call->receive, stage->receive, extent_bytes);
        host.receive = stage->receive;
    }
    if (error == MPI_SUCCESS)
        error = run(&host, choice, statistics);
    if (error == MPI_SUCCESS && stage->receive != NULL)
        error = copy(call, stage->receive, call->receive, extent_bytes);
    return error;
}

int sg_device_run_staged(const struct sg_call *call, const struct sg_choice *choice,
                         struct sg_call_statistics *statistics, sg_device_runner run)
{
    struct stage stage = {NULL, NULL};
    bool has_send = is_held(call->send);
    bool has_receive = is_held(call->receive) && receives(call);
    enum sg_element element;
    size_t extent_bytes, bytes;
    int error;

    /* Of other types the call is MPICH's on all ranks. */
    if (!sg_type_of(call->datatype, &element))
        return run(call, choice, statistics);
    say_staged(call);
    extent_bytes = sg_element_extent_bytes(element);
    bytes = (size_t)call->count * extent_bytes;
    if (has_send)
        stage.send = malloc(bytes);
    if (has_receive)
        stage.receive = malloc(bytes);
    if ((has_send && stage.send == NULL) || (has_receive && stage.receive == NULL))
        error = sg_real.Comm_call_errhandler(call->comm, MPI_ERR_NO_MEM);
    else
        error = run_between(call, choice, statistics, run, &stage, extent_bytes);
    free(stage.send);
    free(stage.receive);
    return error;
}
