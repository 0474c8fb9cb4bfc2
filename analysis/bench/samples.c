#include "bench/samples.h"

#include <math.h>
#include <stdlib.h>

const char *const sg_bench_reduction_names[SG_BENCH_REDUCTIONS + 1] = {"root", "max", "span",
                                                                       "mean", "min", "median"};

/* Between two times; the second may be a little earlier. */
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

/* By halving the range of values, which takes no memory: this is asked of every call. */
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

/* Makes room for twice as many rounds. */
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
