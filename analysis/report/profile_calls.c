/* Statistics of all calls: one-sided operations by pair of ranks, the distributions that MMDS kept,
 * and the summary of paper 001 (table 5.3) with its columns. The last part prints the summary and
 * single distributions as text (stagger report --calls and --distribution).
 */
#include "report/profile_calls.h"

#include "core/room.h"
#include "output/format.h"
#include "output/table.h"
#include "report/report_section.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void add(struct sg_call_target *into, const struct sg_call_target *more)
{
    into->puts += more->puts;
    into->put_bytes += more->put_bytes;
    into->gets += more->gets;
    into->got_bytes += more->got_bytes;
}

enum sg_status sg_call_targets_add(struct sg_call_targets *targets,
                                   const struct sg_call_target *more)
{
    uint64_t key = (uint64_t)more->origin << 32 | more->target;
    int64_t found =
        SG_MAP_INDEX(&targets->row_by_pair, key, targets->rows, targets->count,
                     ((struct sg_call_target){.origin = more->origin, .target = more->target}));

    if (found < 0)
        return SG_ERR_MEMORY;
    add(&targets->rows[found], more);
    return SG_OK;
}

void sg_call_targets_add_others(struct sg_call_targets *targets, const struct sg_call_target *more)
{
    add(&targets->others, more);
}

static int order_of(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare(const void *left, const void *right)
{
    const struct sg_call_target *a = left, *b = right;
    int order = order_of(b->put_bytes + b->got_bytes, a->put_bytes + a->got_bytes);

    if (order == 0)
        order = order_of(b->puts + b->gets, a->puts + a->gets);
    if (order == 0)
        order = order_of(a->origin, b->origin);
    return order != 0 ? order : order_of(a->target, b->target);
}

void sg_call_targets_sort(struct sg_call_targets *targets)
{
    sg_map_clear(&targets->row_by_pair);
    if (targets->count > 0)
        qsort(targets->rows, targets->count, sizeof *targets->rows, compare);
}

void sg_call_targets_clear(struct sg_call_targets *targets)
{
    sg_map_clear(&targets->row_by_pair);
    free(targets->rows);
    *targets = (struct sg_call_targets){0};
}

const char *const sg_mmds_names[] = {[SG_DISTRIBUTION_GRANULARITY] = "Comp Granularity",
                                     [SG_DISTRIBUTION_OVERHEAD] = "Comm Overhead"};

static bool is_same(const struct sg_mmds_distribution *a, const struct sg_mmds_distribution *b)
{
    return a->of == b->of && a->function == b->function &&
           (sg_mmds_is_of_function(a->of) || a->is_first_thread == b->is_first_thread);
}

static void add_points(struct sg_mmds_points *into, const struct sg_mmds_points *more)
{
    if (more->count == 0)
        return;
    if (into->count == 0 || more->min < into->min)
        into->min = more->min;
    if (more->max > into->max)
        into->max = more->max;
    into->count += more->count;
    into->sum += more->sum;
}

static enum sg_status add_new(struct sg_mmds *mmds, const struct sg_mmds_distribution *one)
{
    struct sg_mmds_distribution copy = *one;
    size_t bytes = sg_bins_count(one->to_doubling) * sizeof *copy.bins;

    copy.bins = malloc(bytes);
    if (copy.bins == NULL)
        return SG_ERR_MEMORY;
    memcpy(copy.bins, one->bins, bytes);
    if (SG_APPEND(mmds->distributions, mmds->distribution_count, copy))
        return SG_OK;
    free(copy.bins);
    return SG_ERR_MEMORY;
}

enum sg_status sg_mmds_add(struct sg_mmds *mmds, const struct sg_mmds_distribution *more)
{
    struct sg_mmds_distribution *into = NULL;

    for (uint32_t i = 0; into == NULL && i < mmds->distribution_count; i++) {
        if (is_same(&mmds->distributions[i], more))
            into = &mmds->distributions[i];
    }
    if (into == NULL)
        return add_new(mmds, more);
    if (into->to_doubling != more->to_doubling)
        return SG_OK;
    add_points(&into->points, &more->points);
    for (uint32_t i = 0; i < sg_bins_count(more->to_doubling); i++)
        into->bins[i] += more->bins[i];
    return SG_OK;
}

void sg_mmds_clear(struct sg_mmds *mmds)
{
    for (uint32_t i = 0; i < mmds->distribution_count; i++)
        free(mmds->distributions[i].bins);
    free(mmds->distributions);
    *mmds = (struct sg_mmds){0};
}

struct sg_mmds_points sg_mmds_points_of(const struct sg_mmds *mmds, enum sg_distribution of,
                                        bool is_first_thread)
{
    for (uint32_t i = 0; i < mmds->distribution_count; i++) {
        const struct sg_mmds_distribution *distribution = &mmds->distributions[i];

        if (distribution->of == of && distribution->is_first_thread == is_first_thread)
            return distribution->points;
    }
    return (struct sg_mmds_points){0};
}

uint64_t sg_mmds_sum_ns(const struct sg_mmds *mmds)
{
    return sg_mmds_points_of(mmds, SG_DISTRIBUTION_GRANULARITY, true).sum +
           sg_mmds_points_of(mmds, SG_DISTRIBUTION_OVERHEAD, true).sum;
}

int64_t sg_mmds_gap_ns(const struct sg_mmds *mmds)
{
    return (int64_t)(mmds->run_ns - sg_mmds_sum_ns(mmds));
}

/* ---- rows of the summary --------------------------------------------------------------------- */

static const char *const paper_order[] = {
    "MPI_Isend",   "MPI_Recv",  "MPI_Irecv",     "MPI_Probe",     "MPI_Waitall",
    "MPI_Barrier", "MPI_Bcast", "MPI_Allreduce", "MPI_Allgather", "MPI_Alltoall"};

static size_t place_of(const char *name)
{
    size_t place = 0;

    while (place < sizeof paper_order / sizeof paper_order[0] &&
           strcmp(paper_order[place], name) != 0)
        place++;
    return place;
}

static int primitives_compare(const void *left, const void *right)
{
    const struct sg_primitive *a = left, *b = right;
    size_t place_a = place_of(a->name), place_b = place_of(b->name);

    if (place_a != place_b)
        return place_a < place_b ? -1 : 1;
    if (a->total_ns != b->total_ns)
        return a->total_ns > b->total_ns ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* Makes a row for granularity or overhead. */
static struct sg_primitive sg_primitive_of(const char *name, const struct sg_mmds_points *points)
{
    return (struct sg_primitive){
        .name = name,
        .min_ns = points->min,
        .max_ns = points->max,
        .total_ns = points->sum,
        .count = points->count,
        .mean_ns = points->count > 0 ? (double)points->sum / (double)points->count : NAN};
}

/* A call that creates a persistent request posts nothing itself. */
static bool is_persistent(const char *name)
{
    size_t length = strlen(name), suffix = strlen("_init");

    return length > suffix && strcmp(name + length - suffix, "_init") == 0;
}

static struct sg_primitive make(const struct sg_call_row *row)
{
    const struct sg_call_figures *of = &row->of;
    const struct sg_mmds_points latencies = {of->completed, of->latency_ns, of->latency_min_ns,
                                             of->latency_max_ns};
    const struct sg_mmds_points times = {of->calls, of->time_ns, of->min_ns, of->max_ns};
    uint64_t posted = of->calls - of->failed;
    struct sg_primitive primitive;

    if (of->completed == 0)
        return sg_primitive_of(row->function, &times);
    primitive = sg_primitive_of(row->function, &latencies);
    if (!is_persistent(row->function) && posted > of->completed)
        primitive.open = posted - of->completed;
    return primitive;
}

enum sg_status sg_primitives_make(const struct sg_calls *calls, struct sg_primitive **out,
                                  uint32_t *count)
{
    uint32_t functions = calls != NULL ? calls->function_count : 0;
    struct sg_primitive *primitives = calloc((size_t)functions + 1, sizeof *primitives);

    if (primitives == NULL)
        return SG_ERR_MEMORY;
    for (uint32_t i = 0; i < functions; i++)
        primitives[i] = make(&calls->functions[i]);
    qsort(primitives, functions, sizeof *primitives, primitives_compare);
    *out = primitives;
    *count = functions;
    return SG_OK;
}

/* ---- columns --------------------------------------------------------------------------------- */
/* Writes ns as ms with three decimal places, as the paper does. */

static void sg_ms_put(int64_t ns, FILE *out)
{
    uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    uint64_t us = size / 1000 + (size % 1000 >= 500);

    fprintf(out, "%s%" PRIu64 ".%03" PRIu64, ns < 0 && us > 0 ? "-" : "", us / 1000, us % 1000);
}

static bool has_any(const void *of)
{
    return ((const struct sg_primitive *)of)->count > 0;
}

#define PRINT_MS(member)                                                                           \
    static void print_##member(const void *of, const void *context, FILE *out)                     \
    {                                                                                              \
        const struct sg_primitive *primitive = of;                                                 \
                                                                                                   \
        (void)context;                                                                             \
        if (has_any(of))                                                                           \
            sg_ms_put((int64_t)primitive->member, out);                                            \
        else                                                                                       \
            fputc('-', out);                                                                       \
    }
PRINT_MS(min_ns)
PRINT_MS(max_ns)
PRINT_MS(total_ns)
PRINT_MS(mean_ns)

#define IS(which, member) .kind = SG_COLUMN_##which, .offset = offsetof(struct sg_primitive, member)

static const struct sg_column columns[] = {
    {"primitive", "primitive", "Primitive", .left = true, IS(TEXT, name)},
    {"min_ns", "min", "Min(ms)", IS(NS, min_ns), .known = has_any, .print = print_min_ns},
    {"max_ns", "max", "Max(ms)", IS(NS, max_ns), .known = has_any, .print = print_max_ns},
    {"total_ns", "total", "Total(ms)", IS(NS, total_ns), .print = print_total_ns},
    {"count", "count", "Count", IS(COUNT, count)},
    {"mean_ns", "average", "Average(ms)", IS(REAL_NS, mean_ns), .print = print_mean_ns},
    {"open", IS(COUNT, open)},
};
const struct sg_columns sg_primitive_columns = SG_COLUMNS(columns);

/* ---- bins of a distribution ------------------------------------------------------------------ */

enum sg_status sg_primitive_bins(const struct sg_mmds_distribution *distribution,
                                 struct sg_primitive_bin **out, uint32_t *count)
{
    uint32_t all = sg_bins_count(distribution->to_doubling), used = 0;
    struct sg_primitive_bin *bins = calloc((size_t)all + 1, sizeof *bins);

    if (bins == NULL)
        return SG_ERR_MEMORY;
    for (uint32_t i = 0; i < all; i++) {
        if (distribution->bins[i] == 0)
            continue;
        bins[used++] = (struct sg_primitive_bin){
            .primitive = distribution->primitive,
            .what = distribution->of == SG_DISTRIBUTION_BYTES ? "bytes" : "latency_ns",
            .from = sg_bins_least(distribution->to_doubling, i),
            .below = sg_bins_least(distribution->to_doubling, i + 1),
            .count = distribution->bins[i],
            .all = distribution->points.count,
            .is_of_thread = !sg_mmds_is_of_function(distribution->of),
            .is_first_thread = distribution->is_first_thread};
    }
    *out = bins;
    *count = used;
    return SG_OK;
}

static void print_share(const void *of, const void *context, FILE *out)
{
    const struct sg_primitive_bin *bin = of;

    fputs(SG_SHARE(bin->count, bin->all), out);
}

static json_t *json_first_thread(const void *of, const void *context)
{
    const struct sg_primitive_bin *bin = of;

    return bin->is_of_thread ? json_boolean(bin->is_first_thread) : json_null();
}

#define OF_BIN(which, member)                                                                      \
    .kind = SG_COLUMN_##which, .offset = offsetof(struct sg_primitive_bin, member)
#define REST                                                                                       \
    {"count", "count", "Count", OF_BIN(COUNT, count)},                                             \
    {                                                                                              \
        NULL, "share", "Share", .print = print_share                                               \
    }

static const struct sg_column bin_columns[] = {
    {"primitive", OF_BIN(TEXT, primitive)}, {"what", OF_BIN(TEXT, what)},
    {"from", OF_BIN(COUNT, from)},          {"below", OF_BIN(COUNT, below)},
    {"count", OF_BIN(COUNT, count)},        {"first_thread", .json = json_first_thread},
};
static const struct sg_column time_columns[] = {
    {NULL, "from", "From", OF_BIN(NS, from)},
    {NULL, "below", "Below", OF_BIN(NS, below)},
    REST,
};
static const struct sg_column bytes_columns[] = {
    {NULL, "from", "From", OF_BIN(BYTES, from)},
    {NULL, "below", "Below", OF_BIN(BYTES, below)},
    REST,
};
const struct sg_columns sg_bin_columns = SG_COLUMNS(bin_columns);
const struct sg_columns sg_bin_time_columns = SG_COLUMNS(time_columns);
const struct sg_columns sg_bin_bytes_columns = SG_COLUMNS(bytes_columns);

/* ---- text of the summary --------------------------------------------------------------------- */

static void put_head(const struct sg_report *report, FILE *out)
{
    sg_format_put(report->program != NULL ? report->program : "program not known", out);
    fprintf(out, ", %" PRIu32 " rank%s", report->rank_count, report->rank_count == 1 ? "" : "s");
    if (report->filter != NULL && report->filter->ranks != NULL)
        fprintf(out, ", only ranks %s", report->filter->ranks);
    fputs("\n\n", out);
}

static void add_rows(struct sg_table *table, const struct sg_mmds *mmds, struct sg_primitive rows[],
                     bool is_first_thread)
{
    static const char *const others[] = {
        [SG_DISTRIBUTION_GRANULARITY] = "Comp Granularity, other threads",
        [SG_DISTRIBUTION_OVERHEAD] = "Comm Overhead, other threads"};

    for (int of = SG_DISTRIBUTION_GRANULARITY; of <= SG_DISTRIBUTION_OVERHEAD; of++) {
        const struct sg_mmds_points points =
            sg_mmds_points_of(mmds, (enum sg_distribution)of, is_first_thread);

        rows[of - 1] = sg_primitive_of(is_first_thread ? sg_mmds_names[of] : others[of], &points);
        if (is_first_thread || points.count > 0)
            sg_table_row(table, &rows[of - 1], NULL);
    }
}

static void put_sum(const char *name, int64_t ns, const char *behind, FILE *out)
{
    fprintf(out, "%-24s ", name);
    sg_ms_put(ns, out);
    fprintf(out, " ms%s\n", behind);
}

static void put_sums(const struct sg_mmds *mmds, FILE *out)
{
    int64_t gap_ns = sg_mmds_gap_ns(mmds);
    char share[SG_FORMAT_BYTES + 4];

    snprintf(share, sizeof share, " (%s)",
             SG_SHARE((uint64_t)(gap_ns < 0 ? -gap_ns : gap_ns), mmds->run_ns));
    put_sum("run time", (int64_t)mmds->run_ns, "", out);
    put_sum("granularity and overhead", (int64_t)sg_mmds_sum_ns(mmds), "", out);
    put_sum("gap", gap_ns, share, out);
}

static void put_notes(const struct sg_report *report, const struct sg_primitive *rows,
                      uint32_t count, FILE *out)
{
    uint32_t kept = report->calls->mmds.rank_count;
    uint64_t open = 0;

    for (uint32_t i = 0; i < count; i++)
        open += rows[i].open;
    if (open > 0)
        fprintf(out,
                "note: %" PRIu64 " posted operations are not known to be complete and do not"
                " count\n",
                open);
    if (kept == 0)
        fputs("note: computation granularity and communication overhead were not kept"
              " (STAGGER_MMDS=on)\n",
              out);
    else
        fprintf(out, "note: granularity, overhead and run time are of %" PRIu32 " rank%s\n", kept,
                kept == 1 ? "" : "s");
}

static enum sg_status put_summary(const struct sg_report *report,
                                  const struct sg_print_options *options,
                                  const struct sg_primitive *rows, uint32_t count, FILE *out)
{
    const struct sg_mmds *mmds = &report->calls->mmds;
    struct sg_primitive first[2], others[2];
    struct sg_table table = {0};
    uint32_t shown = sg_print_count(options, count);
    enum sg_status status;

    sg_report_put_title(&sg_primitives_section, report, out);
    sg_table_show(&table, sg_primitive_columns, NULL);
    for (uint32_t i = 0; i < shown; i++)
        sg_table_row(&table, &rows[i], NULL);
    if (mmds->rank_count > 0) {
        add_rows(&table, mmds, first, true);
        add_rows(&table, mmds, others, false);
    }
    status = sg_print_finish(&table, out);
    if (mmds->rank_count > 0) {
        put_sums(mmds, out);
        fputc('\n', out);
    }
    if (shown < count)
        fprintf(out, "note: %" PRIu32 " of %" PRIu32 " functions are shown\n", shown, count);
    put_notes(report, rows, count, out);
    return status;
}

static enum sg_status refuse(const char *why)
{
    sg_log("report: %s", why);
    return SG_ERR_MISSING;
}

static SG_REPORT_PRINTER(print_primitives)
{
    struct sg_primitive *rows;
    uint32_t count;
    enum sg_status status;

    if (report->calls == NULL)
        return refuse("calls were not counted in this run, or are not known in an interval");
    status = sg_primitives_make(report->calls, &rows, &count);
    if (status != SG_OK) {
        sg_log("report: %s", sg_status_text(status));
        return status;
    }
    status = put_summary(report, options, rows, count, out);
    free(rows);
    return status;
}

static SG_REPORT_PRINTER(print_primitives_csv)
{
    struct sg_primitive *primitives;
    uint32_t count;
    enum sg_status status = sg_primitives_make(report->calls, &primitives, &count);

    if (status != SG_OK) {
        sg_log("report: %s", sg_status_text(status));
        return status;
    }
    status =
        sg_section_csv(&sg_primitives_section.table,
                       &SG_ROWS(primitives, sg_print_count(options, count), NULL), "report", out);
    free(primitives);
    return status;
}

const struct sg_report_section sg_primitives_section = {
    .name = "primitives",
    .part = SG_PART_PRIMITIVES,
    .title = "Latencies of primitives",
    .print = print_primitives,
    .csv = print_primitives_csv,
    .table = {.member = "primitives",
              .json = {&sg_primitive_columns},
              .csv = "primitive min_ns max_ns total_ns count mean_ns open"}};

/* ---- text of a distribution ------------------------------------------------------------------ */

static enum sg_status put_bins(const struct sg_mmds_distribution *distribution, FILE *out)
{
    bool is_bytes = distribution->of == SG_DISTRIBUTION_BYTES;
    struct sg_primitive_bin *bins;
    uint32_t count;
    enum sg_status status = sg_primitive_bins(distribution, &bins, &count);

    if (status != SG_OK) {
        sg_log("report: %s", sg_status_text(status));
        return status;
    }
    fprintf(out, "%s, %s%s: %" PRIu64 "\n", distribution->primitive,
            sg_mmds_is_of_function(distribution->of) ? is_bytes ? "bytes" : "latency" : "time",
            sg_mmds_is_of_function(distribution->of) || distribution->is_first_thread
                ? ""
                : " on other threads",
            distribution->points.count);
    status = sg_section_print(
        &(struct sg_section){.text = {is_bytes ? &sg_bin_bytes_columns : &sg_bin_time_columns}},
        &SG_ROWS(bins, count, NULL), "report", out);
    free(bins);
    return status;
}

static bool has_distribution(const struct sg_mmds *mmds, const char *name)
{
    bool has = false;

    for (uint32_t i = 0; mmds != NULL && !has && i < mmds->distribution_count; i++)
        has = strcasecmp(mmds->distributions[i].primitive, name) == 0;
    return has;
}

/* Lists the kept primitives in the message, each once even if it has two distributions. */
static enum sg_status refuse_distribution(const struct sg_mmds *mmds, const char *name)
{
    char there[1000] = "";
    size_t used = 0;

    for (uint32_t i = 0; mmds != NULL && i < mmds->distribution_count; i++) {
        const struct sg_mmds_distribution *one = &mmds->distributions[i];

        if (one->of != SG_DISTRIBUTION_BYTES && used < sizeof there &&
            (sg_mmds_is_of_function(one->of) || one->is_first_thread))
            used += (size_t)snprintf(there + used, sizeof there - used, "%s%s",
                                     used > 0 ? ", " : "; there are: ", one->primitive);
    }
    sg_log("report: no distribution of '%s' was kept (STAGGER_MMDS_CALLS)%s", name, there);
    return SG_ERR_MISSING;
}

SG_REPORT_PRINTER(sg_calls_print_distribution)
{
    const struct sg_mmds *mmds = report->calls != NULL ? &report->calls->mmds : NULL;
    enum sg_status status = SG_OK;

    if (!has_distribution(mmds, options->distribution))
        return refuse_distribution(mmds, options->distribution);
    put_head(report, out);
    for (uint32_t i = 0; status == SG_OK && i < mmds->distribution_count; i++) {
        if (strcasecmp(mmds->distributions[i].primitive, options->distribution) == 0)
            status = put_bins(&mmds->distributions[i], out);
    }
    return status;
}
