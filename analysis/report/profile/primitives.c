#include "report/profile/primitives.h"

#include "output/format.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows ------------------------------------------------------------------------------------ */

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

static int compare(const void *left, const void *right)
{
    const struct sg_primitive *a = left, *b = right;
    size_t place_a = place_of(a->name), place_b = place_of(b->name);

    if (place_a != place_b)
        return place_a < place_b ? -1 : 1;
    if (a->total_ns != b->total_ns)
        return a->total_ns > b->total_ns ? -1 : 1;
    return strcmp(a->name, b->name);
}

struct sg_primitive sg_primitive_of(const char *name, const struct sg_mmds_points *points)
{
    return (struct sg_primitive){
        .name = name,
        .min_ns = points->min,
        .max_ns = points->max,
        .total_ns = points->sum,
        .count = points->count,
        .mean_ns = points->count > 0 ? (double)points->sum / (double)points->count : NAN};
}

/* What makes a persistent request posts nothing by itself. */
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
    qsort(primitives, functions, sizeof *primitives, compare);
    *out = primitives;
    *count = functions;
    return SG_OK;
}

/* ---- columns --------------------------------------------------------------------------------- */

void sg_ms_put(int64_t ns, FILE *out)
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
const struct sg_columns sg_primitive_columns = {columns, sizeof columns / sizeof *columns};

/* ---- bins ------------------------------------------------------------------------------------ */

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
            .all = distribution->points.count};
    }
    *out = bins;
    *count = used;
    return SG_OK;
}

static void print_share(const void *of, const void *context, FILE *out)
{
    const struct sg_primitive_bin *bin = of;

    (void)context;
    fputs(SG_SHARE(bin->count, bin->all), out);
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
    {"count", OF_BIN(COUNT, count)},
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
const struct sg_columns sg_bin_columns = {bin_columns, sizeof bin_columns / sizeof *bin_columns};
const struct sg_columns sg_bin_time_columns = {time_columns,
                                               sizeof time_columns / sizeof *time_columns};
const struct sg_columns sg_bin_bytes_columns = {bytes_columns,
                                                sizeof bytes_columns / sizeof *bytes_columns};
