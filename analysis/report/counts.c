#include "report/counts.h"

const enum sg_metric_ref sg_count_metrics[SG_COUNT_COUNT] = {
    [SG_COUNT_EARLY] = SG_METRIC_EARLY,     [SG_COUNT_LATE] = SG_METRIC_LATE,
    [SG_COUNT_SIGNALS] = SG_METRIC_SIGNALS, [SG_COUNT_IGNORED] = SG_METRIC_IGNORED,
    [SG_COUNT_STALLS] = SG_METRIC_STALLS,   [SG_COUNT_MOVES] = SG_METRIC_MOVES,
    [SG_COUNT_REPEATS] = SG_METRIC_REPEATS, [SG_COUNT_OUTSTANDING] = SG_METRIC_OUTSTANDING,
};

void sg_counts_add(struct sg_counts *into, enum sg_count count, uint64_t value)
{
    if (count != SG_COUNT_OUTSTANDING)
        into->of[count] += value;
    else if (value > into->of[count])
        into->of[count] = value;
}

void sg_counts_add_all(struct sg_counts *into, const struct sg_counts *more)
{
    for (int count = 0; count < SG_COUNT_COUNT; count++)
        sg_counts_add(into, (enum sg_count)count, more->of[count]);
}

void sg_call_times_add(struct sg_call_times *into, const struct sg_call_times *more)
{
    if (more->calls == 0)
        return;
    if (into->calls == 0 || more->min_ns < into->min_ns)
        into->min_ns = more->min_ns;
    if (more->max_ns > into->max_ns)
        into->max_ns = more->max_ns;
    into->calls += more->calls;
    into->sum_ns += more->sum_ns;
    into->square += more->square;
}

void sg_call_times_add_one(struct sg_call_times *into, uint64_t time_ns)
{
    const struct sg_call_times one = {1, time_ns, time_ns, time_ns,
                                      (double)time_ns * (double)time_ns};

    sg_call_times_add(into, &one);
}
