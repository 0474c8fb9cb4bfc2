/* Tests messages of buffered coscheduling on the mini host: their order, matches, slices and
 * bytes. */
#include "algos/mini_host.h"
#include "bcs/posts.h"
#include "lib/unit.h"

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

    ASSERT(mini_delivered(world->host, rank, handle, &action));
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
        ASSERT(slice(world));
}

static int strobes(const struct world *world)
{
    return mini_actions(world->host, 0, SG_ACTION_MULTICAST);
}

/* ---- slices ---------------------------------------------------------------------------------- */

/* Nothing moves before the boundary, then everything in one slice; a receive asks for nothing. */
TEST("a message runs in the slice after its post")
{
    struct world world = open_world((struct sg_algo_parameters){0}, SIZE, 1);
    uint32_t got = receive(&world, 3, 4, 7), sent;

    EXPECT(!slice(&world), mini_actions(world.host, -1, SG_ACTION_SEND) == 0);
    sent = send(&world, 4, 3, 7, 100);
    settle(&world);
    EXPECT(mini_actions(world.host, -1, SG_ACTION_READ) == 0);
    slices(&world, 1);
    EXPECT(strobes(&world) == 2, is_over(&world, 4, sent),
           delivery(&world, 3, got).delivery.tag == 7,
           delivery(&world, 3, got).delivery.bytes == 100,
           mini_received(world.host, 3, got) == sent, !slice(&world));
    close_world(&world);
}

/* A slice tells of the descriptors that were offered here and of the receives that were matched. */
TEST("a slice reports its descriptors and matches")
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

        EXPECT(mini_slices(world.host, rank, &last) == 1,
               sg_slice_value(&last, SG_SLICE_NP2PDEM) == offered[rank],
               sg_slice_value(&last, SG_SLICE_NP2PMSM) == matched[rank]);
    }
    receive(&world, 3, SG_ANY, SG_ANY);
    slices(&world, 1);
    for (int rank = 0; rank < SIZE; rank++) {
        struct sg_slice last;

        EXPECT(mini_slices(world.host, rank, &last) == 2,
               sg_slice_value(&last, SG_SLICE_NP2PDEM) == 0,
               sg_slice_value(&last, SG_SLICE_NP2PMSM) == (rank == 3));
    }
    close_world(&world);
}

/* Slices without an exchange do not. */
TEST("a slice without messages reports none")
{
    struct world world = open_world((struct sg_algo_parameters){.strobe_always = 1}, SIZE, 1);
    struct sg_slice last;

    send(&world, 1, 3, 7, 100);
    receive(&world, 3, 1, 7);
    slices(&world, 2);
    EXPECT(mini_slices(world.host, 1, &last) == 2, !sg_slice_knows(&last, SG_SLICE_NP2PDEM),
           !sg_slice_knows(&last, SG_SLICE_NP2PMSM));
    close_world(&world);
}

/* WANT goes up once until the next strobe, from whatever endpoint, and is merged on its way. */
TEST("an endpoint requests slices once")
{
    struct world world = open_world((struct sg_algo_parameters){0}, SIZE, 1);

    for (int i = 0; i < 3; i++) {
        for (int rank = 1; rank < SIZE; rank++)
            send(&world, rank, 0, 1, 8);
    }
    EXPECT(mini_actions(world.host, SIZE - 1, SG_ACTION_SEND) == 1);
    settle(&world);
    for (int rank = 1; rank < SIZE; rank++)
        EXPECT(mini_actions(world.host, rank, SG_ACTION_SEND) == 1);
    for (int i = 0; i < 3 * (SIZE - 1); i++)
        receive(&world, 0, SG_ANY, 1);
    slices(&world, 1);
    EXPECT(!slice(&world));
    close_world(&world);
}

/* A message posted after the exchange has begun at its endpoint waits for the next exchange. */
TEST("a post made during an exchange takes part in the next one")
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
    EXPECT(is_over(&world, 1, early) && is_over(&world, 2, first),
           !(is_over(&world, 1, late) || is_over(&world, 2, second)));
    slices(&world, 1);
    EXPECT(is_over(&world, 1, late) && is_over(&world, 2, second));
    close_world(&world);
}

/* A receive that comes after its message wants a slice of its own. */
TEST("a message waits for its receive")
{
    struct world world = open_world((struct sg_algo_parameters){0}, SIZE, 1);
    uint32_t sent = send(&world, 1, 2, 5, 8), other, got;

    slices(&world, 1);
    EXPECT(!slice(&world), !is_over(&world, 1, sent), mini_marks(world.host, 2) & MARK(UNEXPECTED));
    other = receive(&world, 2, 3, 5);
    EXPECT(!slice(&world));
    got = receive(&world, 2, 1, 5);
    slices(&world, 1);
    EXPECT(is_over(&world, 2, got) && is_over(&world, 1, sent));
    send(&world, 3, 2, 5, 8);
    slices(&world, 1);
    EXPECT(is_over(&world, 2, other));
    close_world(&world);
}

/* Deliveries wait for the next boundary where they shall, which then comes. */
TEST("with restart_slice posts end at the next boundary")
{
    struct world world = open_world((struct sg_algo_parameters){.restart_slice = 1}, SIZE, 1);
    uint32_t got = receive(&world, 2, 1, 5), sent = send(&world, 1, 2, 5, 8);

    slices(&world, 1);
    EXPECT(!(is_over(&world, 1, sent) || is_over(&world, 2, got)));
    slices(&world, 1);
    EXPECT(is_over(&world, 1, sent) && is_over(&world, 2, got), !slice(&world));
    close_world(&world);
}

/* A strobe for the exchange and one for the rest, or one for each microphase; a collective's
 * microphase follows in the same slice. */
TEST("messages add a strobe for their exchange")
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
        EXPECT(strobes(&world) == cases[i].strobes, is_over(&world, 2, got),
               mini_completed(world.host, 0, 1) == cases[i].barrier);
        close_world(&world);
    }
}

/* With strobe=always they come at each boundary, whether there are messages or not. */
TEST("with strobe_always every slice has its strobes")
{
    struct world world = open_world((struct sg_algo_parameters){.strobe_always = 1}, SIZE, 1);
    uint32_t got = receive(&world, 2, 1, 5);

    send(&world, 1, 2, 5, 8);
    slices(&world, 3);
    EXPECT(strobes(&world) == 4, is_over(&world, 2, got));
    close_world(&world);
}

/* ---- order ----------------------------------------------------------------------------------- */

/* Whatever overtakes what: seeds deliver in different orders. */
TEST("messages of a sender keep their order")
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
        EXPECT(mini_received(world.host, 2, got[0]) == sent[0],
               mini_received(world.host, 2, got[1]) == sent[1],
               mini_received(world.host, 2, got[2]) == sent[3],
               mini_received(world.host, 2, got[3]) == sent[2]);
        close_world(&world);
    }
}

/* Receives from anybody take messages by slice, endpoint, rank and number. */
TEST("wildcard receives take messages by slice, endpoint, rank and number")
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
        EXPECT(source(&world, 2, got[0]) == 4, source(&world, 2, got[1]) == 1,
               delivery(&world, 2, got[1]).delivery.tag == 5, source(&world, 2, got[2]) == 1,
               delivery(&world, 2, got[2]).delivery.tag == 6, source(&world, 2, got[3]) == 1,
               delivery(&world, 2, got[3]).delivery.source_local == 1,
               source(&world, 2, got[4]) == 2, source(&world, 2, got[5]) == 3);
        close_world(&world);
    }
}

/* A message is for one rank of an endpoint, and from one. */
TEST("ranks of one endpoint have separate messages")
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
    EXPECT(!(is_over(&world, 2, got[0]) || is_over(&world, 2, got[1])), is_over(&world, 2, got[2]));
    send(&world, 1, 2, 5, 8);
    post(&world, 1,
         (struct sg_algo_post){
             .kind = SG_POST_SEND, .peer = 2, .peer_local = 1, .tag = 5, .bytes = 8});
    slices(&world, 1);
    EXPECT(is_over(&world, 2, got[0]) && is_over(&world, 2, got[1]));
    close_world(&world);
}

/* ---- room ------------------------------------------------------------------------------------ */

/* A receive for the last of many messages gets it, though the capacity does not hold them all;
 * the others follow in order. */
TEST("a waiting receive gets its message even if the table is full of other posts")
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct world world = open_world((struct sg_algo_parameters){.posts = 8}, SIZE, seed);
        uint32_t last, got, before = 0;

        for (int i = 0; i < 7; i++) {
            send(&world, 1, 2, 5, 8);
            send(&world, 3, 2, 5, 8);
        }
        slices(&world, 1);
        EXPECT(mini_marks(world.host, 2) & MARK(REFUSED));
        /* Nothing can be done about them: no slice. */
        EXPECT(!slice(&world));
        last = send(&world, 3, 2, 6, 8);
        got = receive(&world, 2, SG_ANY, 6);
        slices(&world, 1);
        EXPECT(mini_received(world.host, 2, got) == last);
        for (int i = 0; i < 7; i++) {
            receive(&world, 2, 1, 5);
            got = receive(&world, 2, 3, 5);
            while (!is_over(&world, 2, got))
                slices(&world, 1);
            EXPECT(i == 0 || mini_received(world.host, 2, got) > before);
            before = mini_received(world.host, 2, got);
        }
        close_world(&world);
    }
}

/* A message that is expected, behind one of its sender that is not and has no room: if another
 * takes its receive, it does not stay where that one could not.
 */
TEST("a message does not overtake a refused one")
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct world world = open_world((struct sg_algo_parameters){.posts = 4}, SIZE, seed);

        for (int i = 0; i < 2; i++)
            send(&world, 0, 2, 9, 8);
        receive(&world, 2, SG_ANY, 6);
        send(&world, 1, 2, 6, 8);
        uint32_t first = send(&world, 3, 2, 5, 8);
        uint32_t second = send(&world, 3, 2, 6, 8);
        send(&world, 4, 2, 6, 8);
        slices(&world, 1);
        EXPECT(mini_marks(world.host, 2) & MARK(HELD_BACK));
        uint32_t got = receive(&world, 2, 3, SG_ANY);
        while (!is_over(&world, 2, got))
            slices(&world, 1);
        EXPECT(mini_received(world.host, 2, got) == first);
        got = receive(&world, 2, 3, SG_ANY);
        while (!is_over(&world, 2, got))
            slices(&world, 1);
        EXPECT(mini_received(world.host, 2, got) == second);
        receive(&world, 2, 4, 6);
        for (int i = 0; i < 2; i++)
            receive(&world, 2, 0, 9);
        close_world(&world);
    }
}

/* ---- probes ---------------------------------------------------------------------------------- */

TEST("probes find messages and do not take them")
{
    struct world world = open_world((struct sg_algo_parameters){0}, SIZE, 1);
    uint32_t before = probe(&world, SG_POST_IPROBE, 2, SG_ANY, 5), blocking, after, again, got;

    EXPECT(delivery(&world, 2, before).delivery.outcome == SG_OUTCOME_NOTHING);
    blocking = probe(&world, SG_POST_PROBE, 2, SG_ANY, 5);
    EXPECT(!slice(&world));
    send(&world, 3, 2, 5, 24);
    slices(&world, 1);
    EXPECT(source(&world, 2, blocking) == 3, delivery(&world, 2, blocking).delivery.bytes == 24,
           delivery(&world, 2, blocking).delivery.outcome == SG_OUTCOME_WHOLE);
    /* It is still there, and in the place that it had. */
    send(&world, 1, 2, 5, 8);
    slices(&world, 1);
    after = probe(&world, SG_POST_IPROBE, 2, SG_ANY, 5);
    EXPECT(source(&world, 2, after) == 3, delivery(&world, 2, after).delivery.bytes == 24);
    got = receive(&world, 2, SG_ANY, 5);
    again = probe(&world, SG_POST_PROBE, 2, SG_ANY, 5);
    slices(&world, 1);
    EXPECT(source(&world, 2, got) == 3, source(&world, 2, again) == 1);
    receive(&world, 2, SG_ANY, 5);
    close_world(&world);
}

/* A message that a probe has found stays for its receive, though all others are refused. */
TEST("a probed message stays in the table")
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct world world = open_world((struct sg_algo_parameters){.posts = 4}, SIZE, seed);

        for (int i = 0; i < 4; i++)
            send(&world, 1, 2, 5, 8);
        slices(&world, 1);
        uint32_t found = probe(&world, SG_POST_PROBE, 2, SG_ANY, 6);
        send(&world, 4, 2, 6, 8);
        slices(&world, 1);
        EXPECT(source(&world, 2, found) == 4);
        send(&world, 3, 2, 6, 8);
        uint32_t got = receive(&world, 2, SG_ANY, 6);
        slices(&world, 1);
        EXPECT(source(&world, 2, got) == 4);
        receive(&world, 2, 3, 6);
        slices(&world, 1);
        for (int i = 0; i < 4; i++)
            receive(&world, 2, 1, 5);
        close_world(&world);
    }
}

/* ---- bytes ----------------------------------------------------------------------------------- */

TEST("long messages are truncated, empty ones arrive")
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
        EXPECT(is_over(&world, 1, sent),
               delivery(&world, 1, sent).delivery.outcome == SG_OUTCOME_WHOLE,
               delivery(&world, 2, got).delivery.bytes == cases[i].got,
               delivery(&world, 2, got).delivery.outcome == cases[i].outcome);
        close_world(&world);
    }
}

/* To itself, and between ranks of one endpoint; in a communicator of one, too. */
TEST("messages reach their own endpoint")
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
        EXPECT(is_over(&world, rank, sent) && is_over(&world, rank, other),
               mini_received(world.host, rank, got) == sent);
        close_world(&world);
    }
}

/* Four chunks a slice and endpoint: the first message has what it wants, the others the rest. */
TEST("a slice moves at most its budget")
{
    struct world world = open_world((struct sg_algo_parameters){0}, SIZE, 1);
    uint32_t first = receive(&world, 2, 1, 5), second = receive(&world, 2, 3, 5),
             third = receive(&world, 1, 2, 5);

    send(&world, 1, 2, 5, 10 * CHUNK);
    send(&world, 3, 2, 5, CHUNK + 8);
    send(&world, 2, 1, 5, CHUNK);
    slices(&world, 1);
    EXPECT(is_over(&world, 1, third), mini_marks(world.host, 2) & MARK(CUT),
           !(mini_marks(world.host, 1) & MARK(CUT)),
           mini_actions(world.host, 2, SG_ACTION_DRAIN) == 4);
    slices(&world, 1);
    EXPECT(mini_actions(world.host, 2, SG_ACTION_DRAIN) == 8,
           !(is_over(&world, 2, first) || is_over(&world, 2, second)));
    slices(&world, 1);
    EXPECT(is_over(&world, 2, first) && is_over(&world, 2, second), !slice(&world));
    close_world(&world);
}

/* More messages than one handler has actions for; all in one slice, between two endpoints. */
TEST("one slice carries many messages")
{
    struct world world =
        open_world((struct sg_algo_parameters){.posts = 512, .budget_bytes = 1 << 20}, 2, 1);
    uint32_t last = 0;

    for (int i = 0; i < 400; i++) {
        send(&world, 1, 0, i, 8);
        last = receive(&world, 0, 1, 399 - i);
    }
    slices(&world, 1);
    EXPECT(is_over(&world, 0, last), !slice(&world));
    close_world(&world);
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* A strobe that is lost is repeated, for messages too; descriptors come before it. */
TEST("a lost strobe is sent again")
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
            ASSERT(mini_deliver(world.host, 0, 2), mini_deliver(world.host, 1, 2));
            mini_hold(world.host, 2, true);
            mini_settle(world.host);
            mini_hold(world.host, 2, false);
        }
        ASSERT(mini_lose(world.host, 0, 2));
        settle(&world);
        EXPECT(!is_over(&world, 2, got), mini_fire(world.host, 0, SG_BCS_TIMER_REPEAT));
        settle(&world);
        EXPECT(is_over(&world, 2, got));
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

TEST("matches depend only on slices")
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
                    ASSERT(memcmp(first, other, sizeof first) == 0);
                mini_free(world.host);
            }
        }
    }
}

TEST("parameters and communicators outside the limits are refused")
{
    struct sg_algo_setup setup = {.size = 4096};
    struct sg_algo_needs without, with;

    EXPECT(sg_algo_bcs.needs(&setup, &without));
    setup.parameters.posts = 16;
    EXPECT(sg_algo_bcs.needs(&setup, &with),
           with.slots == without.slots + sg_bcs_out_slots(16) + sg_bcs_in_slots(16),
           with.state_bytes < without.state_bytes + 4096);
    setup.parameters.posts = SG_POSTS_MAX;
    EXPECT(sg_algo_bcs.needs(&setup, &with));
    setup.parameters.posts++;
    EXPECT(!sg_algo_bcs.needs(&setup, &with));
    setup.parameters.posts = SG_POSTS_MIN - 1;
    EXPECT(!sg_algo_bcs.needs(&setup, &with));
}
