/* Tests measurements of collectives whose times are all known, in virtual processes with clocks
 * of their own: the results are those worked out by hand. */
#include "bench/distribution.h"
#include "bench/sampling.h"
#include "core/hash.h"
#include "lib/unit.h"
#include "lib/virtual.h"

#include <math.h>

#define RANKS 4
#define LATENCY_NS 100e3
#define GAP_NS 10e3
#define QUANTUM_NS 100.0

/* State of the virtual process that this thread runs. */
static _Thread_local double processor_ns;
static _Thread_local uint64_t calls;
static _Thread_local double sent_ns = -GAP_NS; /* when the adapter was last used */
static _Thread_local double background_ns;     /* processor time that the next sleep will cost */

/* ---- the machine ----------------------------------------------------------------------------- */

static double virtual_processor_ns(void)
{
    return processor_ns;
}

static void virtual_work(uint64_t quanta)
{
    virtual_pass((double)quanta * QUANTUM_NS + background_ns);
    processor_ns += (double)quanta * QUANTUM_NS + background_ns;
    background_ns = 0;
}

/* Going to sleep costs 2 us of processor time, and what runs meanwhile is the process's, too. */
static void virtual_sleep_until(uint64_t local_ns)
{
    virtual_wait_until(local_ns);
    processor_ns += 2000 + background_ns;
    background_ns = 0;
}

/* Every seventh time rank 2 wakes up late. */
static bool oversleeps;
static _Thread_local int waits;

static void wait_or_oversleep(uint64_t local_ns)
{
    virtual_wait_until(local_ns);
    if (oversleeps && virtual_rank() == 2 && ++waits % 7 == 0)
        virtual_pass(50e3);
}

/* ---- collectives ----------------------------------------------------------------------------- */

/* An adapter takes a message every GAP_NS. */
static void send_token(int to)
{
    char token = 0;

    if (virtual_time_ns() < sent_ns + GAP_NS)
        virtual_pass(sent_ns + GAP_NS - virtual_time_ns());
    sent_ns = virtual_time_ns();
    virtual_exchange()->send(NULL, to, &token, sizeof token);
}

static void receive_token(int from)
{
    char token;

    virtual_exchange()->receive(NULL, from, &token, sizeof token);
}

/* Paper 004, figure 1: the root sends to one after the other. */
static void linear_broadcast(void)
{
    if (virtual_rank() != 0)
        receive_token(0);
    for (int to = 1; to < RANKS && virtual_rank() == 0; to++)
        send_token(to);
}

/* All tell rank 0, which tells all. */
static void linear_barrier(void)
{
    if (virtual_rank() != 0)
        send_token(0);
    for (int from = 1; from < RANKS && virtual_rank() == 0; from++)
        receive_token(from);
    linear_broadcast();
}

enum kind { SLEEPS, SLEEPS_LONG, HICCUPS, BROADCAST, BARRIER, NO_BARRIER, BURNS };

static void call_kind(enum kind kind, int variant)
{
    switch (kind) {
    case SLEEPS: /* variant 1 is half as fast again */
        virtual_pass(variant == 0 ? 20e3 : 30e3);
        return;
    case SLEEPS_LONG:
        virtual_pass(30e6);
        return;
    case HICCUPS: /* on one rank, and seldom */
        virtual_pass(virtual_rank() == 1 && calls % 10 == 9 ? 40e6 : 20e3);
        return;
    case BROADCAST:
        linear_broadcast();
        return;
    case BARRIER:
        linear_barrier();
        return;
    case NO_BARRIER:
        virtual_pass(5e3);
        return;
    case BURNS: /* 7 us at once, and later, on rank 1, 3 us more */
        virtual_pass(7e3);
        processor_ns += 7e3;
        background_ns = virtual_rank() == 1 ? 3e3 : 0;
        return;
    }
}

struct script {
    enum kind kind;
    bool wrong; /* variant 1 gives wrong results, on rank 3, in round 4 */
    struct sg_bench_sampling sampling;
    /* Results at rank 0. */
    struct sg_bench_samples samples;
    enum sg_status status;
};

static void call(void *context, int variant)
{
    call_kind(((struct script *)context)->kind, variant);
    calls++;
}

static void barrier(void *context)
{
    linear_barrier();
}

static bool check(void *context, int variant, uint64_t round)
{
    struct script *script = context;

    return !(script->wrong && variant == 1 && virtual_rank() == 3 && round == 4);
}

static int measure(void *context)
{
    struct script *script = context;
    struct sg_bench_machine machine = {.exchange = virtual_exchange(),
                                       .now_ns = virtual_clock_ns,
                                       .processor_ns = virtual_processor_ns,
                                       .wait_until = wait_or_oversleep,
                                       .sleep_until = virtual_sleep_until,
                                       .work = virtual_work,
                                       .quantum_ns = QUANTUM_NS,
                                       .lead_ns = 5000000,
                                       .tolerance_ns = 5000};
    struct sg_bench_target target = {
        .check = check, .call = call, .barrier = barrier, .context = script};
    struct sg_bench_samples samples;
    struct sg_clocksync *clocks;

    if (sg_clocksync_open(virtual_exchange(), (uint64_t)virtual_rank() + 1, virtual_clock_ns,
                          SG_CLOCKSYNC_TREE, &clocks) != SG_OK)
        return 1;
    /* The first seconds, in which drifts are not known yet, are behind. */
    sg_clocksync_measure(clocks, NULL);
    virtual_pass(10e9);
    sg_clocksync_measure(clocks, NULL);
    enum sg_status status = sg_bench_sample(&machine, &target, clocks, &script->sampling, &samples);
    sg_clocksync_close(clocks);
    if (virtual_rank() == 0) {
        script->samples = samples;
        script->status = status;
        return 0;
    }
    sg_bench_samples_clear(&samples);
    return status == SG_OK || status == SG_ERR_FORMAT ? 0 : 1;
}

static struct script script_of(enum kind kind, int variants, uint64_t rounds)
{
    struct script script = {.kind = kind};

    script.sampling.variants = variants;
    script.sampling.rounds = rounds;
    script.sampling.time_ns = 10e9;
    script.sampling.seed = 1;
    script.sampling.pattern.ranks = RANKS;
    script.sampling.reduction = SG_BENCH_REDUCE_MAX;
    return script;
}

static void run(struct script *script)
{
    struct virtual_world world = {.size = RANKS, .latency_ns = LATENCY_NS, .reading_ns = 20};

    for (int rank = 0; rank < RANKS; rank++) {
        world.offset_ns[rank] = 1e12 * (rank + 1);
        world.drift[rank] = 1e-5 * (rank - 1);
    }
    ASSERT(virtual_run(&world, measure, script));
}

static double median_of(const struct script *script, int variant, enum sg_bench_reduction reduction)
{
    const struct sg_bench_samples *samples = &script->samples;
    double values[1024];

    ASSERT(samples->rounds > 0 && samples->rounds <= 1024);
    for (size_t i = 0; i < samples->rounds; i++)
        values[i] = sg_bench_reduced_ns(sg_bench_samples_at(samples, i, variant), samples->ranks,
                                        reduction, 0);
    return sg_bench_summarize(values, samples->rounds).median;
}

#define WITHIN(part, expected, found) EXPECT(is_near(found, expected, (part) * (expected)))

/* ---- known delays ---------------------------------------------------------------------------- */

TEST("collectives of known duration are measured within 2 % by every scheme")
{
    for (int scheme = 0; scheme < SG_BENCH_SCHEMES; scheme++) {
        struct script script = script_of(SLEEPS, 2, 50);

        script.sampling.scheme = (enum sg_bench_scheme)scheme;
        run(&script);
        EXPECT(script.status == SG_OK, script.samples.rounds == 50);
        WITHIN(0.02, 20e3, median_of(&script, 0, SG_BENCH_REDUCE_MAX));
        WITHIN(0.02, 30e3, median_of(&script, 1, SG_BENCH_REDUCE_MIN));
        WITHIN(0.02, 30e3, median_of(&script, 1, SG_BENCH_REDUCE_ROOT));
        sg_bench_samples_clear(&script.samples);
    }
}

/* Thirty times the window that is tried first. */
TEST("the window follows the duration of the calls, up and down")
{
    struct script script = script_of(SLEEPS_LONG, 1, 20);

    run(&script);
    EXPECT(script.samples.rounds == 20, script.samples.took_too_long > 0,
           script.samples.window_ns >= 30000000);
    WITHIN(0.02, 30e6, median_of(&script, 0, SG_BENCH_REDUCE_SPAN));
    sg_bench_samples_clear(&script.samples);
    script = script_of(SLEEPS, 1, 200);
    run(&script);
    EXPECT(script.samples.window_ns < 200000, script.samples.took_too_long == 0);
    sg_bench_samples_clear(&script.samples);
}

TEST("calls that start late or take too long are flagged and repeated")
{
    struct script script = script_of(HICCUPS, 1, 100);
    const struct sg_bench_samples *samples = &script.samples;

    /* A call that lasts 40 ms is repeated, and so are those whose windows it has taken up. */
    run(&script);
    EXPECT(samples->rounds == 100, samples->took_too_long >= 10, samples->attempts >= 110);
    WITHIN(0.02, 20e3, median_of(&script, 0, SG_BENCH_REDUCE_MAX));
    for (size_t i = 0; i < samples->rounds; i++)
        EXPECT(sg_bench_reduced_ns(sg_bench_samples_at(samples, i, 0), RANKS, SG_BENCH_REDUCE_MAX,
                                   0) < samples->window_ns + 40e6);
    sg_bench_samples_clear(&script.samples);
    script = script_of(SLEEPS, 1, 60);
    oversleeps = true;
    run(&script);
    oversleeps = false;
    /* Rank 2 oversleeps in every seventh of 70 calls. */
    EXPECT(samples->rounds == 60, samples->started_late >= 9 && samples->started_late <= 12,
           samples->attempts == samples->rounds + samples->started_late);
    for (size_t i = 0; i < samples->rounds; i++)
        EXPECT(sg_bench_skew_ns(sg_bench_samples_at(samples, i, 0), RANKS) < 20e3);
    sg_bench_samples_clear(&script.samples);
}

/* ---- the bias of a pipelined loop ------------------------------------------------------------ */

static int loop_of_three(void *context)
{
    double begin_ns, *longest_ns = context, *all_ns = NULL;
    size_t sizes[RANKS];

    virtual_meet();
    begin_ns = virtual_time_ns();
    for (int i = 0; i < 3; i++)
        linear_broadcast();
    begin_ns = (virtual_time_ns() - begin_ns) / 3;
    virtual_exchange()->gather(NULL, &begin_ns, sizeof begin_ns, (void **)&all_ns, sizes);
    for (int rank = 0; all_ns != NULL && rank < RANKS; rank++)
        *longest_ns = fmax(*longest_ns, all_ns[rank]);
    free(all_ns);
    return 0;
}

TEST("a pipelined loop is biased as in figure 1 of paper 004, and the window is not")
{
    struct virtual_world world = {.size = RANKS, .latency_ns = LATENCY_NS};
    struct script script = script_of(BROADCAST, 1, 50);
    double longest_ns = 0;

    EXPECT(virtual_run(&world, loop_of_three, &longest_ns));
    WITHIN(0.02, (8 * GAP_NS + LATENCY_NS) / 3, longest_ns);
    run(&script);
    WITHIN(0.02, LATENCY_NS + 2 * GAP_NS, median_of(&script, 0, SG_BENCH_REDUCE_MAX));
    sg_bench_samples_clear(&script.samples);
    /* Behind a barrier that rank 0 is the first to leave, it has sent before the others look. */
    script.sampling.scheme = SG_BENCH_BARRIER;
    run(&script);
    EXPECT(median_of(&script, 0, SG_BENCH_REDUCE_MAX) < 0.5 * (LATENCY_NS + 2 * GAP_NS));
    sg_bench_samples_clear(&script.samples);
}

/* ---- delay and processor time ---------------------------------------------------------------- */

TEST("the synchronization delay of a linear barrier is the one worked out by hand")
{
    struct script script = script_of(BARRIER, 1, 30);

    script.sampling.pattern.arrival = SG_BENCH_ONE_LATE;
    script.sampling.pattern.late_rank = 3;
    script.sampling.pattern.skew_ns = 1e6;
    script.sampling.synchronises = true;
    run(&script);
    EXPECT(script.status == SG_OK);
    for (size_t i = 0; i < script.samples.rounds; i++) {
        const struct sg_bench_times *times = sg_bench_samples_at(&script.samples, i, 0);

        /* There and back, and rank 3 is the third to be told. */
        WITHIN(0.02, 2 * LATENCY_NS + 2 * GAP_NS, sg_bench_delay_ns(times, RANKS));
        WITHIN(0.02, 1e6, sg_bench_skew_ns(times, RANKS));
    }
    sg_bench_samples_clear(&script.samples);
}

/* Ranks come one after the other, by a third of the skew each. */
TEST("a linear barrier's delay is the same when ranks arrive one after the other")
{
    struct script script = script_of(BARRIER, 1, 10);

    script.sampling.pattern.arrival = SG_BENCH_LINEAR;
    script.sampling.pattern.skew_ns = 3e6;
    run(&script);
    for (size_t i = 0; i < script.samples.rounds; i++) {
        const struct sg_bench_times *times = sg_bench_samples_at(&script.samples, i, 0);

        WITHIN(0.02, 1e6, (double)(times[2].entry_ns - times[1].entry_ns));
        WITHIN(0.02, 2 * LATENCY_NS + 2 * GAP_NS, sg_bench_delay_ns(times, RANKS));
    }
    sg_bench_samples_clear(&script.samples);
}

TEST("processor time under skew is the one worked out by hand, busy and asleep")
{
    for (int busy = 0; busy < 2; busy++) {
        struct script script = script_of(BURNS, 1, 40);

        script.sampling.processor = true;
        script.sampling.with_nothing = true;
        script.sampling.catch_up_ns = 500e3;
        script.sampling.lateness = busy ? SG_BENCH_BUSY : SG_BENCH_WAITING;
        script.sampling.pattern.arrival = SG_BENCH_UNIFORM;
        script.sampling.pattern.skew_ns = 300e3;
        run(&script);
        EXPECT(script.samples.rounds == 40);
        for (size_t i = 0; i < script.samples.rounds; i++) {
            double nothing_ns =
                sg_bench_processor_ns(sg_bench_samples_at(&script.samples, i, 1), RANKS);

            /* Four ranks' 7 us and one's 3: 31 by four. Sleeping costs, work does not. */
            EXPECT(
                is_near(nothing_ns, busy ? 0 : 2000, 1e-3),
                is_near(sg_bench_processor_ns(sg_bench_samples_at(&script.samples, i, 0), RANKS) -
                            nothing_ns,
                        7750, 1e-3));
        }
        sg_bench_samples_clear(&script.samples);
    }
}

/* ---- what is wrong --------------------------------------------------------------------------- */

TEST("a wrong result ends the measurement, and so does a barrier that lets ranks through")
{
    struct script script = script_of(SLEEPS, 2, 20);

    script.wrong = true;
    run(&script);
    EXPECT(script.status == SG_ERR_FORMAT, script.samples.wrong_variant == 1);
    sg_bench_samples_clear(&script.samples);
    script = script_of(NO_BARRIER, 1, 20);
    script.sampling.synchronises = true;
    script.sampling.pattern.arrival = SG_BENCH_ONE_LATE;
    script.sampling.pattern.skew_ns = 1e6;
    run(&script);
    EXPECT(script.status == SG_ERR_FORMAT, script.samples.wrong_variant == 0);
    sg_bench_samples_clear(&script.samples);
}

/* A time that does not vary is known after the minimum number of calls. */
TEST("measuring ends once intervals are narrow")
{
    struct script script = script_of(SLEEPS, 2, 0);

    script.sampling.until_enough = true;
    run(&script);
    EXPECT(script.samples.enough,
           script.samples.rounds >= SG_BENCH_ENOUGH_MIN && script.samples.rounds < 60);
    sg_bench_samples_clear(&script.samples);
}

TEST("six reductions over ranks, delay and skew are those worked out by hand")
{
    static const struct sg_bench_times times[] = {{.entry_ns = 100, .exit_ns = 150},
                                                  {.entry_ns = 120, .exit_ns = 240},
                                                  {.entry_ns = 180, .exit_ns = 210}};
    static const double expected[SG_BENCH_REDUCTIONS] = {120, 120, 140, 200.0 / 3, 30, 50};

    for (int way = 0; way < SG_BENCH_REDUCTIONS; way++)
        EXPECT(is_near(sg_bench_reduced_ns(times, 3, (enum sg_bench_reduction)way, 1),
                       expected[way], 1e-9));
    EXPECT(sg_bench_delay_ns(times, 3) == 60, sg_bench_skew_ns(times, 3) == 80,
           sg_bench_left_early(times, 3, 14), !sg_bench_left_early(times, 3, 15));
}

/* Against sorting: so many ranks, with equal times among them, and one that left before it came. */
static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

TEST("the median over ranks equals the one found by sorting")
{
    enum { MOST = 33 };
    struct sg_bench_times times[MOST];
    double own_ns[MOST];

    for (int count = 1; count <= MOST; count++) {
        for (int rank = 0; rank < count; rank++) {
            uint64_t spread = sg_hash_mix((uint64_t)(count * 100 + rank)) % 50;

            times[rank] = (struct sg_bench_times){.entry_ns = 1000, .exit_ns = 995 + spread};
            own_ns[rank] = (double)spread - 5;
        }
        qsort(own_ns, (size_t)count, sizeof *own_ns, by_value);
        EXPECT(sg_bench_reduced_ns(times, count, SG_BENCH_REDUCE_MEDIAN, 0) ==
               own_ns[(count - 1) / 2]);
    }
}
