/* Tests messages of buffered coscheduling on the mini host: their order, matches, slices and
 * bytes. */
#include "algos/mini_host.h"
#include "bcs/posts.h"
#include "lib/unit.h"

#include <string.h>

#define MARK(mark) (UINT64_C(1) << SG_MARK_##mark)
#define SLICE_NS 100000u
#define SIZE 5
#define CHUNK 1024u
#define SEEDS 64

/* Names of posts: each endpoint counts its own, ranks count theirs. */
struct world {
    struct mini_host *host;
    int size;
    uint32_t posts[64];
    uint32_t numbers[64][2];
};

static struct world open_world(struct sg_algo_parameters parameters, int size, uint64_t seed)
{
    struct mini_setup setup = {
        .algo = &sg_algo_bcs, .size = size, .parameters = parameters, .seed = seed};
    struct world world = {.size = size};

    setup.parameters.slice_ns = SLICE_NS;
    setup.parameters.degree = 2;
    setup.parameters.posts = parameters.posts > 0 ? parameters.posts : 16;
    setup.parameters.budget_bytes =
        parameters.budget_bytes > 0 ? parameters.budget_bytes : 4 * CHUNK;
    world.host = mini_new(&setup);
    return world;
}

static void close_world(struct world *world)
{
    mini_drain(world->host);
    mini_free(world->host);
}

static uint32_t post(struct world *world, int rank, struct sg_algo_post post)
{
    post.handle = world->posts[rank]++;
    post.number = ++world->numbers[rank][post.local];
    mini_post(world->host, rank, &post);
    return post.handle;
}

static uint32_t send(struct world *world, int rank, int to, int tag, uint32_t bytes)
{
    return post(
        world, rank,
        (struct sg_algo_post){.kind = SG_POST_SEND, .peer = to, .tag = tag, .bytes = bytes});
}

static uint32_t receive(struct world *world, int rank, int from, int tag)
{
    return post(
        world, rank,
        (struct sg_algo_post){.kind = SG_POST_RECEIVE, .peer = from, .tag = tag, .bytes = 1 << 20});
}

static uint32_t probe(struct world *world, enum sg_post_kind kind, int rank, int from, int tag)
{
    return post(world, rank, (struct sg_algo_post){.kind = kind, .peer = from, .tag = tag});
}

static bool is_over(const struct world *world, int rank, uint32_t handle)
{
    return mini_delivered(world->host, rank, handle, NULL);
}

static struct sg_action delivery(const struct world *world, int rank, uint32_t handle)
{
    struct sg_action action = {0};

    CU_ASSERT_TRUE_FATAL(mini_delivered(world->host, rank, handle, &action));
    return action;
}

static int32_t source(const struct world *world, int rank, uint32_t handle)
{
    return delivery(world, rank, handle).delivery.source;
}

/* Runs everything that follows from a boundary or a post, until nothing is left to do. */
static void settle(struct world *world)
{
    bool more = true;

    while (more) {
        mini_settle(world->host);
        more = false;
        for (int rank = 0; rank < world->size; rank++)
            more |= mini_fire(world->host, rank, SG_BCS_TIMER_MORE);
    }
}

/* False: there is no boundary to come. */
static bool slice(struct world *world)
{
    settle(world);
    if (!mini_fire(world->host, 0, SG_BCS_TIMER_BOUNDARY))
        return false;
    settle(world);
    return true;
}

static void slices(struct world *world, int count)
{
    for (int i = 0; i < count; i++)
        CU_ASSERT_TRUE_FATAL(slice(world));
}

static int strobes(const struct world *world)
{
    return mini_actions(world->host, 0, SG_ACTION_MULTICAST);
}

/* ---- slices ---------------------------------------------------------------------------------- */

/* Nothing moves before the boundary, then everything in one slice; a receive asks for nothing. */
static void test_one_slice(void)
{
    struct world world = open_world((struct sg_algo_parameters){0}, SIZE, 1);
    uint32_t got = receive(&world, 3, 4, 7), sent;

    CU_ASSERT_FALSE(slice(&world));
    CU_ASSERT_EQUAL(mini_actions(world.host, -1, SG_ACTION_SEND), 0);
    sent = send(&world, 4, 3, 7, 100);
    settle(&world);
    CU_ASSERT_EQUAL(mini_actions(world.host, -1, SG_ACTION_READ), 0);
    slices(&world, 1);
    CU_ASSERT_EQUAL(strobes(&world), 2);
    CU_ASSERT_TRUE(is_over(&world, 4, sent));
    CU_ASSERT_EQUAL(delivery(&world, 3, got).delivery.tag, 7);
    CU_ASSERT_EQUAL(delivery(&world, 3, got).delivery.bytes, 100);
    CU_ASSERT_EQUAL(mini_received(world.host, 3, got), sent);
    CU_ASSERT_FALSE(slice(&world));
    close_world(&world);
}

/* A slice tells of the descriptors that were offered here and of the receives that were matched. */
static void test_slices_tell_of_messages(void)
{
    static const uint32_t offered[] = {0, 2, 1, 0, 0}, matched[] = {0, 0, 0, 2, 0};
    struct world world = open_world((struct sg_algo_parameters){0}, SIZE, 1);

    receive(&world, 3, SG_ANY, SG_ANY);
    receive(&world, 3, SG_ANY, SG_ANY);
    send(&world, 1, 3, 7, 100);
    send(&world, 1, 3, 7, 100);
    send(&world, 2, 3, 7, 100);
    slices(&world, 1);
    for (int rank = 0; rank < SIZE; rank++) {
        struct sg_slice last;

        CU_ASSERT_EQUAL(mini_slices(world.host, rank, &last), 1);
        CU_ASSERT_EQUAL(sg_slice_value(&last, SG_SLICE_NP2PDEM), offered[rank]);
        CU_ASSERT_EQUAL(sg_slice_value(&last, SG_SLICE_NP2PMSM), matched[rank]);
    }
    receive(&world, 3, SG_ANY, SG_ANY);
    slices(&world, 1);
    for (int rank = 0; rank < SIZE; rank++) {
        struct sg_slice last;

        CU_ASSERT_EQUAL(mini_slices(world.host, rank, &last), 2);
        CU_ASSERT_EQUAL(sg_slice_value(&last, SG_SLICE_NP2PDEM), 0);
        CU_ASSERT_EQUAL(sg_slice_value(&last, SG_SLICE_NP2PMSM), rank == 3);
    }
    close_world(&world);
}

/* Slices without an exchange do not. */
static void test_slices_without_messages(void)
{
    struct world world = open_world((struct sg_algo_parameters){.strobe_always = 1}, SIZE, 1);
    struct sg_slice last;

    send(&world, 1, 3, 7, 100);
    receive(&world, 3, 1, 7);
    slices(&world, 2);
    CU_ASSERT_EQUAL(mini_slices(world.host, 1, &last), 2);
    CU_ASSERT_FALSE(sg_slice_knows(&last, SG_SLICE_NP2PDEM));
    CU_ASSERT_FALSE(sg_slice_knows(&last, SG_SLICE_NP2PMSM));
    close_world(&world);
}

/* WANT goes up once until the next strobe, from whatever endpoint, and is merged on its way. */
static void test_wanted_once(void)
{
    struct world world = open_world((struct sg_algo_parameters){0}, SIZE, 1);

    for (int i = 0; i < 3; i++) {
        for (int rank = 1; rank < SIZE; rank++)
            send(&world, rank, 0, 1, 8);
    }
    CU_ASSERT_EQUAL(mini_actions(world.host, SIZE - 1, SG_ACTION_SEND), 1);
    settle(&world);
    for (int rank = 1; rank < SIZE; rank++)
        CU_ASSERT_EQUAL(mini_actions(world.host, rank, SG_ACTION_SEND), 1);
    for (int i = 0; i < 3 * (SIZE - 1); i++)
        receive(&world, 0, SG_ANY, 1);
    slices(&world, 1);
    CU_ASSERT_FALSE(slice(&world));
    close_world(&world);
}

/* A message posted after the exchange has begun at its endpoint waits for the next exchange. */
static void test_posted_in_an_exchange(void)
{
    struct world world = open_world((struct sg_algo_parameters){0}, SIZE, 1);
    uint32_t early = send(&world, 1, 2, 5, 8), late, first, second;

    first = receive(&world, 2, 1, 5);
    settle(&world);
    mini_hold(world.host, SIZE - 1, true);
    mini_fire(world.host, 0, SG_BCS_TIMER_BOUNDARY);
    mini_settle(world.host);
    late = send(&world, 1, 2, 6, 8);
    second = receive(&world, 2, 1, 6);
    mini_hold(world.host, SIZE - 1, false);
    settle(&world);
    CU_ASSERT_TRUE(is_over(&world, 1, early) && is_over(&world, 2, first));
    CU_ASSERT_FALSE(is_over(&world, 1, late) || is_over(&world, 2, second));
    slices(&world, 1);
    CU_ASSERT_TRUE(is_over(&world, 1, late) && is_over(&world, 2, second));
    close_world(&world);
}

/* A receive that comes after its message wants a slice of its own. */
static void test_unexpected(void)
{
    struct world world = open_world((struct sg_algo_parameters){0}, SIZE, 1);
    uint32_t sent = send(&world, 1, 2, 5, 8), other, got;

    slices(&world, 1);
    CU_ASSERT_FALSE(slice(&world));
    CU_ASSERT_FALSE(is_over(&world, 1, sent));
    CU_ASSERT_TRUE(mini_marks(world.host, 2) & MARK(UNEXPECTED));
    other = receive(&world, 2, 3, 5);
    CU_ASSERT_FALSE(slice(&world));
    got = receive(&world, 2, 1, 5);
    slices(&world, 1);
    CU_ASSERT_TRUE(is_over(&world, 2, got) && is_over(&world, 1, sent));
    send(&world, 3, 2, 5, 8);
    slices(&world, 1);
    CU_ASSERT_TRUE(is_over(&world, 2, other));
    close_world(&world);
}

/* Deliveries wait for the next boundary where they shall, which then comes. */
static void test_restart(void)
{
    struct world world = open_world((struct sg_algo_parameters){.restart_slice = 1}, SIZE, 1);
    uint32_t got = receive(&world, 2, 1, 5), sent = send(&world, 1, 2, 5, 8);

    slices(&world, 1);
    CU_ASSERT_FALSE(is_over(&world, 1, sent) || is_over(&world, 2, got));
    slices(&world, 1);
    CU_ASSERT_TRUE(is_over(&world, 1, sent) && is_over(&world, 2, got));
    CU_ASSERT_FALSE(slice(&world));
    close_world(&world);
}

/* A strobe for the exchange and one for the rest, or one for each microphase; a collective's
 * microphase follows in the same slice. */
static void test_microphases(void)
{
    static const struct {
        bool separate, barrier;
        int strobes;
    } cases[] = {{false, false, 2}, {false, true, 2}, {true, false, 3}, {true, true, 4}};
    static const struct sg_algo_call barrier = {.operation = SG_OPERATION_BARRIER, .root = -1};

    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct world world = open_world(
            (struct sg_algo_parameters){.microphases_separate = cases[i].separate}, SIZE, 1);
        uint32_t got = receive(&world, 2, 1, 5);

        send(&world, 1, 2, 5, 8);
        if (cases[i].barrier)
            mini_call_all(world.host, &barrier);
        slices(&world, 1);
        CU_ASSERT_EQUAL(strobes(&world), cases[i].strobes);
        CU_ASSERT_TRUE(is_over(&world, 2, got));
        CU_ASSERT_EQUAL(mini_completed(world.host, 0, 1), cases[i].barrier);
        close_world(&world);
    }
}

/* With strobe=always they come at each boundary, whether there are messages or not. */
static void test_always(void)
{
    struct world world = open_world((struct sg_algo_parameters){.strobe_always = 1}, SIZE, 1);
    uint32_t got = receive(&world, 2, 1, 5);

    send(&world, 1, 2, 5, 8);
    slices(&world, 3);
    CU_ASSERT_EQUAL(strobes(&world), 4);
    CU_ASSERT_TRUE(is_over(&world, 2, got));
    close_world(&world);
}

/* ---- order ----------------------------------------------------------------------------------- */

/* Whatever overtakes what: seeds deliver in different orders. */
static void test_order(void)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct world world = open_world((struct sg_algo_parameters){0}, SIZE, seed);
        uint32_t sent[4], got[4];

        for (int i = 0; i < 4; i++)
            sent[i] = send(&world, 1, 2, 5 + i / 3, 8);
        got[0] = receive(&world, 2, 1, 5);
        got[1] = receive(&world, 2, 1, SG_ANY);
        got[2] = receive(&world, 2, 1, 6);
        got[3] = receive(&world, 2, SG_ANY, 5);
        slices(&world, 1);
        CU_ASSERT_EQUAL(mini_received(world.host, 2, got[0]), sent[0]);
        CU_ASSERT_EQUAL(mini_received(world.host, 2, got[1]), sent[1]);
        CU_ASSERT_EQUAL(mini_received(world.host, 2, got[2]), sent[3]);
        CU_ASSERT_EQUAL(mini_received(world.host, 2, got[3]), sent[2]);
        close_world(&world);
    }
}

/* Receives from anybody take messages by slice, endpoint, rank and number. */
static void test_any_source(void)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct world world = open_world((struct sg_algo_parameters){0}, SIZE, seed);
        uint32_t got[6];

        send(&world, 4, 2, 5, 8);
        slices(&world, 1);
        send(&world, 3, 2, 5, 8);
        post(&world, 1,
             (struct sg_algo_post){
                 .kind = SG_POST_SEND, .peer = 2, .local = 1, .tag = 5, .bytes = 8});
        send(&world, 2, 2, 5, 8);
        send(&world, 1, 2, 5, 8);
        send(&world, 1, 2, 6, 8);
        for (int i = 0; i < 6; i++)
            got[i] = receive(&world, 2, SG_ANY, SG_ANY);
        slices(&world, 1);
        CU_ASSERT_EQUAL(source(&world, 2, got[0]), 4);
        CU_ASSERT_EQUAL(source(&world, 2, got[1]), 1);
        CU_ASSERT_EQUAL(delivery(&world, 2, got[1]).delivery.tag, 5);
        CU_ASSERT_EQUAL(source(&world, 2, got[2]), 1);
        CU_ASSERT_EQUAL(delivery(&world, 2, got[2]).delivery.tag, 6);
        CU_ASSERT_EQUAL(source(&world, 2, got[3]), 1);
        CU_ASSERT_EQUAL(delivery(&world, 2, got[3]).delivery.source_local, 1);
        CU_ASSERT_EQUAL(source(&world, 2, got[4]), 2);
        CU_ASSERT_EQUAL(source(&world, 2, got[5]), 3);
        close_world(&world);
    }
}

/* A message is for one rank of an endpoint, and from one. */
static void test_ranks(void)
{
    struct world world = open_world((struct sg_algo_parameters){0}, SIZE, 1);
    struct sg_algo_post from_1 = {.kind = SG_POST_RECEIVE, .peer = 1, .tag = 5, .bytes = 8};
    uint32_t got[3];

    post(&world, 1,
         (struct sg_algo_post){
             .kind = SG_POST_SEND, .peer = 2, .local = 1, .peer_local = 1, .tag = 5, .bytes = 8});
    got[0] = post(&world, 2, from_1);
    from_1.local = 1;
    got[1] = post(&world, 2, from_1);
    from_1.peer_local = 1;
    got[2] = post(&world, 2, from_1);
    slices(&world, 1);
    CU_ASSERT_FALSE(is_over(&world, 2, got[0]) || is_over(&world, 2, got[1]));
    CU_ASSERT_TRUE(is_over(&world, 2, got[2]));
    send(&world, 1, 2, 5, 8);
    post(&world, 1,
         (struct sg_algo_post){
             .kind = SG_POST_SEND, .peer = 2, .peer_local = 1, .tag = 5, .bytes = 8});
    slices(&world, 1);
    CU_ASSERT_TRUE(is_over(&world, 2, got[0]) && is_over(&world, 2, got[1]));
    close_world(&world);
}

/* ---- room ------------------------------------------------------------------------------------ */

/* A receive for the last of many messages gets it, though the capacity does not hold them all;
 * the others follow in order. */
static void test_refused(void)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct world world = open_world((struct sg_algo_parameters){.posts = 8}, SIZE, seed);
        uint32_t last, got, before = 0;

        for (int i = 0; i < 7; i++) {
            send(&world, 1, 2, 5, 8);
            send(&world, 3, 2, 5, 8);
        }
        slices(&world, 1);
        CU_ASSERT_TRUE(mini_marks(world.host, 2) & MARK(REFUSED));
        /* Nothing can be done about them: no slice. */
        CU_ASSERT_FALSE(slice(&world));
        last = send(&world, 3, 2, 6, 8);
        got = receive(&world, 2, SG_ANY, 6);
        slices(&world, 1);
        CU_ASSERT_EQUAL(mini_received(world.host, 2, got), last);
        for (int i = 0; i < 7; i++) {
            receive(&world, 2, 1, 5);
            got = receive(&world, 2, 3, 5);
            while (!is_over(&world, 2, got))
                slices(&world, 1);
            CU_ASSERT_TRUE(i == 0 || mini_received(world.host, 2, got) > before);
            before = mini_received(world.host, 2, got);
        }
        close_world(&world);
    }
}

/* A message that is expected, behind one of its sender that is not and has no room: if another
 * takes its receive, it does not stay where that one could not.
 */
static void test_held_back(void)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct world world = open_world((struct sg_algo_parameters){.posts = 4}, SIZE, seed);
        uint32_t first, second, got;

        for (int i = 0; i < 2; i++)
            send(&world, 0, 2, 9, 8);
        receive(&world, 2, SG_ANY, 6);
        send(&world, 1, 2, 6, 8);
        first = send(&world, 3, 2, 5, 8);
        second = send(&world, 3, 2, 6, 8);
        send(&world, 4, 2, 6, 8);
        slices(&world, 1);
        CU_ASSERT_TRUE(mini_marks(world.host, 2) & MARK(HELD_BACK));
        got = receive(&world, 2, 3, SG_ANY);
        while (!is_over(&world, 2, got))
            slices(&world, 1);
        CU_ASSERT_EQUAL(mini_received(world.host, 2, got), first);
        got = receive(&world, 2, 3, SG_ANY);
        while (!is_over(&world, 2, got))
            slices(&world, 1);
        CU_ASSERT_EQUAL(mini_received(world.host, 2, got), second);
        receive(&world, 2, 4, 6);
        for (int i = 0; i < 2; i++)
            receive(&world, 2, 0, 9);
        close_world(&world);
    }
}

/* ---- probes ---------------------------------------------------------------------------------- */

static void test_probe(void)
{
    struct world world = open_world((struct sg_algo_parameters){0}, SIZE, 1);
    uint32_t before = probe(&world, SG_POST_IPROBE, 2, SG_ANY, 5), blocking, after, again, got;

    CU_ASSERT_EQUAL(delivery(&world, 2, before).delivery.outcome, SG_OUTCOME_NOTHING);
    blocking = probe(&world, SG_POST_PROBE, 2, SG_ANY, 5);
    CU_ASSERT_FALSE(slice(&world));
    send(&world, 3, 2, 5, 24);
    slices(&world, 1);
    CU_ASSERT_EQUAL(source(&world, 2, blocking), 3);
    CU_ASSERT_EQUAL(delivery(&world, 2, blocking).delivery.bytes, 24);
    CU_ASSERT_EQUAL(delivery(&world, 2, blocking).delivery.outcome, SG_OUTCOME_WHOLE);
    /* It is still there, and in the place that it had. */
    send(&world, 1, 2, 5, 8);
    slices(&world, 1);
    after = probe(&world, SG_POST_IPROBE, 2, SG_ANY, 5);
    CU_ASSERT_EQUAL(source(&world, 2, after), 3);
    CU_ASSERT_EQUAL(delivery(&world, 2, after).delivery.bytes, 24);
    got = receive(&world, 2, SG_ANY, 5);
    again = probe(&world, SG_POST_PROBE, 2, SG_ANY, 5);
    slices(&world, 1);
    CU_ASSERT_EQUAL(source(&world, 2, got), 3);
    CU_ASSERT_EQUAL(source(&world, 2, again), 1);
    receive(&world, 2, SG_ANY, 5);
    close_world(&world);
}

/* A message that a probe has found stays for its receive, though all others are refused. */
static void test_probed_stays(void)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct world world = open_world((struct sg_algo_parameters){.posts = 4}, SIZE, seed);
        uint32_t found, got;

        for (int i = 0; i < 4; i++)
            send(&world, 1, 2, 5, 8);
        slices(&world, 1);
        found = probe(&world, SG_POST_PROBE, 2, SG_ANY, 6);
        send(&world, 4, 2, 6, 8);
        slices(&world, 1);
        CU_ASSERT_EQUAL(source(&world, 2, found), 4);
        send(&world, 3, 2, 6, 8);
        got = receive(&world, 2, SG_ANY, 6);
        slices(&world, 1);
        CU_ASSERT_EQUAL(source(&world, 2, got), 4);
        receive(&world, 2, 3, 6);
        slices(&world, 1);
        for (int i = 0; i < 4; i++)
            receive(&world, 2, 1, 5);
        close_world(&world);
    }
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static void test_truncated(void)
{
    static const struct {
        uint32_t sent, room, got;
        enum sg_outcome outcome;
    } cases[] = {
        {100, 100, 100, SG_OUTCOME_WHOLE},
        {100, 99, 99, SG_OUTCOME_TRUNCATED},
        {100, 0, 0, SG_OUTCOME_TRUNCATED},
        {3 * CHUNK, CHUNK + 1, CHUNK + 1, SG_OUTCOME_TRUNCATED},
        {3 * CHUNK, CHUNK, CHUNK, SG_OUTCOME_TRUNCATED},
        {0, 8, 0, SG_OUTCOME_WHOLE},
        {0, 0, 0, SG_OUTCOME_WHOLE},
    };

    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct world world = open_world((struct sg_algo_parameters){0}, SIZE, i);
        uint32_t sent = send(&world, 1, 2, 5, cases[i].sent);
        uint32_t got =
            post(&world, 2,
                 (struct sg_algo_post){
                     .kind = SG_POST_RECEIVE, .peer = 1, .tag = 5, .bytes = cases[i].room});

        slices(&world, 1);
        CU_ASSERT_TRUE(is_over(&world, 1, sent));
        CU_ASSERT_EQUAL(delivery(&world, 1, sent).delivery.outcome, SG_OUTCOME_WHOLE);
        CU_ASSERT_EQUAL(delivery(&world, 2, got).delivery.bytes, cases[i].got);
        CU_ASSERT_EQUAL(delivery(&world, 2, got).delivery.outcome, cases[i].outcome);
        close_world(&world);
    }
}

/* To itself, and between ranks of one endpoint; in a communicator of one, too. */
static void test_self(void)
{
    for (int size = 1; size < 4; size++) {
        struct world world = open_world((struct sg_algo_parameters){.posts = 4}, size, 1);
        int rank = size - 1;
        uint32_t sent = send(&world, rank, rank, 5, 3 * CHUNK),
                 got = receive(&world, rank, rank, 5);
        uint32_t other = post(
            &world, rank,
            (struct sg_algo_post){
                .kind = SG_POST_RECEIVE, .peer = SG_ANY, .local = 1, .tag = SG_ANY, .bytes = 8});

        post(&world, rank,
             (struct sg_algo_post){
                 .kind = SG_POST_SEND, .peer = rank, .peer_local = 1, .tag = 5, .bytes = 8});
        while (!is_over(&world, rank, got))
            slices(&world, 1);
        CU_ASSERT_TRUE(is_over(&world, rank, sent) && is_over(&world, rank, other));
        CU_ASSERT_EQUAL(mini_received(world.host, rank, got), sent);
        close_world(&world);
    }
}

/* Four chunks a slice and endpoint: the first message has what it wants, the others the rest. */
static void test_budget(void)
{
    struct world world = open_world((struct sg_algo_parameters){0}, SIZE, 1);
    uint32_t first = receive(&world, 2, 1, 5), second = receive(&world, 2, 3, 5),
             third = receive(&world, 1, 2, 5);

    send(&world, 1, 2, 5, 10 * CHUNK);
    send(&world, 3, 2, 5, CHUNK + 8);
    send(&world, 2, 1, 5, CHUNK);
    slices(&world, 1);
    CU_ASSERT_TRUE(is_over(&world, 1, third));
    CU_ASSERT_TRUE(mini_marks(world.host, 2) & MARK(CUT));
    CU_ASSERT_FALSE(mini_marks(world.host, 1) & MARK(CUT));
    CU_ASSERT_EQUAL(mini_actions(world.host, 2, SG_ACTION_DRAIN), 4);
    slices(&world, 1);
    CU_ASSERT_EQUAL(mini_actions(world.host, 2, SG_ACTION_DRAIN), 8);
    CU_ASSERT_FALSE(is_over(&world, 2, first) || is_over(&world, 2, second));
    slices(&world, 1);
    CU_ASSERT_TRUE(is_over(&world, 2, first) && is_over(&world, 2, second));
    CU_ASSERT_FALSE(slice(&world));
    close_world(&world);
}

/* More messages than one handler has actions for; all in one slice, between two endpoints. */
static void test_many(void)
{
    struct world world =
        open_world((struct sg_algo_parameters){.posts = 512, .budget_bytes = 1 << 20}, 2, 1);
    uint32_t last = 0;

    for (int i = 0; i < 400; i++) {
        send(&world, 1, 0, i, 8);
        last = receive(&world, 0, 1, 399 - i);
    }
    slices(&world, 1);
    CU_ASSERT_TRUE(is_over(&world, 0, last));
    CU_ASSERT_FALSE(slice(&world));
    close_world(&world);
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* A strobe that is lost is repeated, for messages too; descriptors come before it. */
static void test_lost_strobe(void)
{
    for (int lost = 0; lost < 2; lost++) {
        struct world world = open_world((struct sg_algo_parameters){0}, 3, 1);
        uint32_t got = receive(&world, 2, 1, 5);

        send(&world, 1, 2, 5, 8);
        settle(&world);
        mini_fire(world.host, 0, SG_BCS_TIMER_BOUNDARY);
        if (lost == 1) {
            mini_hold(world.host, 2, true);
            mini_settle(world.host);
            mini_hold(world.host, 2, false);
            CU_ASSERT_TRUE_FATAL(mini_deliver(world.host, 0, 2));
            CU_ASSERT_TRUE_FATAL(mini_deliver(world.host, 1, 2));
            mini_hold(world.host, 2, true);
            mini_settle(world.host);
            mini_hold(world.host, 2, false);
        }
        CU_ASSERT_TRUE_FATAL(mini_lose(world.host, 0, 2));
        settle(&world);
        CU_ASSERT_FALSE(is_over(&world, 2, got));
        CU_ASSERT_TRUE(mini_fire(world.host, 0, SG_BCS_TIMER_REPEAT));
        settle(&world);
        CU_ASSERT_TRUE(is_over(&world, 2, got));
        close_world(&world);
    }
}

/* Every rank sends to some, and receives from anybody: the same matches whatever the seed, where
 * all is posted before the first slice; many tables are too small.
 */
static void exchange(struct world *world, int size, int messages, uint32_t *from)
{
    uint32_t handles[64][16], counts[64] = {0};

    for (int i = 0; i < messages; i++) {
        for (int rank = 0; rank < size; rank++) {
            int to = (rank * 7 + i * 3) % size;

            send(world, rank, to, i % 2, (uint32_t)(i % 3) * (CHUNK / 2 + 8));
            handles[to][counts[to]++] =
                receive(world, to, i % 4 == 3 ? rank : SG_ANY, i % 4 == 3 ? SG_ANY : i % 2);
        }
    }
    while (slice(world))
        ;
    for (int rank = 0; rank < size; rank++) {
        for (uint32_t i = 0; i < counts[rank]; i++) {
            bool over = is_over(world, rank, handles[rank][i]);

            *from++ = !over ? 0
                            : (uint32_t)source(world, rank, handles[rank][i]) << 16 |
                                  (uint32_t)delivery(world, rank, handles[rank][i]).delivery.tag;
        }
    }
}

static void test_deterministic(void)
{
    static const int sizes[] = {1, 2, 3, 5, 9};

    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (unsigned variant = 0; variant < 16; variant++) {
            uint32_t first[64] = {0}, other[64] = {0};

            for (uint64_t seed = 0; seed < 8; seed++) {
                struct world world = open_world(
                    (struct sg_algo_parameters){
                        .posts = variant & 8 ? 64 : 7,
                        .microphases_separate = variant >> 1 & 1,
                        .restart_slice = variant >> 2 & 1,
                        .budget_bytes = variant & 1 ? CHUNK : 4 * CHUNK,
                    },
                    sizes[i], seed);

                exchange(&world, sizes[i], 7, seed == 0 ? first : other);
                if (seed > 0)
                    CU_ASSERT_EQUAL_FATAL(memcmp(first, other, sizeof first), 0);
                mini_free(world.host);
            }
        }
    }
}

static void test_needs(void)
{
    struct sg_algo_setup setup = {.size = 4096};
    struct sg_algo_needs without, with;

    CU_ASSERT_TRUE(sg_algo_bcs.needs(&setup, &without));
    setup.parameters.posts = 16;
    CU_ASSERT_TRUE(sg_algo_bcs.needs(&setup, &with));
    CU_ASSERT_EQUAL(with.slots, without.slots + sg_bcs_out_slots(16) + sg_bcs_in_slots(16));
    CU_ASSERT_TRUE(with.state_bytes < without.state_bytes + 4096);
    setup.parameters.posts = SG_POSTS_MAX;
    CU_ASSERT_TRUE(sg_algo_bcs.needs(&setup, &with));
    setup.parameters.posts++;
    CU_ASSERT_FALSE(sg_algo_bcs.needs(&setup, &with));
    setup.parameters.posts = SG_POSTS_MIN - 1;
    CU_ASSERT_FALSE(sg_algo_bcs.needs(&setup, &with));
}

const struct unit_test unit_tests[] = {
    {"a message runs in the slice after its post", test_one_slice},
    {"a slice tells of its descriptors and matches", test_slices_tell_of_messages},
    {"a slice without messages tells of none", test_slices_without_messages},
    {"slices are asked for once", test_wanted_once},
    {"what is posted in an exchange is for the next", test_posted_in_an_exchange},
    {"a message waits for its receive", test_unexpected},
    {"posts end at the next boundary where they shall", test_restart},
    {"messages have a strobe for their exchange", test_microphases},
    {"strobes come always where they shall", test_always},
    {"messages of a sender keep their order", test_order},
    {"anybody's messages are taken by slice, endpoint, rank and number", test_any_source},
    {"ranks of an endpoint have messages of their own", test_ranks},
    {"who waits for a message gets it, though others have no room", test_refused},
    {"a message does not pass one that was refused", test_held_back},
    {"probes find messages and leave them", test_probe},
    {"what was probed stays", test_probed_stays},
    {"long messages are cut, empty ones arrive", test_truncated},
    {"messages reach their own endpoint", test_self},
    {"a slice moves what its budget allows", test_budget},
    {"many messages go in one slice", test_many},
    {"a lost strobe is repeated", test_lost_strobe},
    {"matches depend on slices alone", test_deterministic},
    {"limits hold", test_needs},
    {NULL, NULL},
};
