/* Tests the lengths of blocks and their number. */
#include "bench/distribution.h"
#include "bench/pattern.h"
#include "lib/unit.h"

#include <math.h>

#define ROW_NS 2e9

static double block_ns(const struct sg_bench_plan *plan, const double call_ns[2], int side)
{
    return (double)plan->calls[side] * call_ns[side];
}

/* Over all magnitudes of both sides' speed. */
TEST("both sides' blocks last equally long and fill the time")
{
    for (double ours = 50; ours < 1e6; ours *= 1.7) {
        for (double stock = 50; stock < 4e7; stock *= 1.7) {
            const double call_ns[2] = {ours, stock};
            struct sg_bench_plan plan = sg_bench_plan_row(call_ns, ROW_NS, 0);
            double first = block_ns(&plan, call_ns, 0), second = block_ns(&plan, call_ns, 1);

            EXPECT(plan.calls[0] >= 1 && plan.calls[1] >= 1,
                   first < 1.6 * second && second < 1.6 * first,
                   plan.pairs >= SG_BENCH_COUNT_MIN && plan.pairs <= SG_BENCH_PAIRS_MAX,
                   (first + second) * (double)plan.pairs <= ROW_NS * 1.001,
                   (first + second) * (double)(plan.pairs + 1) >= ROW_NS,
                   plan.limit_ns > ROW_NS && plan.limit_ns < 10 * ROW_NS);
        }
    }
}

/* A call that takes a second still gets an interval. */
TEST("slow calls get enough pairs for an interval")
{
    static const double call_ns[2] = {1000, 1e9};
    struct sg_bench_plan plan = sg_bench_plan_row(call_ns, ROW_NS, 0);

    EXPECT(plan.pairs == SG_BENCH_COUNT_MIN, plan.calls[1] == 1, plan.calls[0] == 1000000);
    /* And is not cut off before that. */
    EXPECT(plan.limit_ns > (double)plan.pairs * 2e9);
}

TEST("both sides make the requested number of calls")
{
    static const double call_ns[2] = {100, 100000};
    struct sg_bench_plan plan = sg_bench_plan_row(call_ns, ROW_NS, 1000);

    EXPECT(plan.calls[0] == 1000, plan.calls[1] == 1000, plan.pairs == 19);
    plan = sg_bench_plan_row(call_ns, ROW_NS, 1);
    EXPECT(plan.pairs == SG_BENCH_PAIRS_MAX);
}

/* Calls that take call_ns, after first ones that take longer. */
static int trials(double call_ns, double first_ns, double wanted_ns, double *estimate_ns)
{
    uint64_t calls = 1, next = 1;
    int count = 0;

    while (next > 0) {
        double taken_ns = (double)next * call_ns + (count == 0 ? first_ns : 0);

        calls = next;
        *estimate_ns = taken_ns / (double)calls;
        next = sg_bench_plan_trial(calls, taken_ns, wanted_ns);
        if (++count > 100)
            break;
    }
    return count;
}

TEST("trials determine the duration of a call")
{
    double wanted_ns = sg_bench_plan_block_ns(ROW_NS), estimate_ns;

    for (double call_ns = 50; call_ns < 1e9; call_ns *= 1.7) {
        EXPECT(trials(call_ns, 0, wanted_ns, &estimate_ns) <= 8,
               is_near(estimate_ns, call_ns, call_ns * 1e-9));
    }
    /* The slow first call is in the first trial only. */
    EXPECT(trials(100, wanted_ns / 10, wanted_ns, &estimate_ns) > 1,
           is_near(estimate_ns, 100, 1e-6));
    /* A clock that stands still ends nothing, but overflows nothing either. */
    EXPECT(sg_bench_plan_trial(1000, 0, wanted_ns) == 32000);
}
