/* A nonblocking call's chunks follow those of the calls before it, in order. Its protocol
 * progresses at the endpoint, like that of any call. Only this process enters its instances and
 * fetches their results: application threads in every call of the library, and the helper thread
 * while a chunk waits for a ring slot. A program may start more calls than there are slots and then
 * wait, in MPI, for something else.
 *
 * A blocking call that waits for nobody becomes one without a caller, with a copy of its operand.
 * The helper thread completes it, in any mode.
 */
#include "internode/nonblocking.h"

#include "internode/communicator.h"
#include "internode/connect.h"
#include "internode/disagree.h"
#include "internode/endpoint.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* Limit for a rank's calls on a communicator without a caller, as inside a node. */
#define KEPT_BYTES_MAX (4u << 20)

/* State of a call that takes part in another call than its own (disagree.c). */
struct conformed {
    struct sg_others_call others;
    struct sg_chunk chunks[];
};

struct sg_nonblocking {
    struct sg_internode *internode; /* valid until it is done */
    struct sg_call call;
    struct sg_internode_plan plan;
    struct sg_nonblocking *next; /* next of the communicator's calls, in order */
    _Atomic bool done;
    int error;                   /* error class */
    struct conformed *conformed; /* NULL: the call is alike on all ranks */
    size_t kept_bytes; /* size of a call without a caller, which nobody else frees; else 0 */
    struct sg_chunk_window window;
    struct sg_chunk chunks[]; /* followed by the copied operand */
};

/* Protects the nonblocking calls of all communicators: a thread that works on an incomplete one
 * keeps its communicator from being freed. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The call outlives the function that made it. */
static void keep_call(struct sg_nonblocking *nonblocking, const struct sg_internode_plan *plan)
{
    nonblocking->call = *plan->call;
    nonblocking->plan = *plan;
    nonblocking->plan.call = &nonblocking->call;
}

struct sg_nonblocking *sg_nonblocking_new(struct sg_internode *internode,
                                          const struct sg_internode_plan *plan)
{
    size_t count = sg_chunk_count(plan);
    size_t room = count < SG_INTERNODE_INSTANCES_MAX ? count : SG_INTERNODE_INSTANCES_MAX;
    struct sg_nonblocking *nonblocking =
        calloc(1, sizeof *nonblocking + room * sizeof *nonblocking->chunks);

    if (nonblocking == NULL)
        return NULL;
    nonblocking->internode = internode;
    keep_call(nonblocking, plan);
    nonblocking->window = (struct sg_chunk_window){.plan = &nonblocking->plan,
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
    /* Acquire: results are complete. */
    return atomic_load_explicit(&nonblocking->done, memory_order_acquire);
}

int sg_nonblocking_error(const struct sg_nonblocking *nonblocking)
{
    return nonblocking->error;
}

uint64_t sg_nonblocking_slice(const struct sg_nonblocking *nonblocking)
{
    return nonblocking->window.slice;
}

/* ---- a communicator's nonblocking calls ---- */

/* True if all chunks have arrived; they arrive in order. */
static bool has_arrived(const struct sg_nonblocking *nonblocking)
{
    const struct sg_chunk_window *window = &nonblocking->window;

    return window->begun == window->count &&
           window->chunks[(window->count - 1) % window->width].stage >= SG_CHUNK_ARRIVED;
}

/* Precondition: none of the window's chunks has arrived. */
static void shift(struct sg_chunk_window *window, uint64_t by)
{
    window->position += by;
    for (size_t i = window->left; i < window->begun; i++)
        window->chunks[i % window->width].position += by;
}

/* Under the lock. Shifts the calls after it: the others' call may have more or fewer chunks. */
static void conform(struct sg_internode *internode, struct sg_nonblocking *nonblocking)
{
    struct sg_chunk_window *window = &nonblocking->window;
    struct conformed *conformed =
        calloc(1, sizeof *conformed + internode->depth * sizeof *conformed->chunks);
    uint64_t by = -(uint64_t)window->count;

    if (conformed == NULL || window->begun > 1)
        sg_internode_end_different(internode, window);
    sg_internode_conform(internode, window, &conformed->others);
    nonblocking->conformed = conformed;
    *window = (struct sg_chunk_window){.plan = &conformed->others.plan,
                                       .position = window->position,
                                       .count = sg_chunk_count(&conformed->others.plan),
                                       .width = internode->depth,
                                       .chunks = conformed->chunks};
    by += window->count;
    internode->position += by;
    for (struct sg_nonblocking *next = nonblocking->next; next != NULL; next = next->next)
        shift(&next->window, by);
    if (internode->behind != NULL)
        shift(internode->behind, by);
}

/* Under the lock. */
static void settle(struct sg_nonblocking *nonblocking)
{
    struct conformed *conformed = nonblocking->conformed;

    if (conformed == NULL) {
        if (nonblocking->window.dissent != 0)
            nonblocking->error = sg_internode_dissent_error(nonblocking->window.dissent);
        return;
    }
    nonblocking->error = conformed->others.error;
    sg_internode_conformed(&nonblocking->plan, &conformed->others);
    free(conformed);
}

/* Under the lock. Only an application thread handles a call that differs, on its next entry into
 * the library. */
static bool step(struct sg_internode *internode, struct sg_nonblocking *nonblocking)
{
    if (sg_chunk_window_step(internode, &nonblocking->window))
        return true;
    if (!nonblocking->window.differs || sg_progress_by() != SG_PROGRESS_BY_CALL)
        return false;
    conform(internode, nonblocking);
    return sg_chunk_window_step(internode, &nonblocking->window);
}

/* Under the lock. */
static void step_all(struct sg_internode *internode)
{
    struct sg_nonblocking *before = NULL, *next;

    for (struct sg_nonblocking *nonblocking = internode->first_nonblocking; nonblocking != NULL;
         nonblocking = next) {
        next = nonblocking->next;
        if (!step(internode, nonblocking)) {
            /* The calls after it have not arrived, either. */
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
        settle(nonblocking);
        atomic_fetch_sub_explicit(&internode->nonblocking_count, 1, memory_order_release);
        if (nonblocking->kept_bytes > 0) {
            atomic_fetch_sub_explicit(&internode->kept_bytes, nonblocking->kept_bytes,
                                      memory_order_relaxed);
            sg_nonblocking_free(nonblocking);
            continue;
        }
        /* Release: the results are complete. The caller may free the call from here on. */
        atomic_store_explicit(&nonblocking->done, true, memory_order_release);
    }
    atomic_store(&internode->client.waits,
                 internode->last_nonblocking != NULL &&
                     (!has_arrived(internode->last_nonblocking) ||
                      atomic_load_explicit(&internode->kept_bytes, memory_order_relaxed) > 0));
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

void sg_nonblocking_begin_behind(struct sg_internode *internode, struct sg_chunk_window *window)
{
    pthread_mutex_lock(&lock);
    internode->behind = window;
    sg_chunk_window_begin(internode, window);
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
    /* Acquire: pairs with the release above. Users wait for nobody. */
    while (atomic_load_explicit(&internode->users, memory_order_acquire) > 0)
        sched_yield();
}

/* ---- one nonblocking call ---- */

/* Appends to the communicator's calls. */
static void add(struct sg_internode *internode, struct sg_nonblocking *nonblocking)
{
    pthread_mutex_lock(&lock);
    internode->behind = NULL; /* that call is finished, or is this one */
    if (internode->last_nonblocking != NULL)
        internode->last_nonblocking->next = nonblocking;
    else
        internode->first_nonblocking = nonblocking;
    internode->last_nonblocking = nonblocking;
    atomic_fetch_add_explicit(&internode->nonblocking_count, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&internode->kept_bytes, nonblocking->kept_bytes,
                              memory_order_relaxed);
    step_all(internode);
    pthread_mutex_unlock(&lock);
}

void sg_nonblocking_start(struct sg_nonblocking *nonblocking, struct sg_call_statistics *statistics)
{
    struct sg_internode *internode = nonblocking->internode;

    statistics->executed = nonblocking->plan.executed;
    atomic_store_explicit(&internode->header->has_nonblocking, true, memory_order_relaxed);
    sg_internode_enter(internode);
    sg_nonblocking_begin_call(internode, &nonblocking->window);
    add(internode, nonblocking);
    sg_internode_leave(internode);
    sg_progress_look_after(&internode->client);
    sg_internode_read_counters(internode, statistics);
}

bool sg_nonblocking_keep(struct sg_internode *internode, const struct sg_chunk_window *window)
{
    size_t operand_bytes = window->plan->count * window->plan->extent_bytes;
    size_t chunks_bytes = window->width * sizeof *window->chunks;
    size_t bytes = sizeof(struct sg_nonblocking) + chunks_bytes + operand_bytes;
    size_t kept = atomic_load_explicit(&internode->kept_bytes, memory_order_relaxed);
    struct sg_nonblocking *nonblocking;
    char *operand;

    if (bytes > KEPT_BYTES_MAX - kept || (nonblocking = calloc(1, bytes)) == NULL)
        return false;
    nonblocking->internode = internode;
    keep_call(nonblocking, window->plan);
    nonblocking->kept_bytes = bytes;
    nonblocking->window = *window;
    nonblocking->window.plan = &nonblocking->plan;
    nonblocking->window.chunks = nonblocking->chunks;
    operand = (char *)nonblocking->chunks + chunks_bytes;
    memcpy(operand, window->plan->own, operand_bytes);
    nonblocking->plan.own = operand;
    for (size_t i = window->left; i < window->begun; i++) {
        struct sg_chunk *chunk = &nonblocking->chunks[i % window->width];

        *chunk = window->chunks[i % window->width];
        chunk->own = operand + ((const char *)chunk->own - (const char *)window->plan->own);
    }
    add(internode, nonblocking);
    return true;
}

/* Returns the communicator, kept until let_go; NULL: the nonblocking call is complete. */
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
