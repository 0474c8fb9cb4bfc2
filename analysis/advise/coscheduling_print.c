/* The replays of a run under nonblocking calls and coscheduling, as text and JSON. */
#include "advise/coscheduling.h"
#include "output/format.h"
#include "output/json.h"
#include "output/table.h"

#include <inttypes.h>
#include <math.h>

#define JSON_VERSION 1

static double percent(const struct sg_coscheduling *found, double ns)
{
    return found->rows[0].run_ns > 0 ? 100 * ns / found->rows[0].run_ns : 0;
}

static void add_row(struct sg_table *table, const struct sg_coscheduling *found,
                    const struct sg_coscheduling_row *row)
{
    bool first = row == &found->rows[0];

    if (row->slice_us > 0)
        sg_table_addf(table, "  slices of %gus", row->slice_us);
    else
        sg_table_addf(table, "  as usual");
    sg_table_addf(table, "%s", row->messages);
    if (!row->ends) {
        for (int i = 0; i < 3; i++)
            sg_table_addf(table, "-");
        sg_table_addf(table, "waits for ever: its blocking sends need buffers");
        return;
    }
    sg_table_addf(table, "%s", SG_UNSIGNED(row->run_ns));
    sg_table_addf(table, "%s", SG_UNSIGNED(row->in_calls_ns));
    if (first)
        sg_table_addf(table, "-");
    else
        sg_table_addf(table, "%+.1f%%", percent(found, row->gain_ns));
    sg_table_addf(table, "%s", row->within_error ? "within the error" : "");
}

static enum sg_status put_rows(const struct sg_coscheduling *found, FILE *out)
{
    static const struct sg_column columns[] = {
        {.header = "", .left = true}, {.header = "messages", .left = true},
        {.header = "run time"},       {.header = "in calls, a rank"},
        {.header = "shorter by"},     {.header = "", .left = true},
    };
    const struct sg_columns all = {columns, sizeof columns / sizeof *columns};
    struct sg_table table = {0};

    sg_table_show(&table, all, NULL);
    for (int i = 0; i < found->row_count; i++)
        add_row(&table, found, &found->rows[i]);
    return sg_table_finish(&table, "advise", out);
}

static void put_head(const struct sg_coscheduling *found, FILE *out)
{
    const struct sg_report *report = &found->report;

    sg_format_put(report->program != NULL ? report->program : "program not known", out);
    fprintf(out, ", %" PRIu32 " rank%s, run time %s%s\n", report->rank_count,
            report->rank_count == 1 ? "" : "s", SG_NS(report->run_ns),
            report->partial ? ", PARTIAL" : "");
    fprintf(out, "costs: %s%s\n",
            found->machine.measured ? "measured on its machine when the run began"
                                    : "of the network ",
            found->machine.measured ? "" : found->machine.between.name);
    if (sg_machine_was_busy(&found->machine))
        fputs("       the machine was busy meanwhile: the costs may be far off\n", out);
}

enum sg_status sg_coscheduling_print_text(const struct sg_coscheduling *found, FILE *out)
{
    enum sg_status status;

    put_head(found, out);
    if (found->obstacle != NULL) {
        fprintf(out, "\nThe run cannot be replayed: %s.\n", found->obstacle);
        return SG_OK;
    }
    fprintf(out,
            "\nfrom the first call to the end of the last one, %" PRIu64
            " messages and collectives: measured %s,\nreplayed as usual %s: the error of the model "
            "is %s (%.1f%%)\n\n",
            found->calls, SG_NS(found->measured_ns), SG_UNSIGNED(found->rows[0].run_ns),
            SG_UNSIGNED(found->error_ns),
            found->measured_ns > 0 ? 100 * found->error_ns / (double)found->measured_ns : 0);
    status = put_rows(found, out);
    if (status != SG_OK)
        return status;
    if (found->buffers)
        fputs("\nas usual all sends are buffered: blocking ones wait for each other otherwise\n",
              out);
    fprintf(out,
            "\nnonblocking: blocking sends and receives are posted where they were called, and "
            "waited for where the rank\nnext exchanges with the same rank and tag, calls a "
            "collective or ends: the most that nonblocking calls can give\n"
            "slices: calls return with %s; each rank is an endpoint, its processor the agent\n",
            found->restart_slice ? "the next slice" : "their phase of a slice");
    fputs("no advice: coscheduling makes no call that waits faster\n", out);
    return SG_OK;
}

static json_t *row_of(const struct sg_coscheduling_row *row)
{
    return json_pack("{s:b, s:s, s:o, s:b, s:o, s:o, s:o, s:b}", "coscheduled", row->slice_us > 0,
                     "messages", row->messages, "slice_us",
                     sg_json_real(row->slice_us > 0, row->slice_us), "ends", row->ends, "run_ns",
                     sg_json_real(row->ends, row->run_ns), "in_calls_ns",
                     sg_json_real(row->ends, row->in_calls_ns), "gain_ns",
                     sg_json_real(row->ends, row->gain_ns), "within_error", row->within_error);
}

enum sg_status sg_coscheduling_print_json(const struct sg_coscheduling *found, FILE *out)
{
    const struct sg_report *report = &found->report;
    json_t *rows = json_array(), *coscheduling, *root;

    for (int i = 0; i < found->row_count; i++)
        sg_json_append(&rows, row_of(&found->rows[i]));
    coscheduling = json_pack(
        "{s:o, s:I, s:I, s:o, s:b, s:s, s:o}", "why_not", sg_json_text(found->obstacle), "calls",
        (json_int_t)found->calls, "measured_ns", (json_int_t)found->measured_ns, "error_ns",
        sg_json_real(found->row_count > 0, found->error_ns), "buffers", found->buffers, "restart",
        found->restart_slice ? "slice" : "phase", "rows", rows);
    root = json_pack("{s:i, s:o, s:o, s:i, s:b, s:o}", "version", JSON_VERSION, "path",
                     sg_json_text(report->path), "program", sg_json_text(report->program), "ranks",
                     (int)report->rank_count, "partial", report->partial, "coscheduling",
                     coscheduling);
    return sg_json_print(root, 12, "advise", out);
}
