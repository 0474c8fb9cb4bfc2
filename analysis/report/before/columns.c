#include "report/before/columns.h"

#include "output/format.h"
#include "output/json.h"
#include "report/before/before.h"
#include "report/waitstates/columns.h"

/* ---- what is known --------------------------------------------------------------------------- */

#define KNOWN(name, source)                                                                        \
    static bool knows_##name(const void *of)                                                       \
    {                                                                                              \
        const struct sg_before_row *row = of;                                                      \
                                                                                                   \
        return (~row->own.mask & sg_source_mask(source)) == 0;                                     \
    }

KNOWN(clock, SG_SOURCE_CLOCK)
KNOWN(scheduler, SG_SOURCE_SCHEDULER)
KNOWN(usage, SG_SOURCE_USAGE)
KNOWN(migrations, SG_SOURCE_MIGRATIONS)
KNOWN(quota, SG_SOURCE_QUOTA)
KNOWN(counters, SG_SOURCE_COUNTERS)
KNOWN(threads, SG_SOURCE_THREADS)

static bool knows_off(const void *of)
{
    return knows_clock(of) && knows_scheduler(of);
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* Negative: not known. */
static double share_of(const struct sg_before_row *row, bool is_known, uint64_t ns)
{
    return is_known && row->own.time_ns > 0 ? (double)ns / (double)row->own.time_ns : -1;
}

/* A share of its time, and how it is printed. */
#define SHARE(name, knows, ns)                                                                     \
    static double figure_##name(const void *of, const void *context)                               \
    {                                                                                              \
        const struct sg_before_row *row = of;                                                      \
                                                                                                   \
        (void)context;                                                                             \
        return share_of(row, knows(row), ns);                                                      \
    }                                                                                              \
                                                                                                   \
    static void print_##name(const void *of, const void *context, FILE *out)                       \
    {                                                                                              \
        const struct sg_before_row *row = of;                                                      \
                                                                                                   \
        (void)context;                                                                             \
        fputs(knows(row) ? SG_SHARE(ns, row->own.time_ns) : "-", out);                             \
    }

SHARE(cpu, knows_clock, row->own.of[SG_FIGURE_CPU])
SHARE(runnable, knows_scheduler, row->own.of[SG_FIGURE_RUNNABLE])
SHARE(off, knows_off, sg_before_off_ns(&row->own))

static json_t *off_json(const void *of, const void *context)
{
    const struct sg_before_row *row = of;

    (void)context;
    return sg_json_count(knows_off(row), sg_before_off_ns(&row->own));
}

#define SUM(name, one, other)                                                                      \
    static double figure_##name(const void *of, const void *context)                               \
    {                                                                                              \
        const struct sg_before_row *row = of;                                                      \
                                                                                                   \
        (void)context;                                                                             \
        return knows_usage(row) ? (double)(row->own.of[one] + row->own.of[other]) : -1;            \
    }                                                                                              \
                                                                                                   \
    static void print_##name(const void *of, const void *context, FILE *out)                       \
    {                                                                                              \
        double sum = figure_##name(of, context);                                                   \
                                                                                                   \
        if (sum < 0)                                                                               \
            fputc('-', out);                                                                       \
        else                                                                                       \
            fprintf(out, "%.0f", sum);                                                             \
    }

SUM(faults, SG_FIGURE_MINOR_FAULTS, SG_FIGURE_MAJOR_FAULTS)
SUM(switches, SG_FIGURE_VOLUNTARY, SG_FIGURE_INVOLUNTARY)

static void print_cause(const void *of, const void *context, FILE *out)
{
    const struct sg_before_row *row = of;

    (void)context;
    fputs(row->has_cause ? sg_cause_names[row->cause] : "-", out);
}

static json_t *cause_json(const void *of, const void *context)
{
    const struct sg_before_row *row = of;

    (void)context;
    return row->has_cause ? json_string(sg_cause_names[row->cause]) : json_null();
}

static void print_where(const void *of, const void *context, FILE *out)
{
    const struct sg_before_row *row = of;

    (void)context;
    sg_waitstate_put_place(row->after, out);
    fputs(" -> ", out);
    if (row->until->function != NULL)
        sg_waitstate_put_place(row->until, out);
    else
        fputs("end", out);
}

#define IS(which, member)                                                                          \
    .kind = SG_COLUMN_##which, .offset = offsetof(struct sg_before_row, member)
#define FIGURE(which, figure) IS(which, own.of[SG_FIGURE_##figure])

/* In the order of JSON. */
static const struct sg_column columns[] = {
    {"rank", "rank", "rank", IS(COUNT32, rank)},
    {"intervals", "intervals", "times", IS(COUNT, own.intervals)},
    {"time_ns", "time", "time", IS(NS, own.time_ns)},
    {"mean_ns", "mean", "mean", IS(REAL_NS, mean_ns)},
    {"others_mean_ns", "others", "of others", IS(REAL_NS, others_ns)},
    {"longer_ns", "longer", "longer", IS(REAL_NS, longer_ns)},
    {"cause", "cause", "because", .left = true, .print = print_cause, .json = cause_json},
    {NULL, "cpu", "on cpu", .print = print_cpu, .figure = figure_cpu},
    {NULL, "runnable", "runnable", .print = print_runnable, .figure = figure_runnable},
    {NULL, "off", "off", .print = print_off, .figure = figure_off},
    {NULL, "faults", "faults", .print = print_faults, .figure = figure_faults},
    {NULL, "switches", "switches", .print = print_switches, .figure = figure_switches},
    {"cpu_ns", FIGURE(COUNT, CPU), .known = knows_clock},
    {"runnable_ns", FIGURE(COUNT, RUNNABLE), .known = knows_scheduler},
    {"off_ns", .json = off_json},
    {"throttled_ns", FIGURE(COUNT, THROTTLED), .known = knows_quota},
    {"user_ns", FIGURE(COUNT, USER), .known = knows_usage},
    {"system_ns", FIGURE(COUNT, SYSTEM), .known = knows_usage},
    {"minor_faults", FIGURE(COUNT, MINOR_FAULTS), .known = knows_usage},
    {"major_faults", FIGURE(COUNT, MAJOR_FAULTS), .known = knows_usage},
    {"voluntary_switches", FIGURE(COUNT, VOLUNTARY), .known = knows_usage},
    {"involuntary_switches", FIGURE(COUNT, INVOLUNTARY), .known = knows_usage},
    {"blocks_in", FIGURE(COUNT, BLOCKS_IN), .known = knows_usage},
    {"blocks_out", FIGURE(COUNT, BLOCKS_OUT), .known = knows_usage},
    {"migrations", FIGURE(COUNT, MIGRATIONS), .known = knows_migrations},
    {"instructions", FIGURE(COUNT, INSTRUCTIONS), .known = knows_counters},
    {"cycles", FIGURE(COUNT, CYCLES), .known = knows_counters},
    {"cache_misses", FIGURE(COUNT, CACHE_MISSES), .known = knows_counters},
    {"threads_here_ns", FIGURE(COUNT, THREADS_HERE), .known = knows_threads},
    {"threads_elsewhere_ns", FIGURE(COUNT, THREADS_ELSEWHERE), .known = knows_threads},
    {NULL, "where", "between", .left = true, .flexible = true, .print = print_where},
};
const struct sg_columns sg_before_columns = {columns, sizeof columns / sizeof *columns};
