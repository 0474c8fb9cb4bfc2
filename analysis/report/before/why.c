#include "report/before/why.h"

#include "report/causes/split.h"

#include <math.h>

/* Less is no cause: readings at both ends of an interval take microseconds themselves. */
#define LONGER 1.1
#define LONGER_NS 5000.0
/* Intervals off the processor are for I/O where so many blocks come on one, asleep below the other;
 * sums do not tell in which intervals they were. */
#define BLOCKS_IO 1.0
#define BLOCKS_ASLEEP 0.1

static bool knows(const struct sg_before_figures *figures, enum sg_figure figure)
{
    return (figures->mask & 1u << figure) != 0;
}

static double mean(const struct sg_before_figures *figures, enum sg_figure figure)
{
    return (double)figures->of[figure] / (double)figures->intervals;
}

static double at_most(double value, double limit)
{
    return value < limit ? value : limit;
}

static enum sg_cause off_cause(const struct sg_before_figures *figures)
{
    double blocks = mean(figures, SG_FIGURE_BLOCKS_IN) + mean(figures, SG_FIGURE_BLOCKS_OUT) +
                    mean(figures, SG_FIGURE_MAJOR_FAULTS);

    return blocks >= BLOCKS_IO      ? SG_CAUSE_IO
           : blocks > BLOCKS_ASLEEP ? SG_CAUSE_UNKNOWN
                                    : SG_CAUSE_ASLEEP;
}

/* Of an interval, in the mean: as causes/stretch.h takes a single one. off: the cause of what is
 * off the processor. */
static void parts_of(const struct sg_before_figures *figures, enum sg_cause off,
                     double ns[SG_CAUSES])
{
    double left = (double)figures->time_ns / (double)figures->intervals, runnable;

    for (int i = 0; i < SG_CAUSES; i++)
        ns[i] = 0;
    if (!knows(figures, SG_FIGURE_CPU)) {
        ns[SG_CAUSE_UNKNOWN] = left;
        return;
    }
    ns[SG_CAUSE_COMPUTING] = at_most(mean(figures, SG_FIGURE_CPU), left);
    left -= ns[SG_CAUSE_COMPUTING];
    ns[SG_CAUSE_THROTTLED] = at_most(mean(figures, SG_FIGURE_THROTTLED), left);
    left -= ns[SG_CAUSE_THROTTLED];
    runnable = mean(figures, SG_FIGURE_RUNNABLE) - ns[SG_CAUSE_THROTTLED];
    ns[SG_CAUSE_PREEMPTED] = runnable > 0 ? at_most(runnable, left) : 0;
    left -= ns[SG_CAUSE_PREEMPTED];
    ns[knows(figures, SG_FIGURE_RUNNABLE) ? off : SG_CAUSE_UNKNOWN] += left;
}

/* The additional instructions at the others' speed. */
static double work_of(const struct sg_before_row *row, double others_cpu_ns)
{
    double usual = mean(&row->others, SG_FIGURE_INSTRUCTIONS);

    if (!knows(&row->own, SG_FIGURE_INSTRUCTIONS) || !knows(&row->others, SG_FIGURE_INSTRUCTIONS) ||
        usual <= 0)
        return NAN;
    return others_cpu_ns * (mean(&row->own, SG_FIGURE_INSTRUCTIONS) / usual - 1);
}

static double more_of(const struct sg_before_row *row, enum sg_figure figure)
{
    return mean(&row->own, figure) - mean(&row->others, figure);
}

static void split_computing(const struct sg_before_row *row, double others_cpu_ns,
                            double ns[SG_CAUSES])
{
    const struct sg_cause_more more = {.ns = ns[SG_CAUSE_COMPUTING],
                                       .user_ns = more_of(row, SG_FIGURE_USER),
                                       .system_ns = more_of(row, SG_FIGURE_SYSTEM),
                                       .faults = more_of(row, SG_FIGURE_MINOR_FAULTS),
                                       .work_ns = work_of(row, others_cpu_ns),
                                       .has_usage = knows(&row->own, SG_FIGURE_USER) &&
                                                    knows(&row->others, SG_FIGURE_USER)};
    double shares[SG_CAUSES];

    sg_cause_split(&more, shares);
    for (int i = SG_CAUSE_COMPUTING; i <= SG_CAUSE_KERNEL; i++)
        ns[i] = shares[i] * more.ns;
}

/* Of all its time runnable, as much as of what is longer. */
static void split_preempted(const struct sg_before_row *row, double ns[SG_CAUSES])
{
    bool is_known = knows(&row->own, SG_FIGURE_THREADS_HERE);
    double runnable_ns = (double)row->own.of[SG_FIGURE_RUNNABLE], shares[SG_CAUSES];
    double whole_ns = ns[SG_CAUSE_PREEMPTED];

    sg_cause_split_preempted(
        SG_CAUSE_PREEMPTED, runnable_ns, (double)row->own.of[SG_FIGURE_THREADS_HERE],
        is_known ? (double)row->own.of[SG_FIGURE_THREADS_ELSEWHERE] : runnable_ns, shares);
    for (int i = SG_CAUSE_PREEMPTED; i <= SG_CAUSE_PREEMPTED_OTHERS; i++)
        ns[i] = shares[i] * whole_ns;
}

static enum sg_cause find_cause(const struct sg_before_row *row)
{
    enum sg_cause off = off_cause(&row->own), greatest = SG_CAUSE_UNKNOWN;
    double ns[SG_CAUSES], others[SG_CAUSES], others_cpu_ns;

    parts_of(&row->own, off, ns);
    parts_of(&row->others, off, others);
    others_cpu_ns = others[SG_CAUSE_COMPUTING];
    for (int i = 0; i < SG_CAUSES; i++)
        ns[i] -= others[i];
    if (ns[SG_CAUSE_COMPUTING] > 0)
        split_computing(row, others_cpu_ns, ns);
    if (ns[SG_CAUSE_PREEMPTED] > 0)
        split_preempted(row, ns);
    for (unsigned i = 0; i < SG_CAUSES; i++) {
        if (ns[i] > ns[greatest])
            greatest = i;
    }
    return greatest;
}

void sg_before_judge(struct sg_before_row *row)
{
    row->mean_ns = (double)row->own.time_ns / (double)row->own.intervals;
    row->others_ns = NAN;
    row->longer_ns = 0;
    row->has_cause = false;
    if (row->others.intervals == 0)
        return;
    row->others_ns = (double)row->others.time_ns / (double)row->others.intervals;
    if (row->mean_ns > row->others_ns)
        row->longer_ns = (row->mean_ns - row->others_ns) * (double)row->own.intervals;
    row->has_cause =
        row->mean_ns >= LONGER * row->others_ns && row->mean_ns - row->others_ns >= LONGER_NS;
    if (row->has_cause)
        row->cause = find_cause(row);
}
