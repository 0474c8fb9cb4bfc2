/* The comparison for people at a terminal. */
#include "compare/compare.h"
#include "output/format.h"
#include "output/table.h"
#include "report/columns.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char run_letters[] = "AB";

static void put_clean(const char *text, FILE *out)
{
    char *clean = sg_format_clean(text, true);

    fputs(clean != NULL ? clean : "?", out);
    free(clean);
}

/* "A", or "A2" of several. */
static void format_name(const struct sg_comparison *comparison, int side, uint32_t run,
                        char name[SG_FORMAT_BYTES])
{
    snprintf(name, SG_FORMAT_BYTES, "%c", run_letters[side]);
    if (comparison->run_count[side] > 1)
        snprintf(name, SG_FORMAT_BYTES, "%c%" PRIu32, run_letters[side], run + 1);
}

#define SIGNED_BYTES (SG_FORMAT_BYTES + 1)

static void format_signed(double ns, char text[SIGNED_BYTES])
{
    char size[SG_FORMAT_BYTES];

    sg_format_ns((uint64_t)llround(fabs(ns)), size);
    snprintf(text, SIGNED_BYTES, "%s%s", llround(ns) > 0 ? "+" : llround(ns) < 0 ? "-" : "", size);
}

static void put_run(const struct sg_report *run, const char *name, FILE *out)
{
    char time[SG_FORMAT_BYTES], share[SG_FORMAT_BYTES];
    uint64_t lost_ns = run->has_events ? sg_report_wait_ns(run) : sg_report_blocked_ns(run);

    sg_format_ns(run->run_ns, time);
    sg_format_share(lost_ns, run->ranks_run_ns, share);
    fprintf(out, "%-2s ", name);
    put_clean(run->program != NULL ? run->program : "program not known", out);
    fprintf(out, ", %" PRIu32 " rank%s, run time %s, %s%s of processor time %s%s\n   ",
            run->rank_count, run->rank_count == 1 ? "" : "s", time,
            sg_report_unseen_calls(run) > 0 && run->has_events ? "at least " : "", share,
            run->has_events ? "lost waiting" : "in collectives, statistics only",
            run->partial ? ", PARTIAL" : "");
    put_clean(run->path, out);
    fputc('\n', out);
}

static void put_summary(const struct sg_comparison *comparison, FILE *out)
{
    bool first = true, several = sg_comparison_has_several(comparison);

    fprintf(out, "\n%" PRIu32 " call site%s in both", comparison->both_count,
            comparison->both_count == 1 ? "" : "s");
    for (int verdict = SG_VERDICT_COUNT - 1; verdict >= 0; verdict--) {
        if (comparison->verdict_count[verdict] > 0)
            fprintf(out, "%s %s at %" PRIu32, first ? "; time blocked:" : ",",
                    sg_verdict_words((enum sg_verdict)verdict, several),
                    comparison->verdict_count[verdict]);
        first = first && comparison->verdict_count[verdict] == 0;
    }
    fprintf(out, "\n%" PRIu32 " only in A, %" PRIu32 " only in B\n", comparison->only_count[0],
            comparison->only_count[1]);
}

/* ---- in both ----------------------------------------------------------------------------------
 */

static void add_column(struct sg_table *table, const char *name, const struct sg_report_site *site,
                       bool first)
{
    sg_table_add(table, first ? sg_column_text(sg_column_find(name), NULL, site) : strdup(""));
}

static void add_pair(struct sg_table *table, const char *a, const char *b, bool first)
{
    char *clean_a = sg_format_clean(a, true), *clean_b = sg_format_clean(b, true);

    if (!first || clean_a == NULL || clean_b == NULL)
        sg_table_add(table, first ? NULL : strdup(""));
    else if (strcmp(clean_a, clean_b) == 0)
        sg_table_addf(table, "%s", clean_a);
    else
        sg_table_addf(table, "%s > %s", clean_a, clean_b);
    free(clean_a);
    free(clean_b);
}

static void add_mean(struct sg_table *table, const struct sg_side *side, enum sg_measured measured)
{
    char text[SG_FORMAT_BYTES];

    sg_format_ns((uint64_t)llround(side->mean_ns[measured]), text);
    sg_table_addf(table, "%s", sg_side_knows(side, measured) ? text : "-");
}

static void add_difference(struct sg_table *table, const struct sg_compared *row,
                           enum sg_measured measured, bool several)
{
    const struct sg_difference *difference = &row->difference[measured];
    double a_ns = row->side[0].mean_ns[measured], b_ns = row->side[1].mean_ns[measured];
    bool known = sg_side_knows(&row->side[0], measured) && sg_side_knows(&row->side[1], measured);
    char text[SIGNED_BYTES], low[SIGNED_BYTES], high[SIGNED_BYTES];

    format_signed(b_ns - a_ns, text);
    sg_table_addf(table, "%s", known ? text : "-");
    if (known && a_ns > 0)
        sg_table_addf(table, "%+.1f%%", 100 * (b_ns - a_ns) / a_ns);
    else
        sg_table_addf(table, "-");
    format_signed(difference->low, low);
    format_signed(difference->high, high);
    if (difference->verdict >= SG_VERDICT_NOISE)
        sg_table_addf(table, "%s .. %s", low, high);
    else
        sg_table_addf(table, "-");
    sg_table_addf(table, "%s", sg_verdict_words(difference->verdict, several));
}

static void add_row(struct sg_table *table, const struct sg_compared *row,
                    enum sg_measured measured, bool several)
{
    bool first = measured == 0;
    char calls[2][SG_FORMAT_BYTES], bytes[2][SG_FORMAT_BYTES];

    for (int run = 0; run < 2; run++) {
        const struct sg_side *side = &row->side[run];

        snprintf(calls[run], sizeof calls[run], "%" PRIu64, side->calls);
        sg_format_bytes(side->calls > 0 ? side->bytes / side->calls : 0, bytes[run]);
    }
    add_column(table, "id", row->site, first);
    add_column(table, "op", row->site, first);
    add_column(table, "site", row->site, first);
    add_pair(table, row->side[0].algorithm, row->side[1].algorithm, first);
    add_pair(table, calls[0], calls[1], first);
    add_pair(table, bytes[0], bytes[1], first);
    sg_table_addf(table, "%s", sg_measured_names[measured]);
    add_mean(table, &row->side[0], measured);
    add_mean(table, &row->side[1], measured);
    add_difference(table, row, measured, several);
}

static enum sg_status put_both(const struct sg_comparison *comparison, FILE *out)
{
    static const struct sg_table_column columns[] = {
        {.header = "id", .left = true},
        {.header = "op", .left = true},
        {.header = "call site", .left = true, .flexible = true},
        {.header = "algo", .left = true, .max_width = 16},
        {.header = "calls"},
        {.header = "bytes"},
        {.header = "per call", .left = true},
        {.header = "A"},
        {.header = "B"},
        {.header = "B - A"},
        {.header = "change"},
        {.header = "95% interval"},
        {.header = "verdict", .left = true},
    };
    struct sg_table table = {.columns = columns,
                             .column_count = sizeof columns / sizeof columns[0]};
    enum sg_status status;

    if (comparison->both_count == 0)
        return SG_OK;
    for (uint32_t i = 0; i < comparison->both_shown; i++) {
        for (int measured = 0; measured < SG_MEASURED_COUNT; measured++)
            add_row(&table, &comparison->rows[i], (enum sg_measured)measured,
                    sg_comparison_has_several(comparison));
    }
    fputc('\n', out);
    status = sg_table_print(&table, sg_table_width(out), out);
    sg_table_clear(&table);
    return status;
}

/* ---- in one alone -----------------------------------------------------------------------------
 */

static enum sg_status put_only(const struct sg_comparison *comparison, int run, FILE *out)
{
    static const struct sg_table_column columns[] = {
        {.header = "id", .left = true},
        {.header = "op", .left = true},
        {.header = "algo", .left = true},
        {.header = "calls"},
        {.header = "blocked"},
        {.header = "wait"},
        {.header = "where", .left = true},
    };
    struct sg_table table = {.columns = columns,
                             .column_count = sizeof columns / sizeof columns[0]};
    enum sg_status status;

    if (comparison->only_count[run] == 0)
        return SG_OK;
    for (uint32_t i = 0; i < comparison->row_count; i++) {
        const struct sg_compared *row = &comparison->rows[i];
        const struct sg_side *side = &row->side[run];
        char blocked[SG_FORMAT_BYTES], wait[SG_FORMAT_BYTES];

        if (row->side[1 - run].present)
            continue;
        sg_format_ns(side->ns[SG_MEASURED_BLOCKED], blocked);
        sg_format_ns(side->ns[SG_MEASURED_WAIT], wait);
        add_column(&table, "id", row->site, true);
        add_column(&table, "op", row->site, true);
        sg_table_add(&table, sg_format_clean(side->algorithm, true));
        sg_table_addf(&table, "%" PRIu64, side->calls);
        sg_table_addf(&table, "%s", blocked);
        sg_table_addf(&table, "%s", sg_side_knows(side, SG_MEASURED_WAIT) ? wait : "-");
        add_column(&table, "where", row->site, true);
    }
    fprintf(out, "\nonly in %c:\n", run_letters[run]);
    status = sg_table_print(&table, sg_table_width(out), out);
    sg_table_clear(&table);
    return status;
}

/* ---- notes ------------------------------------------------------------------------------------
 */

static void put_rank_counts(const struct sg_comparison *comparison, FILE *out)
{
    const uint32_t first = comparison->runs[0][0].rank_count;
    uint32_t least = first, most = first;

    for (int side = 0; side < 2; side++) {
        for (uint32_t run = 0; run < comparison->run_count[side]; run++) {
            uint32_t count = comparison->runs[side][run].rank_count;

            least = count < least ? count : least;
            most = count > most ? count : most;
        }
    }
    if (least == most)
        return;
    if (sg_comparison_has_several(comparison))
        fprintf(out, "note: the runs have %" PRIu32 " to %" PRIu32 " ranks\n", least, most);
    else
        fprintf(out, "note: %" PRIu32 " ranks against %" PRIu32 "\n", first,
                comparison->runs[1][0].rank_count);
}

static void put_events_note(const struct sg_comparison *comparison, int side, uint32_t index,
                            FILE *out)
{
    const struct sg_report *run = &comparison->runs[side][index];
    char name[SG_FORMAT_BYTES];

    format_name(comparison, side, index, name);
    if (!run->has_events)
        fprintf(out, "note: %s has no events: %s\n", name,
                sg_comparison_has_several(comparison) ? "who waited is not known"
                                                      : "there are no intervals");
    else if (sg_report_unseen_calls(run) > 0)
        fprintf(out,
                "note: %s has calls that are not in the events: costs per call are of the"
                " others\n",
                name);
}

static void put_intervals_note(const struct sg_comparison *comparison, FILE *out)
{
    if (!sg_comparison_has_several(comparison)) {
        fputs("intervals: bootstrap over the instances of these two runs; what differs from run to"
              " run is not in them\n",
              out);
        return;
    }
    fputs("intervals: Student's t of the means of the runs; what differs from run to run is in"
          " them\n",
          out);
    for (int side = 0; side < 2; side++) {
        if (comparison->run_count[side] == 1)
            fprintf(out, "note: %c is one run: its spread is taken to be that of %c\n",
                    run_letters[side], run_letters[1 - side]);
    }
}

static void put_notes(const struct sg_comparison *comparison, FILE *out)
{
    uint32_t by_place = comparison->by_place_count;
    uint32_t left_out = comparison->both_count + comparison->only_count[0] +
                        comparison->only_count[1] - comparison->row_count;

    fputc('\n', out);
    if (left_out > 0)
        fprintf(out, "note: %" PRIu32 " further call site%s not shown\n", left_out,
                left_out == 1 ? " is" : "s are");
    put_rank_counts(comparison, out);
    if (by_place > 0)
        fprintf(out,
                "note: %" PRIu32 " call site%s found by function, file and line: the program was"
                " built anew\n",
                by_place, by_place == 1 ? "" : "s");
    for (int side = 0; side < 2; side++) {
        for (uint32_t run = 0; run < comparison->run_count[side]; run++)
            put_events_note(comparison, side, run, out);
    }
    put_intervals_note(comparison, out);
}

enum sg_status sg_comparison_print_text(const struct sg_comparison *comparison, FILE *out)
{
    enum sg_status status = SG_OK;

    for (int side = 0; side < 2; side++) {
        for (uint32_t run = 0; run < comparison->run_count[side]; run++) {
            char name[SG_FORMAT_BYTES];

            format_name(comparison, side, run, name);
            put_run(&comparison->runs[side][run], name, out);
        }
    }
    put_summary(comparison, out);
    status = put_both(comparison, out);
    for (int run = 0; run < 2 && status == SG_OK; run++)
        status = put_only(comparison, run, out);
    if (status == SG_OK)
        put_notes(comparison, out);
    return status;
}
