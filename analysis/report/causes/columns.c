#include "report/causes/columns.h"

#include "output/format.h"
#include "report/causes/causes.h"
#include "report/waitstates/columns.h"

#include <math.h>

/* What all rows of a site have in common stands once where they stand below each other. */
static bool tells_site(const struct sg_cause_row *row, const struct sg_cause_site *site)
{
    return site == NULL || row == site->rows;
}

static void print_site_ns(const void *of, const void *context, FILE *out)
{
    const struct sg_cause_row *row = of;

    fputs(tells_site(row, context) ? SG_NS(row->site_ns) : "", out);
}

static double share_of(const struct sg_cause_row *row, double ns)
{
    return 100 * ns / (double)row->site_ns;
}

static double figure_part(const void *of, const void *context)
{
    const struct sg_cause_row *row = of;

    (void)context;
    return share_of(row, (double)row->ns);
}

static void print_part(const void *of, const void *context, FILE *out)
{
    fprintf(out, "%.0f%%", figure_part(of, context));
}

static void print_interval(const void *of, const void *context, FILE *out)
{
    const struct sg_cause_row *row = of;

    (void)context;
    if (isnan(row->low_ns))
        fputc('-', out);
    else
        fprintf(out, "%.0f-%.0f%%", share_of(row, row->low_ns), share_of(row, row->high_ns));
}

static void print_share(const void *of, const void *context, FILE *out)
{
    const struct sg_cause_row *row = of;

    fprintf(out, "%3.0f%%", figure_part(of, context));
    if (!isnan(row->low_ns))
        fprintf(out, " (%.0f-%.0f)", share_of(row, row->low_ns), share_of(row, row->high_ns));
}

static void print_cause(const void *of, const void *context, FILE *out)
{
    const struct sg_cause_row *row = of;

    (void)context;
    fputs(sg_cause_names[row->cause], out);
}

static void print_steps(const void *of, const void *context, FILE *out)
{
    const struct sg_cause_row *row = of;

    (void)context;
    if (row->steps > 0)
        fprintf(out, "%u back", (unsigned)row->steps);
}

static void print_where(const void *of, const void *context, FILE *out)
{
    const struct sg_cause_row *row = of;

    (void)context;
    if (row->until.function == NULL) {
        fputc('-', out);
        return;
    }
    if (sg_cause_is_in_calls(row->cause)) {
        fputs("in ", out);
    } else {
        sg_waitstate_put_place(&row->after, out);
        fputs(" -> ", out);
    }
    sg_waitstate_put_place(&row->until, out);
}

static void print_at(const void *of, const void *context, FILE *out)
{
    const struct sg_cause_row *row = of;

    if (tells_site(row, context))
        sg_waitstate_put_place(&row->at, out);
}

#define OF_ROW(which, member)                                                                      \
    .kind = SG_COLUMN_##which, .offset = offsetof(struct sg_cause_row, member)

static const struct sg_column columns[] = {
    {NULL, "late", "late", .print = print_site_ns},
    {"cause", "cause", "because", .left = true, .print = print_cause},
    {NULL, "share", "share", .left = true, .print = print_share},
    {"late_ns", "caused", "caused", OF_ROW(NS, ns)},
    {NULL, "part", "share", .print = print_part, .figure = figure_part},
    {NULL, "interval", "95% interval", .left = true, .print = print_interval},
    {"low_ns", OF_ROW(REAL_NS, low_ns)},
    {"high_ns", OF_ROW(REAL_NS, high_ns)},
    {"rank", "rank", "rank", OF_ROW(COUNT32, rank)},
    {"steps", "steps", "steps", .left = true, OF_ROW(COUNT32, steps), .print = print_steps},
    {"instances", "instances", "times", OF_ROW(COUNT, instances)},
    {NULL, "at", "late at", .left = true, .flexible = true, .print = print_at},
    {NULL, "where", "longest", .left = true, .flexible = true, .print = print_where},
};
const struct sg_columns sg_cause_columns = {columns, sizeof columns / sizeof *columns};
