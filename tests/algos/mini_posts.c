/* The mini host's posts (mini_host.h). A slot holds a message as its name, an offset and a number
 * of bytes.
 */
#include "algos/mini_state.h"
#include "lib/unit.h"

enum { NAME, OFFSET, BYTES };

/* Checks the bound that algo.h promises for posts that are not over. */
static void check_room(const struct mini_host *host, const struct mini_post *posts,
                       enum sg_post_kind kind)
{
    uint32_t count = 0;

    for (int i = 0; i < MINI_POSTS_MAX; i++)
        count += posts[i].post.number > 0 && !posts[i].delivered &&
                 (posts[i].post.kind == SG_POST_SEND) == (kind == SG_POST_SEND);
    ASSERT(count < host->setup.parameters.posts);
}

void mini_post(struct mini_host *host, int rank, const struct sg_algo_post *post)
{
    struct mini_endpoint *endpoint = &host->endpoints[rank];
    struct sg_event event = {.kind = SG_EVENT_POST, .post = *post};

    if (endpoint->posts == NULL)
        endpoint->posts = calloc(MINI_POSTS_MAX, sizeof *endpoint->posts);
    ASSERT(endpoint->posts != NULL, post->handle < MINI_POSTS_MAX,
           endpoint->posts[post->handle].post.number == 0);
    check_room(host, endpoint->posts, post->kind);
    endpoint->posts[post->handle].post = *post;
    mini_feed(host, rank, host->setup.algo->on_call, &event, NULL);
}

static struct mini_post *at(struct mini_host *host, int rank, uint32_t handle)
{
    struct mini_post *post = &host->endpoints[rank].posts[handle];

    ASSERT(handle < MINI_POSTS_MAX && post->post.number > 0, !post->delivered);
    return post;
}

void mini_fill(struct mini_host *host, int rank, const struct sg_action *action, mini_value slot)
{
    const struct mini_post *post = at(host, rank, action->post.handle);

    ASSERT(post->post.kind == SG_POST_SEND,
           action->post.offset + action->post.bytes <= post->post.bytes);
    slot[NAME] = (uint64_t)rank << 32 | action->post.handle;
    slot[OFFSET] = action->post.offset;
    slot[BYTES] = action->post.bytes;
}

void mini_empty(struct mini_host *host, int rank, const struct sg_action *action, mini_value slot)
{
    struct mini_post *post = at(host, rank, action->post.handle);
    uint64_t chunk = UINT64_C(1) << action->post.offset / host->needs.slot_bytes;

    ASSERT(post->post.kind == SG_POST_RECEIVE,
           action->post.offset + action->post.bytes <= post->post.bytes,
           slot[OFFSET] == action->post.offset, slot[BYTES] >= action->post.bytes);
    if (post->chunks == 0)
        post->from = slot[NAME];
    ASSERT(slot[NAME] == post->from, (post->chunks & chunk) == 0);
    post->chunks |= chunk;
    post->bytes += action->post.bytes;
}

void mini_over(struct mini_host *host, int rank, const struct sg_action *action)
{
    struct mini_post *post = at(host, rank, action->delivery.handle);

    post->delivered = true;
    post->delivery = *action;
    if (post->post.kind != SG_POST_RECEIVE)
        return;
    ASSERT(post->bytes == action->delivery.bytes);
    if (post->bytes > 0)
        ASSERT((int32_t)(post->from >> 32) == action->delivery.source);
}

bool mini_delivered(const struct mini_host *host, int rank, uint32_t handle,
                    struct sg_action *delivery)
{
    const struct mini_post *posts = host->endpoints[rank].posts;

    if (posts == NULL || !posts[handle].delivered)
        return false;
    if (delivery != NULL)
        *delivery = posts[handle].delivery;
    return true;
}

uint32_t mini_received(const struct mini_host *host, int rank, uint32_t handle)
{
    return (uint32_t)host->endpoints[rank].posts[handle].from;
}
