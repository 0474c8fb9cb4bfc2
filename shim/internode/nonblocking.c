/* A post's parts follow those of the calls before it, in their order. The protocol's part goes on
 * at the endpoint, as for any call. This process enters instances and fetches results: the
 * application's threads do in all that they call here, and the helper thread does where a part
 * waits for a place. A program may post more calls than there are places and then wait, in MPI, for
 * something else.
 */
#include "internode/nonblocking.h"

#include "internode/endpoint.h"
#include "internode/statistics.h"
#include "internode/waiting.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

struct sg_span_post {
    struct sg_span *span; /* valid until it is done */
    struct sg_call call;
    struct sg_span_plan plan;
    struct sg_span_post *next; /* of the span's, in their order */
    _Atomic bool done;
    struct sg_span_window window;
    struct sg_span_part parts[];
};

/* Of all spans' posts: whoever is at a post that is not done keeps its span, whatever becomes of
 * the communicator. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct sg_span_post *sg_span_post_new(struct sg_span *span, const struct sg_call *call,
                                      const struct sg_span_plan *plan)
{
    size_t count = sg_span_part_count(call, plan);
    size_t room = count < SG_SPAN_PLACES_MAX ? count : SG_SPAN_PLACES_MAX;
    struct sg_span_post *post = calloc(1, sizeof *post + room * sizeof *post->parts);

    if (post == NULL)
        return NULL;
    post->span = span;
    post->call = *call;
    post->plan = *plan;
    post->window = (struct sg_span_window){.call = &post->call,
                                           .plan = &post->plan,
                                           .count = count,
                                           .width = span->depth,
                                           .parts = post->parts};
    return post;
}

void sg_span_post_free(struct sg_span_post *post)
{
    free(post);
}

bool sg_span_post_is_done(const struct sg_span_post *post)
{
    /* Acquire: results are there. */
    return atomic_load_explicit(&post->done, memory_order_acquire);
}

/* ---- the posts of a span ---- */

/* Parts arrive in their order. */
static bool has_arrived(const struct sg_span_post *post)
{
    const struct sg_span_window *window = &post->window;

    return window->begun == window->count &&
           window->parts[(window->count - 1) % SG_SPAN_PLACES_MAX].stage >= SG_SPAN_ARRIVED;
}

/* Under the lock. */
static void step_all(struct sg_span *span)
{
    struct sg_span_post *before = NULL, *next;

    for (struct sg_span_post *post = span->first_post; post != NULL; post = next) {
        next = post->next;
        if (!sg_span_step_window(span, &post->window)) {
            /* Those behind it have not, either. */
            if (!has_arrived(post))
                break;
            before = post;
            continue;
        }
        if (before == NULL)
            span->first_post = next;
        else
            before->next = next;
        if (next == NULL)
            span->last_post = before;
        atomic_fetch_sub_explicit(&span->posts, 1, memory_order_release);
        /* Release: the results are there. The post may be gone from here on. */
        atomic_store_explicit(&post->done, true, memory_order_release);
    }
    atomic_store(&span->client.waits, span->last_post != NULL && !has_arrived(span->last_post));
}

void sg_span_advance(struct sg_span *span)
{
    /* Relaxed: who has just posted one goes on with it by itself. */
    if (atomic_load_explicit(&span->posts, memory_order_relaxed) == 0)
        return;
    pthread_mutex_lock(&lock);
    step_all(span);
    pthread_mutex_unlock(&lock);
}

bool sg_span_step_behind_posts(struct sg_span *span, struct sg_span_window *window)
{
    bool has_left;

    pthread_mutex_lock(&lock);
    step_all(span);
    has_left = sg_span_step_window(span, window);
    pthread_mutex_unlock(&lock);
    return has_left;
}

static void let_go(struct sg_span *span)
{
    atomic_fetch_sub_explicit(&span->users, 1, memory_order_release);
}

void sg_span_await_users(struct sg_span *span)
{
    /* Acquire: pairs with the release above. They wait for nobody. */
    while (atomic_load_explicit(&span->users, memory_order_acquire) > 0)
        sched_yield();
}

/* ---- one post ---- */

void sg_span_post_start(struct sg_span_post *post, struct sg_outcome *outcome)
{
    struct sg_span *span = post->span;

    outcome->ran = post->plan.ran;
    atomic_store_explicit(&span->header->has_posts, true, memory_order_relaxed);
    sg_span_enter(span);
    sg_span_begin(span, &post->window);
    pthread_mutex_lock(&lock);
    if (span->last_post != NULL)
        span->last_post->next = post;
    else
        span->first_post = post;
    span->last_post = post;
    atomic_fetch_add_explicit(&span->posts, 1, memory_order_relaxed);
    step_all(span);
    pthread_mutex_unlock(&lock);
    sg_span_leave(span);
    sg_progress_look_after(&span->client);
    sg_span_tell(span, outcome);
}

/* The span, which stays until it is let go; NULL: the post is done. */
static struct sg_span *hold(struct sg_span_post *post)
{
    struct sg_span *span = NULL;

    if (sg_span_post_is_done(post))
        return NULL;
    pthread_mutex_lock(&lock);
    if (!sg_span_post_is_done(post)) {
        span = post->span;
        atomic_fetch_add_explicit(&span->users, 1, memory_order_relaxed);
    }
    pthread_mutex_unlock(&lock);
    return span;
}

bool sg_span_post_poll(struct sg_span_post *post)
{
    struct sg_span *span = hold(post);

    if (span == NULL)
        return true;
    sg_span_progress(span);
    sg_span_advance(span);
    let_go(span);
    return sg_span_post_is_done(post);
}

struct awaited {
    struct sg_span *span;
    struct sg_span_post *post;
};

static bool is_done(void *context)
{
    struct awaited *awaited = context;

    sg_span_progress(awaited->span);
    sg_span_advance(awaited->span);
    return sg_span_post_is_done(awaited->post);
}

void sg_span_post_wait(struct sg_span_post *post)
{
    struct sg_span *span = hold(post);
    struct awaited awaited = {span, post};

    if (span == NULL)
        return;
    sg_span_enter(span);
    sg_span_wait(span,
                 &(struct sg_span_waiting){.call = &post->call, .position = post->window.position},
                 is_done, &awaited);
    sg_span_leave(span);
    let_go(span);
}
