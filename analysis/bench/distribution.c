#include "bench/distribution.h"

#include "core/hash.h"

#include <math.h>
#include <stdlib.h>

#define FENCE 3.0

double sg_bench_quantile(const double *sorted, size_t count, double part)
{
    double place = part * (double)(count - 1);
    size_t below = (size_t)place;
    double rest = place - (double)below;

    if (below + 1 >= count)
        return sorted[count - 1];
    return sorted[below] + rest * (sorted[below + 1] - sorted[below]);
}

struct sg_bench_distribution sg_bench_distribute(double *values, size_t count)
{
    struct sg_bench_distribution found = {.count = count};
    double sum = 0, lower, upper, fence;

    found.median = sg_bench_summarize(values, count);
    lower = sg_bench_quantile(values, count, 0.25);
    upper = sg_bench_quantile(values, count, 0.75);
    fence = FENCE * (upper - lower);
    for (size_t i = 0; i < count; i++) {
        sum += values[i];
        found.outliers += values[i] < lower - fence || values[i] > upper + fence;
    }
    found.least = values[0];
    found.mean = sum / (double)count;
    found.p95 = sg_bench_quantile(values, count, 0.95);
    found.p99 = sg_bench_quantile(values, count, 0.99);
    found.most = values[count - 1];
    return found;
}

bool sg_bench_is_enough(double *values, size_t count)
{
    struct sg_bench_summary summary;
    double room;

    if (count < SG_BENCH_ENOUGH_MIN)
        return false;
    summary = sg_bench_summarize(values, count);
    room = SG_BENCH_HALF_WIDTH * fabs(summary.median);
    return summary.high - summary.median <= room && summary.median - summary.low <= room;
}

struct sg_bench_pool sg_bench_pool(double *samples, const size_t *counts, size_t launches,
                                   double *medians)
{
    struct sg_bench_pool pool = {.launches = launches};
    size_t total = 0;

    for (size_t launch = 0; launch < launches; launch++) {
        medians[launch] = sg_bench_summarize(samples + total, counts[launch]).median;
        total += counts[launch];
    }
    pool.launch = sg_bench_summarize(medians, launches);
    pool.all = sg_bench_distribute(samples, total);
    return pool;
}

void sg_bench_shuffle(uint64_t seed, uint64_t round, int count, int *order)
{
    uint64_t bits = sg_hash_mix(sg_hash_mix(seed + 1) + round);

    for (int i = 0; i < count; i++)
        order[i] = i;
    for (int i = count - 1; i > 0; i--) {
        int other, kept = order[i];

        bits = sg_hash_mix(bits + (uint64_t)i);
        other = (int)(bits % (uint64_t)(i + 1));
        order[i] = order[other];
        order[other] = kept;
    }
}
