/* Tests programs of messages in the timed world, under bcs. */
#include "sim/timed_measure.h"
#include "sim/world_support.h"

#define SLICE_NS 250000u
#define RANKS_MAX 8192

struct rank {
    int step; /* iterations that are over */
    uint32_t left;
    uint64_t waits_ns; /* from its post to its end, of the last wait */
    uint64_t since_ns;
    int state;
};

/* Iterations of: compute; send to the next and receive from the one before, `messages` of each;
 * wait for all, before or after computing once more.
 */
struct ring {
    int32_t ranks, per_node;
    int iterations;
    uint32_t messages, bytes;
    uint64_t compute_ns, stagger_ns;
    bool late_wait;
    bool meets;   /* in an allreduce, after each wait */
    bool on_card; /* interrupts take no time */
    struct rank *rank;
    uint64_t sum_ns, waits, delivered;
    uint64_t bytes_received;
};

enum { BEGIN, COMPUTED, COMPUTED_AGAIN, WAITED, MET };

static const struct sg_algo_call allreduce = {
    .operation = SG_OPERATION_ALLREDUCE, .bytes = 64, .root = -1};

static void post_all(struct ring *ring, struct world *world, int32_t process)
{
    int32_t to = (process + 1) % ring->ranks, from = (process + ring->ranks - 1) % ring->ranks;

    for (uint32_t i = 0; i < ring->messages; i++) {
        struct sg_algo_post send = {.kind = SG_POST_SEND,
                                    .handle = 2 * i,
                                    .peer = to / ring->per_node,
                                    .peer_local = (uint16_t)(to % ring->per_node),
                                    .tag = (int32_t)i,
                                    .bytes = ring->bytes};
        struct sg_algo_post receive = {.kind = SG_POST_RECEIVE,
                                       .handle = 2 * i + 1,
                                       .peer = from / ring->per_node,
                                       .peer_local = (uint16_t)(from % ring->per_node),
                                       .tag = (int32_t)i,
                                       .bytes = ring->bytes};

        ring->rank[process].left += 2;
        sg_world_post(world, process, &receive);
        sg_world_post(world, process, &send);
    }
}

static void wait_all(struct ring *ring, struct world *world, int32_t process)
{
    struct rank *self = &ring->rank[process];

    self->state = WAITED;
    if (self->left > 0)
        sg_world_wait(world, process);
    else
        sg_world_compute(world, process, 0);
}

static void resume(void *context, struct world *world, int32_t process)
{
    struct ring *ring = context;
    struct rank *self = &ring->rank[process];

    switch (self->state) {
    case COMPUTED:
        self->since_ns = sg_world_now_ns(world);
        post_all(ring, world, process);
        if (!ring->late_wait) {
            wait_all(ring, world, process);
            break;
        }
        self->state = COMPUTED_AGAIN;
        sg_world_compute(world, process, ring->compute_ns);
        break;
    case COMPUTED_AGAIN:
        wait_all(ring, world, process);
        break;
    case WAITED:
        ring->sum_ns += sg_world_now_ns(world) - self->since_ns;
        ring->waits++;
        if (ring->meets) {
            self->state = MET;
            sg_world_call(world, process, &allreduce);
            break;
        }
        /* fall through */
    case MET:
        if (++self->step == ring->iterations) {
            sg_world_end(world, process);
            break;
        }
        /* fall through */
    default:
        self->state = COMPUTED;
        sg_world_compute(world, process, ring->compute_ns + (uint64_t)process * ring->stagger_ns);
    }
}

static void deliver(void *context, struct world *world, int32_t process,
                    const struct sg_action *delivery)
{
    struct ring *ring = context;
    struct rank *self = &ring->rank[process];

    ring->delivered++;
    if (delivery->delivery.handle % 2 == 1)
        ring->bytes_received += delivery->delivery.bytes;
    if (--self->left == 0 && self->state == WAITED)
        sg_world_resume(world, process);
}

static struct sg_world_result run_ring(struct ring *ring, bool restart_slice)
{
    const struct sg_world_program program = {ring, resume, deliver};
    struct sg_world_setup setup =
        world_of(&sg_algo_bcs, SG_OPERATION_BARRIER, ring->ranks / ring->per_node, 0);
    struct sg_network card = round_network;

    card.wake_us = 0;
    if (ring->on_card)
        setup.network = &card;
    ring->rank = calloc((size_t)ring->ranks, sizeof *ring->rank);
    ASSERT(ring->rank != NULL);
    setup.ranks_per_node = ring->per_node;
    setup.mode = SG_SIM_THREAD;
    setup.program = &program;
    setup.parameters.posts = 16;
    setup.parameters.slice_ns = SLICE_NS;
    setup.parameters.restart_slice = restart_slice;
    struct sg_world_result result = run_world(&setup);
    EXPECT(ring->waits == (uint64_t)ring->ranks * (uint64_t)ring->iterations,
           ring->delivered == 2 * ring->messages * ring->waits,
           ring->bytes_received == ring->messages * ring->bytes * ring->waits);
    free(ring->rank);
    return result;
}

TEST("messages run in slices")
{
    struct ring ring = {.ranks = 8,
                        .per_node = 1,
                        .iterations = 20,
                        .messages = 1,
                        .bytes = 64,
                        .compute_ns = 3500000,
                        .stagger_ns = 0};

    run_ring(&ring, true);
    double mean = (double)ring.sum_ns / (double)ring.waits;
    /* Posted somewhere in a slice; runs in the next one; ends with it. */
    EXPECT(mean > 1.0 * SLICE_NS && mean < 2.0 * SLICE_NS);
}

/* The wait is for a boundary, whatever is computed meanwhile. */
TEST("nonblocking messages hide behind computation")
{
    struct ring blocking = {.ranks = 8,
                            .per_node = 1,
                            .iterations = 20,
                            .messages = 2,
                            .bytes = 64,
                            .compute_ns = 3500000,
                            .stagger_ns = 1000,
                            .on_card = true};
    struct ring hidden = blocking;

    hidden.late_wait = true;
    hidden.compute_ns = blocking.compute_ns / 2;
    struct sg_world_result first = run_ring(&blocking, false);
    struct sg_world_result second = run_ring(&hidden, false);
    EXPECT(second.period_ns + 15 * SLICE_NS * 0.5 < first.period_ns);
}

/* More than the endpoint's tables hold wait for their turn. */
TEST("posts wait for table capacity")
{
    struct ring ring = {.ranks = 6,
                        .per_node = 2,
                        .iterations = 3,
                        .messages = 40,
                        .bytes = 3000,
                        .compute_ns = 100000,
                        .stagger_ns = 50000};

    run_ring(&ring, false);
}

/* A collective that follows takes a slice more, and holds everybody up to the last one. */
TEST("collectives follow messages")
{
    struct ring alone = {.ranks = 8,
                         .per_node = 2,
                         .iterations = 10,
                         .messages = 1,
                         .bytes = 64,
                         .compute_ns = 3500000};
    struct ring meeting = alone;

    meeting.meets = true;
    EXPECT(run_ring(&meeting, false).period_ns >
           run_ring(&alone, false).period_ns + 10 * SLICE_NS / 2);
}

TEST("the same program has the same history")
{
    struct ring ring = {.ranks = 6,
                        .per_node = 2,
                        .iterations = 3,
                        .messages = 4,
                        .bytes = 100000,
                        .compute_ns = 100000,
                        .stagger_ns = 50000};
    struct ring again = ring;

    EXPECT(run_ring(&ring, true).history == run_ring(&again, true).history);
}

TEST("4096 endpoints exchange messages")
{
    struct ring ring = {.ranks = 4096,
                        .per_node = 1,
                        .iterations = 2,
                        .messages = 1,
                        .bytes = 64,
                        .compute_ns = 1000000,
                        .stagger_ns = 100};

    run_ring(&ring, false);
}
