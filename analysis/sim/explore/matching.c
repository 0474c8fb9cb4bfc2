#include "sim/explore/matching.h"

enum place { AT_SENDER, CHOSEN, WAITING, RECEIVED };

struct matching {
    struct sg_matching_post *posts;
    int32_t count;
    uint32_t table;
    uint32_t exchange;
    uint8_t place[SG_MATCHING_MAX];  /* of sends: enum place */
    uint32_t since[SG_MATCHING_MAX]; /* the exchange since which one waits */
    bool probed[SG_MATCHING_MAX], held[SG_MATCHING_MAX];
    bool changed;
};

bool sg_reference_suits(const struct sg_matching_post *receive, const struct sg_matching_post *send)
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

/* It is a receive or probe of that endpoint, and takes part without a match so far. */
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

/* By endpoint, rank, number. */
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

/* Those that there is room for: first what is wanted, then by order. */
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

/* An earlier one of the same sender to the same rank has stayed behind. */
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

/* Of two that may be received, the one that is to be. */
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

/* A later one of the same sender, or it itself, was probed and stays. */
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

/* Whether a sender's earlier message, which suits the receive, too, went to a later one, or to
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
