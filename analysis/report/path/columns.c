#include "report/path/columns.h"

#include "output/format.h"
#include "report/path/path.h"
#include "report/waitstates/columns.h"

static bool is_interval(const void *of)
{
    const struct sg_path_row *row = of;

    return !row->is_call && row->mean_ns > 0;
}

static json_t *kind_json(const void *of, const void *context)
{
    const struct sg_path_row *row = of;

    (void)context;
    return json_string(row->is_call ? "call" : "interval");
}

static void print_share(const void *of, const void *context, FILE *out)
{
    const struct sg_path_row *row = of;
    const struct sg_path *path = context;

    fputs(SG_SHARE(row->ns, path->ns), out);
}

static void print_rank(const void *of, const void *context, FILE *out)
{
    const struct sg_path_row *row = of;

    (void)context;
    fprintf(out, "%u", (unsigned)row->rank);
    if (row->ranks > 1)
        fprintf(out, " %3.0f%%", 100.0 * (double)row->rank_ns / (double)row->ns);
}

static void print_saving(const void *of, const void *context, FILE *out)
{
    const struct sg_path_row *row = of;

    (void)context;
    if (row->saving_ns == 0)
        fputs("-", out);
    else
        fprintf(out, "%s +-%s", SG_NS(row->saving_ns), SG_NS(row->saving_error_ns));
}

static void print_where(const void *of, const void *context, FILE *out)
{
    const struct sg_path_row *row = of;

    (void)context;
    if (row->is_call) {
        fputs("in ", out);
    } else {
        sg_waitstate_put_place(&row->after, out);
        fputs(" -> ", out);
    }
    sg_waitstate_put_place(&row->until, out);
}

#define OF_ROW(which, member)                                                                      \
    .kind = SG_COLUMN_##which, .offset = offsetof(struct sg_path_row, member)

static const struct sg_column columns[] = {
    {"kind", .json = kind_json},
    {"path_ns", "path", "path", OF_ROW(NS, ns)},
    {NULL, "share", "share", .print = print_share},
    {"times", "times", "times", OF_ROW(COUNT, times)},
    {"mean_ns", "mean", "mean of all", OF_ROW(NS, mean_ns), .known = is_interval},
    {"saving_ns", "saved", "saved", OF_ROW(NS, saving_ns), .known = is_interval},
    {"saving_error_ns", OF_ROW(NS, saving_error_ns), .known = is_interval},
    {NULL, "saving", "balance saves", .print = print_saving},
    {"rank", "rank", "rank", OF_ROW(COUNT32, rank), .print = print_rank},
    {"rank_ns", OF_ROW(NS, rank_ns)},
    {"ranks", OF_ROW(COUNT32, ranks)},
    {NULL, "where", "critical path", .left = true, .flexible = true, .print = print_where},
};
const struct sg_columns sg_path_columns = {columns, sizeof columns / sizeof *columns};
