#include "bench/distribution.h"

#include "core/hash.h"

#include <math.h>
#include <stdlib.h>

/* The largest probability of lying beyond either end of an interval. */
#define TAIL 0.025
#define FENCE 3.0

size_t sg_bench_interval_rank(size_t count)
{
    double n = (double)count;
    double log_part = -n * log(2); /* logarithms, because 2^-n is out of range from n = 1075 on */
    double below = exp(log_part);  /* probability that at most k values lie below the median */
    size_t k = 0;

    while (k < count / 2 && below <= TAIL) {
        k++;
        log_part += log((n - (double)k + 1) / (double)k);
        below += exp(log_part);
    }
    return k > 0 ? k : 1;
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

struct sg_bench_summary sg_bench_summarize(double *values, size_t count)
{
    size_t rank = sg_bench_interval_rank(count);
    size_t middle = count / 2;
    struct sg_bench_summary summary;

    qsort(values, count, sizeof *values, compare);
    summary.median = count % 2 != 0 ? values[middle] : values[middle - 1] / 2 + values[middle] / 2;
    summary.low = values[rank - 1];
    summary.high = values[count - rank];
    return summary;
}

static double ratio_of(double ours, double stock)
{
    if (stock > 0)
        return ours / stock;
    return ours > 0 ? INFINITY : 1;
}

struct sg_bench_comparison sg_bench_compare(double *ours, double *stock, double *scratch,
                                            size_t count)
{
    struct sg_bench_comparison comparison;

    /* Ratios need the pairs, which sorting each side destroys. */
    for (size_t i = 0; i < count; i++)
        scratch[i] = ratio_of(ours[i], stock[i]);
    comparison.ratio = sg_bench_summarize(scratch, count);
    comparison.ours = sg_bench_summarize(ours, count);
    comparison.stock = sg_bench_summarize(stock, count);
    return comparison;
}

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

/* ---- times of calls */

const char *const sg_bench_reduction_names[SG_BENCH_REDUCTIONS + 1] = {"root", "max", "span",
                                                                       "mean", "min", "median"};

/* Returns the time from one to the other; negative if the second is earlier. */
static double passed_ns(uint64_t from_ns, uint64_t to_ns)
{
    return (double)(int64_t)(to_ns - from_ns);
}

struct ends {
    uint64_t first_entry_ns, last_entry_ns, first_exit_ns, last_exit_ns;
};

static struct ends ends_of(const struct sg_bench_times *ranks, int count)
{
    struct ends ends = {ranks[0].entry_ns, ranks[0].entry_ns, ranks[0].exit_ns, ranks[0].exit_ns};

    for (int rank = 1; rank < count; rank++) {
        uint64_t entry_ns = ranks[rank].entry_ns, exit_ns = ranks[rank].exit_ns;

        ends.first_entry_ns = entry_ns < ends.first_entry_ns ? entry_ns : ends.first_entry_ns;
        ends.last_entry_ns = entry_ns > ends.last_entry_ns ? entry_ns : ends.last_entry_ns;
        ends.first_exit_ns = exit_ns < ends.first_exit_ns ? exit_ns : ends.first_exit_ns;
        ends.last_exit_ns = exit_ns > ends.last_exit_ns ? exit_ns : ends.last_exit_ns;
    }
    return ends;
}

static int64_t own_ns(const struct sg_bench_times *rank)
{
    return (int64_t)(rank->exit_ns - rank->entry_ns);
}

/* Halves the range of values, which takes no memory: this runs for every call. */
static double median_ns(const struct sg_bench_times *ranks, int count)
{
    int64_t low = INT64_MAX, high = INT64_MIN;

    for (int rank = 0; rank < count; rank++) {
        low = own_ns(&ranks[rank]) < low ? own_ns(&ranks[rank]) : low;
        high = own_ns(&ranks[rank]) > high ? own_ns(&ranks[rank]) : high;
    }
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        int up_to = 0;

        for (int rank = 0; rank < count; rank++)
            up_to += own_ns(&ranks[rank]) <= middle;
        if (2 * up_to >= count)
            high = middle;
        else
            low = middle + 1;
    }
    return (double)low;
}

double sg_bench_reduced_ns(const struct sg_bench_times *ranks, int count,
                           enum sg_bench_reduction reduction, int root)
{
    double sum = 0, least = INFINITY, most = 0;
    struct ends ends;

    if (reduction == SG_BENCH_REDUCE_SPAN) {
        ends = ends_of(ranks, count);
        return passed_ns(ends.first_entry_ns, ends.last_exit_ns);
    }
    if (reduction == SG_BENCH_REDUCE_ROOT)
        return passed_ns(ranks[root].entry_ns, ranks[root].exit_ns);
    if (reduction == SG_BENCH_REDUCE_MEDIAN)
        return median_ns(ranks, count);
    for (int rank = 0; rank < count; rank++) {
        double own = passed_ns(ranks[rank].entry_ns, ranks[rank].exit_ns);

        sum += own;
        least = fmin(least, own);
        most = fmax(most, own);
    }
    if (reduction == SG_BENCH_REDUCE_MEAN)
        return sum / count;
    return reduction == SG_BENCH_REDUCE_MIN ? least : most;
}

double sg_bench_delay_ns(const struct sg_bench_times *ranks, int count)
{
    struct ends ends = ends_of(ranks, count);

    return passed_ns(ends.last_entry_ns, ends.last_exit_ns);
}

double sg_bench_skew_ns(const struct sg_bench_times *ranks, int count)
{
    struct ends ends = ends_of(ranks, count);

    return passed_ns(ends.first_entry_ns, ends.last_entry_ns);
}

double sg_bench_processor_ns(const struct sg_bench_times *ranks, int count)
{
    double sum = 0;

    for (int rank = 0; rank < count; rank++)
        sum += ranks[rank].processor_ns;
    return sum / count;
}

bool sg_bench_left_early(const struct sg_bench_times *ranks, int count, uint64_t error_ns)
{
    struct ends ends = ends_of(ranks, count);

    return passed_ns(ends.first_exit_ns, ends.last_entry_ns) > 2 * (double)error_ns;
}

const struct sg_bench_times *sg_bench_samples_at(const struct sg_bench_samples *samples,
                                                 size_t round, int variant)
{
    return samples->times +
           (round * (size_t)samples->variants + (size_t)variant) * (size_t)samples->ranks;
}

/* Doubles the capacity. */
static bool grow(struct sg_bench_samples *samples, size_t a_round)
{
    size_t room = samples->room > 0 ? samples->room * 2 : 64;
    void *times = realloc(samples->times, room * a_round * sizeof *samples->times), *numbers;

    if (times == NULL)
        return false;
    samples->times = times;
    numbers = realloc(samples->numbers, room * sizeof *samples->numbers);
    if (numbers == NULL)
        return false;
    samples->numbers = numbers;
    samples->room = room;
    return true;
}

struct sg_bench_times *sg_bench_samples_add(struct sg_bench_samples *samples, uint64_t number)
{
    size_t a_round = (size_t)samples->variants * (size_t)samples->ranks;

    if (samples->rounds == samples->room && !grow(samples, a_round)) {
        sg_log("bench: out of memory");
        return NULL;
    }
    samples->numbers[samples->rounds] = number;
    return samples->times + samples->rounds++ * a_round;
}

void sg_bench_samples_clear(struct sg_bench_samples *samples)
{
    free(samples->times);
    free(samples->numbers);
    *samples = (struct sg_bench_samples){0};
}
