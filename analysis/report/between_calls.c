#include "report/between_calls.h"

#include "core/room.h"
#include "output/format.h"
#include "report/aggregate.h"
#include "report/cause_table.h"
#include "report/filter.h"
#include "report/profile_calls.h"
#include "report/report_section.h"
#include "report/wait_print.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* ---- causes: why a rank's intervals are longer than the others'; pure ------------------------ */

/* Smaller differences are no cause: readings at both ends of an interval take microseconds
 * themselves. */
#define LONGER 1.1
#define LONGER_NS 5000.0
/* Blocks per interval, in the mean. From the first on, intervals off the processor are for I/O; up
 * to the second, asleep. Between them the cause is unknown: sums do not show which intervals had
 * the blocks. */
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

/* Splits the mean interval, as cause_intervals.c does a single one. off: the cause for time off the
 * processor. */
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

/* Returns the time of the additional instructions at the others' speed; NAN: not known. */
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

/* Splits the excess in the same proportions as all the rank's runnable time. */
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

/* Sets everything that follows from the sums: means, excess and cause. */
static void sg_before_judge(struct sg_before_row *row)
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

struct pair {
    uint32_t after, until;
    struct sg_before_figures all;
};

struct part {
    uint32_t pair, rank;
    struct sg_before_figures of;
};

struct sg_before_sums {
    struct pair *pairs;
    struct part *parts;
    uint32_t pair_count, part_count;
    struct sg_map pair_by_key, part_by_key;
};

enum sg_status sg_before_sums_create(struct sg_before_sums **out)
{
    *out = calloc(1, sizeof **out);
    return *out != NULL ? SG_OK : SG_ERR_MEMORY;
}

void sg_before_sums_destroy(struct sg_before_sums *sums)
{
    if (sums == NULL)
        return;
    sg_map_clear(&sums->pair_by_key);
    sg_map_clear(&sums->part_by_key);
    free(sums->pairs);
    free(sums->parts);
    free(sums);
}

void sg_before_free(struct sg_before *before)
{
    if (before == NULL)
        return;
    free(before->rows);
    free(before->places);
    free(before);
}

/* A figure that one part lacks is missing from the sum. */
static void add(struct sg_before_figures *into, const struct sg_before_figures *more)
{
    into->mask = into->intervals > 0 ? into->mask & more->mask : more->mask;
    into->intervals += more->intervals;
    into->time_ns += more->time_ns;
    for (unsigned i = 0; i < SG_FIGURE_COUNT; i++)
        into->of[i] += more->of[i];
}

static void subtract(const struct sg_before_figures *all, const struct sg_before_figures *own,
                     struct sg_before_figures *out)
{
    *out = (struct sg_before_figures){.intervals = all->intervals - own->intervals,
                                      .time_ns = all->time_ns - own->time_ns,
                                      .mask = all->mask & own->mask};
    for (unsigned i = 0; i < SG_FIGURE_COUNT; i++)
        out->of[i] = all->of[i] - own->of[i];
}

enum sg_status sg_before_sums_add(struct sg_before_sums *sums, uint32_t rank, uint32_t after,
                                  uint32_t until, const struct sg_before_figures *figures)
{
    int64_t pair = SG_MAP_INDEX(&sums->pair_by_key, (uint64_t)after << 32 | until, sums->pairs,
                                sums->pair_count, ((struct pair){.after = after, .until = until})),
            part;

    if (pair < 0)
        return SG_ERR_MEMORY;
    part = SG_MAP_INDEX(&sums->part_by_key, (uint64_t)pair << 32 | rank, sums->parts,
                        sums->part_count, ((struct part){.pair = (uint32_t)pair, .rank = rank}));
    if (part < 0)
        return SG_ERR_MEMORY;
    add(&sums->pairs[pair].all, figures);
    add(&sums->parts[part].of, figures);
    return SG_OK;
}

/* ---- the result ------------------------------------------------------------------------------ */

struct naming {
    const struct sg_aggregate *aggregate;
    sg_before_function function;
    const void *context;
};

static void name(const struct naming *naming, uint32_t site, struct sg_waitstate_place *out)
{
    *out = (struct sg_waitstate_place){0};
    if (site == SG_BEFORE_NO_SITE)
        return;
    sg_aggregate_name_site(naming->aggregate, site, &out->site);
    out->function = naming->function(naming->context, site);
}

/* Sets two for each pair: after, until. */
static void name_all(const struct sg_before_sums *sums, const struct naming *naming,
                     struct sg_waitstate_place *places)
{
    for (uint32_t i = 0; i < sums->pair_count; i++) {
        name(naming, sums->pairs[i].after, &places[2 * i]);
        name(naming, sums->pairs[i].until, &places[2 * i + 1]);
    }
}

static void make_row(const struct sg_before_sums *sums, const struct sg_before *before,
                     const struct part *part, struct sg_before_row *out)
{
    *out = (struct sg_before_row){.after = &before->places[2 * part->pair],
                                  .until = &before->places[2 * part->pair + 1],
                                  .rank = part->rank,
                                  .own = part->of};
    subtract(&sums->pairs[part->pair].all, &part->of, &out->others);
    sg_before_judge(out);
}

static int compare_rows(const void *left, const void *right)
{
    const struct sg_before_row *a = left, *b = right;

    if (a->longer_ns != b->longer_ns)
        return a->longer_ns < b->longer_ns ? 1 : -1;
    if (a->own.time_ns != b->own.time_ns)
        return a->own.time_ns < b->own.time_ns ? 1 : -1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

enum sg_status sg_before_sums_finish(const struct sg_before_sums *sums,
                                     const struct sg_aggregate *aggregate,
                                     const struct sg_filter *filter, sg_before_function function,
                                     const void *context, struct sg_before **out)
{
    const struct naming naming = {aggregate, function, context};
    struct sg_before *before;

    *out = NULL;
    /* The sums do not have communicators. */
    if (sums->part_count == 0 || (filter != NULL && filter->comm != NULL))
        return SG_OK;
    before = calloc(1, sizeof *before);
    if (before != NULL) {
        before->rows = malloc(sums->part_count * sizeof *before->rows);
        before->places = malloc(2 * (size_t)sums->pair_count * sizeof *before->places);
    }
    if (before == NULL || before->rows == NULL || before->places == NULL) {
        sg_before_free(before);
        return SG_ERR_MEMORY;
    }
    name_all(sums, &naming, before->places);
    for (uint32_t i = 0; i < sums->part_count; i++) {
        struct sg_before_row *row = &before->rows[before->row_count];

        make_row(sums, before, &sums->parts[i], row);
        if (filter != NULL && filter->site != NULL &&
            !sg_filter_takes_row(filter, &row->until->site))
            continue;
        before->row_count++;
        before->intervals += row->own.intervals;
        before->time_ns += row->own.time_ns;
        before->mask |= row->own.mask;
    }
    qsort(before->rows, before->row_count, sizeof *before->rows, compare_rows);
    *out = before;
    return SG_OK;
}

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

/* Returns a negative value if it is not known. */
static double share_of(const struct sg_before_row *row, bool is_known, uint64_t ns)
{
    return is_known && row->own.time_ns > 0 ? (double)ns / (double)row->own.time_ns : -1;
}

/* A share of the row's time: the figure, and its text. */
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

static bool knows_cause(const void *of)
{
    const struct sg_before_row *row = of;

    return row->has_cause;
}

static json_t *after_json(const void *of, const void *context)
{
    const struct sg_before_row *row = of;

    return sg_waitstate_place_json(row->after);
}

static json_t *until_json(const void *of, const void *context)
{
    const struct sg_before_row *row = of;

    return sg_waitstate_place_json(row->until);
}

static void print_where(const void *of, const void *context, FILE *out)
{
    const struct sg_before_row *row = of;

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

/* In the order of the JSON members. */
static const struct sg_column columns[] = {
    {"rank", "rank", "rank", IS(COUNT32, rank)},
    {"intervals", "intervals", "times", IS(COUNT, own.intervals)},
    {"time_ns", "time", "time", IS(NS, own.time_ns)},
    {"mean_ns", "mean", "mean", IS(REAL_NS, mean_ns)},
    {"others_mean_ns", "others", "of others", IS(REAL_NS, others_ns)},
    {"longer_ns", "longer", "longer", IS(REAL_NS, longer_ns)},
    {"cause", "cause", "because", .left = true, IS(WORD, cause), .words = sg_cause_names,
     .known = knows_cause},
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
const struct sg_columns sg_before_columns = SG_COLUMNS(columns);

static const struct sg_column end_columns[] = {{"after", .json = after_json},
                                               {"until", .json = until_json}};
static const struct sg_columns ends = SG_COLUMNS(end_columns);

/* ---- section --------------------------------------------------------------------------------- */

static const struct sg_before *before_of(const struct sg_report *report)
{
    static const struct sg_before none;

    return report->calls != NULL && report->calls->before != NULL ? report->calls->before : &none;
}

static struct sg_rows rows_of(const struct sg_report *report,
                              const struct sg_print_options *options)
{
    const struct sg_before *before = before_of(report);

    return SG_ROWS(before->rows, before->row_count, NULL);
}

/* Events show more. */
static bool has_no_events(const struct sg_report *report)
{
    return !report->has_events;
}

static void put_lead(const struct sg_report *report, uint32_t shown, FILE *out)
{
    const struct sg_before *before = before_of(report);

    fprintf(out, "between calls      %" PRIu64 " intervals sampled, %s in sum", before->intervals,
            SG_NS(before->time_ns));
    if (shown < before->row_count)
        fprintf(out, "; %" PRIu32 " of %" PRIu32 " rows (--top)", shown, before->row_count);
    fputc('\n', out);
}

const struct sg_report_section sg_intervals_section = {
    .name = "intervals",
    .part = SG_PART_WHY,
    .title = "Time of ranks between calls of MPI",
    .rows = rows_of,
    .is_shown = has_no_events,
    .lead = put_lead,
    .table = {
        .member = "rows",
        .json = {&sg_before_columns, &ends},
        .csv = "rank intervals time_ns mean_ns others_mean_ns longer_ns cause cpu_ns runnable_ns "
               "off_ns throttled_ns user_ns system_ns minor_faults major_faults "
               "voluntary_switches involuntary_switches blocks_in blocks_out migrations "
               "instructions cycles cache_misses threads_here_ns threads_elsewhere_ns "
               "after.mpi_function after.id after.function after.file after.line "
               "until.mpi_function until.id until.function until.file until.line",
        .text = {&sg_before_columns},
        .shown = "rank longer intervals mean others cpu runnable off faults switches cause where"}};

/* True if no row has the source. Does not report a quota, as there may be none to read, nor figures
 * of a call, which come from other sources. */
static bool is_missing(const struct sg_before *before, enum sg_source source)
{
    static const bool is_told[SG_SOURCE_COUNT] = {
        [SG_SOURCE_SCHEDULER] = true, [SG_SOURCE_USAGE] = true,    [SG_SOURCE_MIGRATIONS] = true,
        [SG_SOURCE_COUNTERS] = true,  [SG_SOURCE_SWITCHES] = true, [SG_SOURCE_THREADS] = true,
    };

    return is_told[source] && before->row_count > 0 && (before->mask & sg_source_mask(source)) == 0;
}

void sg_before_print_missing(const struct sg_report *report, FILE *out)
{
    const struct sg_before *before = before_of(report);
    bool has_begun = false;

    for (unsigned source = 0; source < SG_SOURCE_COUNT; source++) {
        if (!is_missing(before, source))
            continue;
        fprintf(out, "%s%s", has_begun ? ", " : "note: causes computed without ",
                sg_source_table[source].name);
        has_begun = true;
    }
    if (has_begun)
        fputs(sg_report_is_oversubscribed(report) && is_missing(before, SG_SOURCE_SWITCHES)
                  ? " (not read where ranks share processors, unless STAGGER_CAUSES=all)\n"
                  : " (unavailable; stagger info)\n",
              out);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *missing_of(const struct sg_before *before)
{
    json_t *names = json_array();

    for (unsigned source = 0; source < SG_SOURCE_COUNT; source++) {
        if (is_missing(before, source))
            sg_json_append(&names, json_string(sg_source_table[source].name));
    }
    return names;
}

SG_REPORT_MEMBER(sg_before_put)
{
    const struct sg_before *before = before_of(report);

    if (before->row_count == 0) {
        sg_json_put(writer, "intervals", json_null());
        return;
    }
    sg_json_begin(writer, "intervals", '{');
    sg_json_put_count(writer, "intervals", before->intervals);
    sg_json_put_count(writer, "time_ns", before->time_ns);
    sg_json_put_count(writer, "row_count", before->row_count);
    sg_json_put(writer, "missing_sources", missing_of(before));
    sg_report_put(&sg_intervals_section, report, options, writer);
    sg_json_end(writer, '}');
}
