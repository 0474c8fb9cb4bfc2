#include "internode/collective_request.h"

#include "internode/nonblocking.h"
#include "mpi/packed.h"
#include "mpi/real.h"

#include <stdlib.h>

struct collective {
    struct sg_nonblocking *nonblocking;
    sg_request_completed completed;
    void *context;
    struct sg_packed packed;
    bool takes; /* unpacks */
};

static bool is_done(const void *work)
{
    const struct collective *collective = work;

    return sg_nonblocking_is_done(collective->nonblocking);
}

static bool poll(void *work)
{
    struct collective *collective = work;

    return sg_nonblocking_poll(collective->nonblocking);
}

static void await(void *work)
{
    struct collective *collective = work;

    sg_nonblocking_wait(collective->nonblocking);
}

static void complete(void *work, struct sg_request_times *times)
{
    struct collective *collective = work;

    sg_packed_end(&collective->packed, collective->takes);
    times->slice = sg_nonblocking_slice(collective->nonblocking);
    if (collective->completed != NULL)
        collective->completed(collective->context, times);
}

static int query(const void *work, MPI_Status *status)
{
    const struct collective *collective = work;

    sg_real.Status_set_elements(status, MPI_BYTE, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return sg_nonblocking_error(collective->nonblocking);
}

static void discard(void *work)
{
    struct collective *collective = work;

    sg_nonblocking_free(collective->nonblocking);
    free(collective);
}

static const struct sg_request_ops collective_ops = {is_done,  poll,  await,
                                                     complete, query, discard};

/* Packs a broadcast's data where its type may have holes. */
static int prepare(struct collective *collective, const struct sg_call *call,
                   const struct sg_internode_plan *plan, struct sg_request **request)
{
    struct sg_internode_plan packed = *plan;
    int error;

    if (sg_packed_wants(call)) {
        error = sg_packed_begin(call, plan->own != NULL, &collective->packed);
        if (error != MPI_SUCCESS)
            return error;
        collective->takes = plan->own == NULL;
        if (collective->takes)
            packed.result = collective->packed.bytes;
        else
            packed.own = collective->packed.bytes;
    }
    collective->nonblocking = sg_nonblocking_new(call->internode, call, &packed);
    if (collective->nonblocking == NULL)
        return MPI_ERR_OTHER;
    return sg_request_make(&collective_ops, collective, call->request, request);
}

int sg_request_start(const struct sg_call *call, const struct sg_internode_plan *plan,
                     sg_request_completed completed, void *context,
                     struct sg_call_statistics *statistics)
{
    struct collective *collective = calloc(1, sizeof *collective);
    struct sg_request *request;
    int error = collective != NULL ? prepare(collective, call, plan, &request) : MPI_ERR_OTHER;

    if (error != MPI_SUCCESS) {
        if (collective != NULL) {
            sg_packed_end(&collective->packed, false);
            discard(collective);
        }
        return error;
    }
    collective->completed = completed;
    collective->context = context;
    sg_nonblocking_start(collective->nonblocking, statistics);
    sg_request_begun(request);
    return MPI_SUCCESS;
}
