/* Tests clock synchronization in virtual processes, whose clocks have offsets and drifts: results
 * are compared with the truth, which the test knows. */
#include "core/clock.h"
#include "core/clocksync.h"
#include "core/waiting.h"
#include "lib/exchange_fork.h"
#include "lib/unit.h"
#include "lib/virtual.h"

#include <math.h>

#define SECOND_NS 1e9

/* A network of 2 us with a long tail, clocks anywhere within hours, drifts as crystals have. */
static struct virtual_world world_of(int size, uint64_t seed)
{
    struct virtual_world world = {.size = size,
                                  .latency_ns = 2000,
                                  .jitter_ns = 700,
                                  .overhead_ns = 150,
                                  .reading_ns = 25,
                                  .delay_ns = 400,
                                  .seed = seed};

    for (int rank = 0; rank < size; rank++) {
        uint64_t bits = seed * 2654435761u + (uint64_t)rank * 40503u;

        world.offset_ns[rank] = 1e14 + (double)(bits % 10000019) * 1e6;
        world.drift[rank] = ((double)(bits % 2001) - 1000) / 1000 * 1e-4;
    }
    return world;
}

struct found {
    double wrong_ns, bound_ns;
};

/* Against the truth, so long after now. */
static struct found look(const struct sg_clocksync *sync, double later_ns)
{
    const struct sg_clock_model *model = sg_clocksync_model(sync);
    double time_ns = virtual_time_ns() + later_ns;
    uint64_t local_ns = (uint64_t)virtual_clock_at(virtual_rank(), time_ns);
    double global_ns = (double)sg_clock_model_global(model, local_ns);

    /* Clocks are read in whole ns. */
    return (struct found){fabs(global_ns - virtual_clock_at(0, time_ns)) - 3,
                          (double)sg_clock_model_error(model, local_ns)};
}

static uint64_t machine_of_rank(int rank)
{
    return (uint64_t)rank + 1;
}

/* ---- within the bound ------------------------------------------------------------------------ */

struct later {
    bool drift_known;
    double most_ns[3]; /* the bound is no more at 0, 1 and 10 s */
};

static int stay_within(void *context)
{
    static const double later_ns[] = {0, SECOND_NS, 10 * SECOND_NS};
    const struct later *later = context;
    struct sg_clocksync *sync;
    int wrong = 0;

    if (sg_clocksync_open(virtual_exchange(), machine_of_rank(virtual_rank()), virtual_clock_ns,
                          SG_CLOCKSYNC_TREE, &sync) != SG_OK)
        return 1;
    wrong |= sg_clocksync_measure(sync, NULL) != SG_OK;
    if (later->drift_known) {
        virtual_pass(1.5 * SECOND_NS);
        wrong |= sg_clocksync_measure(sync, NULL) != SG_OK;
    }
    for (int i = 0; i < 3; i++) {
        struct found found = look(sync, later_ns[i]);

        wrong |= found.wrong_ns > found.bound_ns || found.bound_ns > later->most_ns[i];
    }
    sg_clocksync_close(sync);
    return wrong;
}

/* Seven rounds of half a round trip of 5 us; two clocks drift apart by up to 200 us a second. */
TEST("128 clocks with offsets and drifts stay within the bound, at once and 10 s later")
{
    struct later once = {false, {50e3, 350e3, 2.3e6}};

    for (uint64_t seed = 1; seed <= 3; seed += (uint64_t)unit_step()) {
        struct virtual_world world = world_of(128, seed);

        EXPECT(virtual_run(&world, stay_within, &once));
    }
}

TEST("after a second drifts are known too, and the bounds shrink to a fraction")
{
    struct later twice = {true, {50e3, 150e3, 900e3}};

    for (uint64_t seed = 1; seed <= 3; seed += (uint64_t)unit_step()) {
        struct virtual_world world = world_of(128, seed);

        EXPECT(virtual_run(&world, stay_within, &twice));
    }
}

/* Exchanges that no synchronisation has used: two global clocks differ by no more than their bounds
 * and half a round trip, and by more if one of them is moved by that. */
static int audit(void *context)
{
    struct sg_clock clock = {virtual_clock_ns, NULL};
    struct sg_clock_model moved;
    struct sg_clock_pair pair;
    struct sg_clocksync *sync;
    int rank = virtual_rank(), wrong = 0;

    sg_clocksync_open(virtual_exchange(), machine_of_rank(rank), virtual_clock_ns,
                      SG_CLOCKSYNC_TREE, &sync);
    sg_clocksync_measure(sync, NULL);
    virtual_pass(5 * SECOND_NS);
    sg_clocksync_measure(sync, NULL);
    clock.model = sg_clocksync_model(sync);
    for (int asker = 1; asker < virtual_exchange()->size && !wrong; asker++) {
        if (rank == asker - 1)
            wrong |= sg_clock_pair_answer(virtual_exchange(), asker, &clock) != SG_OK ||
                     sg_clock_pair_answer(virtual_exchange(), asker, &clock) != SG_OK;
        if (rank != asker)
            continue;
        sg_clock_pair_ask(virtual_exchange(), asker - 1, &clock, 100, NULL, NULL, &pair);
        wrong |= llabs(pair.measured.offset_ns) > (int64_t)pair.measured.error_ns;
        moved = *clock.model;
        moved.points[moved.count - 1].offset_ns += 2 * (int64_t)pair.measured.error_ns + 1000;
        clock.model = &moved;
        sg_clock_pair_ask(virtual_exchange(), asker - 1, &clock, 100, NULL, NULL, &pair);
        wrong |= llabs(pair.measured.offset_ns) <= (int64_t)pair.measured.error_ns;
        clock.model = sg_clocksync_model(sync);
    }
    sg_clocksync_close(sync);
    return wrong;
}

TEST("an audit by other exchanges is within the bounds, and finds a clock that is not")
{
    struct virtual_world world = world_of(32, 9);

    EXPECT(virtual_run(&world, audit, NULL));
}

/* Measured again between batches, each second: the bound shrinks with what is known. */
static int measure_often(void *context)
{
    struct sg_clocksync *sync;
    struct found found = {0, 0};
    double first_ns = 0;
    int wrong = 0;

    sg_clocksync_open(virtual_exchange(), machine_of_rank(virtual_rank()), virtual_clock_ns,
                      SG_CLOCKSYNC_TREE, &sync);
    for (int batch = 0; batch < 50; batch++) {
        wrong |= sg_clocksync_measure(sync, NULL) != SG_OK;
        found = look(sync, SECOND_NS);
        wrong |= found.wrong_ns > found.bound_ns;
        if (batch == 0)
            first_ns = found.bound_ns;
        virtual_pass(SECOND_NS);
    }
    wrong |= virtual_rank() != 0 && found.bound_ns > first_ns / 4;
    sg_clocksync_close(sync);
    return wrong;
}

TEST("repeated measurements between batches improve the clocks' bounds")
{
    struct virtual_world world = world_of(16, 7);

    EXPECT(virtual_run(&world, measure_often, NULL));
}

/* Any number of ranks finds its way through the tree. */
TEST("any number of ranks is synchronised")
{
    struct later once = {false, {50e3, 350e3, 2.3e6}};

    for (int size = 1; size <= 17; size += unit_step()) {
        struct virtual_world world = world_of(size, (uint64_t)size);

        EXPECT(virtual_run(&world, stay_within, &once));
    }
}

/* ---- rounds ---------------------------------------------------------------------------------- */

struct cost {
    enum sg_clocksync_scheme scheme;
    uint32_t rounds;
    double time_ns;
};

static int count_rounds(void *context)
{
    struct cost *cost = context;
    struct sg_clocksync *sync;
    struct sg_clock_offset offset;

    sg_clocksync_open(virtual_exchange(), machine_of_rank(virtual_rank()), virtual_clock_ns,
                      cost->scheme, &sync);
    virtual_meet();
    double begin_ns = virtual_time_ns();
    if (sg_clocksync_measure(sync, &offset) != SG_OK)
        return 1;
    virtual_meet();
    if (virtual_rank() == 0) {
        cost->rounds = offset.rounds;
        cost->time_ns = virtual_time_ns() - begin_ns;
    }
    sg_clocksync_close(sync);
    return 0;
}

TEST("128 processes take 7 rounds and under a tenth of the time of serial exchanges")
{
    struct virtual_world world = world_of(128, 5);
    struct cost tree = {.scheme = SG_CLOCKSYNC_TREE}, linear = {.scheme = SG_CLOCKSYNC_LINEAR};

    EXPECT(virtual_run(&world, count_rounds, &tree), virtual_run(&world, count_rounds, &linear),
           tree.rounds == 7, linear.rounds == 127, tree.time_ns * 10 <= linear.time_ns);
    world = world_of(100, 5);
    EXPECT(virtual_run(&world, count_rounds, &tree), tree.rounds == 7);
}

/* ---- machines -------------------------------------------------------------------------------- */

#define RANKS 8

static const int machines[RANKS] = {7, 8, 7, 9, 8, 7, 9, 8};

static int take_leaders(void *context)
{
    const bool *honest = context;
    int rank = virtual_rank(), leader = machines[rank] == 7 ? 0 : machines[rank] == 8 ? 1 : 3;
    struct sg_clocksync *sync;

    sg_clocksync_open(virtual_exchange(), (uint64_t)machines[rank], virtual_clock_ns,
                      SG_CLOCKSYNC_TREE, &sync);
    bool good = sg_clocksync_measure(sync, NULL) == SG_OK;
    struct found found = look(sync, 0);
    good = good && found.wrong_ns <= found.bound_ns;
    /* The machine with two clocks falls apart, the others do not. */
    if (!*honest && machines[rank] == 8)
        leader = rank;
    good = good && sg_clocksync_leader(sync) == leader &&
           sg_clocksync_leader_count(sync) == (*honest ? 3 : 5) &&
           sg_clocksync_leader_at(sync, 1) == 1;
    if (machines[rank] == 7)
        good = good && found.wrong_ns <= 0 && found.bound_ns <= 0;
    sg_clocksync_close(sync);
    return good ? 0 : 1;
}

TEST("ranks of one machine take their leader's clock, unless theirs is shown to differ")
{
    struct virtual_world world = world_of(RANKS, 3);
    bool honest = true;

    for (int rank = 0; rank < RANKS; rank++) {
        world.offset_ns[rank] = machines[rank] * 1e13;
        world.drift[rank] = machines[rank] * 1e-5;
    }
    EXPECT(virtual_run(&world, take_leaders, &honest));
    honest = false;
    world.offset_ns[7] += 1e6;
    EXPECT(virtual_run(&world, take_leaders, &honest));
}

/* ---- the model ------------------------------------------------------------------------------- */

TEST("the model is a line once measurements span a second, with the bound worked out by hand")
{
    struct sg_clock_model model = {0};
    struct sg_clock_measurement points[] = {
        {1000000000, 5000, 100}, {1500000000, 5050, 100}, {3000000000, 5200, 100}};

    /* A drift of 100 ns a second: not to be told from two points half a second apart. */
    sg_clock_model_add(&model, &points[0]);
    sg_clock_model_add(&model, &points[1]);
    EXPECT(sg_clock_model_global(&model, 1600000000) == 1600005050,
           sg_clock_model_error(&model, 1600000000) == 100 + 20000 + 1,
           sg_clock_model_error(&model, 1500000000) == 101);
    sg_clock_model_add(&model, &points[2]);
    EXPECT(sg_clock_model_global(&model, 2000000000) == 2000005100,
           sg_clock_model_global(&model, 5000000000) == 5000005400,
           sg_clock_model_local(&model, 5000005400) == 5000000000,
           sg_clock_model_error(&model, 2000000000) == 101);
    /* 100, and 200 in 2 s of baseline for each of 2 s, and the wander of 2 s. */
    EXPECT(sg_clock_model_error(&model, 5000000000) == 100 + 200 + 200 + 1);
    for (uint64_t i = 4; i < 100; i++) {
        struct sg_clock_measurement more = {i * 1000000000, (int64_t)(4900 + i * 100), 100};

        sg_clock_model_add(&model, &more);
    }
    EXPECT(model.count == SG_CLOCK_POINTS,
           sg_clock_model_global(&model, 100000000000) == 100000014900);
}

/* A time series of round trips, as paper 004's stop rule sees it. */
static int exchange_until_patience_ends(void *context)
{
    struct sg_clock plain = {virtual_clock_ns, NULL};
    struct sg_clock_pair pair;

    if (virtual_rank() == 0)
        return sg_clock_pair_answer(virtual_exchange(), 1, &plain) == SG_OK ? 0 : 1;
    if (sg_clock_pair_ask(virtual_exchange(), 0, &plain, SG_CLOCK_PAIR_PATIENCE, NULL, NULL,
                          &pair) != SG_OK)
        return 1;
    /* Without jitter the first is the least, and a hundred follow it. */
    return pair.exchanges == 101 && pair.round_trip_ns == 2 * (2000 + 300) + 400 + 50 &&
                   pair.deviation_ns <= 1
               ? 0
               : 1;
}

TEST("exchanges end after a hundred without a shorter round trip")
{
    struct virtual_world world = world_of(2, 3);

    world.jitter_ns = 0;
    world.drift[0] = world.drift[1] = 0;
    EXPECT(virtual_run(&world, exchange_until_patience_ends, NULL));
}

/* ---- on this machine ------------------------------------------------------------------------- */

TEST("a machine has the same number each time")
{
    EXPECT(sg_clocksync_machine() == sg_clocksync_machine(), sg_clocksync_machine() != 0);
}

static int agree_on(const struct sg_exchange *exchange, void *context)
{
    const int *bad = context;
    int first = 99;

    if (sg_exchange_agree(exchange, exchange->rank != bad[0] && exchange->rank != bad[1], &first) !=
        SG_OK)
        return 1;
    return first == (bad[0] < 0 ? -1 : bad[0]) ? 0 : 2;
}

TEST("ranks agree, or learn the first rank that does not")
{
    int none[2] = {-1, -1};
    int two[2] = {1, 3};

    EXPECT(exchange_fork(5, agree_on, none), exchange_fork(5, agree_on, two));
}

/* More than one piece of sg_exchange_share. */
#define SHARED_BYTES 200001

static int share_blob(const struct sg_exchange *exchange, void *context)
{
    unsigned char *data = exchange->rank == 0 ? malloc(SHARED_BYTES) : NULL;
    void *shared = data;
    size_t size_bytes = exchange->rank == 0 ? SHARED_BYTES : 0;
    int wrong = 0;

    for (size_t i = 0; data != NULL && i < SHARED_BYTES; i++)
        data[i] = (unsigned char)(i * 31 >> 3);
    if (sg_exchange_share(exchange, &shared, &size_bytes) != SG_OK || size_bytes != SHARED_BYTES)
        return 1;
    data = shared;
    for (size_t i = 0; i < SHARED_BYTES; i++)
        wrong += data[i] != (unsigned char)(i * 31 >> 3);
    free(data);
    return wrong > 0;
}

TEST("rank 0's data of any size reaches every rank complete")
{
    EXPECT(exchange_fork(3, share_blob, NULL));
}

static int collect_all(const struct sg_exchange *exchange, void *context)
{
    int own[2] = {exchange->rank, 10 * exchange->rank}, wrong = 0;
    void *all = NULL;

    if (sg_exchange_collect(exchange, own, sizeof own, &all) != SG_OK)
        return 1;
    for (int rank = 0; rank < exchange->size; rank++)
        wrong |= ((int *)all)[2 * rank] != rank || ((int *)all)[2 * rank + 1] != 10 * rank;
    free(all);
    return wrong;
}

TEST("every rank gets every rank's value")
{
    EXPECT(exchange_fork(5, collect_all, NULL));
}

static int unite_all(const struct sg_exchange *exchange, void *context)
{
    unsigned char own[3] = {(unsigned char)(1 << exchange->rank), 0, exchange->rank == 3};

    if (sg_exchange_unite(exchange, own, sizeof own) != SG_OK)
        return 1;
    return exchange->rank == 0 && (own[0] != 31 || own[1] != 0 || own[2] != 1);
}

TEST("rank 0 gets the bitwise or of all ranks' values")
{
    EXPECT(exchange_fork(5, unite_all, NULL));
}

/* ---- the epoch of slices ---- */

#define EPOCH_SLICE_NS 250000u

/* Boundaries of slices on all machines, as far apart as the clocks' bounds say; a machine's ranks
 * have the same. */
static int agree_on_epoch(void *context)
{
    const struct sg_exchange *exchange = virtual_exchange();
    const bool *measures = context;
    uint64_t machine = (uint64_t)virtual_rank() / 2, epoch_ns = 0, others_ns = 0, boundary_ns;
    struct sg_clocksync *sync = NULL;
    int wrong = 0;

    if (sg_clocksync_open(exchange, machine, virtual_clock_ns, SG_CLOCKSYNC_TREE, &sync) != SG_OK ||
        sg_clocksync_measure(sync, NULL) != SG_OK ||
        sg_epoch_agree(exchange, machine, virtual_clock_ns, *measures ? NULL : sync, &epoch_ns) !=
            SG_OK)
        return 1;
    boundary_ns = epoch_ns + (uint64_t)40 * EPOCH_SLICE_NS;
    /* Rank 0's clock must read the same at rank 0's boundary and at this rank's. */
    others_ns = epoch_ns;
    wrong |= exchange->broadcast(exchange->context, &others_ns, sizeof others_ns) != SG_OK;
    wrong |= fabs((double)sg_clock_model_global(sg_clocksync_model(sync), boundary_ns) -
                  (double)(others_ns + (uint64_t)40 * EPOCH_SLICE_NS)) >
             2.0 * (double)sg_clock_model_error(sg_clocksync_model(sync), boundary_ns) + 3;
    if (virtual_rank() % 2 == 0 && virtual_rank() + 1 < exchange->size)
        wrong |= exchange->send(exchange->context, virtual_rank() + 1, &epoch_ns,
                                sizeof epoch_ns) != SG_OK;
    else if (virtual_rank() % 2 != 0)
        wrong |= exchange->receive(exchange->context, virtual_rank() - 1, &others_ns,
                                   sizeof others_ns) != SG_OK ||
                 others_ns != epoch_ns;
    sg_clocksync_close(sync);
    return wrong;
}

TEST("machines count slices from one epoch")
{
    for (uint64_t seed = 0; seed < 8; seed++) {
        struct virtual_world world = world_of(6, seed);
        bool measures = seed % 2 != 0;

        for (int rank = 1; rank < world.size; rank += 2) {
            world.offset_ns[rank] = world.offset_ns[rank - 1];
            world.drift[rank] = world.drift[rank - 1];
        }
        EXPECT(virtual_run(&world, agree_on_epoch, &measures));
    }
}
