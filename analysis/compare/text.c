/* The comparison for people at a terminal. */
#include "compare/columns.h"
#include "compare/compare.h"
#include "output/format.h"
#include "output/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char run_letters[] = "AB";

/* "A", or "A2" if there are several. */
static void format_name(const struct sg_comparison *comparison, int side, uint32_t run,
                        char name[SG_FORMAT_BYTES])
{
    snprintf(name, SG_FORMAT_BYTES, "%c", run_letters[side]);
    if (comparison->run_count[side] > 1)
        snprintf(name, SG_FORMAT_BYTES, "%c%" PRIu32, run_letters[side], run + 1);
}

static void put_run(const struct sg_report *run, const char *name, FILE *out)
{
    uint64_t lost_ns = run->has_events ? run->total.wait_ns : run->total.blocked_ns;

    fprintf(out, "%-2s ", name);
    sg_format_put(run->program != NULL ? run->program : "program not known", out);
    fprintf(out, ", %" PRIu32 " rank%s, run time %s, %s%s of processor time %s%s\n   ",
            run->rank_count, run->rank_count == 1 ? "" : "s", SG_NS(run->run_ns),
            sg_report_unseen_calls(run) > 0 && run->has_events ? "at least " : "",
            SG_SHARE(lost_ns, run->ranks_run_ns),
            run->has_events ? "lost waiting" : "in collectives, statistics only",
            run->partial ? ", PARTIAL" : "");
    sg_format_put(run->path, out);
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

/* ---- in both --------------------------------------------------------------------------------- */

/* Both sides' text, or one if they are equal. */
static void add_pair(struct sg_table *table, const char *a, const char *b)
{
    char *both = NULL;

    if (asprintf(&both, strcmp(a, b) == 0 ? "%s" : "%s > %s", a, b) < 0)
        both = NULL;
    sg_table_add(table, both != NULL ? sg_format_clean(both, true) : NULL);
    free(both);
}

/* The texts before the figures: in the first line of a site only. */
static void add_names(struct sg_table *table, const struct sg_compared *row)
{
    const struct sg_side *a = &row->side[0], *b = &row->side[1];
    char calls[2][SG_FORMAT_BYTES];

    for (int i = 0; i < 2; i++)
        snprintf(calls[i], sizeof calls[i], "%" PRIu64, row->side[i].calls);
    sg_table_cells(table, 3, row, NULL);
    add_pair(table, a->algorithm, b->algorithm);
    add_pair(table, calls[0], calls[1]);
    add_pair(table, SG_BYTES(a->calls > 0 ? a->bytes / a->calls : 0),
             SG_BYTES(b->calls > 0 ? b->bytes / b->calls : 0));
}

#define NAMES 6

static enum sg_status put_both(const struct sg_comparison *comparison, FILE *out)
{
    bool several = sg_comparison_has_several(comparison);
    struct sg_table table = {0};

    if (comparison->both_count == 0)
        return SG_OK;
    sg_table_show(&table, sg_compared_columns, "id op site algorithm calls bytes");
    sg_table_show(&table, sg_measured_columns, NULL);
    for (uint32_t i = 0; i < comparison->both_shown; i++) {
        for (int measured = 0; measured < SG_MEASURED_COUNT; measured++) {
            const struct sg_measured_row row =
                sg_measured_row_of(&comparison->rows[i], (enum sg_measured)measured);

            if (measured == 0)
                add_names(&table, &comparison->rows[i]);
            for (int name = 0; name < NAMES && measured > 0; name++)
                sg_table_add(&table, strdup(""));
            sg_table_row(&table, &row, &several);
        }
    }
    fputc('\n', out);
    return sg_table_finish(&table, "compare", out);
}

/* ---- in one alone ---------------------------------------------------------------------------- */

static enum sg_status put_only(const struct sg_comparison *comparison, int run, FILE *out)
{
    struct sg_table table = {0};

    if (comparison->only_count[run] == 0)
        return SG_OK;
    sg_table_show(&table, sg_compared_columns, "id op");
    sg_table_show(&table, sg_side_columns, "algorithm calls blocked wait");
    sg_table_show(&table, sg_compared_columns, "where");
    for (uint32_t i = 0; i < comparison->row_count; i++) {
        const struct sg_compared *row = &comparison->rows[i];

        if (row->side[1 - run].present)
            continue;
        sg_table_cells(&table, 2, row, NULL);
        sg_table_cells(&table, 4, &row->side[run], NULL);
        sg_table_row(&table, row, NULL);
    }
    fprintf(out, "\nonly in %c:\n", run_letters[run]);
    return sg_table_finish(&table, "compare", out);
}

/* ---- notes ----------------------------------------------------------------------------------- */

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
        status = sg_comparison_print_calls(comparison, out);
    if (status == SG_OK)
        status = sg_comparison_print_waits(comparison, out);
    if (status == SG_OK)
        put_notes(comparison, out);
    return status;
}
