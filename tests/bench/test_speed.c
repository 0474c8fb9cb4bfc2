/* Tests the guard against processors that change their speed, with known clocks and counters. */
#include "bench/bench_output.h"
#include "lib/unit.h"

#include <math.h>

/* A processor: a quantum takes so long, and its counter counts so often a ns. */
static double quantum_ns, counts_per_ns, clock_ns;
static int interrupted; /* so many pieces of work are interrupted */

static uint64_t now_ns(void)
{
    return (uint64_t)clock_ns;
}

static void work(uint64_t quanta)
{
    clock_ns += (double)quanta * quantum_ns;
    if (interrupted > 0) {
        interrupted--;
        clock_ns += 1e6;
    }
}

static uint64_t counter(void)
{
    return (uint64_t)(clock_ns * counts_per_ns);
}

static const struct sg_bench_machine machine = {.now_ns = now_ns, .work = work, .quantum_ns = 100};

static void start(void)
{
    clock_ns = 1e9;
    quantum_ns = 100;
    counts_per_ns = 2.5;
    interrupted = 0;
}

static struct sg_bench_look look(void)
{
    return sg_bench_look_take(&machine, counter);
}

static struct sg_bench_reference reference(void)
{
    struct sg_bench_look first = look(), second;

    clock_ns += 5e6;
    second = look();
    return sg_bench_reference_of(&first, &second);
}

TEST("interruptions are not a change of speed")
{
    start();
    struct sg_bench_reference known = reference();
    interrupted = 10;
    struct sg_bench_look before = look();
    clock_ns += 2e9;
    interrupted = 10;
    struct sg_bench_look after = look();
    struct sg_bench_speed speed = sg_bench_speed_between(&known, &before, &after);
    EXPECT(is_near(speed.low, 1, 1e-3), is_near(speed.high, 1, 1e-3),
           is_near(speed.counter_rate, 1, 1e-3), !sg_bench_speed_changed(&speed));
}

/* A core that is faster or slower behind the row, and one that has changed before it. */
TEST("a loop that takes longer or shorter than at the start is a change of speed")
{
    static const double times[][2] = {{100, 125}, {100, 90}, {80, 80}, {150, 150}, {125, 100}};

    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        start();
        struct sg_bench_reference known = reference();
        quantum_ns = times[i][0];
        struct sg_bench_look before = look();
        quantum_ns = times[i][1];
        struct sg_bench_look after = look();
        struct sg_bench_speed speed = sg_bench_speed_between(&known, &before, &after);
        EXPECT(is_near(speed.low, 100 / fmax(times[i][0], times[i][1]), 1e-3),
               is_near(speed.high, 100 / fmin(times[i][0], times[i][1]), 1e-3),
               sg_bench_speed_changed(&speed));
    }
}

/* The loop is the same at both ends, but the counter stood still between them for a tenth. */
TEST("a counter that runs at another rate is a change of speed")
{
    start();
    struct sg_bench_reference known = reference();
    struct sg_bench_look before = look();
    clock_ns += 1e9;
    struct sg_bench_look after = look();
    after.counter -= (uint64_t)(1e8 * counts_per_ns);
    struct sg_bench_speed speed = sg_bench_speed_between(&known, &before, &after);
    EXPECT(is_near(speed.counter_rate, 0.9, 1e-2), is_near(speed.low, 1, 1e-3),
           sg_bench_speed_changed(&speed));
}

TEST("without a counter the loop alone decides")
{
    start();
    struct sg_bench_look first = sg_bench_look_take(&machine, NULL);
    clock_ns += 1e6;
    struct sg_bench_look second = sg_bench_look_take(&machine, NULL);
    struct sg_bench_reference known = sg_bench_reference_of(&first, &second);
    struct sg_bench_speed speed = sg_bench_speed_between(&known, &first, &second);
    EXPECT(isnan(speed.counter_rate), !sg_bench_speed_changed(&speed));
}

TEST("the extremes over all ranks count")
{
    static const struct sg_bench_speed ranks[] = {
        {0.99, 1.00, NAN}, {0.80, 1.01, 1.01}, {0.98, 1.20, 0.9}, {1, 1, 1}};
    struct sg_bench_speed all = sg_bench_speed_of_all(ranks, 4);

    EXPECT(all.low == 0.80, all.high == 1.20, all.counter_rate == 0.9);
    all = sg_bench_speed_of_all(ranks, 1);
    EXPECT(isnan(all.counter_rate), !sg_bench_speed_changed(&all));
}

/* This processor's own counter counts. */
TEST("this processor's counter runs")
{
    if (sg_bench_counter == NULL)
        return;
    uint64_t before = sg_bench_counter();
    for (volatile int i = 0; i < 100000; i++)
        ;
    EXPECT(sg_bench_counter() > before);
}
