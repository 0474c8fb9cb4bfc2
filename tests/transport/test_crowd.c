/* Tests the contract of transport.h with endpoints that run at the same time, as threads. Under
 * ThreadSanitizer (tests/system/threads.sh) the test shows that the memory orders are enough. */
#include "lib/unit.h"
#include "transport/world.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define COUNT 400
#define MULTICASTS 400
#define INFLIGHT 6
#define STAGED 5

static void check_peer(const struct world *world, const struct peer *peer)
{
    WORLD_CHECK(world, peer->wrong == 0);
    for (int from = 0; from < WORLD_ENDPOINTS; from++)
        WORLD_CHECK(world, memchr(peer->seen[from], 0, peer->count) == NULL);
}

/* ---- threads --------------------------------------------------------------------------------- */

static void *run_peer(void *argument)
{
    struct peer *peer = argument;

    while (!peer_step(peer))
        sched_yield();
    return NULL;
}

TEST("between threads each message arrives once and complete, even from many senders")
{
    struct peer *peers = malloc(WORLD_ENDPOINTS * sizeof *peers);
    pthread_t threads[WORLD_ENDPOINTS];

    ASSERT(peers != NULL);
    WORLD_FOR_EACH_CONCURRENT(which)
    {
        struct world world;

        world_open(&world, which, INFLIGHT, STAGED, WORLD_EAGER_BYTES);
        for (int i = 0; i < WORLD_ENDPOINTS; i++)
            peer_init(&peers[i], &world, i, world_times(which, COUNT),
                      world_times(which, MULTICASTS), 3);
        for (int i = 0; i < WORLD_ENDPOINTS; i++)
            ASSERT(pthread_create(&threads[i], NULL, run_peer, &peers[i]) == 0);
        for (int i = 0; i < WORLD_ENDPOINTS; i++)
            pthread_join(threads[i], NULL);
        for (int i = 0; i < WORLD_ENDPOINTS; i++)
            check_peer(&world, &peers[i]);
        world_close(&world);
    }
    free(peers);
}

/* ---- nothing overlooked ---------------------------------------------------------------------- */

#define ROUNDS 20000

struct rounds {
    struct world *world;
    _Atomic uint32_t sent, received;
    _Atomic bool failed;
};

/* So that the two meet in every place of each other's way, and yet neither waits for long when
 * there are more threads than processors. */
static void look_again(uint32_t *looks)
{
    if (++*looks % 256 == 0)
        sched_yield();
}

static void *send_rounds(void *argument)
{
    struct rounds *rounds = argument;
    uint32_t looks = 0;

    for (uint32_t i = 0; i < ROUNDS && !atomic_load(&rounds->failed); i++) {
        world_send(rounds->world, 1, i % 3 == 0 ? SG_TRANSPORT_ALL : 0, i, false);
        atomic_store(&rounds->sent, i + 1);
        while (atomic_load(&rounds->received) <= i && !atomic_load(&rounds->failed))
            look_again(&looks);
    }
    return NULL;
}

/* A message whose sending is over is found by the next receive, whenever the last one looked. */
TEST("the next receive finds every message sent before")
{
    WORLD_FOR_EACH_CONCURRENT(which)
    {
        struct world world;
        struct rounds rounds = {.world = &world};
        struct sg_transport_message message;
        uint32_t received = 0, looks = 0;
        pthread_t thread;

        if (which->faulty || world_is_remote(which))
            continue;
        world_open(&world, which, INFLIGHT, STAGED, WORLD_EAGER_BYTES);
        ASSERT(pthread_create(&thread, NULL, send_rounds, &rounds) == 0);
        while (received < ROUNDS && !atomic_load(&rounds.failed)) {
            bool is_sent = atomic_load(&rounds.sent) > received;

            if (which->ops->receive(world.transport, 0, &message)) {
                which->ops->release(world.transport, 0, &message);
                atomic_store(&rounds.received, ++received);
            } else if (is_sent) {
                atomic_store(&rounds.failed, true);
            }
            look_again(&looks);
        }
        pthread_join(thread, NULL);
        WORLD_CHECK(&world, received == ROUNDS);
        world_close(&world);
    }
}

/* ---- a slow receiver of multicasts ----------------------------------------------------------- */

#define STORM 1500
#define STORM_WORDS 4096
#define STORM_SENDERS 3

struct storm {
    struct world *world;
    int self;
    uint64_t words[STORM_WORDS];
};

static void *send_storm(void *argument)
{
    struct storm *storm = argument;
    const void *part = storm->words;
    struct sg_transport_send send = {.parts = &part};

    send.header.parts = 1;
    send.header.bytes = sizeof storm->words;
    for (uint32_t number = 0; number < STORM; number++) {
        send.header.seq = number;
        for (int i = 0; i < STORM_WORDS; i++)
            storm->words[i] = number;
        storm->world->which->ops->send(storm->world->transport, storm->self, SG_TRANSPORT_ALL,
                                       &send);
    }
    return NULL;
}

static bool is_of_one_piece(const struct sg_transport_message *message)
{
    const uint64_t *words = message->parts;

    for (int i = 0; i < STORM_WORDS; i++) {
        if (words[i] != message->message.header.seq)
            return false;
    }
    return message->message.header.bytes == STORM_WORDS * sizeof *words;
}

/* Reads while the senders write over it; more threads than processors, so that it falls behind in
 * the midst of a message. What comes is whole, and newer each time; the newest comes. */
TEST("a multicast that is overwritten during its read is not received")
{
    struct storm *storms = malloc(STORM_SENDERS * sizeof *storms);

    ASSERT(storms != NULL);
    WORLD_FOR_EACH_CONCURRENT(which)
    {
        struct world world;
        struct sg_transport_message message;
        uint32_t next[STORM_SENDERS + 1] = {0}, wrong = 0, over = 0;
        pthread_t threads[STORM_SENDERS];

        if (which->faulty || world_is_remote(which))
            continue;
        world_open(&world, which, 1, 1, sizeof storms->words);
        for (int i = 0; i < STORM_SENDERS; i++) {
            storms[i].world = &world;
            storms[i].self = i + 1;
            ASSERT(pthread_create(&threads[i], NULL, send_storm, &storms[i]) == 0);
        }
        while (over < STORM_SENDERS) {
            if (!which->ops->receive(world.transport, 0, &message))
                continue;
            uint32_t *expected = &next[message.message.from];
            wrong += !is_of_one_piece(&message) || message.message.header.seq < *expected;
            *expected = message.message.header.seq + 1;
            over += *expected == STORM;
            which->ops->release(world.transport, 0, &message);
        }
        for (int i = 0; i < STORM_SENDERS; i++)
            pthread_join(threads[i], NULL);
        WORLD_CHECK(&world, wrong == 0);
        WORLD_CHECK(&world, !which->ops->pending(world.transport, 0));
        world_close(&world);
    }
    free(storms);
}

/* ---- access ---------------------------------------------------------------------------------- */

#define ADDS 20000
#define REMOTE_ADDS 100

struct adder {
    struct world *world;
    struct sg_transport_region *region;
    pthread_barrier_t *start;
    int self;
    uint64_t wrong;
};

/* As `handoff` does: each writes its operand, then counts; whoever completes a pair reads both. */
static void *add(void *argument)
{
    struct adder *adder = argument;
    const struct sg_transport_region *region = adder->region;
    uint32_t adds = region->cells_count - 1;

    pthread_barrier_wait(adder->start);
    for (uint64_t i = 0; i < adds; i++) {
        struct sg_action action = {.kind = SG_ACTION_WRITE};
        uint64_t value[8], word[2] = {i, ~i}, other[2] = {0, 0};

        /* A slot of its own for each pair's side, so that the count alone orders it. */
        action.access.remote = (uint32_t)(2 * i) + (uint32_t)adder->self;
        action.access.bytes = sizeof word;
        world_access(adder->world, adder->self, &action, region, word, value);
        action.kind = SG_ACTION_FETCH_ADD;
        action.access.remote = (uint32_t)i;
        action.access.value = 1;
        world_access(adder->world, adder->self, &action, region, NULL, value);
        if (value[0] == 1) {
            action.kind = SG_ACTION_READ;
            action.access.remote = (uint32_t)(2 * i) + (uint32_t)!adder->self;
            world_access(adder->world, adder->self, &action, region, other, value);
            adder->wrong += other[0] != i || other[1] != ~i;
        }
        action.kind = SG_ACTION_FETCH_ADD;
        action.access.remote = adds;
        world_access(adder->world, adder->self, &action, region, NULL, value);
    }
    return NULL;
}

TEST("the second of two threads that write and add reads the first one's writes")
{
    WORLD_FOR_EACH_CONCURRENT(which)
    {
        struct world world;
        struct adder adders[2];
        pthread_t threads[2];
        pthread_barrier_t start;
        uint32_t adds = world_is_remote(which) ? REMOTE_ADDS : ADDS;
        struct sg_action action = {.kind = SG_ACTION_READ_CELLS};
        uint64_t value[8];

        world_open(&world, which, INFLIGHT, STAGED, WORLD_EAGER_BYTES);
        struct sg_transport_region region = world_region(&world, 16, 2 * adds, adds + 1);
        ASSERT(pthread_barrier_init(&start, NULL, 2) == 0);
        for (int i = 0; i < 2; i++) {
            adders[i] =
                (struct adder){.world = &world, .region = &region, .start = &start, .self = i};
            ASSERT(pthread_create(&threads[i], NULL, add, &adders[i]) == 0);
        }
        for (int i = 0; i < 2; i++) {
            pthread_join(threads[i], NULL);
            WORLD_CHECK(&world, adders[i].wrong == 0);
        }
        action.access.remote = adds;
        action.access.count = 1;
        world_access(&world, 0, &action, &region, NULL, value);
        WORLD_CHECK(&world, value[0] == UINT64_C(2) * adds);
        pthread_barrier_destroy(&start);
        world_close(&world);
    }
}
