/* Prints slices for other programs: the figures of their metrics as JSON, and the series of slices
 * as CSV, from which the paper's figures 5.3 to 5.5 are drawn. */
#include "output/column.h"
#include "report/profile_calls.h"
#include "report/report_text.h"

#include <stdlib.h>
#include <string.h>

#define DIGITS 6
#define COLUMNS_BYTES 512

static const struct sg_slice_set none;

static const struct sg_slice_set *slices_of(const struct sg_report *report)
{
    return report->calls != NULL ? &report->calls->slices : &none;
}

json_t *sg_slices_json(const struct sg_report *report, const struct sg_print_options *options)
{
    const struct sg_slice_set *slices = slices_of(report);
    struct sg_slices_line *lines;
    uint32_t count;
    json_t *rows;

    if (slices->place_count == 0)
        return json_null();
    if (sg_slices_lines(slices, &options->slices, &lines, &count) != SG_OK)
        return NULL;
    rows = json_array();
    for (uint32_t i = 0; i < count && rows != NULL; i++) {
        json_t *row = json_object();

        sg_columns_set(&row, sg_slice_columns, &lines[i], NULL);
        sg_json_append(&rows, row);
    }
    free(lines);
    return rows;
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

enum sg_status sg_slices_print_csv(const struct sg_report *report,
                                   const struct sg_print_options *options, FILE *out)
{
    const struct sg_slices_filter *filter = &options->slices;
    const struct sg_slice_set *slices = slices_of(report);
    char columns[COLUMNS_BYTES] = "slice node comm comm_size begin_ns first_seq", name[32];
    const struct sg_csv csv = {"\r\n", DIGITS, columns};
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
