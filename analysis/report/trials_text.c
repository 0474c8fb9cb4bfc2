/* Trials for people at a terminal: of each what its arms cost, and which of them wins. */
#include "output/format.h"
#include "output/table.h"
#include "report/print.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const what[SG_TRIED_COUNT] = {
    [SG_TRIED_BLOCKED] = "time blocked",
    [SG_TRIED_PROCESSOR] = "processor time",
    [SG_TRIED_SKEW] = "skew",
};

static void put_clean(const char *text, FILE *out)
{
    char *clean = sg_format_clean(text, true);

    fputs(clean != NULL ? clean : "?", out);
    free(clean);
}

/* "at residual (cg.c:91)", as far as it is known. */
static void put_site(const struct sg_report_trial *trial, FILE *out)
{
    const char *slash = trial->file != NULL ? strrchr(trial->file, '/') : NULL;

    fprintf(out, "  %s at ",
            (trial->nonblocking ? sg_operation_post_names : sg_operation_names)[trial->operation]);
    if (trial->function != NULL)
        put_clean(trial->function, out);
    if (trial->file != NULL && trial->line > 0) {
        fputs(trial->function != NULL ? " " : "", out);
        put_clean(slash != NULL ? slash + 1 : trial->file, out);
        fprintf(out, ":%" PRIu32, trial->line);
    }
    if (trial->function == NULL && trial->file == NULL)
        fprintf(out, trial->has_id ? "%08" PRIx32 : "an unknown call site", trial->id);
}

static void put_head(const struct sg_report_trial *trial, FILE *out)
{
    fputs("trial ", out);
    put_clean(trial->place, out);
    fputc('\n', out);
    put_site(trial, out);
    fprintf(out, ": %" PRIu32 " algorithms in turn, blocks of %" PRIu64 " collectives",
            trial->arm_count, trial->block);
    if (trial->verdict[SG_TRIED_BLOCKED] != SG_TRIED_UNKNOWN)
        fprintf(out, ", %" PRIu64 " round%s", trial->rounds, trial->rounds == 1 ? "" : "s");
    fputs("\n\n", out);
}

/* ---- the table --------------------------------------------------------------------------------
 */

#define SIGNED_BYTES (SG_FORMAT_BYTES + 1)

static void format_ns(double ns, bool sign, char text[SIGNED_BYTES])
{
    char size[SG_FORMAT_BYTES];

    sg_format_ns((uint64_t)llround(fabs(ns)), size);
    snprintf(text, SIGNED_BYTES, "%s%s",
             llround(ns) < 0           ? "-"
             : sign && llround(ns) > 0 ? "+"
                                       : "",
             size);
}

static void add_interval(struct sg_table *table, const struct sg_estimate *estimate, bool sign)
{
    char low[SIGNED_BYTES], high[SIGNED_BYTES];

    format_ns(estimate->low, sign, low);
    format_ns(estimate->high, sign, high);
    sg_table_addf(table, "%s .. %s", low, high);
}

static void add_above(struct sg_table *table, const struct sg_report_trial *trial,
                      const struct sg_report_arm *arm, int tried)
{
    const struct sg_estimate *above = &arm->above[tried];
    double least_ns = trial->arms[trial->least[tried]].cost[tried].mean;
    bool least = arm == &trial->arms[trial->least[tried]];
    char text[SIGNED_BYTES];

    format_ns(above->mean, true, text);
    if (least || tried == SG_TRIED_SKEW || trial->rounds == 0) {
        sg_table_addf(table, least && tried != SG_TRIED_SKEW && trial->rounds > 0 ? "least" : "");
        sg_table_addf(table, "%s", "");
        sg_table_addf(table, "%s", "");
        return;
    }
    if (least_ns > 0)
        sg_table_addf(table, "%s (%+.1f%%)", text, 100 * above->mean / least_ns);
    else
        sg_table_addf(table, "%s", text);
    if (!sg_trial_has_intervals(trial)) {
        sg_table_addf(table, "-");
        sg_table_addf(table, "%s", "");
        return;
    }
    add_interval(table, above, true);
    sg_table_addf(table, "%s", arm->like_least[tried] ? "within the noise" : "more");
}

static void add_arm(struct sg_table *table, const struct sg_report_trial *trial,
                    const struct sg_report_arm *arm, int tried)
{
    char mean[SIGNED_BYTES];
    bool first = tried == 0;
    bool known =
        trial->rounds > 0 || (first && trial->verdict[SG_TRIED_BLOCKED] == SG_TRIED_UNKNOWN);

    sg_table_add(table, first ? sg_format_clean(arm->text, true) : strdup(""));
    if (first) {
        sg_table_addf(table, "%" PRIu64, arm->calls);
        sg_table_addf(table, "%" PRIu64, arm->declined_calls);
    } else {
        sg_table_addf(table, "%s", "");
        sg_table_addf(table, "%s", "");
    }
    sg_table_addf(table, "%s", sg_tried_names[tried]);
    format_ns(arm->cost[tried].mean, false, mean);
    sg_table_addf(table, "%s", known ? mean : "-");
    if (sg_trial_has_intervals(trial))
        add_interval(table, &arm->cost[tried], false);
    else
        sg_table_addf(table, "-");
    add_above(table, trial, arm, tried);
}

static enum sg_status put_table(const struct sg_report_trial *trial, FILE *out)
{
    static const struct sg_table_column columns[] = {
        {.header = "algorithm", .left = true, .max_width = 24},
        {.header = "calls"},
        {.header = "declined"},
        {.header = "per call", .left = true},
        {.header = "mean"},
        {.header = "95% interval"},
        {.header = "above least"},
        {.header = "interval"},
        {.header = "", .left = true},
    };
    struct sg_table table = {.columns = columns,
                             .column_count = sizeof columns / sizeof columns[0]};
    int count = trial->verdict[SG_TRIED_BLOCKED] == SG_TRIED_UNKNOWN ? 1 : SG_TRIED_COUNT;
    enum sg_status status;

    for (uint32_t i = 0; i < trial->arm_count; i++) {
        for (int tried = 0; tried < count; tried++)
            add_arm(&table, trial, &trial->arms[i], tried);
    }
    status = sg_table_print(&table, sg_table_width(out), out);
    sg_table_clear(&table);
    return status;
}

/* ---- what comes of it ------------------------------------------------------------------------
 */

static void put_verdict(const struct sg_report_trial *trial, int tried, FILE *out)
{
    const struct sg_report_arm *least = &trial->arms[trial->least[tried]];
    bool first = true;

    fprintf(out, "  %s: ", what[tried]);
    if (trial->verdict[tried] == SG_TRIED_WINNER) {
        put_clean(least->text, out);
        fputs(" wins\n", out);
        return;
    }
    fputs("no difference seen between ", out);
    put_clean(least->text, out);
    for (uint32_t i = 0; i < trial->arm_count; i++) {
        if (!trial->arms[i].like_least[tried])
            continue;
        fputs(" and ", out);
        put_clean(trial->arms[i].text, out);
    }
    for (uint32_t i = 0; i < trial->arm_count; i++) {
        if (&trial->arms[i] == least || trial->arms[i].like_least[tried])
            continue;
        fputs(first ? "; more: " : ", ", out);
        put_clean(trial->arms[i].text, out);
        first = false;
    }
    fputc('\n', out);
}

static void put_result(const struct sg_report_trial *trial, FILE *out)
{
    fputc('\n', out);
    switch (trial->verdict[SG_TRIED_BLOCKED]) {
    case SG_TRIED_UNKNOWN:
        fputs("  no events were recorded: there are means of all calls, no intervals and no"
              " winner\n\n",
              out);
        return;
    case SG_TRIED_FEW:
        fprintf(out, "  no winner: fewer than 10 rounds in which every algorithm had a turn\n");
        break;
    case SG_TRIED_NONE:
    case SG_TRIED_WINNER:
    case SG_TRIED_VERDICTS:
        put_verdict(trial, SG_TRIED_BLOCKED, out);
        put_verdict(trial, SG_TRIED_PROCESSOR, out);
        break;
    }
    fprintf(out,
            "  left out: %" PRIu64 " calls that were a block's first, %" PRIu64
            " beyond whole rounds",
            trial->first_calls, trial->loose_calls);
    if (trial->mixed_calls > 0)
        fprintf(out, ", %" PRIu64 " whose ranks ran different algorithms", trial->mixed_calls);
    fputs("\n\n", out);
}

enum sg_status sg_report_print_trials(const struct sg_report *report, FILE *out)
{
    enum sg_status status = SG_OK;

    for (uint32_t i = 0; i < report->trial_count && status == SG_OK; i++) {
        put_head(&report->trials[i], out);
        status = put_table(&report->trials[i], out);
        put_result(&report->trials[i], out);
    }
    return status;
}
