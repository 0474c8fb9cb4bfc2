#include "intercept/test_loop.h"

#include "intercept/comm.h"
#include "mpi/real.h"
#include "mpi/types.h"
#include "wait/hook.h"
#include "wait/processors.h"

struct sg_test_loop sg_test_loop;

static MPI_Request endless = MPI_REQUEST_NULL;

/* ---- start and stop ---- */

enum { NO_HOOK = 1, SHORT = 2, INDIRECT = 4 };

static int on_query(void *state, MPI_Status *status)
{
    return sg_real.Status_set_elements(status, MPI_BYTE, 0);
}

static int on_free(void *state)
{
    return MPI_SUCCESS;
}

static int on_cancel(void *state, int is_complete)
{
    return MPI_SUCCESS;
}

/* What holds on some rank. */
static enum sg_status unite(const struct sg_exchange *exchange, uint32_t *facts)
{
    enum sg_status status = sg_exchange_unite(exchange, facts, sizeof *facts);

    return status != SG_OK ? status : exchange->broadcast(exchange->context, facts, sizeof *facts);
}

enum sg_status sg_test_loop_start(const struct sg_exchange *exchange, bool (*are_direct)(void))
{
    uint32_t facts = 0;
    enum sg_status status;
    int level = MPI_THREAD_SINGLE;

    if (sg_turn_mode() == SG_WAIT_SPIN || sg_real_has_user_threads())
        return SG_OK;
    facts = (sg_hook_chosen() == NULL ? NO_HOOK : 0) | (sg_processors_are_short() ? SHORT : 0);
    status = unite(exchange, &facts);
    if (status != SG_OK || !(facts & NO_HOOK))
        return status;
    facts |= are_direct() ? 0 : INDIRECT;
    if (sg_hook_chosen() == NULL && !(facts & INDIRECT)) {
        sg_real.Grequest_start(on_query, on_free, on_cancel, NULL, &endless);
        atomic_store(&sg_test_loop.messages, true);
    }
    status = unite(exchange, &facts);
    if (status != SG_OK)
        return status;
    sg_real.Query_thread(&level);
    sg_test_loop.threads = level == MPI_THREAD_MULTIPLE;
    atomic_store(&sg_test_loop.collectives,
                 !(facts & INDIRECT) && (sg_turn_mode() != SG_WAIT_AUTO || (facts & SHORT)));
    return SG_OK;
}

void sg_test_loop_stop(void)
{
    MPI_Request request = endless;

    atomic_store(&sg_test_loop.messages, false);
    atomic_store(&sg_test_loop.collectives, false);
    endless = MPI_REQUEST_NULL;
    if (request == MPI_REQUEST_NULL)
        return;
    sg_real.Grequest_complete(request);
    sg_real.Wait(&request, MPI_STATUS_IGNORE);
}

MPI_Request sg_test_loop_endless(void)
{
    return endless;
}

/* ---- communicators ---- */

static bool is_inside(int (*get_group)(MPI_Comm, MPI_Group *), MPI_Comm comm, MPI_Group world)
{
    enum { PIECE = 64 };
    int from[PIECE], to[PIECE], size = 0;
    bool inside = true;
    MPI_Group group;

    if (get_group(comm, &group) != MPI_SUCCESS)
        return false;
    sg_real.Group_size(group, &size);
    for (int first = 0; first < size && inside; first += PIECE) {
        int count = size - first < PIECE ? size - first : PIECE;

        for (int i = 0; i < count; i++)
            from[i] = first + i;
        sg_real.Group_translate_ranks(group, count, from, world, to);
        for (int i = 0; i < count; i++)
            inside = inside && to[i] != MPI_UNDEFINED;
    }
    sg_real.Group_free(&group);
    return inside;
}

/* The same on all ranks: processes of another MPI_COMM_WORLD have made their own choice. */
bool sg_test_loop_covers(MPI_Comm comm)
{
    const struct sg_comm *known;
    MPI_Group world;
    int is_inter = 0;
    bool covers;

    if (comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF)
        return true;
    if (comm == MPI_COMM_NULL)
        return false;
    known = sg_comm_find(comm);
    if (known != NULL && known->managed)
        return true;
    if (sg_real.Comm_test_inter(comm, &is_inter) != MPI_SUCCESS ||
        sg_real.Comm_group(MPI_COMM_WORLD, &world) != MPI_SUCCESS)
        return false;
    covers = is_inside(sg_real.Comm_group, comm, world) &&
             (!is_inter || is_inside(sg_real.Comm_remote_group, comm, world));
    sg_real.Group_free(&world);
    return covers;
}

bool sg_test_loop_begin_reduction(MPI_Comm comm, MPI_Datatype datatype, MPI_Op op)
{
    enum sg_reduction reduction;
    enum sg_element element;

    /* Of whole numbers and bits. */
    return atomic_load_explicit(&sg_test_loop.collectives, memory_order_relaxed) &&
           sg_type_of(datatype, &element) && element <= SG_ELEMENT_LOGICAL &&
           sg_reduction_of(op, &reduction) && sg_test_loop_begin_collective(comm);
}

/* ---- error handlers ----
 *
 * MPICH raises an error that a test finds on the request's communicator, where the request
 * knows it, and else on MPI_COMM_WORLD (those of UCX and of collectives do not). Where the two
 * differ both are put aside, and the error is raised here. A communicator whose handler reads as
 * MPI_ERRORS_ARE_FATAL may have none of its own: then MPI_COMM_WORLD's is right. */

struct handlers {
    bool aside;
    MPI_Errhandler comm, world;
};

/* MPICH's handles of predefined objects carry this mark; others are to be given back. */
static bool is_users(MPI_Errhandler handler)
{
    return (unsigned)handler >> 30 != 1;
}

static struct handlers look_at_handlers(MPI_Comm comm)
{
    struct handlers handlers = {false, MPI_ERRHANDLER_NULL, MPI_ERRHANDLER_NULL};

    if (comm == MPI_COMM_WORLD ||
        sg_real.Comm_get_errhandler(comm, &handlers.comm) != MPI_SUCCESS ||
        sg_real.Comm_get_errhandler(MPI_COMM_WORLD, &handlers.world) != MPI_SUCCESS)
        return handlers;
    handlers.aside = handlers.comm != MPI_ERRORS_ARE_FATAL &&
                     (handlers.comm != handlers.world || is_users(handlers.comm));
    return handlers;
}

static void release(struct handlers *handlers)
{
    if (handlers->comm != MPI_ERRHANDLER_NULL && is_users(handlers->comm))
        sg_real.Errhandler_free(&handlers->comm);
    if (handlers->world != MPI_ERRHANDLER_NULL && is_users(handlers->world))
        sg_real.Errhandler_free(&handlers->world);
}

bool sg_test_loop_raises_on(MPI_Comm comm)
{
    struct handlers handlers;

    if (!sg_test_loop.threads)
        return true;
    handlers = look_at_handlers(comm);
    release(&handlers);
    return !handlers.aside;
}

static int test_aside(const struct handlers *handlers, MPI_Request *request, MPI_Comm comm,
                      int *done, MPI_Status *status)
{
    int error;

    sg_real.Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    sg_real.Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    error = sg_real.Test(request, done, status);
    sg_real.Comm_set_errhandler(MPI_COMM_WORLD, handlers->world);
    sg_real.Comm_set_errhandler(comm, handlers->comm);
    return error;
}

/* ---- the loop ---- */

int sg_test_loop_complete(int error, MPI_Request *request, MPI_Comm comm, MPI_Status *status)
{
    struct handlers handlers;
    int done = 0;

    if (error != MPI_SUCCESS)
        return error;
    handlers = look_at_handlers(comm);
    /* Several threads: an error of another one's would be lost meanwhile. */
    handlers.aside = handlers.aside && !sg_test_loop.threads;
    for (;;) {
        error = handlers.aside ? test_aside(&handlers, request, comm, &done, status)
                               : sg_real.Test(request, &done, status);
        if (done || error != MPI_SUCCESS)
            break;
        sg_turn_idle();
    }
    release(&handlers);
    /* Last: the handler need not return. */
    if (error != MPI_SUCCESS && handlers.aside)
        sg_real.Comm_call_errhandler(comm, error);
    return error;
}
