/* The column tables of a comparison, and the order and selection of its rows. */
#include "compare/compare_calls.h"

#include "output/format.h"
#include "report/report_columns.h"

#include <math.h>
#include <stdlib.h>

/* ---- rows ------------------------------------------------------------------------------------ */

#define FIGURE(name) static double figure_##name(const void *compared, const void *context)
#define PRINTER(name) static void print_##name(const void *compared, const void *context, FILE *out)

/* Printed as in the report. */
#define OF_SITE(name)                                                                              \
    PRINTER(name)                                                                                  \
    {                                                                                              \
        const struct sg_compared *row = compared;                                                  \
        char *text = sg_site_text(#name, NULL, row->site);                                         \
                                                                                                   \
        fputs(text != NULL ? text : "?", out);                                                     \
        free(text);                                                                                \
    }

OF_SITE(id)
OF_SITE(op)
OF_SITE(site)
OF_SITE(where)

/* A sum has no single algorithm: print that of the communicator that blocked longest, on the first
 * side that has the row. */
PRINTER(algorithm)
{
    const struct sg_compared *row = compared;

    fputs(row->side[row->side[0].present ? 0 : 1].algorithm, out);
}

/* The larger of the two sides' figures. */
#define LARGER(name, known, value)                                                                 \
    FIGURE(name)                                                                                   \
    {                                                                                              \
        double most = -1;                                                                          \
                                                                                                   \
        for (int i = 0; i < 2; i++) {                                                              \
            const struct sg_side *side = &((const struct sg_compared *)compared)->side[i];         \
                                                                                                   \
            if (side->present && (known) && (double)(value) > most)                                \
                most = (double)(value);                                                            \
        }                                                                                          \
        return most;                                                                               \
    }

LARGER(calls, true, side->calls)
LARGER(instances, sg_side_knows(side, SG_MEASURED_WAIT), side->instances)
LARGER(bytes, true, side->bytes)
LARGER(blocked, true, side->ns[SG_MEASURED_BLOCKED])
LARGER(wait, sg_side_knows(side, SG_MEASURED_WAIT), side->ns[SG_MEASURED_WAIT])
LARGER(processor, true, side->ns[SG_MEASURED_PROCESSOR])

/* Absolute difference in time blocked per call. */
FIGURE(difference)
{
    const struct sg_compared *row = compared;

    return sg_compared_in_both(row) ? fabs(row->side[1].mean_ns[SG_MEASURED_BLOCKED] -
                                           row->side[0].mean_ns[SG_MEASURED_BLOCKED])
                                    : -1;
}

FIGURE(change)
{
    const struct sg_compared *row = compared;
    double a_ns = row->side[0].mean_ns[SG_MEASURED_BLOCKED];

    return sg_compared_in_both(row) && a_ns > 0 ? figure_difference(row, context) / a_ns : -1;
}

FIGURE(verdict)
{
    const struct sg_compared *row = compared;

    return (double)row->difference[SG_MEASURED_BLOCKED].verdict;
}

/* The first columns of the report, in its order. */
static const struct sg_column compared_columns[] = {
    {NULL, "id", "id", .left = true, .print = print_id},
    {NULL, "op", "op", .left = true, .print = print_op},
    {NULL, "site", "call site", .left = true, .flexible = true, .print = print_site},
    {NULL, "algorithm", "algo", .left = true, .max_width = 16, .print = print_algorithm},
    {NULL, "calls", "calls", .figure = figure_calls},
    {NULL, "instances", "inst", .figure = figure_instances},
    {NULL, "bytes", "bytes", .figure = figure_bytes},
    {NULL, "wait", "wait", .figure = figure_wait},
    {NULL, "blocked", "blocked", .figure = figure_blocked},
    {NULL, "where", "where", .left = true, .print = print_where},
    {NULL, "processor", "processor", .figure = figure_processor},
    {NULL, "difference", "B - A", .figure = figure_difference},
    {NULL, "change", "change", .figure = figure_change},
    {NULL, "verdict", "verdict", .figure = figure_verdict},
};
const struct sg_columns sg_compared_columns = {compared_columns,
                                               sizeof compared_columns / sizeof *compared_columns};

/* ---- sides ----------------------------------------------------------------------------------- */

static bool knows_wait(const void *side)
{
    return sg_side_knows(side, SG_MEASURED_WAIT);
}

static bool knows_algorithm(const void *side)
{
    return ((const struct sg_side *)side)->algorithm[0] != '\0';
}

static void print_side_algorithm(const void *side, const void *context, FILE *out)
{
    fputs(((const struct sg_side *)side)->algorithm, out);
}

#define IS(which, member) .kind = SG_COLUMN_##which, .offset = offsetof(struct sg_side, member)

static const struct sg_column side_columns[] = {
    {"runs", IS(COUNT32, run_count)},
    {"calls", "calls", "calls", IS(COUNT, calls)},
    {"bytes", IS(COUNT, bytes)},
    {"event_calls", IS(COUNT, event_calls)},
    {"instances", IS(COUNT, instances)},
    {"blocked_ns", "blocked", "blocked", IS(NS, ns[SG_MEASURED_BLOCKED])},
    {"wait_ns", "wait", "wait", IS(NS, ns[SG_MEASURED_WAIT]), .known = knows_wait},
    {"processor_ns", IS(COUNT, ns[SG_MEASURED_PROCESSOR])},
    {"algorithm", "algorithm", "algo", .left = true, IS(TEXT, algorithm), .known = knows_algorithm,
     .print = print_side_algorithm},
};
const struct sg_columns sg_side_columns = {side_columns,
                                           sizeof side_columns / sizeof *side_columns};

/* ---- figures of a row, per call -------------------------------------------------------------- */

static void finish_measured(struct sg_measured_row *row, const struct sg_difference *difference)
{
    bool interval = difference->verdict >= SG_VERDICT_NOISE;

    row->verdict = difference->verdict;
    row->low_ns = interval ? difference->low : NAN;
    row->high_ns = interval ? difference->high : NAN;
    row->difference_ns = row->b_ns - row->a_ns;
    row->change = row->a_ns > 0 ? row->difference_ns / row->a_ns : NAN;
}

struct sg_measured_row sg_measured_call_of(const struct sg_compared_call *call)
{
    struct sg_measured_row out = {.measured = "time",
                                  .a_ns = call->side[0].run_count > 0 ? call->times[0].mean : NAN,
                                  .b_ns = call->side[1].run_count > 0 ? call->times[1].mean : NAN};

    finish_measured(&out, &call->difference);
    return out;
}

struct sg_measured_row sg_measured_row_of(const struct sg_compared *row, enum sg_measured measured)
{
    struct sg_measured_row out = {
        .measured = sg_measured_names[measured],
        .a_ns = sg_side_knows(&row->side[0], measured) ? row->side[0].mean_ns[measured] : NAN,
        .b_ns = sg_side_knows(&row->side[1], measured) ? row->side[1].mean_ns[measured] : NAN};

    finish_measured(&out, &row->difference[measured]);
    return out;
}

static void print_interval(const void *measured, const void *context, FILE *out)
{
    const struct sg_measured_row *row = measured;

    if (isnan(row->low_ns))
        fputs("-", out);
    else
        fprintf(out, "%s .. %s", SG_SIGNED(row->low_ns), SG_SIGNED(row->high_ns));
}

/* The context is a bool: a side has several runs. */
static void print_verdict(const void *measured, const void *context, FILE *out)
{
    fputs(sg_verdict_words(((const struct sg_measured_row *)measured)->verdict,
                           *(const bool *)context),
          out);
}

static json_t *json_verdict(const void *measured, const void *context)
{
    return json_string(sg_verdict_names[((const struct sg_measured_row *)measured)->verdict]);
}

#undef IS
#define IS(which, member)                                                                          \
    .kind = SG_COLUMN_##which, .offset = offsetof(struct sg_measured_row, member)

static const struct sg_column measured_columns[] = {
    {NULL, "measured", "per call", .left = true, IS(TEXT, measured)},
    {"a_ns", "a", "A", IS(REAL_NS, a_ns)},
    {"b_ns", "b", "B", IS(REAL_NS, b_ns)},
    {"difference_ns", "difference", "B - A", IS(SIGNED_NS, difference_ns)},
    {"low_ns", IS(SIGNED_NS, low_ns)},
    {"high_ns", IS(SIGNED_NS, high_ns)},
    {"change", "change", "change", IS(CHANGE, change)},
    {NULL, "interval", "95% interval", .print = print_interval},
    {"verdict", "verdict", "verdict", .left = true, .print = print_verdict, .json = json_verdict},
};
const struct sg_columns sg_measured_columns = {measured_columns,
                                               sizeof measured_columns / sizeof *measured_columns};

/* ---- sorting --------------------------------------------------------------------------------- */

/* Sites in both first, then those in a only, then those in b only. */
static int group_of(const void *compared)
{
    const struct sg_compared *row = compared;

    return sg_compared_in_both(row) ? 0 : row->side[0].present ? 1 : 2;
}

static int tie(const void *left, const void *right)
{
    const struct sg_report_site *a = ((const struct sg_compared *)left)->site;
    const struct sg_report_site *b = ((const struct sg_compared *)right)->site;
    double a_ns = figure_blocked(left, NULL), b_ns = figure_blocked(right, NULL);
    int order = (a_ns < b_ns) - (a_ns > b_ns);

    if (order == 0)
        order = (a->id > b->id) - (a->id < b->id);
    if (order == 0)
        order = (int)a->operation - (int)b->operation;
    return order != 0 ? order : (int)a->nonblocking - (int)b->nonblocking;
}

enum sg_status sg_comparison_sort(struct sg_comparison *comparison, const struct sg_column *column)
{
    return sg_columns_sort(column, NULL, comparison->rows, comparison->row_count,
                           sizeof *comparison->rows, group_of, tie);
}

void sg_comparison_keep(struct sg_comparison *comparison, uint32_t top)
{
    uint32_t kept = 0, count[3] = {0};

    for (uint32_t i = 0; i < comparison->row_count && top > 0; i++) {
        if (count[group_of(&comparison->rows[i])]++ < top)
            comparison->rows[kept++] = comparison->rows[i];
    }
    comparison->calls.top = top;
    if (top == 0)
        return;
    comparison->row_count = kept;
    comparison->both_shown = count[0] < top ? count[0] : top;
}
