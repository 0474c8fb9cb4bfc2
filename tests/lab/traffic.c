/* Random traffic over the verbs transport. Each rank serves an endpoint, alone or with others of
 * its host (first argument). Every endpoint sends the number of messages in the second argument to
 * each endpoint, and as many multicasts. All messages arrive exactly once and whole; multicasts
 * arrive whole and at most once.
 *
 * Each rank prints one line: the multicasts that it received, and the transport's usage.
 */
#include "lab/wire.h"
#include "transport/world.h"

#include <inttypes.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { INFLIGHT = 20, STAGED = 12, STEPS = 40 };

/* In the memory of the host: what the processes of an endpoint share. */
struct shared {
    _Atomic uint32_t lock;
    struct peer peer;
};

static bool try_lock(struct shared *shared)
{
    uint32_t open = 0;

    return atomic_compare_exchange_strong(&shared->lock, &open, 1);
}

/* Some steps under the lock. What a process holds it releases before it lets another in: payload is
 * where only itself finds it. True: all is done. */
static bool advance(struct wire *wire, struct shared *shared, struct world *world)
{
    bool done = false;

    if (!try_lock(shared))
        return false;
    shared->peer.world = world;
    for (int i = 0; i < STEPS; i++)
        done = peer_step(&shared->peer);
    while (shared->peer.held_count > 0)
        wire->ops->release(wire->transport, wire->place.self,
                           &shared->peer.held[--shared->peer.held_count]);
    atomic_store(&shared->lock, 0);
    return done;
}

static bool is_all_done(bool done, MPI_Request *request, bool *asked)
{
    int all = 0;

    if (done && !*asked) {
        MUST(MPI_Ibarrier(MPI_COMM_WORLD, request));
        *asked = true;
    }
    if (*asked)
        MUST(MPI_Test(request, &all, MPI_STATUS_IGNORE));
    return all != 0;
}

static void run(struct wire *wire, struct shared *shared, struct world *world)
{
    struct sg_transport_fault fault;
    MPI_Request request = MPI_REQUEST_NULL;
    bool asked = false, done = false;

    while (!is_all_done(done, &request, &asked)) {
        done = advance(wire, shared, world) || done;
        if (wire->ops->remote->fault(wire->transport, &fault)) {
            fprintf(stderr, "endpoint %d: %s\n", fault.peer, fault.what);
            _exit(4);
        }
        sched_yield();
    }
}

static void check(const struct wire *wire, const struct peer *peer)
{
    struct sg_transport_usage usage;

    for (int from = 0; from < wire->setup.endpoints; from++)
        REQUIRE(memchr(peer->seen[from], 0, peer->count) == NULL);
    if (peer->wrong > 0)
        fprintf(stderr, "%u messages are torn or come twice\n", peer->wrong);
    REQUIRE(peer->wrong == 0);
    wire->ops->remote->usage(wire->transport, &usage);
    printf("rank %d: %u multicasts received, %" PRIu64 " repeats, %u refused, %s, %u connections, "
           "%" PRIu64 " KiB, %" PRIu64 " requests, %" PRIu64 " of them multicasts\n",
           wire->exchange.rank, peer->multicasts_received, usage.repeats, peer->refused,
           usage.has_multicast ? "multicast" : "tree", usage.connections,
           usage.registered_bytes / 1024, usage.requests, usage.multicasts);
}

int main(int argc, char **argv)
{
    int level, servers = argc > 1 ? atoi(argv[1]) : 1, count = argc > 2 ? atoi(argv[2]) : 200;
    struct sg_verbs_settings settings = wire_settings;
    struct wire wire = {0};
    struct world_case which = {.concurrent = true};
    struct world world = {.which = &which};
    struct shared *shared;

    settings.multicast = argc <= 3;
    MUST(MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &level));
    wire_start(&wire, &settings);
    REQUIRE(wire_open(&wire, servers, INFLIGHT, STAGED, WORLD_EAGER_BYTES) == SG_OK);
    REQUIRE(wire_connect(&wire) == SG_OK);
    which.ops = wire.ops;
    world.setup = wire.setup;
    world.transport = wire.transport;
    REQUIRE((size_t)wire.setup.here * sizeof *shared <= WIRE_REGION_BYTES);
    REQUIRE(wire.setup.endpoints <= WORLD_ENDPOINTS && count <= PEER_NUMBERS);
    shared = (struct shared *)(void *)wire.region + wire.place.index;
    if (wire.place.server == 0)
        peer_init(&shared->peer, &world, wire.place.self, (uint32_t)count, (uint32_t)count, 5);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    run(&wire, shared, &world);
    check(&wire, &shared->peer);
    wire_close(&wire);
    MUST(MPI_Finalize());
    return 0;
}
