#include "advise/columns.h"

#include "output/format.h"

struct sg_estimate_row sg_estimate_row_of(const struct sg_advice_item *item, int i)
{
    const struct sg_advise_estimate *one = &item->estimates[i];

    return (struct sg_estimate_row){.what = i == item->executed ? "  this one, estimated"
                                                                : "  estimated",
                                    .algorithm = sg_candidates[one->candidate],
                                    .executed = i == item->executed,
                                    .blocked_ns = one->blocked_ns,
                                    .processor_ns = one->processor_ns,
                                    .less_ns = one->gain_ns,
                                    .low_ns = one->low_ns,
                                    .high_ns = one->high_ns};
}

static json_t *json_ran(const void *estimate, const void *context)
{
    return json_boolean(((const struct sg_estimate_row *)estimate)->executed);
}

static void print_less(const void *estimate, const void *context, FILE *out)
{
    const struct sg_estimate_row *row = estimate;

    fputs(row->executed ? "-" : SG_UNSIGNED(row->less_ns), out);
}

static void print_interval(const void *estimate, const void *context, FILE *out)
{
    const struct sg_estimate_row *row = estimate;

    if (row->executed)
        fputs("-", out);
    else
        fprintf(out, "%s .. %s", SG_UNSIGNED(row->low_ns), SG_UNSIGNED(row->high_ns));
}

#define IS(which, member)                                                                          \
    .kind = SG_COLUMN_##which, .offset = offsetof(struct sg_estimate_row, member)

static const struct sg_column columns[] = {
    {NULL, "what", "", .left = true, IS(TEXT, what)},
    {"algorithm", "algorithm", "algorithm", .left = true, IS(TEXT, algorithm)},
    {"ran", .json = json_ran},
    {"blocked_ns", "blocked", "blocked", IS(REAL_NS, blocked_ns)},
    {"processor_ns", "processor", "processor", IS(REAL_NS, processor_ns)},
    {"less_ns", "less", "less by", IS(REAL_NS, less_ns), .print = print_less},
    {"low_ns", IS(REAL_NS, low_ns)},
    {"high_ns", IS(REAL_NS, high_ns)},
    {NULL, "interval", "95% interval", .print = print_interval},
};
const struct sg_columns sg_estimate_columns = {columns, sizeof columns / sizeof *columns};
