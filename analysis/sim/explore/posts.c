#include "sim/explore/posts.h"

#include "core/hash.h"
#include "sim/explore/matching.h"

static struct sg_explore_endpoint *endpoint_of(struct sg_explore_world *world,
                                               const struct sg_explore_post *post)
{
    return sg_explore_endpoint_of(world, post->comm, post->rank);
}

/* ---- processes ------------------------------------------------------------------------------- */

int32_t sg_explore_next_post(const struct sg_explore_world *world, int32_t process)
{
    const struct sg_explore_scenario *scenario = world->scenario;
    int32_t next = world->processes[process].next;

    for (int32_t i = 0; i < scenario->posts; i++) {
        const struct sg_explore_post *post = &scenario->post[i];
        const struct sg_explore_endpoint *endpoint =
            &world->endpoints[post->comm * scenario->nodes + post->rank];

        if (scenario->comm[post->comm].process[post->rank] != process ||
            endpoint->posts->posted[i].made)
            continue;
        return post->before <= next || next >= scenario->instances ? i : -1;
    }
    return -1;
}

void sg_explore_make_post(struct sg_explore_world *world, int32_t index)
{
    static const char *const kinds[] = {"sends", "receives", "probes", "looks for"};
    const struct sg_explore_post *post = &world->scenario->post[index];
    struct sg_explore_endpoint *endpoint = endpoint_of(world, post);

    endpoint->posts->posted[index].made = true;
    endpoint->changed = true;
    sg_explore_say(world,
                   "%4u  rank %u of endpoint %d of c%d %s post %d: rank %u of %d, tag %d, %u bytes",
                   world->step, post->post.local, post->rank, post->comm, kinds[post->post.kind],
                   index, post->post.peer_local, post->post.peer, post->post.tag, post->post.bytes);
}

static bool is_of(const struct sg_explore_post *post, const struct sg_explore_endpoint *endpoint)
{
    return post->comm == endpoint->comm && post->rank == endpoint->rank;
}

static bool has_room(const struct sg_explore_world *world,
                     const struct sg_explore_endpoint *endpoint, enum sg_post_kind kind)
{
    const struct sg_explore_scenario *scenario = world->scenario;
    uint32_t count = 0;

    if (kind == SG_POST_IPROBE)
        return true;
    for (int32_t i = 0; i < scenario->posts; i++) {
        const struct sg_explore_posted *posted = &endpoint->posts->posted[i];

        count += is_of(&scenario->post[i], endpoint) && posted->fed && !posted->delivered &&
                 (scenario->post[i].post.kind == SG_POST_SEND) == (kind == SG_POST_SEND);
    }
    return count < scenario->parameters.posts;
}

/* Sends wait for sends only, and receives for receives. */
int32_t sg_explore_take_post(struct sg_explore_world *world, struct sg_explore_endpoint *endpoint)
{
    const struct sg_explore_scenario *scenario = world->scenario;
    bool waits[2] = {false, false};

    for (int32_t i = 0; endpoint->posts != NULL && i < scenario->posts; i++) {
        struct sg_explore_posted *posted = &endpoint->posts->posted[i];
        enum sg_post_kind kind = scenario->post[i].post.kind;

        if (!is_of(&scenario->post[i], endpoint) || !posted->made || posted->fed)
            continue;
        if (waits[kind == SG_POST_SEND] || !has_room(world, endpoint, kind)) {
            waits[kind == SG_POST_SEND] = true;
            continue;
        }
        posted->fed = true;
        posted->exchange = endpoint->posts->exchanges + 1;
        posted->message = -1;
        return i;
    }
    return -1;
}

void sg_explore_count_exchange(struct sg_explore_endpoint *endpoint, uint64_t marks)
{
    if (endpoint->posts != NULL && (marks >> SG_MARK_EXCHANGE & 1))
        endpoint->posts->exchanges++;
}

/* ---- what the host does ---------------------------------------------------------------------- */

/* The post, if it is under way at this endpoint. */
static const struct sg_explore_post *find(const struct sg_explore_world *world,
                                          const struct sg_explore_endpoint *endpoint,
                                          uint32_t handle)
{
    const struct sg_explore_post *post;

    if (endpoint->posts == NULL || handle >= (uint32_t)world->scenario->posts)
        return NULL;
    post = &world->scenario->post[handle];
    return is_of(post, endpoint) && endpoint->posts->posted[handle].fed &&
                   !endpoint->posts->posted[handle].delivered
               ? post
               : NULL;
}

static uint64_t hash_bytes(uint32_t message, uint32_t offset)
{
    return sg_hash_mix((uint64_t)message << 32 | offset);
}

const char *sg_explore_fill(struct sg_host *host, const struct sg_host_endpoint *of,
                            const struct sg_host_bytes *bytes, struct sg_value *value)
{
    const struct sg_explore_post *post = find(host->world, of->owner, bytes->handle);

    if (post == NULL || post->post.kind != SG_POST_SEND)
        return "fills a slot from what is no send under way";
    if (bytes->offset + bytes->bytes > post->post.bytes)
        return "fills a slot from beyond a message";
    *value = (struct sg_value){.hash = hash_bytes(bytes->handle, bytes->offset),
                               .count = 1,
                               .instance = bytes->handle + 1,
                               .bytes = bytes->bytes};
    return NULL;
}

const char *sg_explore_drain_post(struct sg_host *host, const struct sg_host_endpoint *of,
                                  const struct sg_host_bytes *bytes, const struct sg_value *value)
{
    struct sg_explore_endpoint *endpoint = of->owner;
    const struct sg_explore_post *post = find(host->world, endpoint, bytes->handle);
    uint32_t chunk = 1u << bytes->offset / endpoint->needs.slot_bytes;
    struct sg_explore_posted *posted;

    if (post == NULL || post->post.kind != SG_POST_RECEIVE)
        return "drains a slot into what is no receive under way";
    posted = &endpoint->posts->posted[bytes->handle];
    if (bytes->offset + bytes->bytes > post->post.bytes)
        return "drains a slot beyond its receive";
    if (value->instance == 0 || value->hash != hash_bytes(value->instance - 1, bytes->offset))
        return "drains bytes of another offset";
    if (posted->message >= 0 && (uint32_t)posted->message != value->instance - 1)
        return "mixes the bytes of two messages";
    if (posted->chunks & chunk)
        return "receives bytes twice";
    posted->message = (int32_t)value->instance - 1;
    posted->chunks |= chunk;
    posted->bytes += bytes->bytes;
    endpoint->changed = true;
    return NULL;
}

static uint32_t least(uint32_t left, uint32_t right)
{
    return left < right ? left : right;
}

static bool is_received(const struct sg_explore_world *world,
                        const struct sg_explore_endpoint *endpoint, int32_t message)
{
    for (int32_t i = 0; i < world->scenario->posts; i++) {
        if (is_of(&world->scenario->post[i], endpoint) &&
            world->scenario->post[i].post.kind == SG_POST_RECEIVE &&
            endpoint->posts->posted[i].delivered && endpoint->posts->posted[i].message == message)
            return true;
    }
    return false;
}

/* The first message that has not been received which a delivery may be of; -1. */
static int32_t message_of(const struct sg_explore_world *world,
                          const struct sg_explore_endpoint *endpoint,
                          const struct sg_explore_post *post, const struct sg_action *action)
{
    for (int32_t i = 0; i < world->scenario->posts; i++) {
        const struct sg_explore_post *send = &world->scenario->post[i];
        uint32_t bytes = post->post.kind == SG_POST_RECEIVE
                             ? least(send->post.bytes, post->post.bytes)
                             : send->post.bytes;

        if (send->comm == post->comm && send->post.kind == SG_POST_SEND &&
            send->post.peer == post->rank && send->post.peer_local == post->post.local &&
            send->rank == action->delivery.source &&
            send->post.local == action->delivery.source_local &&
            send->post.tag == action->delivery.tag && bytes == action->delivery.bytes &&
            !is_received(world, endpoint, i))
            return i;
    }
    return -1;
}

static const char *check_receive(const struct sg_explore_world *world,
                                 const struct sg_explore_endpoint *endpoint,
                                 const struct sg_explore_post *post,
                                 const struct sg_explore_posted *posted,
                                 const struct sg_action *action)
{
    const struct sg_explore_post *send = &world->scenario->post[posted->message];
    bool is_cut = send->post.bytes > post->post.bytes;

    if (is_received(world, endpoint, posted->message))
        return "delivers a message twice";
    if (posted->bytes != least(send->post.bytes, post->post.bytes) ||
        action->delivery.bytes != posted->bytes)
        return "delivers a message without all its bytes";
    if (action->delivery.outcome != (is_cut ? SG_OUTCOME_TRUNCATED : SG_OUTCOME_WHOLE))
        return "is wrong about whether a message was cut";
    return action->delivery.source == send->rank &&
                   action->delivery.source_local == send->post.local &&
                   action->delivery.tag == send->post.tag
               ? NULL
               : "is wrong about whom a message is from";
}

static const char *check_delivery(const struct sg_explore_world *world,
                                  const struct sg_explore_endpoint *endpoint,
                                  const struct sg_explore_post *post,
                                  struct sg_explore_posted *posted, const struct sg_action *action)
{
    if (post->post.kind == SG_POST_SEND ||
        (post->post.kind == SG_POST_IPROBE && action->delivery.outcome == SG_OUTCOME_NOTHING))
        return NULL;
    posted->source = action->delivery.source;
    posted->source_local = action->delivery.source_local;
    posted->tag = action->delivery.tag;
    if (posted->message < 0)
        posted->message = message_of(world, endpoint, post, action);
    if (posted->message < 0)
        return "delivers a message that nobody has sent";
    return post->post.kind == SG_POST_RECEIVE ? check_receive(world, endpoint, post, posted, action)
                                              : NULL;
}

const char *sg_explore_deliver(struct sg_host *host, const struct sg_host_endpoint *of,
                               const struct sg_action *action)
{
    struct sg_explore_world *world = host->world;
    struct sg_explore_endpoint *endpoint = of->owner;
    uint32_t handle = action->delivery.handle;
    const struct sg_explore_post *post = find(world, endpoint, handle);
    const char *wrong;

    if (post == NULL)
        return "delivers what is not under way";
    wrong = check_delivery(world, endpoint, post, &endpoint->posts->posted[handle], action);
    if (wrong != NULL)
        return wrong;
    endpoint->posts->posted[handle].delivered = true;
    sg_explore_say(world, "        delivers post %u: outcome %u, rank %u of %d, tag %d, %u bytes",
                   handle, action->delivery.outcome, action->delivery.source_local,
                   action->delivery.source, action->delivery.tag, action->delivery.bytes);
    return NULL;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* A communicator's posts, in their order, with their indices in the scenario. */
static int32_t list(struct sg_explore_world *world, int32_t comm, struct sg_matching_post *posts,
                    int32_t *indices)
{
    int32_t count = 0;

    for (int32_t i = 0; i < world->scenario->posts; i++) {
        const struct sg_explore_post *post = &world->scenario->post[i];

        if (post->comm != comm)
            continue;
        posts[count] = (struct sg_matching_post){
            post->rank, post->post, endpoint_of(world, post)->posts->posted[i].exchange, -1};
        indices[count++] = i;
    }
    return count;
}

static const char *compare(const struct sg_matching_post *expected,
                           const struct sg_matching_post *posts,
                           const struct sg_explore_posted *posted)
{
    const struct sg_matching_post *send = &posts[expected->match];

    if (expected->match < 0)
        return "gets a message that it should not";
    if (posted->source != send->rank || posted->source_local != send->post.local ||
        posted->tag != send->post.tag)
        return "gets another message than those posted in the same exchanges say";
    return NULL;
}

static void check_comm(struct sg_explore_world *world, int32_t comm)
{
    struct sg_matching_post posts[SG_MATCHING_MAX];
    int32_t indices[SG_MATCHING_MAX], count = list(world, comm, posts, indices);
    const char *wrong = NULL;

    sg_reference_match(posts, count, world->scenario->comm[comm].size,
                       world->scenario->parameters.posts);
    for (int32_t i = 0; i < count; i++) {
        const struct sg_explore_post *post = &world->scenario->post[indices[i]];
        struct sg_explore_endpoint *endpoint = endpoint_of(world, post);
        const struct sg_explore_posted *posted = &endpoint->posts->posted[indices[i]];

        if (!posted->delivered)
            sg_explore_violate(world, endpoint, "never delivers post %d", indices[i]);
        else if (post->post.kind == SG_POST_RECEIVE || post->post.kind == SG_POST_PROBE)
            wrong = compare(&posts[i], posts, posted);
        if (wrong != NULL)
            sg_explore_violate(world, endpoint, "%s (post %d)", wrong, indices[i]);
        wrong = NULL;
    }
    for (int32_t i = 0; i < count; i++) {
        const struct sg_explore_post *post = &world->scenario->post[indices[i]];

        posts[i].match = -1;
        for (int32_t j = 0; j < count; j++) {
            if (indices[j] == endpoint_of(world, post)->posts->posted[indices[i]].message &&
                post->post.kind == SG_POST_RECEIVE)
                posts[i].match = j;
        }
    }
    wrong = sg_reference_order(posts, count);
    if (wrong != NULL)
        sg_explore_violate(world, NULL, "a receive %s", wrong);
}

void sg_explore_check_posts(struct sg_explore_world *world)
{
    for (int32_t comm = 0; world->scenario->posts > 0 && comm < world->scenario->comms; comm++)
        check_comm(world, comm);
}
