#include "intercept/unmet.h"

#include "intercept/choose.h"
#include "internode/internode.h"
#include "intranode/mpi/intranode.h"
#include "mpi/types.h"

#include <stdlib.h>

#define KEPT_MAX 8 /* of a communicator; the oldest is forgotten first */

struct sg_unmet {
    int count;
    struct sg_call calls[KEPT_MAX]; /* as they were made, from the oldest */
};

static void take_out(struct sg_unmet *unmet, int index)
{
    unmet->count--;
    for (int i = index; i < unmet->count; i++)
        unmet->calls[i] = unmet->calls[i + 1];
}

void sg_unmet_forget(struct sg_comm *comm)
{
    free(comm->unmet);
    comm->unmet = NULL;
}

/* Whether the others may have made the call without this rank, and it can be made with other
 * buffers. */
static bool may_be_made(const struct sg_comm *comm, const struct sg_call *call)
{
    if ((call->intranode == NULL && call->internode == NULL) || call->count <= 0 ||
        call->bytes == 0 || !sg_type_is_builtin(call->datatype))
        return false;
    if (call->root < 0 || call->root >= comm->size)
        return false;
    return call->operation == SG_OPERATION_REDUCE
               ? call->root == comm->rank && sg_operation_is_predefined(call->op)
               : call->operation == SG_OPERATION_BCAST && call->root != comm->rank;
}

static bool keep(struct sg_comm *comm, const struct sg_call *call)
{
    struct sg_unmet *unmet = comm->unmet;

    if (unmet == NULL)
        unmet = comm->unmet = calloc(1, sizeof *unmet);
    if (unmet == NULL)
        return false;
    if (unmet->count == KEPT_MAX)
        take_out(unmet, 0);
    unmet->calls[unmet->count++] = *call;
    return true;
}

int sg_unmet_pass(const struct sg_call *call)
{
    struct sg_comm *comm = sg_comm_find(call->comm);
    /* Before it fails: its error handler may not return. */
    bool is_kept =
        comm != NULL && call->request == NULL && may_be_made(comm, call) && keep(comm, call);
    int error = call->pass(call);

    if (is_kept && error == MPI_SUCCESS && comm->unmet != NULL && comm->unmet->count > 0)
        take_out(comm->unmet, comm->unmet->count - 1);
    if (is_kept && comm->unmet != NULL && comm->unmet->count == 0)
        sg_unmet_forget(comm);
    return error;
}

/* ---- the others' call ---- */

static bool is_alike(const struct sg_call *one, const struct sg_call *other)
{
    return one->operation == other->operation && one->root == other->root &&
           one->bytes == other->bytes;
}

static enum sg_others others_are_in(const struct sg_call *kept, bool waits)
{
    return kept->internode != NULL ? sg_internode_look(kept->internode, kept, waits)
                                   : sg_intranode_look(kept->intranode, kept, waits);
}

static int pass_nothing(const struct sg_call *call)
{
    (void)call;
    return MPI_SUCCESS;
}

/* False: out of memory. */
static bool take_part(struct sg_comm *comm, const struct sg_call *kept, struct sg_site *site,
                      sg_unmet_run run)
{
    /* Elements take up twice their size at most. */
    size_t room = 2 * (size_t)kept->bytes;
    char *buffers = calloc(2, room);
    struct sg_call call = *kept;
    struct sg_call_statistics statistics = {0};

    if (buffers == NULL)
        return false;
    call.send = kept->operation == SG_OPERATION_BCAST ? buffers + room : buffers;
    call.receive = buffers + room;
    call.pass = pass_nothing;
    run(&call, sg_choose(&call, site, comm), &statistics);
    free(buffers);
    atomic_fetch_add_explicit(&comm->seq, 1, memory_order_relaxed);
    return true;
}

void sg_unmet_meet(struct sg_comm *comm, const struct sg_call *call, struct sg_site *site,
                   bool waits, sg_unmet_run run)
{
    while (comm->unmet != NULL) {
        struct sg_call kept = comm->unmet->calls[0];
        enum sg_others others;

        /* The call is made again: it meets the others' first. */
        if (is_alike(call, &kept))
            return;
        others = others_are_in(&kept, waits);
        if (others == SG_OTHERS_NOWHERE)
            return;
        if (others == SG_OTHERS_ELSEWHERE || !take_part(comm, &kept, site, run)) {
            sg_unmet_forget(comm);
            return;
        }
        take_out(comm->unmet, 0);
        if (comm->unmet->count == 0)
            sg_unmet_forget(comm);
    }
}
