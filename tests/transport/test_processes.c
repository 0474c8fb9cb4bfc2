/* Tests the contract of transport.h with endpoints that are processes. They map the memory at
 * different addresses, and some of them are killed. */
#include "lib/unit.h"
#include "transport/world.h"

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT 400
#define MULTICASTS 400
#define INFLIGHT 6
#define STAGED 5

static void run_peer(struct peer *peer)
{
    while (!peer_step(peer))
        sched_yield();
    for (int from = 0; from < WORLD_ENDPOINTS; from++)
        peer->wrong += memchr(peer->seen[from], 0, peer->count) != NULL;
}

/* ---- processes ------------------------------------------------------------------------------- */

static void run_child(struct peer *peer)
{
    world_reopen(peer->world);
    run_peer(peer);
    _exit(peer->wrong > 0);
}

TEST("processes that map the memory at different addresses exchange messages correctly")
{
    struct peer *peer = malloc(sizeof *peer);

    ASSERT(peer != NULL);
    WORLD_FOR_EACH_CONCURRENT(which)
    {
        struct world world;
        pid_t children[WORLD_ENDPOINTS];
        int status;

        world_open(&world, which, INFLIGHT, STAGED, WORLD_EAGER_BYTES);
        for (int i = 1; i < WORLD_ENDPOINTS; i++) {
            peer_init(peer, &world, i, COUNT, MULTICASTS, 4);
            children[i] = fork();
            ASSERT(children[i] >= 0);
            if (children[i] == 0)
                run_child(peer);
        }
        peer_init(peer, &world, 0, COUNT, MULTICASTS, 4);
        run_peer(peer);
        WORLD_CHECK(&world, peer->wrong == 0);
        for (int i = 1; i < WORLD_ENDPOINTS; i++) {
            ASSERT(waitpid(children[i], &status, 0) == children[i]);
            WORLD_CHECK(&world, WIFEXITED(status) && WEXITSTATUS(status) == 0);
        }
        world_close(&world);
    }
    free(peer);
}

/* ---- killed processes ------------------------------------------------------------------------ */

#define KILLS 40
#define VICTIM 2
#define GENERATION 1000000u

/* Sends for ever, whatever has become of the process before it. */
static void run_victim(struct world *world, uint32_t generation)
{
    const struct sg_transport_ops *ops = world->which->ops;
    struct sg_transport_message message;
    uint32_t number = generation * GENERATION;

    world_reopen(world);
    for (;;) {
        number += world_send(world, VICTIM, 0, number, true) == SG_TRANSPORT_DONE;
        world_send(world, VICTIM, SG_TRANSPORT_ALL, number, true);
        if (ops->receive(world->transport, VICTIM, &message))
            ops->release(world->transport, VICTIM, &message);
        sched_yield();
    }
}

/* One message, if any. True: from this generation of the victim to this endpoint alone. Whatever
 * comes is whole, and none of a generation comes twice. */
static bool take_from_victim(struct world *world, uint32_t generation, uint64_t *wrong,
                             uint8_t *seen)
{
    const struct sg_transport_ops *ops = world->which->ops;
    struct sg_transport_message message;
    bool counts = false;

    if (!ops->receive(world->transport, 0, &message)) {
        sched_yield();
        return false;
    }
    uint32_t number = message.message.header.seq;
    *wrong += !world_is_whole(&message, 0) || message.message.from != VICTIM;
    if (!message.message.multicast && number / GENERATION == generation) {
        number %= GENERATION;
        *wrong += number < PEER_NUMBERS && seen[number]++ > 0;
        counts = true;
    }
    ops->release(world->transport, 0, &message);
    return counts;
}

TEST("an endpoint killed at any moment stops no other, and its successor continues")
{
    uint8_t *seen = malloc(PEER_NUMBERS);

    ASSERT(seen != NULL);
    WORLD_FOR_EACH_CONCURRENT(which)
    {
        struct world world;
        uint64_t random = 9, wrong = 0;

        if (which->faulty)
            continue; /* it holds messages for its own reasons, which a killed one never releases */
        world_open(&world, which, INFLIGHT, KILLS + STAGED, WORLD_EAGER_BYTES);
        for (uint32_t generation = 0; generation < KILLS; generation++) {
            uint32_t wanted = 1 + world_random(&random, 200), count = 0;
            pid_t victim = fork();

            ASSERT(victim >= 0);
            if (victim == 0)
                run_victim(&world, generation);
            memset(seen, 0, PEER_NUMBERS);
            while (count < wanted) {
                world_send(&world, 0, VICTIM, count, true);
                count += take_from_victim(&world, generation, &wrong, seen);
            }
            ASSERT(kill(victim, SIGKILL) == 0 && waitpid(victim, NULL, 0) == victim);
            /* The others' ways are free, whatever it was doing. */
            WORLD_CHECK(&world, world_send(&world, 3, 0, 0, false) == SG_TRANSPORT_DONE);
            for (bool found = false; !found;) {
                struct sg_transport_message message;

                ASSERT(which->ops->receive(world.transport, 0, &message));
                found = message.message.from == 3;
                wrong += !world_is_whole(&message, 0);
                which->ops->release(world.transport, 0, &message);
            }
        }
        WORLD_CHECK(&world, wrong == 0);
        world_close(&world);
    }
    free(seen);
}
