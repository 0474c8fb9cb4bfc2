/* The column tables of a comparison, and the order and selection of its rows. */
#include "compare/compare_calls.h"

#include "output/format.h"
#include "report/report_columns.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows ------------------------------------------------------------------------------------ */

#define FIGURE(name) static double figure_##name(const void *compared, const void *context)
#define PRINTER(name) static void print_##name(const void *compared, const void *context, FILE *out)

/* Printed as in the report. */
#define OF_SITE(name)                                                                              \
    PRINTER(name)                                                                                  \
    {                                                                                              \
        sg_column_find(sg_site_columns, #name)->print(compared, context, out);                     \
    }

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
    {NULL, "id", "id", .left = true, SG_OF_SITE(ID, id), .known = sg_site_knows_id},
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
const struct sg_columns sg_compared_columns = SG_COLUMNS(compared_columns);

/* ---- figures of both sides ------------------------------------------------------------------- */

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

/* Calls and waits have intervals only then. */
FIGURE(several)
{
    return *(const bool *)context;
}

#define IS(which, of, member) .kind = SG_COLUMN_##which, .offset = offsetof(struct of, member)
#define OF(which, member) IS(which, sg_measured_row, member)

static const struct sg_column measured_columns[] = {
    {NULL, "measured", "per call", .left = true, OF(TEXT, measured)},
    {"a_ns", "a", "A", OF(REAL_NS, a_ns)},
    {"b_ns", "b", "B", OF(REAL_NS, b_ns)},
    {"difference_ns", "difference", "B - A", OF(SIGNED_NS, difference_ns)},
    {"low_ns", OF(SIGNED_NS, low_ns)},
    {"high_ns", OF(SIGNED_NS, high_ns)},
    {"change", "change", "change", OF(CHANGE, change)},
    {NULL, "interval", "95% interval", .print = print_interval, .figure = figure_several},
    {"verdict", OF(WORD, verdict), .words = sg_verdict_names},
    {NULL, "verdict", "verdict", .left = true, .print = print_verdict, .figure = figure_several},
};
const struct sg_columns sg_measured_columns = SG_COLUMNS(measured_columns);

/* ---- the call sites of barrier, reduce, allreduce and bcast ---------------------------------- */

static bool is_in_both(const void *compared)
{
    return sg_compared_in_both(compared);
}

static bool is_present(const void *side)
{
    return ((const struct sg_side *)side)->present;
}

static bool knows_wait(const void *side)
{
    return sg_side_knows(side, SG_MEASURED_WAIT);
}

static bool knows_algorithm(const void *side)
{
    const char *algorithm = ((const struct sg_side *)side)->algorithm;

    return algorithm != NULL && algorithm[0] != '\0';
}

static void print_side_algorithm(const void *side, const void *context, FILE *out)
{
    fputs(((const struct sg_side *)side)->algorithm, out);
}

#undef OF
#define OF(which, member) IS(which, sg_side, member)

static const struct sg_column side_columns[] = {
    {"runs", OF(COUNT32, run_count), .known = is_present},
    {"calls", "calls", "calls", OF(COUNT, calls)},
    {"bytes", OF(COUNT, bytes)},
    {"event_calls", OF(COUNT, event_calls)},
    {"instances", OF(COUNT, instances)},
    {"blocked_ns", "blocked", "blocked", OF(NS, ns[SG_MEASURED_BLOCKED])},
    {"wait_ns", "wait", "wait", OF(NS, ns[SG_MEASURED_WAIT]), .known = knows_wait},
    {"processor_ns", OF(COUNT, ns[SG_MEASURED_PROCESSOR])},
    {"algorithm", "algorithm", "algo", .left = true, OF(TEXT, algorithm), .known = knows_algorithm,
     .print = print_side_algorithm},
};
static const struct sg_columns of_side = SG_COLUMNS(side_columns);

/* Both sides' text, or one if they are equal. */
static void put_pair(const char *a, const char *b, FILE *out)
{
    fputs(a, out);
    if (strcmp(a, b) != 0)
        fprintf(out, " > %s", b);
}

PRINTER(algorithms)
{
    const struct sg_compared *row = compared;

    put_pair(row->side[0].algorithm, row->side[1].algorithm, out);
}

static const char *format_count(bool known, uint64_t count, char text[SG_FORMAT_BYTES])
{
    snprintf(text, SG_FORMAT_BYTES, known ? "%" PRIu64 : "-", count);
    return text;
}

PRINTER(calls)
{
    const struct sg_side *side = ((const struct sg_compared *)compared)->side;

    put_pair(format_count(true, side[0].calls, SG_ROOM), format_count(true, side[1].calls, SG_ROOM),
             out);
}

PRINTER(bytes)
{
    const struct sg_side *a = ((const struct sg_compared *)compared)->side, *b = a + 1;

    put_pair(SG_BYTES(a->calls > 0 ? a->bytes / a->calls : 0),
             SG_BYTES(b->calls > 0 ? b->bytes / b->calls : 0), out);
}

#undef OF
#define OF(which, member) IS(which, sg_compared, member)
#define MEASURED(which) OF(OBJECT, per_call[which]), .inner = &sg_measured_columns

static const struct sg_column per_call_columns[] = {
    {"blocked", MEASURED(SG_MEASURED_BLOCKED), .known = is_in_both},
    {"wait", MEASURED(SG_MEASURED_WAIT)},
    {"processor", MEASURED(SG_MEASURED_PROCESSOR)},
};
static const struct sg_columns per_call = SG_COLUMNS(per_call_columns);

static const struct sg_column site_columns[] = {
    {"matched_by", OF(TEXT, matched_by)},
    {"a", "a", OF(OBJECT, side[0]), .inner = &of_side},
    {"b", "b", OF(OBJECT, side[1]), .inner = &of_side},
    {"per_call", .kind = SG_COLUMN_OBJECT, .inner = &per_call},
    {NULL, "algorithms", "algo", .left = true, .max_width = 16, .print = print_algorithms},
    {NULL, "calls", "calls", .print = print_calls},
    {NULL, "bytes", "bytes", .print = print_bytes},
};
static const struct sg_columns of_sites = SG_COLUMNS(site_columns);

/* ---- all MPI calls, and waits ---------------------------------------------------------------- */

static bool is_called(const void *side)
{
    return ((const struct sg_call_side *)side)->run_count > 0;
}

static void print_call_counts(const void *compared, const void *context, FILE *out)
{
    const struct sg_call_side *a = ((const struct sg_compared_call *)compared)->side, *b = a + 1;

    put_pair(format_count(is_called(a), a->calls, SG_ROOM),
             format_count(is_called(b), b->calls, SG_ROOM), out);
}

#undef OF
#define OF(which, member) IS(which, sg_call_side, member)

static const struct sg_column call_side_columns[] = {
    {"runs", OF(COUNT32, run_count), .known = is_called},
    {"calls", OF(COUNT, calls)},
    {"time_ns", OF(COUNT, time_ns)},
    {"sent_bytes", OF(COUNT, sent_bytes)},
    {"received_bytes", OF(COUNT, received_bytes)},
};
static const struct sg_columns of_call_side = SG_COLUMNS(call_side_columns);

static const struct sg_column wait_side_columns[] = {
    {"runs", OF(COUNT32, run_count), .known = is_called},
    {"waits", OF(COUNT, calls)},
    {"wait_ns", OF(COUNT, time_ns)},
};
static const struct sg_columns of_wait_side = SG_COLUMNS(wait_side_columns);

#undef OF
#define OF(which, member) IS(which, sg_compared_call, member)

static const struct sg_column list_columns[] = {
    {"state", OF(TEXT, state)},
    {"matched_by", OF(TEXT, matched_by)},
    {"time", "time", OF(OBJECT, time), .inner = &sg_measured_columns},
    {NULL, "calls", "calls", .print = print_call_counts},
};
static const struct sg_columns of_list = SG_COLUMNS(list_columns);

static const struct sg_column list_call_columns[] = {
    {"a", OF(OBJECT, side[0]), .inner = &of_call_side},
    {"b", OF(OBJECT, side[1]), .inner = &of_call_side},
};
static const struct sg_columns of_calls = SG_COLUMNS(list_call_columns);

static const struct sg_column list_wait_columns[] = {
    {"a", OF(OBJECT, side[0]), .inner = &of_wait_side},
    {"b", OF(OBJECT, side[1]), .inner = &of_wait_side},
};
static const struct sg_columns of_waits = SG_COLUMNS(list_wait_columns);

#undef OF
#define OF(which, member) IS(which, sg_whole_row, member)

static const struct sg_column whole_columns[] = {
    {"figure", OF(TEXT, figure)},
    {NULL, "whole", "per run", .left = true, OF(TEXT, words)},
    {"time", "time", OF(OBJECT, time), .inner = &sg_measured_columns},
};
static const struct sg_columns of_whole = SG_COLUMNS(whole_columns);

#define PLACE " id function file line module offset matched_by"
#define WHOLE_TIMES " time.a time.b time.difference time.change time.interval? time.verdict?"
#define TIMES " calls" WHOLE_TIMES

const struct sg_section sg_compare_sections[SG_COMPARE_TABLES] = {
    [SG_COMPARE_SITES] = {.json = {&sg_site_place_columns, &of_sites},
                          .shown = "id op site algorithms calls bytes",
                          .text = {&of_sites, &sg_compared_columns}},
    [SG_COMPARE_FUNCTIONS] = {.fields = "mpi_function a b time",
                              .json = {&of_list, &sg_call_function_columns, &of_calls},
                              .shown = "function" TIMES,
                              .text = {&of_list, &sg_call_columns}},
    [SG_COMPARE_CALLS] = {.fields = "mpi_function" PLACE " a b time",
                          .json = {&of_list, &sg_call_columns, &of_calls},
                          .shown = "function site" TIMES,
                          .text = {&of_list, &sg_call_columns, &sg_site_columns}},
    [SG_COMPARE_WAITS] = {.fields = "state mpi_function" PLACE " a b time",
                          .json = {&of_list, &sg_call_columns, &of_waits},
                          .shown = "function site" TIMES,
                          .text = {&of_list, &sg_call_columns, &sg_site_columns}},
    [SG_COMPARE_RUNS] = {.json = {&of_whole}, .shown = "whole" WHOLE_TIMES, .text = {&of_whole}},
};

/* ---- sorting --------------------------------------------------------------------------------- */

/* Sites in both first, then those in a only, then those in b only. */
static int group_of(const void *compared)
{
    const struct sg_compared *row = compared;

    return sg_compared_in_both(row) ? 0 : row->side[0].present ? 1 : 2;
}

static int tie(const void *left, const void *right)
{
    const struct sg_report_site *a = &((const struct sg_compared *)left)->site;
    const struct sg_report_site *b = &((const struct sg_compared *)right)->site;
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

struct sg_rows sg_comparison_only(const struct sg_comparison *comparison, int side)
{
    const struct sg_compared *rows = comparison->rows;
    uint32_t first = 0, end;

    while (first < comparison->row_count && rows[first].side[1 - side].present)
        first++;
    for (end = first; end < comparison->row_count && !rows[end].side[1 - side].present; end++)
        ;
    return end > first ? SG_ROWS(rows + first, end - first, NULL) : (struct sg_rows){0};
}
