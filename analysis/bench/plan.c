#include "bench/plan.h"

#include "bench/statistics.h"

#include <math.h>

/* The number of pairs in a row if calls are short. With more, blocks would be so short that their
 * beginning, when not all ranks are there yet, has an influence. */
#define PAIRS_WANTED 201
/* A trial is long enough if it takes this share of the wanted block. */
#define TRIAL_PART 4
/* If a row takes this many times longer than planned it ends early. */
#define PATIENCE 3
/* Growth from one trial to the next: the first calls are slow, so an estimate may be far off. */
#define TRIAL_GROWTH 32

double sg_bench_plan_block_ns(double row_ns)
{
    return row_ns / (2 * PAIRS_WANTED);
}

static uint64_t calls_in(double block_ns, double call_ns)
{
    return call_ns < block_ns ? (uint64_t)llround(block_ns / fmax(call_ns, 1)) : 1;
}

struct sg_bench_plan sg_bench_plan_row(const double call_ns[2], double row_ns, uint64_t calls)
{
    double block_ns = fmax(sg_bench_plan_block_ns(row_ns), fmax(call_ns[0], call_ns[1]));
    double pair_ns, pairs;
    struct sg_bench_plan plan;

    for (int side = 0; side < 2; side++)
        plan.calls[side] = calls > 0 ? calls : calls_in(block_ns, call_ns[side]);
    pair_ns = (double)plan.calls[0] * call_ns[0] + (double)plan.calls[1] * call_ns[1];
    pairs = floor(row_ns / fmax(pair_ns, 1));
    plan.pairs = (size_t)fmin(fmax(pairs, SG_BENCH_COUNT_MIN), SG_BENCH_PAIRS_MAX);
    plan.limit_ns = PATIENCE * fmax(row_ns, (double)plan.pairs * pair_ns);
    return plan;
}

uint64_t sg_bench_plan_trial(uint64_t calls, double taken_ns, double block_ns)
{
    double enough_ns = block_ns / TRIAL_PART;
    double more = enough_ns / fmax(taken_ns, 1);

    if (taken_ns >= enough_ns)
        return 0;
    return (uint64_t)ceil((double)calls * fmin(fmax(more, 2), TRIAL_GROWTH));
}
