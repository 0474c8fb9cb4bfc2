/* Prints slices: the figures of their metrics as text and JSON, and the series of slices as CSV,
 * from which the paper's figures 5.3 to 5.5 are drawn.
 */
#include "output/format.h"
#include "report/profile_calls.h"
#include "report/report_section.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS 6
#define COLUMNS_BYTES 512

static const struct sg_slice_set none;

static const struct sg_slice_set *slices_of(const struct sg_report *report)
{
    return report->calls != NULL ? &report->calls->slices : &none;
}

/* ---- the metrics of a node ------------------------------------------------------------------- */

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
static const struct sg_column line_columns[] = {
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
static const struct sg_columns slice_columns = SG_COLUMNS(line_columns);

/* ---- text of slices -------------------------------------------------------------------------- */

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

/* Returns SG_ERR_MISSING if no slices were recorded. */
SG_REPORT_PRINTER(sg_slices_print_text)
{
    const struct sg_slice_set *slices = slices_of(report);
    struct sg_slices_line *lines = NULL;
    uint32_t count;
    enum sg_status status;

    if (slices->place_count == 0) {
        sg_log("report: no slices were recorded (STAGGER_EMDS=on, and a rule with bcs)");
        return SG_ERR_MISSING;
    }
    status = sg_slices_lines(slices, &options->slices, &lines, &count);
    for (uint32_t i = 0; status == SG_OK && i < count;) {
        const struct sg_slice_comm *comm = lines[i].comm;
        uint32_t first = i;

        while (i < count && lines[i].comm == comm)
            i++;
        put_head(report, comm, out);
        status = sg_section_print(&sg_slices_section.table,
                                  &SG_ROWS(lines + first, i - first, NULL), "report", out);
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

/* ---- JSON and the series --------------------------------------------------------------------- */

SG_REPORT_MEMBER(sg_slices_put)
{
    const struct sg_slice_set *slices = slices_of(report);
    struct sg_slices_line *lines;
    uint32_t count;

    if (slices->place_count == 0) {
        sg_json_put(writer, "slices", json_null());
        return;
    }
    if (sg_slices_lines(slices, &options->slices, &lines, &count) != SG_OK) {
        writer->failed = true;
        return;
    }
    sg_section_put(&sg_slices_section.table, &SG_ROWS(lines, count, NULL), writer);
    free(lines);
}

/* Names a column: the metric in lower case, with the unit after a time. */
static void name_column(enum sg_slice_metric metric, char out[32])
{
    snprintf(out, 32, "%s%s", sg_slice_metrics[metric].name,
             sg_slice_metrics[metric].is_time ? "_ns" : "");
    for (char *at = out; *at != '\0'; at++)
        *at = *at >= 'A' && *at <= 'Z' ? (char)(*at - 'A' + 'a') : *at;
}

static json_t *row_of(const struct sg_slice_set *slices, const struct sg_slices_row *row,
                      const struct sg_slices_filter *filter)
{
    json_t *value = json_object();
    char name[32];

    sg_json_set(&value, "slice", json_integer((json_int_t)row->slice.number));
    sg_json_set(&value, "node", json_integer(row->node));
    sg_json_set(&value, "comm", sg_json_text(slices->comms[row->comm].name));
    sg_json_set(&value, "comm_size", json_integer(slices->comms[row->comm].size));
    sg_json_set(&value, "begin_ns", json_integer((json_int_t)row->slice.begin_ns));
    sg_json_set(&value, "first_seq",
                sg_json_count(row->slice.first != UINT32_MAX, row->slice.first));
    for (int at = 0; at < SG_SLICE_METRICS; at++) {
        enum sg_slice_metric metric = (enum sg_slice_metric)at;

        if (!sg_slices_takes_metric(filter, metric))
            continue;
        name_column(metric, name);
        sg_json_set(&value, name,
                    sg_json_count(sg_slice_knows(&row->slice, metric),
                                  sg_slice_value(&row->slice, metric)));
    }
    return value;
}

static SG_REPORT_PRINTER(print_csv)
{
    const struct sg_slices_filter *filter = &options->slices;
    const struct sg_slice_set *slices = slices_of(report);
    char columns[COLUMNS_BYTES] = "slice node comm comm_size begin_ns first_seq", name[32];
    const struct sg_csv csv = {SG_CSV_LINE_END, DIGITS, columns};
    enum sg_status status = SG_OK;

    for (int at = 0; at < SG_SLICE_METRICS; at++) {
        if (!sg_slices_takes_metric(filter, (enum sg_slice_metric)at))
            continue;
        name_column((enum sg_slice_metric)at, name);
        strcat(strcat(columns, " "), name);
    }
    sg_csv_begin(&csv, out);
    for (uint32_t i = 0; i < slices->row_count && status == SG_OK; i++) {
        const struct sg_slices_row *row = &slices->rows[i];
        const struct sg_slices_place place = {.comm = row->comm, .node = row->node};

        if (sg_slices_takes(filter, &row->slice) && sg_slices_takes_place(filter, &place))
            status = sg_csv_row(&csv, row_of(slices, row, filter), out);
    }
    if (status != SG_OK)
        sg_log("report: %s", sg_status_text(status));
    return status;
}

const struct sg_report_section sg_slices_section = {
    .name = "slices",
    .csv = print_csv,
    .table = {.member = "slices", .json = {&slice_columns}, .text = {&slice_columns}}};
