#include "report/waitstates/columns.h"

#include "report/columns.h"
#include "report/waitstates/waitstates.h"

/* ---- places ---------------------------------------------------------------------------------- */

static bool has_id(const void *of)
{
    const struct sg_waitstate_place *place = of;

    return place->site.has_id;
}

static bool has_line(const void *of)
{
    const struct sg_waitstate_place *place = of;

    return place->site.line > 0;
}

static bool has_offset(const void *of)
{
    const struct sg_waitstate_place *place = of;

    return place->site.module != NULL;
}

#define OF_PLACE(which, member)                                                                    \
    .kind = SG_COLUMN_##which, .offset = offsetof(struct sg_waitstate_place, member)

static const struct sg_column place_columns[] = {
    {"mpi_function", "function", "function", .left = true, OF_PLACE(TEXT, function)},
    {"id", OF_PLACE(ID, site.id), .known = has_id},
    {"function", OF_PLACE(TEXT, site.function)},
    {"file", OF_PLACE(TEXT, site.file)},
    {"line", OF_PLACE(COUNT32, site.line), .known = has_line},
    {"module", OF_PLACE(TEXT, site.module)},
    {"offset", OF_PLACE(COUNT, site.offset), .known = has_offset},
};
const struct sg_columns sg_waitstate_place_columns = {place_columns,
                                                      sizeof place_columns / sizeof *place_columns};

json_t *sg_waitstate_place_json(const struct sg_waitstate_place *place)
{
    json_t *object;

    if (place->function == NULL)
        return json_null();
    object = json_object();
    sg_columns_set(&object, sg_waitstate_place_columns, place, NULL);
    return object;
}

void sg_waitstate_put_place(const struct sg_waitstate_place *place, FILE *out)
{
    if (place->function == NULL) {
        fputs("start", out);
        return;
    }
    fputs(place->function, out);
    if (!place->site.has_id)
        return;
    fputc(' ', out);
    sg_column_find(sg_site_columns, "site")->print(&place->site, NULL, out);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void print_row_state(const void *of, const void *context, FILE *out)
{
    const struct sg_waitstate_row *row = of;

    (void)context;
    fputs(sg_waitstate_names[row->kind], out);
}

#define OF_ROW(which, member)                                                                      \
    .kind = SG_COLUMN_##which, .offset = offsetof(struct sg_waitstate_row, member)

static const struct sg_column row_columns[] = {
    {"state", "state", "wait state", .left = true, .print = print_row_state},
    {NULL, "function", "function", .left = true, OF_ROW(TEXT, at.function)},
    {"waits", "waits", "waits", OF_ROW(COUNT, of.waits)},
    {"wait_ns", "wait", "wait", OF_ROW(NS, of.wait_ns)},
    {"max_ns", "max", "max", OF_ROW(NS, of.max_ns)},
    {"wrong_order_waits", "disorder", "wrong order", OF_ROW(COUNT, wrong_order_waits)},
    {"wrong_order_ns", OF_ROW(NS, wrong_order_ns)},
};
const struct sg_columns sg_waitstate_row_columns = {row_columns,
                                                    sizeof row_columns / sizeof *row_columns};

/* ---- pairs ----------------------------------------------------------------------------------- */

static void print_pair_state(const void *of, const void *context, FILE *out)
{
    const struct sg_waitstate_pair *pair = of;

    (void)context;
    fputs(sg_waitstate_names[pair->kind], out);
}

static void print_rank(const void *of, const void *context, FILE *out)
{
    const struct sg_waitstate_pair *pair = of;

    (void)context;
    fprintf(out, "%u", (unsigned)pair->rank);
    if (pair->ranks > 1)
        fprintf(out, " %3.0f%%", 100.0 * (double)pair->rank_ns / (double)pair->of.wait_ns);
}

static void print_other_site(const void *of, const void *context, FILE *out)
{
    const struct sg_waitstate_pair *pair = of;

    sg_column_find(sg_site_columns, "site")->print(&pair->other.site, context, out);
}

#define OF_PAIR(which, member)                                                                     \
    .kind = SG_COLUMN_##which, .offset = offsetof(struct sg_waitstate_pair, member)

static const struct sg_column pair_columns[] = {
    {"state", "state", "wait state", .left = true, .print = print_pair_state},
    {NULL, "function", "function", .left = true, OF_PAIR(TEXT, at.function)},
    {"waits", "waits", "waits", OF_PAIR(COUNT, of.waits)},
    {"wait_ns", "wait", "wait", OF_PAIR(NS, of.wait_ns)},
    {"max_ns", "max", "max", OF_PAIR(NS, of.max_ns)},
    {"rank", "rank", "for rank", OF_PAIR(COUNT32, rank), .print = print_rank},
    {"ranks", OF_PAIR(COUNT32, ranks)},
    {"rank_waits", OF_PAIR(COUNT, rank_waits)},
    {"rank_wait_ns", OF_PAIR(NS, rank_ns)},
    {NULL, "other", "in", .left = true, OF_PAIR(TEXT, other.function)},
    {NULL, "other_site", "at", .left = true, .flexible = true, .print = print_other_site},
};
const struct sg_columns sg_waitstate_pair_columns = {pair_columns,
                                                     sizeof pair_columns / sizeof *pair_columns};

/* ---- ranks ----------------------------------------------------------------------------------- */

#define OF_RANK(which, member)                                                                     \
    .kind = SG_COLUMN_##which, .offset = offsetof(struct sg_waitstate_rank, member)

static const struct sg_column rank_columns[] = {
    {"waits", OF_RANK(COUNT, waited.waits)},    {"wait_ns", OF_RANK(NS, waited.wait_ns)},
    {"max_ns", OF_RANK(NS, waited.max_ns)},     {"caused_waits", OF_RANK(COUNT, caused.waits)},
    {"caused_ns", OF_RANK(NS, caused.wait_ns)}, {"caused_max_ns", OF_RANK(NS, caused.max_ns)},
};
const struct sg_columns sg_waitstate_rank_columns = {rank_columns,
                                                     sizeof rank_columns / sizeof *rank_columns};
