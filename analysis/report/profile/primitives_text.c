/* stagger report --calls and --distribution: the summary of all calls, and what MMDS kept, as text.
 */
#include "output/format.h"
#include "output/table.h"
#include "report/filter.h"
#include "report/profile/primitives.h"
#include "report/profile/print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- the summary ----------------------------------------------------------------------------- */

static void put_head(const struct sg_report *report, FILE *out)
{
    sg_format_put(report->program != NULL ? report->program : "program not known", out);
    fprintf(out, ", %" PRIu32 " rank%s", report->rank_count, report->rank_count == 1 ? "" : "s");
    if (report->filter != NULL && report->filter->ranks != NULL)
        fprintf(out, ", only ranks %s", report->filter->ranks);
    fputs("\n\n", out);
}

static void add_rows(struct sg_table *table, const struct sg_mmds *mmds, struct sg_primitive rows[],
                     bool is_first_thread)
{
    static const char *const others[] = {
        [SG_DISTRIBUTION_GRANULARITY] = "Comp Granularity, other threads",
        [SG_DISTRIBUTION_OVERHEAD] = "Comm Overhead, other threads"};

    for (int of = SG_DISTRIBUTION_GRANULARITY; of <= SG_DISTRIBUTION_OVERHEAD; of++) {
        const struct sg_mmds_points points =
            sg_mmds_points_of(mmds, (enum sg_distribution)of, is_first_thread);

        rows[of - 1] = sg_primitive_of(is_first_thread ? sg_mmds_names[of] : others[of], &points);
        if (is_first_thread || points.count > 0)
            sg_table_row(table, &rows[of - 1], NULL);
    }
}

static void put_sum(const char *name, int64_t ns, const char *behind, FILE *out)
{
    fprintf(out, "%-24s ", name);
    sg_ms_put(ns, out);
    fprintf(out, " ms%s\n", behind);
}

static void put_sums(const struct sg_mmds *mmds, FILE *out)
{
    int64_t gap_ns = sg_mmds_gap_ns(mmds);
    char share[SG_FORMAT_BYTES + 4];

    snprintf(share, sizeof share, " (%s)",
             SG_SHARE((uint64_t)(gap_ns < 0 ? -gap_ns : gap_ns), mmds->run_ns));
    put_sum("run time", (int64_t)mmds->run_ns, "", out);
    put_sum("granularity and overhead", (int64_t)sg_mmds_sum_ns(mmds), "", out);
    put_sum("gap", gap_ns, share, out);
}

static void put_notes(const struct sg_report *report, const struct sg_primitive *rows,
                      uint32_t count, FILE *out)
{
    uint32_t kept = report->calls->mmds.rank_count;
    uint64_t open = 0;

    for (uint32_t i = 0; i < count; i++)
        open += rows[i].open;
    if (open > 0)
        fprintf(out,
                "note: %" PRIu64 " posted operations are not known to be complete and do not"
                " count\n",
                open);
    if (kept == 0)
        fputs("note: computation granularity and communication overhead were not kept"
              " (STAGGER_MMDS=on)\n",
              out);
    else
        fprintf(out, "note: granularity, overhead and run time are of %" PRIu32 " rank%s\n", kept,
                kept == 1 ? "" : "s");
}

static enum sg_status put_summary(const struct sg_report *report,
                                  const struct sg_print_options *options,
                                  const struct sg_primitive *rows, uint32_t count, FILE *out)
{
    const struct sg_mmds *mmds = &report->calls->mmds;
    struct sg_primitive first[2], others[2];
    struct sg_table table = {0};
    uint32_t shown = sg_print_count(options, count);
    enum sg_status status;

    put_head(report, out);
    sg_table_show(&table, sg_primitive_columns, NULL);
    for (uint32_t i = 0; i < shown; i++)
        sg_table_row(&table, &rows[i], NULL);
    if (mmds->rank_count > 0) {
        add_rows(&table, mmds, first, true);
        add_rows(&table, mmds, others, false);
    }
    status = sg_table_finish(&table, "report", out);
    fputc('\n', out);
    if (mmds->rank_count > 0) {
        put_sums(mmds, out);
        fputc('\n', out);
    }
    if (shown < count)
        fprintf(out, "note: %" PRIu32 " of %" PRIu32 " functions are shown\n", shown, count);
    put_notes(report, rows, count, out);
    return status;
}

static enum sg_status refuse(const char *why)
{
    sg_log("report: %s", why);
    return SG_ERR_MISSING;
}

enum sg_status sg_calls_print_primitives(const struct sg_report *report,
                                         const struct sg_print_options *options, FILE *out)
{
    struct sg_primitive *rows;
    uint32_t count;
    enum sg_status status;

    if (report->calls == NULL)
        return refuse("calls were not counted in this run, or are not known in an interval");
    status = sg_primitives_make(report->calls, &rows, &count);
    if (status != SG_OK) {
        sg_log("report: %s", sg_status_text(status));
        return status;
    }
    status = put_summary(report, options, rows, count, out);
    free(rows);
    return status;
}

/* ---- a distribution -------------------------------------------------------------------------- */

static enum sg_status put_bins(const struct sg_mmds_distribution *distribution, FILE *out)
{
    bool is_bytes = distribution->of == SG_DISTRIBUTION_BYTES;
    struct sg_primitive_bin *bins;
    struct sg_table table = {0};
    uint32_t count;
    enum sg_status status = sg_primitive_bins(distribution, &bins, &count);

    if (status != SG_OK) {
        sg_log("report: %s", sg_status_text(status));
        return status;
    }
    fprintf(out, "%s, %s%s: %" PRIu64 "\n", distribution->primitive,
            sg_mmds_is_of_function(distribution->of) ? is_bytes ? "bytes" : "latency" : "time",
            sg_mmds_is_of_function(distribution->of) || distribution->is_first_thread
                ? ""
                : " on other threads",
            distribution->points.count);
    sg_table_show(&table, is_bytes ? sg_bin_bytes_columns : sg_bin_time_columns, NULL);
    for (uint32_t i = 0; i < count; i++)
        sg_table_row(&table, &bins[i], NULL);
    status = sg_table_finish(&table, "report", out);
    fputc('\n', out);
    free(bins);
    return status;
}

static bool has_distribution(const struct sg_mmds *mmds, const char *name)
{
    bool has = false;

    for (uint32_t i = 0; mmds != NULL && !has && i < mmds->distribution_count; i++)
        has = strcasecmp(mmds->distributions[i].primitive, name) == 0;
    return has;
}

/* Names what there is; a primitive with two distributions once. */
static enum sg_status refuse_distribution(const struct sg_mmds *mmds, const char *name)
{
    char there[1000] = "";
    size_t used = 0;

    for (uint32_t i = 0; mmds != NULL && i < mmds->distribution_count; i++) {
        const struct sg_mmds_distribution *one = &mmds->distributions[i];

        if (one->of != SG_DISTRIBUTION_BYTES && used < sizeof there &&
            (sg_mmds_is_of_function(one->of) || one->is_first_thread))
            used += (size_t)snprintf(there + used, sizeof there - used, "%s%s",
                                     used > 0 ? ", " : "; there are: ", one->primitive);
    }
    sg_log("report: no distribution of '%s' was kept (STAGGER_MMDS_CALLS)%s", name, there);
    return SG_ERR_MISSING;
}

enum sg_status sg_calls_print_distribution(const struct sg_report *report,
                                           const struct sg_print_options *options, FILE *out)
{
    const struct sg_mmds *mmds = report->calls != NULL ? &report->calls->mmds : NULL;
    enum sg_status status = SG_OK;

    if (!has_distribution(mmds, options->distribution))
        return refuse_distribution(mmds, options->distribution);
    put_head(report, out);
    for (uint32_t i = 0; status == SG_OK && i < mmds->distribution_count; i++) {
        if (strcasecmp(mmds->distributions[i].primitive, options->distribution) == 0)
            status = put_bins(&mmds->distributions[i], out);
    }
    return status;
}
