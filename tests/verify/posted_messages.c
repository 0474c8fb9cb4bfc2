#include "verify/posted_messages.h"

#include "core/hash.h"

/* ---- the reference for matching -------------------------------------------------------------- */

enum place { AT_SENDER, CHOSEN, WAITING, RECEIVED };

struct matching {
    struct sg_matching_post *posts;
    int32_t count;
    uint32_t table;
    uint32_t exchange;
    uint8_t place[SG_MATCHING_MAX];  /* of sends: enum place */
    uint32_t since[SG_MATCHING_MAX]; /* first exchange in which a send waits */
    bool probed[SG_MATCHING_MAX], held[SG_MATCHING_MAX];
    bool changed;
};

/* True if a receive or probe of `rank` takes this message. */
static bool sg_reference_suits(const struct sg_matching_post *receive,
                               const struct sg_matching_post *send)
{
    const struct sg_algo_post *wants = &receive->post, *is = &send->post;

    if (is->peer != receive->rank || is->peer_local != wants->local)
        return false;
    if (wants->peer != SG_ANY && (wants->peer != send->rank || wants->peer_local != is->local))
        return false;
    return wants->tag == SG_ANY || wants->tag == is->tag;
}

static bool is_send(const struct matching *matching, int32_t i)
{
    return matching->posts[i].post.kind == SG_POST_SEND;
}

/* True if it is a receive or probe of that endpoint that takes part and has no match yet. */
static bool is_open(const struct matching *matching, int32_t i, int32_t rank)
{
    const struct sg_matching_post *post = &matching->posts[i];

    return (post->post.kind == SG_POST_RECEIVE || post->post.kind == SG_POST_PROBE) &&
           post->rank == rank && post->match < 0 && post->exchange <= matching->exchange;
}

static bool is_at(const struct matching *matching, int32_t i, int32_t rank, enum place place)
{
    const struct sg_matching_post *post = &matching->posts[i];

    return is_send(matching, i) && post->post.peer == rank && matching->place[i] == place &&
           post->exchange <= matching->exchange;
}

/* Orders posts by endpoint, rank and number. */
static bool is_earlier(const struct matching *matching, int32_t i, int32_t j)
{
    const struct sg_matching_post *left = &matching->posts[i], *right = &matching->posts[j];

    if (left->rank != right->rank)
        return left->rank < right->rank;
    if (left->post.local != right->post.local)
        return left->post.local < right->post.local;
    return left->post.number < right->post.number;
}

static bool is_wanted(const struct matching *matching, int32_t i)
{
    const struct sg_matching_post *send = &matching->posts[i];

    for (int32_t j = 0; j < matching->count; j++) {
        if (is_open(matching, j, send->post.peer) && sg_reference_suits(&matching->posts[j], send))
            return true;
    }
    return false;
}

static uint32_t count_at(const struct matching *matching, int32_t rank, enum place place)
{
    uint32_t count = 0;

    for (int32_t i = 0; i < matching->count; i++)
        count += is_at(matching, i, rank, place);
    return count;
}

/* Chooses as many sends as the table has capacity for: wanted ones first, then in order. */
static void choose(struct matching *matching, int32_t rank)
{
    bool wanted[SG_MATCHING_MAX];
    uint32_t room = matching->table - count_at(matching, rank, WAITING);

    for (int32_t i = 0; i < matching->count; i++)
        wanted[i] = is_send(matching, i) && is_wanted(matching, i);
    for (; room > 0; room--) {
        int32_t best = -1;

        for (int32_t i = 0; i < matching->count; i++) {
            if (is_at(matching, i, rank, AT_SENDER) &&
                (best < 0 || wanted[i] > wanted[best] ||
                 (wanted[i] == wanted[best] && is_earlier(matching, i, best))))
                best = i;
        }
        if (best < 0)
            return;
        matching->place[best] = CHOSEN;
    }
}

/* True if an earlier send of the same sender to the same rank has stayed behind. */
static bool is_behind(const struct matching *matching, int32_t i)
{
    const struct sg_matching_post *send = &matching->posts[i];

    for (int32_t j = 0; j < matching->count; j++) {
        const struct sg_matching_post *other = &matching->posts[j];

        if (is_at(matching, j, send->post.peer, AT_SENDER) && other->rank == send->rank &&
            other->post.local == send->post.local &&
            other->post.peer_local == send->post.peer_local && is_earlier(matching, j, i))
            return true;
    }
    return false;
}

/* True if a receive that suits both takes send i rather than send j. */
static bool is_first(const struct matching *matching, int32_t i, int32_t j)
{
    bool i_waits = matching->place[i] == WAITING, j_waits = matching->place[j] == WAITING;

    if (i_waits != j_waits)
        return i_waits;
    if (i_waits && matching->since[i] != matching->since[j])
        return matching->since[i] < matching->since[j];
    return is_earlier(matching, i, j);
}

static void receive(struct matching *matching, int32_t rank)
{
    for (int32_t i = 0; i < matching->count; i++) {
        int32_t found = -1;

        if (!is_open(matching, i, rank))
            continue;
        for (int32_t j = 0; j < matching->count; j++) {
            if ((is_at(matching, j, rank, WAITING) || is_at(matching, j, rank, CHOSEN)) &&
                sg_reference_suits(&matching->posts[i], &matching->posts[j]) &&
                (found < 0 || is_first(matching, j, found)))
                found = j;
        }
        if (found < 0)
            continue;
        matching->posts[i].match = found;
        matching->changed = true;
        if (matching->posts[i].post.kind == SG_POST_PROBE)
            matching->probed[found] = true;
        else
            matching->place[found] = RECEIVED;
    }
}

/* True if this send or a later one of the same sender was probed and stays. */
static bool is_kept_for_probe(const struct matching *matching, int32_t i, int32_t rank)
{
    for (int32_t j = 0; j < matching->count; j++) {
        if (is_at(matching, j, rank, CHOSEN) && matching->probed[j] &&
            matching->posts[j].rank == matching->posts[i].rank &&
            matching->posts[j].post.local == matching->posts[i].post.local &&
            !is_earlier(matching, j, i))
            return true;
    }
    return false;
}

/* Sends the last ones back until `most` stay. */
static void send_back(struct matching *matching, int32_t rank, uint32_t most, bool probed_too)
{
    while (count_at(matching, rank, WAITING) + count_at(matching, rank, CHOSEN) > most) {
        int32_t last = -1;

        for (int32_t i = 0; i < matching->count; i++) {
            if (is_at(matching, i, rank, CHOSEN) &&
                (probed_too || !is_kept_for_probe(matching, i, rank)) &&
                (last < 0 || is_earlier(matching, last, i)))
                last = i;
        }
        if (last < 0)
            return;
        matching->place[last] = AT_SENDER;
    }
}

static void exchange(struct matching *matching, int32_t rank)
{
    uint32_t spare = matching->table / 4 > 2 ? matching->table / 4 : 2;

    choose(matching, rank);
    for (int32_t i = 0; i < matching->count; i++)
        matching->held[i] = is_at(matching, i, rank, CHOSEN) && is_behind(matching, i);
    receive(matching, rank);
    for (int32_t i = 0; i < matching->count; i++) {
        if (is_at(matching, i, rank, CHOSEN) && matching->held[i])
            matching->place[i] = AT_SENDER;
    }
    send_back(matching, rank, matching->table - spare, false);
    send_back(matching, rank, matching->table - 1, true);
    for (int32_t i = 0; i < matching->count; i++) {
        matching->probed[i] = false;
        if (!is_at(matching, i, rank, CHOSEN))
            continue;
        matching->place[i] = WAITING;
        matching->since[i] = matching->exchange;
        matching->changed = true;
    }
}

void sg_reference_match(struct sg_matching_post *posts, int32_t count, int32_t size, uint32_t table)
{
    struct matching matching = {.posts = posts, .count = count, .table = table, .changed = true};
    uint32_t last = 0;

    for (int32_t i = 0; i < count; i++) {
        posts[i].match = -1;
        last = posts[i].exchange > last ? posts[i].exchange : last;
    }
    while (matching.exchange < last || matching.changed) {
        matching.exchange++;
        matching.changed = false;
        for (int32_t rank = 0; rank < size; rank++)
            exchange(&matching, rank);
    }
}

/* ---- MPI's rules */

/* True if a sender's earlier message that also suits the receive went to a later receive, or to
 * none. */
static bool is_overtaken(const struct sg_matching_post *posts, int32_t count, int32_t receive,
                         int32_t earlier)
{
    for (int32_t i = 0; i < count; i++) {
        if (posts[i].post.kind == SG_POST_RECEIVE && posts[i].match == earlier)
            return i > receive;
    }
    return true;
}

const char *sg_reference_order(const struct sg_matching_post *posts, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        const struct sg_matching_post *send;

        if (posts[i].post.kind != SG_POST_RECEIVE || posts[i].match < 0)
            continue;
        send = &posts[posts[i].match];
        if (!sg_reference_suits(&posts[i], send))
            return "gets a message that it did not ask for";
        for (int32_t j = 0; j < posts[i].match; j++) {
            if (posts[j].post.kind == SG_POST_SEND && posts[j].rank == send->rank &&
                posts[j].post.local == send->post.local &&
                sg_reference_suits(&posts[i], &posts[j]) && is_overtaken(posts, count, i, j))
                return "gets a message that has overtaken another one";
        }
        for (int32_t j = 0; j < i; j++) {
            if (posts[j].post.kind == SG_POST_RECEIVE && posts[j].rank == posts[i].rank &&
                posts[j].match < 0 && sg_reference_suits(&posts[j], send))
                return "gets a message that an earlier receive should have";
        }
    }
    return NULL;
}

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

/* A send waits only for sends, a receive only for receives. */
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

/* ---- the host's actions ---------------------------------------------------------------------- */

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

/* The first unreceived message that matches the delivery; -1. */
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

/* Lists a communicator's posts in order, with their indices in the scenario. */
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
