#include "internode/request.h"

#include "core/clock.h"
#include "internode/nonblocking.h"
#include "mpi/packed.h"
#include "mpi/real.h"
#include "wait/wait.h"

#include <pthread.h>
#include <stdlib.h>

/* Tests that follow each other within this time count as one wait: a loop around MPI_Test, or
 * MPI_Waitany. */
#define CLOSE_NS 20000

struct request {
    struct sg_nonblocking *nonblocking;
    MPI_Request handle;
    sg_request_completed completed;
    void *context;
    struct sg_request_times times;
    struct sg_packed packed;
    bool takes;          /* unpacks */
    uint64_t tested_ns;  /* a test was over */
    struct sg_wait wait; /* of the tests that follow each other */
    atomic_bool is_completed, is_freed;
    atomic_int holders; /* the operation, until it is completed, and the application's request */
    struct request *next, **link; /* link NULL: not outstanding any more */
};

static struct request *outstanding;
static atomic_uint count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- the requests that are outstanding ---- */

static void add(struct request *request)
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
static void take_out(struct request *request)
{
    if (request->link == NULL)
        return;
    *request->link = request->next;
    if (request->next != NULL)
        request->next->link = request->link;
    request->link = NULL;
    atomic_fetch_sub_explicit(&count, 1, memory_order_relaxed);
}

static struct request *find(MPI_Request handle)
{
    struct request *request;

    /* Relaxed: the thread that owns the request knows of its nonblocking call. */
    if (atomic_load_explicit(&count, memory_order_relaxed) == 0)
        return NULL;
    pthread_mutex_lock(&lock);
    for (request = outstanding; request != NULL && request->handle != handle;)
        request = request->next;
    pthread_mutex_unlock(&lock);
    return request;
}

/* One that nobody else will complete, removed from the list; NULL: there is none. */
static struct request *take_orphan(void)
{
    struct request *request;

    pthread_mutex_lock(&lock);
    for (request = outstanding; request != NULL; request = request->next) {
        if (atomic_load(&request->is_freed) && sg_nonblocking_is_done(request->nonblocking))
            break;
    }
    if (request != NULL)
        take_out(request);
    pthread_mutex_unlock(&lock);
    return request;
}

/* ---- the end of one ---- */

static void let_go(struct request *request)
{
    if (atomic_fetch_sub(&request->holders, 1) > 1)
        return;
    sg_nonblocking_free(request->nonblocking);
    free(request);
}

/* Once, even if MPICH asks again. */
static void complete(struct request *request)
{
    if (atomic_exchange(&request->is_completed, true))
        return;
    sg_packed_end(&request->packed, request->takes);
    request->times.completed_ns = sg_clock_ns();
    request->times.slice = sg_nonblocking_slice(request->nonblocking);
    if (request->completed != NULL)
        request->completed(request->context, &request->times);
    pthread_mutex_lock(&lock);
    take_out(request);
    pthread_mutex_unlock(&lock);
    sg_real.Grequest_complete(request->handle);
    let_go(request);
}

/* ---- what MPICH calls ---- */

static int on_query(void *state, MPI_Status *status)
{
    (void)state;
    sg_real.Status_set_elements(status, MPI_BYTE, 0);
    sg_real.Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

/* MPI_Request_free calls it at once, whether the operation is complete or not. */
static int on_free(void *state)
{
    struct request *request = state;

    atomic_store(&request->is_freed, true);
    let_go(request);
    return MPI_SUCCESS;
}

/* Collectives cannot be cancelled. */
static int on_cancel(void *state, int is_complete)
{
    (void)state;
    (void)is_complete;
    return MPI_SUCCESS;
}

/* From MPI_Test and the like. It never sleeps: between two tests the program may have other work.
 */
static int on_poll(void *state, MPI_Status *status)
{
    struct request *request = state;
    uint64_t begin_ns = sg_clock_ns();
    bool follows = begin_ns - request->tested_ns < CLOSE_NS;
    bool done = sg_nonblocking_poll(request->nonblocking);

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

static void await(struct request *request)
{
    uint64_t begin_ns = sg_clock_ns();

    sg_nonblocking_wait(request->nonblocking);
    request->times.tests++;
    request->times.exposed_ns += sg_clock_ns() - begin_ns;
    complete(request);
}

/* From MPI_Waitall. */
static int on_wait(int states_count, void **states, double timeout_s, MPI_Status *status)
{
    (void)timeout_s;
    (void)status;
    for (int i = 0; i < states_count; i++)
        await(states[i]);
    return MPI_SUCCESS;
}

/* ---- what the library calls ---- */

/* Packs a broadcast's data where its type may have holes. */
static int prepare(struct request *request, const struct sg_call *call,
                   const struct sg_internode_plan *plan)
{
    struct sg_internode_plan packed = *plan;
    int error;

    if (sg_packed_wants(call)) {
        error = sg_packed_begin(call, plan->own != NULL, &request->packed);
        if (error != MPI_SUCCESS)
            return error;
        request->takes = plan->own == NULL;
        if (request->takes)
            packed.result = request->packed.bytes;
        else
            packed.own = request->packed.bytes;
    }
    request->nonblocking = sg_nonblocking_new(call->internode, call, &packed);
    if (request->nonblocking == NULL)
        return MPI_ERR_OTHER;
    return sg_real.x_Grequest_start(on_query, on_free, on_cancel, on_poll, on_wait, request,
                                    &request->handle);
}

int sg_request_start(const struct sg_call *call, const struct sg_internode_plan *plan,
                     sg_request_completed completed, void *context,
                     struct sg_call_statistics *statistics)
{
    struct request *request = calloc(1, sizeof *request);
    int error = request != NULL ? prepare(request, call, plan) : MPI_ERR_OTHER;

    if (error != MPI_SUCCESS) {
        if (request != NULL) {
            sg_packed_end(&request->packed, false);
            sg_nonblocking_free(request->nonblocking);
        }
        free(request);
        return error;
    }
    request->completed = completed;
    request->context = context;
    atomic_init(&request->holders, 2);
    *call->request = request->handle;
    add(request);
    sg_nonblocking_start(request->nonblocking, statistics);
    request->times.started_ns = sg_clock_ns();
    if (sg_nonblocking_is_done(request->nonblocking))
        complete(request);
    return MPI_SUCCESS;
}

void sg_request_reap(void)
{
    struct request *request;

    while ((request = take_orphan()) != NULL)
        complete(request);
}

void sg_request_wait(MPI_Request handle)
{
    struct request *request = find(handle);

    if (request != NULL)
        await(request);
}

void sg_request_poll(MPI_Request handle)
{
    struct request *request = find(handle);

    if (request != NULL)
        on_poll(request, MPI_STATUS_IGNORE);
}
