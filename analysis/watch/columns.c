#include "watch/columns.h"

#include "output/format.h"
#include "output/json.h"
#include "report/before/columns.h"
#include "report/waitstates/columns.h"
#include "watch/view.h"

#include <inttypes.h>
#include <math.h>

const char *const sg_live_state_names[] = {
    [SG_LIVE_RUNS] = "runs",       [SG_LIVE_QUIET] = "quiet", [SG_LIVE_FINISHED] = "finished",
    [SG_LIVE_ABORTED] = "aborted", [SG_LIVE_DIED] = "died",   [SG_LIVE_GONE] = "gone",
    [SG_LIVE_DAMAGED] = "damaged",
};

/* ---- figures --------------------------------------------------------------------------------- */

#define KNOWN(name, condition)                                                                     \
    static bool knows_##name(const void *row)                                                      \
    {                                                                                              \
        const struct sg_live_figures *figures = row;                                               \
                                                                                                   \
        return condition;                                                                          \
    }

KNOWN(any, figures->is_known)
KNOWN(arrivals, figures->has_arrivals)
KNOWN(skew, figures->instances > 0)
KNOWN(last, figures->last_rank >= 0)
KNOWN(least, figures->least_rank >= 0)

static void put_share(double share, FILE *out)
{
    /* In millionths, so that it looks as it does everywhere else. */
    if (isnan(share))
        fputs("-", out);
    else
        fputs(SG_SHARE((uint64_t)lround(share * 1e6), UINT64_C(1000000)), out);
}

static json_t *json_of_share(double share)
{
    return sg_json_real(!isnan(share), share);
}

static void print_per_s(const void *row, const void *context, FILE *out)
{
    const struct sg_live_figures *figures = row;

    (void)context;
    if (isnan(figures->calls_per_s))
        fputs("-", out);
    else
        fprintf(out, "%.*f", figures->calls_per_s < 100 && figures->calls_per_s > 0 ? 1 : 0,
                figures->calls_per_s);
}

static json_t *json_per_s(const void *row, const void *context)
{
    const struct sg_live_figures *figures = row;

    (void)context;
    return sg_json_real(!isnan(figures->calls_per_s), figures->calls_per_s);
}

static void print_share(const void *row, const void *context, FILE *out)
{
    (void)context;
    put_share(((const struct sg_live_figures *)row)->share, out);
}

static json_t *json_share(const void *row, const void *context)
{
    (void)context;
    return json_of_share(((const struct sg_live_figures *)row)->share);
}

static void print_last(const void *row, const void *context, FILE *out)
{
    const struct sg_live_figures *figures = row;
    char share[SG_FORMAT_BYTES];

    (void)context;
    if (figures->last_rank < 0) {
        fputs("-", out);
        return;
    }
    snprintf(share, sizeof share, "%.0f%%",
             100.0 * (double)figures->last_count / (double)figures->instances);
    fprintf(out, "%" PRId64 " %4s", figures->last_rank, share);
}

static json_t *json_last_share(const void *row, const void *context)
{
    const struct sg_live_figures *figures = row;

    (void)context;
    return sg_json_share(figures->last_count, figures->last_rank < 0 ? 0 : figures->instances);
}

#define IS(which, member)                                                                          \
    .kind = SG_COLUMN_##which, .offset = offsetof(struct sg_live_figures, member)

/* In the order of JSON. The names are those of the report's columns. */
static const struct sg_column now_columns[] = {
    {"calls", "calls", "calls", IS(COUNT, calls), .known = knows_any},
    {"calls_per_s", "calls/s", "calls/s", .print = print_per_s, .json = json_per_s},
    {"time_ns", "time", "time", IS(NS, time_ns), .known = knows_any},
    {"share", "share", "share", .print = print_share, .json = json_share},
    {"wait_ns", "wait", "wait", IS(NS, wait_ns), .known = knows_arrivals},
    {"instances", IS(COUNT, instances)},
    {"skew_ns.p50", "p50", "skew50", IS(NS, skew_p50_ns), .known = knows_skew},
    {"skew_ns.p95", "p95", "skew95", IS(NS, skew_p95_ns), .known = knows_skew},
    {"skew_ns.max", "max", "skewmax", IS(NS, skew_max_ns), .known = knows_skew},
    {"skew_ns.mean", IS(REAL_NS, skew_mean_ns), .known = knows_skew},
    {"last_rank", "last", "last", IS(COUNT, last_rank), .known = knows_last, .print = print_last},
    {"last_rank_share", .json = json_last_share},
    {"least_rank", "least", "least", IS(COUNT, least_rank), .known = knows_least},
    {"least_time_ns", IS(COUNT, least_ns), .known = knows_least},
    {NULL, "total", "total", IS(NS, time_ns), .known = knows_any},
    {NULL, "run", "of run", .print = print_share},
};
#define ALL (sizeof now_columns / sizeof *now_columns)
#define IN_REPORT 4 /* columns that the report's own tables have */

const struct sg_columns sg_live_now_columns = {now_columns, ALL};
const struct sg_columns sg_live_run_columns = {now_columns + IN_REPORT, ALL - IN_REPORT};

/* ---- why ------------------------------------------------------------------------------------- */

static void print_why(const void *of, const void *context, FILE *out)
{
    const struct sg_live_row *row = of;

    (void)context;
    if (row->awaited != NULL)
        fprintf(out, "%s on %" PRIu32 " now", sg_cause_names[row->awaited->outside.cause],
                row->awaited->rank);
    else if (row->why == NULL)
        fputc('-', out);
    else
        fprintf(out, "%s on %" PRIu32, sg_cause_names[row->why->cause], row->why->rank);
}

static json_t *json_why(const void *of, const void *context)
{
    const struct sg_live_row *row = of;
    json_t *object;

    (void)context;
    if (row->why == NULL)
        return json_null();
    object = json_object();
    sg_columns_set(&object, sg_before_columns, row->why, NULL);
    sg_json_set(&object, "after", sg_waitstate_place_json(row->why->after));
    return object;
}

static const struct sg_column why_columns[] = {
    {"why", "why", "because", .left = true, .print = print_why, .json = json_why},
};
const struct sg_columns sg_live_why_columns = {why_columns, 1};

/* ---- ranks ----------------------------------------------------------------------------------- */

static void print_state(const void *row, const void *context, FILE *out)
{
    (void)context;
    fputs(sg_live_state_names[((const struct sg_live_rank *)row)->state], out);
}

static bool knows_now(const void *row)
{
    return ((const struct sg_live_rank *)row)->has_now;
}

static json_t *json_rank_share(const void *row, const void *context)
{
    (void)context;
    return json_of_share(((const struct sg_live_rank *)row)->share);
}

static json_t *json_now_share(const void *row, const void *context)
{
    (void)context;
    return json_of_share(((const struct sg_live_rank *)row)->now_share);
}

#define OF_RANK(which, member)                                                                     \
    .kind = SG_COLUMN_##which, .offset = offsetof(struct sg_live_rank, member)

static const struct sg_column rank_columns[] = {
    {"rank", "rank", "rank", OF_RANK(COUNT32, rank)},
    {"state", "state", "state", .left = true, .print = print_state},
    {"time_ns", "time", "time", OF_RANK(NS, time_ns)},
    {"share", .json = json_rank_share},
    {"now_time_ns", "now", "now", OF_RANK(NS, now_ns), .known = knows_now},
    {"now_share", .json = json_now_share},
};
const struct sg_columns sg_live_rank_columns = {rank_columns,
                                                sizeof rank_columns / sizeof *rank_columns};
