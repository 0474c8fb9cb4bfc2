/* Tests the contract of transport.h, over every transport and over each with faults. Here
 * endpoints act one after the other; threads and processes are in test_crowd.c. */
#include "lib/unit.h"
#include "transport/faulty.h"
#include "transport/world.h"

#include <errno.h>
#include <sys/mman.h>
#include <time.h>

#define INFLIGHT 70 /* more than one word of bits */
#define STAGED 66
#define TOLD_SECONDS 120
#define LARGE 1300 /* bytes that fit beside a header nowhere */

static void release(struct world *world, int self, const struct sg_transport_message *message)
{
    world->which->ops->release(world->transport, self, message);
}

/* ---- open ------------------------------------------------------------------------------------ */

TEST("a transport opens only possible setups, and all endpoints must agree")
{
    static const struct sg_transport_setup bad[] = {
        {0, 0, NULL, 1, 1, 8},         {-1, 0, NULL, 1, 1, 8},      {2, 0, NULL, 0, 1, 8},
        {2, 0, NULL, 1, 0, 8},         {1 << 24, 0, NULL, 1, 1, 8}, {2, 0, NULL, 1, 1, UINT32_MAX},
        {2, 0, NULL, UINT32_MAX, 1, 8}};

    WORLD_FOR_EACH(which)
    {
        struct world world;
        struct sg_transport *other = NULL;
        struct sg_transport_setup setup;

        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
            WORLD_CHECK(&(struct world){.which = which}, which->ops->shared_bytes(&bad[i]) == 0);
        world_open(&world, which, 2, 2, WORLD_EAGER_BYTES);
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
            errno = 0;
            WORLD_CHECK(&world, which->ops->open(&bad[i], world.shared, &other) != SG_OK);
            WORLD_CHECK(&world, other == NULL && errno == EINVAL);
        }
        setup = world.setup;
        setup.inflight = 1;
        WORLD_CHECK(&world, which->ops->open(&setup, world.shared, &other) != SG_OK);
        WORLD_CHECK(&world, other == NULL);
        WORLD_CHECK(&world, which->ops->capabilities & SG_TRANSPORT_ONE_SIDED);
        world_close(&world);
    }
}

/* ---- messages -------------------------------------------------------------------------------- */

/* Peers in turn, drawn from a seed. */
static void exchange(struct world *world, uint32_t count, uint64_t seed, struct peer *peers)
{
    uint32_t multicasts = world_times(world->which, 100);
    uint64_t random = seed;
    int done = 0;
    bool over[WORLD_ENDPOINTS] = {false};

    for (int i = 0; i < WORLD_ENDPOINTS; i++) {
        peer_init(&peers[i], world, i, count, multicasts, seed);
        peers[i].alone = true;
    }
    for (long steps = 0; done < WORLD_ENDPOINTS && steps < 50000000; steps++) {
        int i = (int)world_random(&random, WORLD_ENDPOINTS);
        bool was_over = over[i];

        /* One that is done goes on receiving multicasts. */
        over[i] = peer_step(&peers[i]);
        done += over[i] - was_over;
    }
    WORLD_CHECK(world, done == WORLD_ENDPOINTS);
}

TEST("a message arrives exactly once and complete, under random traffic")
{
    struct peer *peers = malloc(WORLD_ENDPOINTS * sizeof *peers);

    ASSERT(peers != NULL);
    WORLD_FOR_EACH(which)
    {
        struct world world;
        uint32_t count = world_times(which, 300);

        world_open(&world, which, 5, 6, WORLD_EAGER_BYTES);
        for (uint64_t seed = 1; seed <= (world_is_remote(which) ? 1 : 4); seed++) {
            uint32_t refused = 0;

            exchange(&world, count, seed, peers);
            for (int i = 0; i < WORLD_ENDPOINTS; i++) {
                WORLD_CHECK(&world, peers[i].wrong == 0);
                WORLD_CHECK(&world, peers[i].multicasts_received > 0);
                for (int from = 0; from < WORLD_ENDPOINTS; from++)
                    WORLD_CHECK(&world, memchr(peers[i].seen[from], 0, count) == NULL);
                refused += peers[i].refused;
            }
            WORLD_CHECK(&world, refused > 0); /* the limits have been reached on the way */
        }
        world_close(&world);
    }
    free(peers);
}

/* There is room: at once, or as soon as the sender has heard of it. */
static void send_when_told(struct world *world, int self, int to, uint32_t number, bool payload)
{
    time_t start = time(NULL);
    enum sg_transport_result result;

    do {
        result = world_send(world, self, to, number, payload);
    } while (result == SG_TRANSPORT_FULL && world_is_remote(world->which) &&
             time(NULL) - start < TOLD_SECONDS);
    WORLD_CHECK(world, result == SG_TRANSPORT_DONE);
}

/* Sends from 1 to `to` until it is refused: at the limit, or beyond it where the sender hears only
 * now and then what has been received. How many were sent. */
static uint32_t send_until_full(struct world *world, int to)
{
    uint32_t sent = 0;

    while (sent < 4 * INFLIGHT && world_send(world, 1, to, sent, false) == SG_TRANSPORT_DONE)
        sent++;
    WORLD_CHECK(world, world_is_remote(world->which) ? sent >= INFLIGHT && sent <= 2 * INFLIGHT
                                                     : sent == INFLIGHT);
    return sent;
}

TEST("a send is refused above a pair's messages in flight, then continues")
{
    WORLD_FOR_EACH(which)
    {
        struct world world;
        struct sg_transport_message message;
        uint32_t received = 0, sent;

        world_open(&world, which, INFLIGHT, STAGED, WORLD_EAGER_BYTES);
        sent = send_until_full(&world, 0);
        /* The limit is each pair's own. */
        for (uint32_t i = 0; i < INFLIGHT; i++) {
            WORLD_CHECK(&world, world_send(&world, 2, 0, i, false) == SG_TRANSPORT_DONE);
            WORLD_CHECK(&world, world_send(&world, 1, 3, i, false) == SG_TRANSPORT_DONE);
        }
        WORLD_CHECK(&world, world_send(&world, 1, 0, sent, false) == SG_TRANSPORT_FULL);
        while (world_receive(&world, 0, &message)) {
            WORLD_CHECK(&world, world_is_whole(&message, 0));
            received++;
            release(&world, 0, &message);
        }
        WORLD_CHECK(&world, received == sent + INFLIGHT);
        for (uint32_t i = 0; i < INFLIGHT; i++)
            send_when_told(&world, 1, 0, i, false);
        world_close(&world);
    }
}

TEST("a send is refused above a sender's messages with payload, then continues")
{
    uint32_t number = 0;

    while (world_bytes(0, 1, number) < LARGE)
        number++;
    WORLD_FOR_EACH(which)
    {
        struct world world;
        struct sg_transport_message message;

        world_open(&world, which, INFLIGHT, STAGED, WORLD_EAGER_BYTES);
        for (uint32_t i = 0; i < STAGED; i++)
            WORLD_CHECK(&world, world_send(&world, 0, 1, number, true) == SG_TRANSPORT_DONE);
        WORLD_CHECK(&world, world_send(&world, 0, 1, number, true) == SG_TRANSPORT_FULL);
        /* Without payload, and to whom another has sent, there is room. */
        WORLD_CHECK(&world, world_send(&world, 0, 2, 0, false) == SG_TRANSPORT_DONE);
        for (uint32_t i = 0; i < STAGED; i++) {
            WORLD_CHECK(&world, world_receive(&world, 1, &message));
            WORLD_CHECK(&world, world_is_whole(&message, 1));
            release(&world, 1, &message);
            send_when_told(&world, 0, 1, number, true);
            WORLD_CHECK(&world, world_send(&world, 0, 1, number, true) == SG_TRANSPORT_FULL);
        }
        world_close(&world);
    }
}

TEST("held messages stay unchanged and are released in any order")
{
    WORLD_FOR_EACH(which)
    {
        struct world world;
        struct sg_transport_message held[8];
        uint64_t random = 11;
        uint32_t number = 0;

        world_open(&world, which, 8, 8, WORLD_EAGER_BYTES);
        for (; number < 8; number++) {
            WORLD_CHECK(&world, world_send(&world, 4, 2, number, true) == SG_TRANSPORT_DONE);
            WORLD_CHECK(&world, world_receive(&world, 2, &held[number]));
        }
        /* Any one of them goes, its place is used again, and the others stay as they are. */
        for (uint32_t round = 0; round < world_times(which, 1000); round++, number++) {
            uint32_t which_one = world_random(&random, 8);

            WORLD_CHECK(&world, world_is_remote(which) ||
                                    world_send(&world, 4, 2, number, true) == SG_TRANSPORT_FULL);
            release(&world, 2, &held[which_one]);
            send_when_told(&world, 4, 2, number, true);
            WORLD_CHECK(&world, world_receive(&world, 2, &held[which_one]));
            WORLD_CHECK(&world, held[which_one].message.header.seq == number);
            for (int i = 0; i < 8; i++)
                WORLD_CHECK(&world, world_is_whole(&held[i], 2));
        }
        world_close(&world);
    }
}

/* ---- multicasts ------------------------------------------------------------------------------ */

TEST("a multicast reaches every other endpoint, complete")
{
    WORLD_FOR_EACH(which)
    {
        struct world world;
        struct sg_transport_message message;
        uint32_t total = 0, count = world_times(which, 500);

        world_open(&world, which, 2, 2, WORLD_EAGER_BYTES);
        for (uint32_t number = 0; number < count; number++) {
            WORLD_CHECK(&world,
                        world_send(&world, 3, SG_TRANSPORT_ALL, number, true) == SG_TRANSPORT_DONE);
            WORLD_CHECK(&world, world_is_quiet(&world, 3));
            for (int self = 0; self < WORLD_ENDPOINTS; self++) {
                int times = 0;

                for (; world_receive(&world, self, &message); times++) {
                    WORLD_CHECK(&world, message.message.multicast && message.message.from == 3);
                    WORLD_CHECK(&world, message.message.header.seq == number);
                    WORLD_CHECK(&world, world_is_whole(&message, self));
                    release(&world, self, &message);
                }
                if (world_is_remote(which) || self == 3)
                    WORLD_CHECK(&world, times <= (self != 3));
                else
                    WORLD_CHECK(&world, which->faulty || times == 1);
                total += (uint32_t)times;
            }
        }
        WORLD_CHECK(&world, total > count * (WORLD_ENDPOINTS - 1) / 2); /* few are lost */
        world_close(&world);
    }
}

TEST("a lapped receiver misses multicasts, gets none torn or twice, and gets the newest")
{
    WORLD_FOR_EACH(which)
    {
        struct world world;
        struct sg_transport_message held[SG_TRANSPORT_HELD], message;
        int count = 0, after = 0;
        uint32_t half = world_is_remote(which) ? 150 : 1000;

        if (which->faulty)
            continue; /* these may lose them all */
        world_open(&world, which, 2, 2, WORLD_EAGER_BYTES);
        for (uint32_t number = 0; number < half; number++)
            world_send(&world, 1, SG_TRANSPORT_ALL, number, true);
        while (count < SG_TRANSPORT_HELD && world_receive(&world, 0, &held[count]))
            count++;
        WORLD_CHECK(&world, count == SG_TRANSPORT_HELD);
        /* All are held: no more come, and pending says so; what is held is not overwritten. */
        for (uint32_t number = half; number < 2 * half; number++)
            world_send(&world, 1, SG_TRANSPORT_ALL, number, true);
        WORLD_CHECK(&world, !which->ops->pending(world.transport, 0));
        WORLD_CHECK(&world, !which->ops->receive(world.transport, 0, &message));
        for (int i = 0; i < count; i++) {
            WORLD_CHECK(&world, world_is_whole(&held[i], 0));
            WORLD_CHECK(&world,
                        i == 0 || held[i].message.header.seq != held[i - 1].message.header.seq);
        }
        for (int i = 0; i < count; i++)
            release(&world, 0, &held[(i * 3 + 1) % count]);
        /* The newest is always there; datagrams that nobody takes make way for no other. */
        for (; world_receive(&world, 0, &message); after++) {
            WORLD_CHECK(&world, world_is_whole(&message, 0));
            WORLD_CHECK(&world, world_is_remote(which) || message.message.header.seq > half);
            release(&world, 0, &message);
        }
        WORLD_CHECK(&world, after > 0);
        WORLD_CHECK(&world, world_is_remote(which) || message.message.header.seq == 2 * half - 1);
        world_close(&world);
    }
}

/* ---- access ---------------------------------------------------------------------------------- */

TEST("other endpoints' slots and cells are written, read and added to")
{
    WORLD_FOR_EACH(which)
    {
        struct world world;
        uint64_t value[8] = {0}, word[2] = {17, 18}, back[2] = {0};
        struct sg_action action = {.kind = SG_ACTION_WRITE, .to = 4};

        world_open(&world, which, 2, 2, WORLD_EAGER_BYTES);
        struct sg_transport_region region = world_region(&world, sizeof word, 3, 10);
        action.access.bytes = sizeof word;
        action.access.remote = 2;
        world_access(&world, 0, &action, &region, word, value);
        word[0] = 0; /* the writer's again */
        action.kind = SG_ACTION_READ;
        world_access(&world, 4, &action, &region, back, value);
        WORLD_CHECK(&world, back[0] == 17 && back[1] == 18);
        action.access.remote = 1;
        world_access(&world, 1, &action, &region, back, value);
        WORLD_CHECK(&world, back[0] == 0 && back[1] == 0);
        action.kind = SG_ACTION_WRITE_CELL;
        action.access.remote = 9;
        action.access.value = UINT64_MAX - 1;
        world_access(&world, 0, &action, &region, NULL, value);
        action.kind = SG_ACTION_FETCH_ADD;
        action.access.value = 5;
        world_access(&world, 1, &action, &region, NULL, value);
        WORLD_CHECK(&world, value[0] == UINT64_MAX - 1);
        action.kind = SG_ACTION_READ_CELLS;
        action.access.remote = 2;
        action.access.count = 8;
        for (int self = 0; self < WORLD_ENDPOINTS; self++) {
            memset(value, 0xff, sizeof value);
            world_access(&world, self, &action, &region, NULL, value);
            WORLD_CHECK(&world, value[7] == 3 && value[6] == 0);
        }
        world_close(&world);
    }
}

/* ---- faults ---------------------------------------------------------------------------------- */

TEST("the faulty transports delay, reorder, lose and duplicate, the same for one seed")
{
    struct peer *peers = malloc(WORLD_ENDPOINTS * sizeof *peers);

    ASSERT(peers != NULL);
    WORLD_FOR_EACH(which)
    {
        struct faulty_counts first = {0}, counts;
        struct world world;

        for (int run = 0; run < 2 && which->faulty; run++) {
            world_open(&world, which, 6, 6, WORLD_EAGER_BYTES);
            exchange(&world, 100, 5, peers);
            counts = faulty_counts(world.transport);
            WORLD_CHECK(&world, counts.delayed > 100 && counts.reordered > 100);
            WORLD_CHECK(&world, counts.lost > 10 && counts.repeated > 10);
            if (run == 0)
                first = counts;
            WORLD_CHECK(&world, memcmp(&first, &counts, sizeof counts) == 0);
            world_close(&world);
        }
    }
    free(peers);
}
