/* Generalized requests of the library's work, the list of outstanding ones, and a nonblocking
 * collective as such a request. See request.h. */
#include "internode/request.h"

#include "core/clock.h"
#include "internode/nonblocking.h"
#include "mpi/packed.h"
#include "mpi/real.h"
#include "wait/catch_up.h"
#include "wait/wait.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Tests that follow each other within this time count as one wait: a loop around MPI_Test, or
 * MPI_Waitany. */
#define CLOSE_NS 20000

struct sg_request {
    const struct sg_request_ops *ops;
    void *work;
    MPI_Request handle;
    struct sg_request_times times;
    uint64_t tested_ns;  /* end of the last test */
    struct sg_wait wait; /* wait ladder of tests in close succession */
    atomic_bool is_completed, is_freed;
    atomic_int holders; /* the operation, until it is completed, and the application's request */
    struct sg_request *next, **link; /* link NULL: not outstanding any more */
};

static struct sg_request *outstanding;
static atomic_uint count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- outstanding requests ---- */

static void add(struct sg_request *request)
{
    pthread_mutex_lock(&lock);
    request->next = outstanding;
    request->link = &outstanding;
    if (outstanding != NULL)
        outstanding->link = &request->next;
    outstanding = request;
    atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
}

/* Under the lock. */
static void take_out(struct sg_request *request)
{
    if (request->link == NULL)
        return;
    *request->link = request->next;
    if (request->next != NULL)
        request->next->link = request->link;
    request->link = NULL;
    atomic_fetch_sub_explicit(&count, 1, memory_order_relaxed);
}

static struct sg_request *find(MPI_Request handle)
{
    struct sg_request *request;

    /* Relaxed: the thread that owns the request knows of its nonblocking call. */
    if (atomic_load_explicit(&count, memory_order_relaxed) == 0)
        return NULL;
    pthread_mutex_lock(&lock);
    for (request = outstanding; request != NULL && request->handle != handle;)
        request = request->next;
    pthread_mutex_unlock(&lock);
    return request;
}

/* Removes from the list a completed request that nobody else will complete; NULL: there is none. */
static struct sg_request *take_orphan(void)
{
    struct sg_request *request;

    pthread_mutex_lock(&lock);
    for (request = outstanding; request != NULL; request = request->next) {
        if (atomic_load(&request->is_freed) && request->ops->is_done(request->work))
            break;
    }
    if (request != NULL)
        take_out(request);
    pthread_mutex_unlock(&lock);
    return request;
}

/* ---- completion ---- */

static void let_go(struct sg_request *request)
{
    if (atomic_fetch_sub(&request->holders, 1) > 1)
        return;
    request->ops->free(request->work);
    free(request);
}

/* Completes once, even if MPICH asks again. */
static void complete(struct sg_request *request)
{
    if (atomic_exchange(&request->is_completed, true))
        return;
    request->times.completed_ns = sg_clock_ns();
    sg_catch_up_owe();
    request->ops->complete(request->work, &request->times);
    pthread_mutex_lock(&lock);
    take_out(request);
    pthread_mutex_unlock(&lock);
    sg_real.Grequest_complete(request->handle);
    let_go(request);
}

/* ---- callbacks from MPICH ---- */

static int on_query(void *state, MPI_Status *status)
{
    const struct sg_request *request = state;

    sg_real.Status_set_cancelled(status, 0);
    return request->ops->query(request->work, status);
}

/* MPI_Request_free calls this at once, whether the operation is complete or not. */
static int on_free(void *state)
{
    struct sg_request *request = state;

    atomic_store(&request->is_freed, true);
    let_go(request);
    return MPI_SUCCESS;
}

/* No request can be cancelled. */
static int on_cancel(void *state, int is_complete)
{
    (void)state;
    (void)is_complete;
    return MPI_SUCCESS;
}

/* Called from MPI_Test and the like. Never sleeps: between two tests the program may have other
 * work. */
static int on_poll(void *state, MPI_Status *status)
{
    struct sg_request *request = state;
    uint64_t begin_ns = sg_clock_ns();
    bool follows = begin_ns - request->tested_ns < CLOSE_NS;
    bool done = request->ops->poll(request->work);

    (void)status;
    if (!follows) {
        request->times.tests++;
        request->wait = (struct sg_wait){0};
    } else if (!done) {
        sg_wait_brief(&request->wait);
    }
    if (done && atomic_load(&request->is_completed))
        return MPI_SUCCESS;
    begin_ns = follows ? request->tested_ns : begin_ns;
    request->tested_ns = sg_clock_ns();
    request->times.exposed_ns += request->tested_ns - begin_ns;
    if (done)
        complete(request);
    return MPI_SUCCESS;
}

static void await(struct sg_request *request)
{
    uint64_t begin_ns = sg_clock_ns();

    request->ops->wait(request->work);
    request->times.tests++;
    request->times.exposed_ns += sg_clock_ns() - begin_ns;
    complete(request);
}

/* Called from MPI_Waitall. */
static int on_wait(int states_count, void **states, double timeout_s, MPI_Status *status)
{
    (void)timeout_s;
    (void)status;
    for (int i = 0; i < states_count; i++)
        await(states[i]);
    return MPI_SUCCESS;
}

/* ---- calls from the library ---- */

int sg_request_make(const struct sg_request_ops *ops, void *work, MPI_Request *handle,
                    struct sg_request **out)
{
    struct sg_request *request = calloc(1, sizeof *request);
    int error;

    if (request == NULL)
        return MPI_ERR_OTHER;
    request->ops = ops;
    request->work = work;
    atomic_init(&request->holders, 2);
    error = sg_real.x_Grequest_start(on_query, on_free, on_cancel, on_poll, on_wait, request,
                                     &request->handle);
    if (error != MPI_SUCCESS) {
        free(request);
        return error;
    }
    *handle = request->handle;
    add(request);
    *out = request;
    return MPI_SUCCESS;
}

void sg_request_begun(struct sg_request *request)
{
    request->times.started_ns = sg_clock_ns();
    if (request->ops->is_done(request->work))
        complete(request);
}

void sg_request_reap(void)
{
    struct sg_request *request;

    while ((request = take_orphan()) != NULL)
        complete(request);
}

void sg_request_wait(MPI_Request handle)
{
    struct sg_request *request = find(handle);

    if (request != NULL)
        await(request);
}

void sg_request_poll(MPI_Request handle)
{
    struct sg_request *request = find(handle);

    if (request != NULL)
        on_poll(request, MPI_STATUS_IGNORE);
    sg_catch_up();
}

struct collective {
    struct sg_nonblocking *nonblocking;
    sg_request_completed completed;
    void *context;
    struct sg_packed packed;
    bool takes; /* unpacks the data on completion */
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

static void collective_request_await(void *work)
{
    struct collective *collective = work;

    sg_nonblocking_wait(collective->nonblocking);
}

static void collective_request_complete(void *work, struct sg_request_times *times)
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

static const struct sg_request_ops collective_ops = {
    is_done, poll, collective_request_await, collective_request_complete, query, discard};

/* Packs a broadcast's data if its type may have holes. */
static int prepare(struct collective *collective, const struct sg_internode_plan *plan,
                   struct sg_request **request)
{
    const struct sg_call *call = plan->call;
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
    collective->nonblocking = sg_nonblocking_new(call->internode, &packed);
    if (collective->nonblocking == NULL)
        return MPI_ERR_OTHER;
    return sg_request_make(&collective_ops, collective, call->request, request);
}

int sg_request_start(const struct sg_internode_plan *plan, sg_request_completed completed,
                     void *context, struct sg_call_statistics *statistics)
{
    struct collective *collective = calloc(1, sizeof *collective);
    struct sg_request *request;
    int error = collective != NULL ? prepare(collective, plan, &request) : MPI_ERR_OTHER;

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
