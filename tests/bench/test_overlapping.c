/* Tests the overlap of nonblocking collectives whose times are all known, in virtual processes:
 * every formula gives the hidden part that was worked out by hand. */
#include "bench/overlapping.h"
#include "lib/unit.h"
#include "lib/virtual.h"

#define RANKS 4
#define DURATION_NS 100e3
#define START_NS 1e3
#define TEST_NS 500.0
#define QUANTUM_NS 100.0

enum progress {
    BY_ITSELF,   /* done so long after the start, whatever the process does */
    NONE,        /* all is done in finish */
    BY_TESTS,    /* a quarter in each test, the rest in finish */
    BY_INTERRUPT /* as by itself, but takes the processor for a while in between */
};

/* Calls of a process that take longer, as connections are made and caches filled. */
#define FIRST_CALLS 20
#define INTERRUPT_NS 20e3

struct script {
    enum progress progress;
    uint64_t tests;
    bool wrong;
    double first_factor; /* of the first calls; 0: they are as others */
    struct sg_bench_overlap found;
    enum sg_status status;
};

static _Thread_local double done_ns;      /* BY_ITSELF: when */
static _Thread_local double remaining_ns; /* otherwise: what is left to do */
static _Thread_local double interrupt_ns; /* that is still to come */
static _Thread_local int calls;

static void work(uint64_t quanta)
{
    virtual_pass((double)quanta * QUANTUM_NS + interrupt_ns);
    interrupt_ns = 0;
}

static double no_processor_ns(void)
{
    return 0;
}

static void start(void *context, int variant)
{
    const struct script *script = context;
    double duration_ns = DURATION_NS;

    if (script->first_factor > 0 && calls++ < FIRST_CALLS)
        duration_ns *= script->first_factor;
    done_ns = virtual_time_ns() + duration_ns;
    remaining_ns = duration_ns;
    interrupt_ns = script->progress == BY_INTERRUPT ? INTERRUPT_NS : 0;
    virtual_pass(START_NS);
}

static bool test(void *context)
{
    const struct script *script = context;

    virtual_pass(TEST_NS);
    if (script->progress == BY_TESTS)
        remaining_ns -= DURATION_NS / 4;
    return (script->progress == BY_ITSELF || script->progress == BY_INTERRUPT) &&
           virtual_time_ns() >= done_ns;
}

static void finish(void *context)
{
    const struct script *script = context;

    interrupt_ns = 0;
    if (script->progress == NONE || script->progress == BY_TESTS)
        virtual_pass(remaining_ns);
    else if (virtual_time_ns() < done_ns)
        virtual_pass(done_ns - virtual_time_ns());
}

static bool check(void *context, int variant, uint64_t round)
{
    return !((struct script *)context)->wrong || virtual_rank() != 2;
}

static int measure(void *context)
{
    struct script *script = context;
    struct sg_bench_machine machine = {.exchange = virtual_exchange(),
                                       .now_ns = virtual_clock_ns,
                                       .processor_ns = no_processor_ns,
                                       .wait_until = virtual_wait_until,
                                       .sleep_until = virtual_wait_until,
                                       .work = work,
                                       .quantum_ns = QUANTUM_NS,
                                       .lead_ns = 5000000,
                                       .tolerance_ns = 5000};
    struct sg_bench_target target = {
        .start = start, .test = test, .finish = finish, .check = check, .context = script};
    struct sg_bench_sampling sampling = {.rounds = 20,
                                         .time_ns = 10e9,
                                         .seed = 1,
                                         .reduction = SG_BENCH_REDUCE_MAX,
                                         .pattern = {.ranks = RANKS}};
    struct sg_bench_samples samples = {0};
    struct sg_bench_overlap found;
    struct sg_clocksync *clocks;

    if (sg_clocksync_open(virtual_exchange(), 1, virtual_clock_ns, SG_CLOCKSYNC_TREE, &clocks) !=
        SG_OK)
        return 1;
    sg_clocksync_measure(clocks, NULL);
    enum sg_status status = sg_bench_overlap_measure(&machine, &target, 0, clocks, &sampling,
                                                     script->tests, &found, &samples);
    sg_bench_samples_clear(&samples);
    sg_clocksync_close(clocks);
    if (virtual_rank() == 0) {
        script->found = found;
        script->status = status;
    }
    return 0;
}

static struct sg_bench_overlap run_script(struct script script)
{
    struct virtual_world world = {.size = RANKS, .latency_ns = 2000, .reading_ns = 5};

    ASSERT(virtual_run(&world, measure, &script));
    EXPECT(script.status == SG_OK, script.found.rounds == 20);
    return script.found;
}

static struct sg_bench_overlap run(enum progress progress, uint64_t tests)
{
    return run_script((struct script){.progress = progress, .tests = tests});
}

#define CLOSE(found, expected) EXPECT(is_near(found, expected, 0.01))

/* But for the start all is hidden: 99 of 100 us. */
TEST("every formula counts autonomous progress as hidden, except for its start")
{
    struct sg_bench_overlap found = run(BY_ITSELF, 0);

    CLOSE(found.alone.median / DURATION_NS, 1);
    CLOSE(found.overhead.median / 1e5, 0.01);
    CLOSE(found.waited.median / 1e5, 0);
    CLOSE(found.worked.median / 1e5, 1.01);
    CLOSE(found.paper_time.median, 0.99);
    CLOSE(found.paper_work.median, 0.99);
    CLOSE(found.osu.median, 0.99);
    CLOSE(found.imb.median, 0.99);
}

TEST("no formula counts work done by finish alone as hidden")
{
    struct sg_bench_overlap found = run(NONE, 0);

    CLOSE(found.alone.median / 1e5, 1.01);
    CLOSE(found.overhead.median / 1e5, 1.01);
    CLOSE(found.worked.median / 1e5, 2.02);
    CLOSE(found.paper_time.median, 0);
    CLOSE(found.paper_work.median, 0);
    CLOSE(found.osu.median, 0);
    CLOSE(found.imb.median, 0);
}

/* Three tests do three quarters; start, tests and the last quarter are 27.5 us of 101. */
TEST("work done by tests counts as hidden, minus the cost of the tests")
{
    struct sg_bench_overlap found = run(BY_TESTS, 3);

    CLOSE(found.overhead.median / 1e5, 0.275);
    CLOSE(found.waited.median / 1e5, 0.25);
    CLOSE(found.paper_time.median, 1 - 27.5 / 101);
    CLOSE(found.paper_work.median, 1 - 27.5 / 101);
    CLOSE(found.imb.median, 1 - 27.5 / 101);
    found = run(BY_TESTS, 0);
    CLOSE(found.paper_time.median, 0);
}

/* Tests that bring nothing cost 5 us on top of the 101. */
TEST("tests that cost more than they gain make the hidden part negative")
{
    struct sg_bench_overlap found = run(NONE, 10);

    CLOSE(found.overhead.median / 1e5, 1.06);
    CLOSE(found.paper_time.median, 1 - 106.0 / 101);
    CLOSE(found.paper_work.median, 1 - 106.0 / 101);
    CLOSE(found.osu.median, 0);
}

/* The computation by time ends when it would have, that by work 20 us later. */
TEST("an interrupt during the computation is located by work, not by time")
{
    struct sg_bench_overlap found = run(BY_INTERRUPT, 0);

    CLOSE(found.paper_time.median, 0.99);
    CLOSE(found.worked.median / 1e5, 1.21);
    CLOSE(found.paper_work.median, 0.79);
    CLOSE(found.osu.median, 0.79);
}

TEST("the computation lasts as long as the call, even if the first calls are slower")
{
    struct sg_bench_overlap found =
        run_script((struct script){.progress = NONE, .first_factor = 3});

    CLOSE(found.alone.median / 1e5, 1.01);
    CLOSE(found.computed.median / 1e5, 1.01);
    CLOSE(found.worked.median / 1e5, 2.02);
}

TEST("a wrong result of a nonblocking call ends the measurement")
{
    struct virtual_world world = {.size = RANKS, .latency_ns = 2000, .reading_ns = 5};
    struct script script = {.progress = NONE, .wrong = true};

    EXPECT(virtual_run(&world, measure, &script), script.status == SG_ERR_FORMAT);
}

/* Paper 004, section 4.2: 4096 bytes at 2048 are three tests. */
TEST("the number of tests is the one in the paper")
{
    EXPECT(sg_bench_overlap_tests(4096, 2048) == 3, sg_bench_overlap_tests(4097, 2048) == 4,
           sg_bench_overlap_tests(4096, 0) == 0, sg_bench_overlap_tests(0, 64) == 1);
}
