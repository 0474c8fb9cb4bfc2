/* A nonblocking call's chunks follow those of the calls before it, in order. Its protocol
 * progresses at the endpoint, like that of any call. Entering instances and fetching results is up
 * to this process: the application's threads do it in every call of the library, and the helper
 * thread does it while a chunk waits for a place. A program may start more calls than there are
 * places and then wait, in MPI, for something else.
 */
#include "internode/nonblocking.h"

#include "internode/endpoint.h"
#include "internode/health.h"
#include "internode/statistics.h"
#include "internode/waiting.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

struct sg_nonblocking {
    struct sg_internode *internode; /* valid until it is done */
    struct sg_call call;
    struct sg_internode_plan plan;
    struct sg_nonblocking *next; /* of the communicator's, in their order */
    _Atomic bool done;
    struct sg_chunk_window window;
    struct sg_chunk chunks[];
};

/* The nonblocking calls of all communicators: a thread that works on one that is not complete keeps
 * its communicator from being freed. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct sg_nonblocking *sg_nonblocking_new(struct sg_internode *internode,
                                          const struct sg_call *call,
                                          const struct sg_internode_plan *plan)
{
    size_t count = sg_chunk_count(call, plan);
    size_t room = count < SG_INTERNODE_INSTANCES_MAX ? count : SG_INTERNODE_INSTANCES_MAX;
    struct sg_nonblocking *nonblocking =
        calloc(1, sizeof *nonblocking + room * sizeof *nonblocking->chunks);

    if (nonblocking == NULL)
        return NULL;
    nonblocking->internode = internode;
    nonblocking->call = *call;
    nonblocking->plan = *plan;
    nonblocking->window = (struct sg_chunk_window){.call = &nonblocking->call,
                                                   .plan = &nonblocking->plan,
                                                   .count = count,
                                                   .width = internode->depth,
                                                   .chunks = nonblocking->chunks};
    return nonblocking;
}

void sg_nonblocking_free(struct sg_nonblocking *nonblocking)
{
    free(nonblocking);
}

bool sg_nonblocking_is_done(const struct sg_nonblocking *nonblocking)
{
    /* Acquire: results are there. */
    return atomic_load_explicit(&nonblocking->done, memory_order_acquire);
}

uint64_t sg_nonblocking_slice(const struct sg_nonblocking *nonblocking)
{
    return nonblocking->window.slice;
}

/* ---- the nonblocking calls of a communicator ---- */

/* Chunks arrive in their order. */
static bool has_arrived(const struct sg_nonblocking *nonblocking)
{
    const struct sg_chunk_window *window = &nonblocking->window;

    return window->begun == window->count &&
           window->chunks[(window->count - 1) % window->width].stage >= SG_CHUNK_ARRIVED;
}

/* Under the lock. */
static void step_all(struct sg_internode *internode)
{
    struct sg_nonblocking *before = NULL, *next;

    for (struct sg_nonblocking *nonblocking = internode->first_nonblocking; nonblocking != NULL;
         nonblocking = next) {
        next = nonblocking->next;
        if (!sg_chunk_window_step(internode, &nonblocking->window)) {
            /* The calls behind it have not, either. */
            if (!has_arrived(nonblocking))
                break;
            before = nonblocking;
            continue;
        }
        if (before == NULL)
            internode->first_nonblocking = next;
        else
            before->next = next;
        if (next == NULL)
            internode->last_nonblocking = before;
        atomic_fetch_sub_explicit(&internode->nonblocking_count, 1, memory_order_release);
        /* Release: the results are there. From here on the nonblocking call may be gone. */
        atomic_store_explicit(&nonblocking->done, true, memory_order_release);
    }
    atomic_store(&internode->client.waits,
                 internode->last_nonblocking != NULL && !has_arrived(internode->last_nonblocking));
}

void sg_nonblocking_advance(struct sg_internode *internode)
{
    /* Relaxed: a thread that has just started a call advances it itself. */
    if (atomic_load_explicit(&internode->nonblocking_count, memory_order_relaxed) == 0)
        return;
    pthread_mutex_lock(&lock);
    step_all(internode);
    pthread_mutex_unlock(&lock);
}

bool sg_nonblocking_step_behind(struct sg_internode *internode, struct sg_chunk_window *window)
{
    bool has_left;

    pthread_mutex_lock(&lock);
    step_all(internode);
    has_left = sg_chunk_window_step(internode, window);
    pthread_mutex_unlock(&lock);
    return has_left;
}

static void let_go(struct sg_internode *internode)
{
    atomic_fetch_sub_explicit(&internode->users, 1, memory_order_release);
}

void sg_nonblocking_await_users(struct sg_internode *internode)
{
    /* Acquire: pairs with the release above. They wait for nobody. */
    while (atomic_load_explicit(&internode->users, memory_order_acquire) > 0)
        sched_yield();
}

/* ---- one nonblocking call ---- */

void sg_nonblocking_start(struct sg_nonblocking *nonblocking, struct sg_call_statistics *statistics)
{
    struct sg_internode *internode = nonblocking->internode;

    statistics->executed = nonblocking->plan.executed;
    atomic_store_explicit(&internode->header->has_nonblocking, true, memory_order_relaxed);
    sg_internode_enter(internode);
    sg_chunk_window_begin(internode, &nonblocking->window);
    pthread_mutex_lock(&lock);
    if (internode->last_nonblocking != NULL)
        internode->last_nonblocking->next = nonblocking;
    else
        internode->first_nonblocking = nonblocking;
    internode->last_nonblocking = nonblocking;
    atomic_fetch_add_explicit(&internode->nonblocking_count, 1, memory_order_relaxed);
    step_all(internode);
    pthread_mutex_unlock(&lock);
    sg_internode_leave(internode);
    sg_progress_look_after(&internode->client);
    sg_internode_read_counters(internode, statistics);
}

/* The communicator, which is kept until it is released; NULL: the nonblocking call is complete. */
static struct sg_internode *hold(struct sg_nonblocking *nonblocking)
{
    struct sg_internode *internode = NULL;

    if (sg_nonblocking_is_done(nonblocking))
        return NULL;
    pthread_mutex_lock(&lock);
    if (!sg_nonblocking_is_done(nonblocking)) {
        internode = nonblocking->internode;
        atomic_fetch_add_explicit(&internode->users, 1, memory_order_relaxed);
    }
    pthread_mutex_unlock(&lock);
    return internode;
}

bool sg_nonblocking_poll(struct sg_nonblocking *nonblocking)
{
    struct sg_internode *internode = hold(nonblocking);

    if (internode == NULL)
        return true;
    sg_internode_progress(internode);
    sg_nonblocking_advance(internode);
    /* A program may call nothing else while it waits. */
    sg_internode_check_health(internode);
    let_go(internode);
    return sg_nonblocking_is_done(nonblocking);
}

struct awaited {
    struct sg_internode *internode;
    struct sg_nonblocking *nonblocking;
};

static bool is_done(void *context)
{
    struct awaited *awaited = context;

    sg_internode_progress(awaited->internode);
    sg_nonblocking_advance(awaited->internode);
    return sg_nonblocking_is_done(awaited->nonblocking);
}

void sg_nonblocking_wait(struct sg_nonblocking *nonblocking)
{
    struct sg_internode *internode = hold(nonblocking);
    struct awaited awaited = {internode, nonblocking};

    if (internode == NULL)
        return;
    sg_internode_enter(internode);
    sg_internode_wait(internode,
                      &(struct sg_internode_waiting){.call = &nonblocking->call,
                                                     .position = nonblocking->window.position},
                      is_done, &awaited);
    sg_internode_leave(internode);
    let_go(internode);
}
