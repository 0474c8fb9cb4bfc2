/* The contract of transport.h, over every transport that there is and over each with faults. What
 * endpoints do one after the other is here; threads and processes are in test_crowd.c.
 */
#include "lib/unit.h"
#include "transport/faulty.h"
#include "transport/world.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define INFLIGHT 70 /* more than one word of bits */
#define STAGED 66

/* Receives until nothing is pending; a faulty transport may take a while over it. */
static bool receive_next(struct world *world, int self, struct sg_transport_message *out)
{
    while (world->which->ops->pending(world->transport, self)) {
        if (world->which->ops->receive(world->transport, self, out))
            return true;
    }
    return false;
}

static void release(struct world *world, int self, const struct sg_transport_message *message)
{
    world->which->ops->release(world->transport, self, message);
}

/* ---- open ------------------------------------------------------------------------------------ */

static void test_open(void)
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
        WORLD_CHECK(&world, which->ops->open(&setup, world.shared, &other) == SG_ERR_ARGUMENT);
        WORLD_CHECK(&world, other == NULL);
        WORLD_CHECK(&world, which->ops->capabilities & SG_TRANSPORT_ONE_SIDED);
        world_close(&world);
    }
}

/* ---- messages -------------------------------------------------------------------------------- */

/* Peers in turn, drawn from a seed. */
static void exchange(struct world *world, uint32_t count, uint64_t seed, struct peer *peers)
{
    uint64_t random = seed;
    int done = 0;
    bool over[WORLD_ENDPOINTS] = {false};

    for (int i = 0; i < WORLD_ENDPOINTS; i++) {
        peer_init(&peers[i], world, i, count, 100, seed);
        peers[i].alone = true;
    }
    for (long steps = 0; done < WORLD_ENDPOINTS && steps < 20000000; steps++) {
        int i = (int)world_random(&random, WORLD_ENDPOINTS);
        bool was_over = over[i];

        /* One that is done goes on receiving multicasts. */
        over[i] = peer_step(&peers[i]);
        done += over[i] - was_over;
    }
    WORLD_CHECK(world, done == WORLD_ENDPOINTS);
}

static void test_exactly_once(void)
{
    struct peer *peers = malloc(WORLD_ENDPOINTS * sizeof *peers);

    CU_ASSERT_FATAL(peers != NULL);
    WORLD_FOR_EACH(which)
    {
        struct world world;

        world_open(&world, which, 5, 6, WORLD_EAGER_BYTES);
        for (uint64_t seed = 1; seed <= 4; seed++) {
            uint32_t refused = 0;

            exchange(&world, 300, seed, peers);
            for (int i = 0; i < WORLD_ENDPOINTS; i++) {
                WORLD_CHECK(&world, peers[i].wrong == 0);
                WORLD_CHECK(&world, peers[i].posts_received > 0);
                for (int from = 0; from < WORLD_ENDPOINTS; from++)
                    WORLD_CHECK(&world, memchr(peers[i].seen[from], 0, 300) == NULL);
                refused += peers[i].refused;
            }
            WORLD_CHECK(&world, refused > 0); /* the limits have been reached on the way */
        }
        world_close(&world);
    }
    free(peers);
}

static void test_limits(void)
{
    WORLD_FOR_EACH(which)
    {
        struct world world;
        struct sg_transport_message message;
        uint32_t received = 0;

        world_open(&world, which, INFLIGHT, STAGED, WORLD_EAGER_BYTES);
        for (uint32_t i = 0; i < INFLIGHT; i++)
            WORLD_CHECK(&world, world_send(&world, 1, 0, i, false) == SG_TRANSPORT_DONE);
        WORLD_CHECK(&world, world_send(&world, 1, 0, INFLIGHT, false) == SG_TRANSPORT_FULL);
        /* The limit is each pair's own. */
        for (uint32_t i = 0; i < INFLIGHT; i++) {
            WORLD_CHECK(&world, world_send(&world, 2, 0, i, false) == SG_TRANSPORT_DONE);
            WORLD_CHECK(&world, world_send(&world, 1, 3, i, false) == SG_TRANSPORT_DONE);
        }
        WORLD_CHECK(&world, world_send(&world, 1, 0, INFLIGHT, false) == SG_TRANSPORT_FULL);
        while (receive_next(&world, 0, &message)) {
            WORLD_CHECK(&world, world_is_whole(&message, 0));
            received++;
            release(&world, 0, &message);
        }
        WORLD_CHECK(&world, received == 2 * INFLIGHT);
        for (uint32_t i = 0; i < INFLIGHT; i++)
            WORLD_CHECK(&world, world_send(&world, 1, 0, i, false) == SG_TRANSPORT_DONE);
        world_close(&world);
    }
}

/* The numbers of messages from 0 to 1 with more payload than fits beside a header. */
static bool is_large(uint32_t number)
{
    struct world world;
    struct sg_transport_message message;
    bool large;

    world_open(&world, world_cases, 1, 1, WORLD_EAGER_BYTES);
    world_send(&world, 0, 1, number, true);
    large = receive_next(&world, 1, &message) &&
            message.message.header.parts * message.message.header.bytes > 1000;
    world_close(&world);
    return large;
}

static void test_staged(void)
{
    uint32_t number = 0;

    while (!is_large(number))
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
            WORLD_CHECK(&world, receive_next(&world, 1, &message));
            WORLD_CHECK(&world, world_is_whole(&message, 1));
            release(&world, 1, &message);
            WORLD_CHECK(&world, world_send(&world, 0, 1, number, true) == SG_TRANSPORT_DONE);
            WORLD_CHECK(&world, world_send(&world, 0, 1, number, true) == SG_TRANSPORT_FULL);
        }
        world_close(&world);
    }
}

static void test_held(void)
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
            WORLD_CHECK(&world, receive_next(&world, 2, &held[number]));
        }
        /* Any one of them goes, its place is used again, and the others stay as they are. */
        for (int round = 0; round < 1000; round++, number++) {
            uint32_t which_one = world_random(&random, 8);

            WORLD_CHECK(&world, world_send(&world, 4, 2, number, true) == SG_TRANSPORT_FULL);
            release(&world, 2, &held[which_one]);
            WORLD_CHECK(&world, world_send(&world, 4, 2, number, true) == SG_TRANSPORT_DONE);
            WORLD_CHECK(&world, receive_next(&world, 2, &held[which_one]));
            WORLD_CHECK(&world, held[which_one].message.header.seq == number);
            for (int i = 0; i < 8; i++)
                WORLD_CHECK(&world, world_is_whole(&held[i], 2));
        }
        world_close(&world);
    }
}

/* ---- multicasts ------------------------------------------------------------------------------ */

static void test_multicast(void)
{
    WORLD_FOR_EACH(which)
    {
        struct world world;
        struct sg_transport_message message;

        world_open(&world, which, 2, 2, WORLD_EAGER_BYTES);
        for (uint32_t number = 0; number < 500; number++) {
            WORLD_CHECK(&world,
                        world_send(&world, 3, SG_TRANSPORT_ALL, number, true) == SG_TRANSPORT_DONE);
            WORLD_CHECK(&world, !which->ops->pending(world.transport, 3));
            for (int self = 0; self < WORLD_ENDPOINTS; self++) {
                int times = 0;

                for (; receive_next(&world, self, &message); times++) {
                    WORLD_CHECK(&world, message.message.multicast && message.message.from == 3);
                    WORLD_CHECK(&world, message.message.header.seq == number);
                    WORLD_CHECK(&world, world_is_whole(&message, self));
                    release(&world, self, &message);
                }
                WORLD_CHECK(&world, self == 3 ? times == 0 : which->faulty || times == 1);
            }
        }
        world_close(&world);
    }
}

static void test_lapped(void)
{
    WORLD_FOR_EACH(which)
    {
        struct world world;
        struct sg_transport_message held[SG_TRANSPORT_HELD], message;
        int count = 0, after = 0;

        if (which->faulty)
            continue; /* these may lose them all */
        world_open(&world, which, 2, 2, WORLD_EAGER_BYTES);
        for (uint32_t number = 0; number < 1000; number++)
            world_send(&world, 1, SG_TRANSPORT_ALL, number, true);
        while (count < SG_TRANSPORT_HELD && receive_next(&world, 0, &held[count]))
            count++;
        WORLD_CHECK(&world, count == SG_TRANSPORT_HELD);
        /* All are held: no more come, and pending says so; what is held is not overwritten. */
        for (uint32_t number = 1000; number < 2000; number++)
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
        /* The newest is always there. */
        for (; receive_next(&world, 0, &message); after++) {
            WORLD_CHECK(&world, world_is_whole(&message, 0));
            WORLD_CHECK(&world, message.message.header.seq > 1000);
            release(&world, 0, &message);
        }
        WORLD_CHECK(&world, after > 0 && message.message.header.seq == 1999);
        world_close(&world);
    }
}

/* ---- access ---------------------------------------------------------------------------------- */

static void test_access(void)
{
    WORLD_FOR_EACH(which)
    {
        struct world world;
        uint64_t slots[3][2] = {{0}}, value[8] = {0}, word[2] = {17, 18}, back[2] = {0};
        _Atomic uint64_t cells[10] = {0};
        struct sg_transport_region region = {0, slots, cells, sizeof *slots, 3, 10};
        struct sg_action action = {.kind = SG_ACTION_WRITE, .to = 4};

        world_open(&world, which, 2, 2, WORLD_EAGER_BYTES);
        action.access.bytes = sizeof word;
        action.access.remote = 2;
        WORLD_CHECK(&world, which->ops->access(world.transport, 0, &action, &region, word, value) ==
                                SG_TRANSPORT_DONE);
        WORLD_CHECK(&world, slots[2][0] == 17 && slots[2][1] == 18 && slots[1][1] == 0);
        action.kind = SG_ACTION_READ;
        which->ops->access(world.transport, 4, &action, &region, back, value);
        WORLD_CHECK(&world, memcmp(back, word, sizeof word) == 0);
        action.kind = SG_ACTION_WRITE_CELL;
        action.access.remote = 9;
        action.access.value = UINT64_MAX - 1;
        which->ops->access(world.transport, 0, &action, &region, NULL, value);
        action.kind = SG_ACTION_FETCH_ADD;
        action.access.value = 5;
        which->ops->access(world.transport, 1, &action, &region, NULL, value);
        WORLD_CHECK(&world, value[0] == UINT64_MAX - 1);
        action.kind = SG_ACTION_READ_CELLS;
        action.access.remote = 2;
        action.access.count = 8;
        which->ops->access(world.transport, 2, &action, &region, NULL, value);
        WORLD_CHECK(&world, value[7] == 3 && value[6] == 0);
        world_close(&world);
    }
}

/* ---- faults ---------------------------------------------------------------------------------- */

static void test_faults(void)
{
    struct peer *peers = malloc(WORLD_ENDPOINTS * sizeof *peers);

    CU_ASSERT_FATAL(peers != NULL);
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

const struct unit_test unit_tests[] = {
    {"a transport is opened for possible setups only, and by all for the same", test_open},
    {"a message arrives exactly once and whole, under random traffic", test_exactly_once},
    {"beyond the messages in flight of a pair a send is refused, then goes on", test_limits},
    {"beyond the messages with payload of a sender a send is refused, then goes on", test_staged},
    {"held messages stay as they are and are released in any order", test_held},
    {"a multicast reaches every other endpoint, whole", test_multicast},
    {"a receiver that is lapped misses multicasts, gets none torn or twice, and the newest",
     test_lapped},
    {"slots and cells of others are written, read and added to", test_access},
    {"the faulty transports delay, reorder, lose and repeat, alike for a seed", test_faults},
    {NULL, NULL},
};
