/* stagger report --slices: the metrics of EMDS as text; their columns. */
#include "output/format.h"
#include "output/table.h"
#include "report/profile/calls.h"
#include "report/slices/print.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* ---- columns --------------------------------------------------------------------------------- */

static const struct sg_slice_metric_facts *facts_of(const void *row)
{
    return &sg_slice_metrics[((const struct sg_slices_line *)row)->metric];
}

static void print_name(const void *row, const void *context, FILE *out)
{
    fputs(facts_of(row)->name, out);
}

static void print_meaning(const void *row, const void *context, FILE *out)
{
    fputs(facts_of(row)->meaning, out);
}

static json_t *json_unit(const void *row, const void *context)
{
    return json_string(facts_of(row)->is_time ? "ns" : "count");
}

static bool is_known(const void *row)
{
    return ((const struct sg_slices_line *)row)->figures.count > 0;
}

static bool has_p95(const void *row)
{
    return is_known(row) && ((const struct sg_slices_line *)row)->figures.has_p95;
}

static void put(const void *row, bool known, double value, FILE *out)
{
    if (!known)
        fputc('-', out);
    else if (facts_of(row)->is_time)
        fprintf(out, "%.1fus", value / 1000);
    else
        fprintf(out, value == floor(value) ? "%.0f" : "%.3f", value);
}

#define FIGURE(name, known, make)                                                                  \
    static void print_##name(const void *row, const void *context, FILE *out)                      \
    {                                                                                              \
        put(row, known(row), (double)((const struct sg_slices_line *)row)->figures.name, out);     \
    }                                                                                              \
    static json_t *json_##name(const void *row, const void *context)                               \
    {                                                                                              \
        return make(known(row), ((const struct sg_slices_line *)row)->figures.name);               \
    }
FIGURE(min, is_known, sg_json_count)
FIGURE(mean, is_known, sg_json_real)
FIGURE(p95, has_p95, sg_json_count)
FIGURE(max, is_known, sg_json_count)

static json_t *json_comm(const void *row, const void *context)
{
    return sg_json_text(((const struct sg_slices_line *)row)->comm->name);
}

static json_t *json_comm_size(const void *row, const void *context)
{
    return json_integer(((const struct sg_slices_line *)row)->comm->size);
}

#define AT(member) .offset = offsetof(struct sg_slices_line, member)
static const struct sg_column columns[] = {
    {.field = "comm", .json = json_comm},
    {.field = "comm_size", .json = json_comm_size},
    {.field = "metric", .name = "metric", .header = "Metric", .left = true, .print = print_name},
    {.field = "meaning",
     .name = "meaning",
     .header = "Meaning",
     .left = true,
     .flexible = true,
     .print = print_meaning},
    {.field = "unit", .json = json_unit},
    {.field = "node", .name = "node", .header = "Node", .kind = SG_COLUMN_COUNT32, AT(node)},
    {.field = "slices",
     .name = "slices",
     .header = "Slices",
     .kind = SG_COLUMN_COUNT,
     AT(figures.count)},
    {.field = "min", .name = "min", .header = "Min", .print = print_min, .json = json_min},
    {.field = "mean", .name = "mean", .header = "Mean", .print = print_mean, .json = json_mean},
    {.field = "p95", .name = "p95", .header = "p95", .print = print_p95, .json = json_p95},
    {.field = "max", .name = "max", .header = "Max", .print = print_max, .json = json_max},
};
const struct sg_columns sg_slice_columns = {columns, sizeof columns / sizeof *columns};

/* ---- the text -------------------------------------------------------------------------------- */

static void put_head(const struct sg_report *report, const struct sg_slice_comm *comm, FILE *out)
{
    sg_format_put(report->program != NULL ? report->program : "program not known", out);
    fputs(": slices of ", out);
    sg_format_put(comm->name[0] != '\0' ? comm->name : "a communicator", out);
    fprintf(out, ", %" PRIu32 " ranks\n\n", comm->size);
}

static uint64_t left_out(const struct sg_slice_set *slices)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < slices->sum_count; i++)
        count += slices->sums[i].slices;
    return count;
}

enum sg_status sg_slices_print_text(const struct sg_report *report,
                                    const struct sg_print_options *options, FILE *out)
{
    const struct sg_slice_set *slices = report->calls != NULL ? &report->calls->slices : NULL;
    struct sg_slices_line *lines = NULL;
    uint32_t count;
    enum sg_status status;

    if (slices == NULL || slices->place_count == 0) {
        sg_log("report: no slices were recorded (STAGGER_EMDS=on, and a rule with bcs)");
        return SG_ERR_MISSING;
    }
    status = sg_slices_lines(slices, &options->slices, &lines, &count);
    for (uint32_t i = 0; status == SG_OK && i < count;) {
        const struct sg_slice_comm *comm = lines[i].comm;
        struct sg_table table = {0};

        put_head(report, comm, out);
        sg_table_show(&table, sg_slice_columns, NULL);
        for (; i < count && lines[i].comm == comm; i++)
            sg_table_row(&table, &lines[i], NULL);
        status = sg_print_finish(&table, out);
    }
    free(lines);
    if (status != SG_OK)
        return status;
    if (left_out(slices) > 0)
        fprintf(out,
                "note: %" PRIu64 " slices are in sums alone, which have no p95 and are in no "
                "window\n",
                left_out(slices));
    return SG_OK;
}
