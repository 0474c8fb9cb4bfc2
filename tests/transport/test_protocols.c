/* Tests the protocols on the transports: each of them over each transport, with and without
 * faults, compared with the association it documents. Endpoints are threads, each with a second
 * one that makes progress meanwhile; if a transport is for one thread, they take turns. */
#include "algos/associations.h"
#include "lib/unit.h"
#include "transport/faulty.h"
#include "transport/host.h"
#include "transport/world.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define CALLS 60

static uint64_t answered_later; /* accesses */

enum shape { TREE, BINOMIAL, DOUBLING };

struct trial {
    const struct sg_algo *algo;
    struct sg_algo_parameters parameters;
    enum shape shape;
};

/* A timeout short enough that lost releases do not make the test long. */
#define TIMEOUT .timeout_ns = 200000

static const struct trial trials[] = {
    {&sg_algo_bypass, {TIMEOUT}, BINOMIAL},
    {&sg_algo_bypass, {TIMEOUT, .credits = 2, .eager_bytes = 256}, BINOMIAL},
    {&sg_algo_adaptive, {TIMEOUT, .degree = 2}, TREE},
    {&sg_algo_adaptive, {TIMEOUT, .degree = 4, .tokens = 2, .predict = 1}, TREE},
    {&sg_algo_tree, {TIMEOUT, .degree = 2, .credits = 2, .shape = SG_TREE_SHAPE_FIBONACCI}, TREE},
    {&sg_algo_tree, {TIMEOUT, .degree = 1}, BINOMIAL},
    {&sg_algo_dissemination, {TIMEOUT}, DOUBLING},
    {&sg_algo_pairwise, {TIMEOUT}, DOUBLING},
    {&sg_algo_bcs, {.slice_ns = 100000, TIMEOUT}, DOUBLING},
    {&sg_algo_handoff, {TIMEOUT, .credits = 2}, DOUBLING},
    {&sg_algo_srm, {TIMEOUT, .credits = 2}, DOUBLING},
    {&sg_algo_srm, {TIMEOUT, .chunk_bytes = 128}, DOUBLING},
};

/* Plans calls of every operation that the protocol has, in every size and kind of reduction. */
static void plan(const struct sg_algo *algo, struct sg_algo_call *calls)
{
    static const uint32_t bytes[] = {8, 160, HOST_BYTES_MAX};
    int operation = 0;

    for (int i = 0; i < CALLS; i++) {
        do {
            operation = (operation + 1) % SG_OPERATION_COUNT;
        } while (!(algo->operations >> operation & 1));
        calls[i] = (struct sg_algo_call){.operation = (enum sg_operation)operation, .root = -1};
        calls[i].site = (uint32_t)i % 2;
        if (operation == SG_OPERATION_BARRIER)
            continue;
        calls[i].bytes = bytes[i / 3 % 3];
        calls[i].flags = i % 4 == 0   ? 0
                         : i % 4 == 1 ? SG_CALL_EXACT | SG_CALL_COMMUTATIVE
                                      : SG_CALL_COMMUTATIVE;
        if (sg_operation_has_root(calls[i].operation))
            calls[i].root = i / 8 % HOST_SIZE;
    }
}

static uint64_t expected(const struct trial *trial, const struct sg_algo_call *call, uint32_t seq)
{
    struct association of = {.size = HOST_SIZE, .seq = seq, .flags = call->flags};

    if (call->operation == SG_OPERATION_BCAST)
        return mini_operand(call->root, seq, 0);
    if (trial->shape == DOUBLING)
        return association_doubling(&of);
    of.degree = trial->shape == BINOMIAL ? 1 : trial->parameters.degree;
    of.origin = call->root >= 0 && call->flags & SG_CALL_COMMUTATIVE ? call->root : 0;
    return association_tree(&of);
}

static void check(const struct world *world, const struct trial *trial, const struct host *host,
                  const struct sg_algo_call *calls)
{
    WORLD_CHECK(world, host_errors(host) == 0);
    for (uint32_t seq = 1; seq <= CALLS; seq++) {
        const struct sg_algo_call *call = &calls[seq - 1];
        uint64_t want = expected(trial, call, seq), value;

        for (int rank = 0; rank < HOST_SIZE; rank++) {
            if (call->operation == SG_OPERATION_BARRIER ||
                (call->operation == SG_OPERATION_REDUCE && call->root != rank) ||
                (call->operation == SG_OPERATION_BCAST && call->root == rank))
                continue;
            WORLD_CHECK(world, host_result(host, rank, seq, &value));
            WORLD_CHECK(world, value == want);
        }
    }
}

/* ---- who runs the endpoints ------------------------------------------------------------------ */

struct runner {
    struct host *host;
    int rank;
    _Atomic bool *over;
};

static void *call(void *argument)
{
    struct runner *runner = argument;

    while (host_step(runner->host, runner->rank))
        sched_yield();
    return NULL;
}

static void *help(void *argument)
{
    struct runner *runner = argument;

    while (!atomic_load(runner->over)) {
        host_progress(runner->host, runner->rank);
        sched_yield();
    }
    return NULL;
}

static void run_threads(struct host *host)
{
    struct runner runners[HOST_SIZE];
    pthread_t callers[HOST_SIZE], helpers[HOST_SIZE];
    _Atomic bool over = false;

    for (int rank = 0; rank < HOST_SIZE; rank++) {
        runners[rank] = (struct runner){host, rank, &over};
        ASSERT(pthread_create(&callers[rank], NULL, call, &runners[rank]) == 0,
               pthread_create(&helpers[rank], NULL, help, &runners[rank]) == 0);
    }
    for (int rank = 0; rank < HOST_SIZE; rank++)
        pthread_join(callers[rank], NULL);
    atomic_store(&over, true);
    for (int rank = 0; rank < HOST_SIZE; rank++)
        pthread_join(helpers[rank], NULL);
}

static void run_in_turn(struct host *host, uint64_t seed)
{
    uint64_t random = seed;

    while (host_step(host, (int)world_random(&random, HOST_SIZE)))
        continue;
}

static void run(const struct trial *trial, const struct world_case *which, uint64_t seed)
{
    static const struct faulty_faults faults = {.seed = 3,
                                                .delay_percent = 30,
                                                .delay_ticks = 5,
                                                .loss_percent = 5,
                                                .repeat_percent = 20,
                                                .later_percent = 70,
                                                .full_percent = 10};
    struct sg_algo_call calls[CALLS];
    struct world world = {.which = which};
    struct host_setup setup = {trial->algo, trial->parameters, which->ops, calls, CALLS, seed};

    faulty_set(&faults);
    plan(trial->algo, calls);
    struct host *host = host_new(&setup);
    if (which->concurrent)
        run_threads(host);
    else
        run_in_turn(host, seed);
    check(&world, trial, host, calls);
    answered_later += host_answered_later(host);
    host_free(host);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void test_algo(const struct sg_algo *algo)
{
    int count = 0;

    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
        if (trials[i].algo != algo)
            continue;
        count++;
        for (const struct world_case *which = world_cases; which->ops != NULL; which++) {
            for (uint64_t seed = 1; seed <= 3; seed += (uint64_t)unit_step())
                run(&trials[i], which, seed);
        }
    }
    EXPECT(count > 0);
}

TEST("bypass gives its documented results over every transport")
{
    test_algo(&sg_algo_bypass);
}

TEST("adaptive gives its documented results over every transport")
{
    test_algo(&sg_algo_adaptive);
}

TEST("tree gives its documented results over every transport")
{
    test_algo(&sg_algo_tree);
}

TEST("dissemination holds every rank over every transport")
{
    test_algo(&sg_algo_dissemination);
}

TEST("pairwise gives its documented results over every transport")
{
    test_algo(&sg_algo_pairwise);
}

TEST("srm gives its documented results over every transport")
{
    test_algo(&sg_algo_srm);
}

TEST("bcs gives its documented results over every transport")
{
    test_algo(&sg_algo_bcs);
}

TEST("handoff gives its documented results over every transport")
{
    answered_later = 0;
    test_algo(&sg_algo_handoff);
    EXPECT(answered_later > 0);
}
