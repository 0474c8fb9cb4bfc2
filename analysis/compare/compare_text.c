/* Prints a comparison: as text for people at a terminal, as JSON and as CSV, for the call sites,
 * for all MPI calls, and for the waits in them. The JSON is docs/compare-json.md, version 1: later
 * versions add fields but never change one.
 */
#include "compare/compare.h"
#include "compare/compare_calls.h"
#include "output/column.h"
#include "output/format.h"
#include "output/json_output.h"
#include "output/table.h"
#include "report/wait_sums.h"

#include <inttypes.h>
#include <jansson.h>
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
    uint64_t lost_ns = run->waitstates != NULL ? run->waitstates->total.wait_ns
                       : run->has_events       ? run->total.wait_ns
                                               : run->total.blocked_ns;

    fprintf(out, "%-2s ", name);
    sg_format_put(run->program != NULL ? run->program : "program not known", out);
    fprintf(out, ", %" PRIu32 " rank%s, run time %s, %s%s of rank time %s%s\n   ", run->rank_count,
            run->rank_count == 1 ? "" : "s", SG_NS(run->run_ns),
            sg_report_unseen_calls(run) > 0 && run->has_events ? "at least " : "",
            SG_SHARE(lost_ns, run->ranks_run_ns),
            run->has_events ? "lost waiting" : "in collectives, statistics only",
            run->partial ? ", PARTIAL" : "");
    sg_format_put(run->path, out);
    fputc('\n', out);
}

static enum sg_status put_whole(const struct sg_comparison *comparison, FILE *out)
{
    bool several = sg_comparison_has_several(comparison);

    fputs(several ? "\nwhole runs, means per run; waiting and MPI over all ranks:\n"
                  : "\nwhole runs; waiting and MPI over all ranks:\n",
          out);
    return sg_section_print_rows(&sg_compare_sections[SG_COMPARE_RUNS],
                                 &SG_ROWS(comparison->whole, SG_WHOLE_COUNT, &several), "compare",
                                 out);
}

static void put_summary(const struct sg_comparison *comparison, FILE *out)
{
    bool first = true, several = sg_comparison_has_several(comparison);

    fprintf(out, "\n%" PRIu32 " call site%s in both", comparison->both_count,
            comparison->both_count == 1 ? "" : "s");
    for (int verdict = SG_VERDICT_COUNT - 1; verdict >= 0; verdict--) {
        if (comparison->verdict_count[verdict] > 0)
            fprintf(out, "%s %s%s at %" PRIu32, first ? "; time blocked:" : ",",
                    sg_verdict_words((enum sg_verdict)verdict, several),
                    verdict == SG_VERDICT_DIFFERS ? " between these two runs" : "",
                    comparison->verdict_count[verdict]);
        first = first && comparison->verdict_count[verdict] == 0;
    }
    fprintf(out, "\n%" PRIu32 " only in A, %" PRIu32 " only in B\n", comparison->only_count[0],
            comparison->only_count[1]);
}

/* ---- call sites in both ---------------------------------------------------------------------- */

#define NAMES 6 /* columns of names and counts, printed only in the first line of a site */

/* Without it, the processor figures repeat the time blocked. */
static bool has_time_outside(const struct sg_compared *row)
{
    return row->side[0].ns[SG_MEASURED_PROCESSOR] != row->side[0].ns[SG_MEASURED_BLOCKED] ||
           row->side[1].ns[SG_MEASURED_PROCESSOR] != row->side[1].ns[SG_MEASURED_BLOCKED];
}

static enum sg_status put_both(const struct sg_comparison *comparison, FILE *out)
{
    bool several = sg_comparison_has_several(comparison);
    struct sg_table table = {0};

    if (comparison->both_count == 0)
        return SG_OK;
    sg_section_show(&sg_compare_sections[SG_COMPARE_SITES], NULL, &table);
    sg_table_show(&table, sg_measured_columns, NULL);
    for (uint32_t i = 0; i < comparison->both_shown; i++) {
        sg_table_cells(&table, NAMES, &comparison->rows[i], NULL);
        for (int measured = 0; measured < SG_MEASURED_COUNT; measured++) {
            if (measured == SG_MEASURED_PROCESSOR && !has_time_outside(&comparison->rows[i]))
                continue;
            for (int name = 0; name < NAMES && measured > 0; name++)
                sg_table_add(&table, strdup(""));
            sg_table_row(&table, &comparison->rows[i].per_call[measured], &several);
        }
    }
    fputc('\n', out);
    return sg_table_finish(&table, "compare", out);
}

/* ---- call sites in one side only ------------------------------------------------------------- */

static enum sg_status put_only(const struct sg_comparison *comparison, int run, FILE *out)
{
    struct sg_section section = sg_compare_sections[SG_COMPARE_SITES];
    const struct sg_rows rows = sg_comparison_only(comparison, run);

    if (comparison->only_count[run] == 0)
        return SG_OK;
    section.shown = run == 0 ? "id op a.algorithm a.calls a.blocked a.wait where"
                             : "id op b.algorithm b.calls b.blocked b.wait where";
    fprintf(out, "\nonly in %c:\n", run_letters[run]);
    return sg_section_print_rows(&section, &rows, "compare", out);
}

/* ---- all MPI calls and their waits ----------------------------------------------------------- */

#define SHOWN 20 /* default number of call sites in the text */

static uint32_t count_shown(uint32_t count, uint32_t top)
{
    return top != 0 && top < count ? top : count;
}

static enum sg_status put_list(const struct sg_comparison *comparison, enum sg_compare_table table,
                               const struct sg_compared_call_list *list, uint32_t count, FILE *out)
{
    bool several = sg_comparison_has_several(comparison);

    return sg_section_print_rows(&sg_compare_sections[table], &SG_ROWS(list->of, count, &several),
                                 "compare", out);
}

static enum sg_status put_calls(const struct sg_comparison *comparison, FILE *out)
{
    const struct sg_compared_calls *calls = &comparison->calls;
    uint32_t functions = count_shown(calls->functions.count, calls->top);
    uint32_t sites = count_shown(calls->sites.count, calls->top != 0 ? calls->top : SHOWN);
    enum sg_status status;

    if (!calls->is_known || functions == 0)
        return SG_OK;
    fprintf(out, "\nin MPI: %s of rank time in A, %s in B; functions, time per run:\n",
            SG_SHARE(calls->time_ns[0], calls->processor_ns[0]),
            SG_SHARE(calls->time_ns[1], calls->processor_ns[1]));
    status = put_list(comparison, SG_COMPARE_FUNCTIONS, &calls->functions, functions, out);
    if (status != SG_OK)
        return status;
    fprintf(out, "\ncall sites of all MPI functions, time per run, %" PRIu32 " of %" PRIu32 ":\n",
            sites, calls->sites.count);
    return put_list(comparison, SG_COMPARE_CALLS, &calls->sites, sites, out);
}

static enum sg_status put_waits(const struct sg_comparison *comparison, FILE *out)
{
    const struct sg_compared_waits *waits = &comparison->waits;
    uint32_t top = comparison->calls.top;
    enum sg_status status = SG_OK;

    for (int kind = 0; kind < SG_WAITSTATE_KINDS && waits->is_known && status == SG_OK; kind++) {
        const struct sg_compared_call_list *list = &waits->of[kind];
        uint32_t shown = count_shown(list->count, top != 0 ? top : SHOWN);

        if (list->count == 0)
            continue;
        fprintf(out, "\nwaits, %s: number and time per run, %" PRIu32 " of %" PRIu32 ":\n",
                sg_waitstate_names[kind], shown, list->count);
        status = put_list(comparison, SG_COMPARE_WAITS, list, shown, out);
    }
    return status;
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
                sg_comparison_has_several(comparison) ? "waiting times are unknown"
                                                      : "there are no intervals");
    else if (sg_report_unseen_calls(run) > 0)
        fprintf(
            out,
            "note: %s has calls that are not in the events: costs per call cover only the others\n",
            name);
}

static void put_intervals_note(const struct sg_comparison *comparison, FILE *out)
{
    if (!sg_comparison_has_several(comparison)) {
        fputs("intervals: bootstrap over the instances of these two runs; they exclude the "
              "variation between runs,\n           so they do not show which side is better; for "
              "that, repeat: stagger compare A1 A2 -- B1 B2\n",
              out);
        return;
    }
    fputs("intervals: Student's t of the means of the runs; they include the variation between "
          "runs\n",
          out);
    for (int side = 0; side < 2; side++) {
        if (comparison->run_count[side] == 1)
            fprintf(out, "note: %c is a single run: the spread of %c is assumed for it\n",
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
                "note: %" PRIu32
                " call site%s found by function, file and line: the program was rebuilt\n",
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
    status = put_whole(comparison, out);
    put_summary(comparison, out);
    if (status == SG_OK)
        status = put_both(comparison, out);
    for (int run = 0; run < 2 && status == SG_OK; run++)
        status = put_only(comparison, run, out);
    if (status == SG_OK)
        status = put_calls(comparison, out);
    if (status == SG_OK)
        status = put_waits(comparison, out);
    if (status == SG_OK)
        put_notes(comparison, out);
    return status;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* The first rows of each list, in one list. Null: unknown. */
static json_t *table_of(const struct sg_comparison *comparison, enum sg_compare_table table)
{
    const struct sg_section *section = &sg_compare_sections[table];
    const struct sg_compared_calls *calls = &comparison->calls;
    bool is_waits = table == SG_COMPARE_WAITS;
    const struct sg_compared_call_list *lists = is_waits                    ? comparison->waits.of
                                                : table == SG_COMPARE_CALLS ? &calls->sites
                                                                            : &calls->functions;
    json_t *rows;

    if (table == SG_COMPARE_RUNS)
        return sg_section_list(section, &SG_ROWS(comparison->whole, SG_WHOLE_COUNT, NULL));
    if (table == SG_COMPARE_SITES)
        return sg_section_list(section, &SG_ROWS(comparison->rows, comparison->row_count, NULL));
    if (!(is_waits ? comparison->waits.is_known : calls->is_known))
        return json_null();
    rows = json_array();
    for (int i = 0; i < (is_waits ? SG_WAITSTATE_KINDS : 1); i++)
        sg_section_append(
            section, &SG_ROWS(lists[i].of, count_shown(lists[i].count, calls->top), NULL), &rows);
    return rows;
}

static json_t *share_of(const struct sg_compared_calls *calls, int side)
{
    return sg_json_share(calls->time_ns[side], calls->processor_ns[side]);
}

/* ---- JSON and CSV of the call sites ---------------------------------------------------------- */

#define JSON_VERSION 1
#define DIGITS 12

/* As in the report, but "" becomes null too. */
static json_t *text_of(const char *text)
{
    return sg_json_text(text != NULL && text[0] != '\0' ? text : NULL);
}

static json_t *paths_of(const struct sg_comparison *comparison, int side)
{
    json_t *paths = json_array();

    for (uint32_t run = 0; run < comparison->run_count[side] && paths != NULL; run++)
        sg_json_append(&paths, text_of(comparison->runs[side][run].path));
    return paths;
}

static json_t *runs_of(const struct sg_comparison *comparison, int side)
{
    const struct sg_report *first = &comparison->runs[side][0];
    struct sg_run_figures figures = sg_comparison_figures(comparison, side);

    return json_pack("{s:o, s:o, s:o, s:I, s:b, s:b, s:I, s:I, s:I, s:o}", "path",
                     text_of(first->path), "paths", paths_of(comparison, side), "program",
                     text_of(first->program), "ranks", (json_int_t)first->rank_count, "partial",
                     figures.partial, "events", figures.has_events, "run_ns",
                     (json_int_t)figures.run_ns, "ranks_run_ns", (json_int_t)figures.ranks_run_ns,
                     "blocked_ns", (json_int_t)figures.blocked_ns, "wait_ns",
                     sg_json_count(figures.has_events, figures.wait_ns));
}

static json_t *gate_of(const struct sg_gate *gate)
{
    bool is_judged = gate->verdict == SG_GATE_PASS || gate->verdict == SG_GATE_FAIL;

    if (gate->limit < 0)
        return json_null();
    return json_pack("{s:s, s:f, s:s, s:o, s:o, s:o, s:I}", "figure", sg_whole_names[gate->figure],
                     "limit", gate->limit, "verdict", sg_gate_names[gate->verdict], "change",
                     sg_json_real(is_judged, gate->change), "low",
                     sg_json_real(is_judged, gate->low), "high",
                     sg_json_real(is_judged, gate->high), "runs_wanted", (json_int_t)gate->wanted);
}

enum sg_status sg_comparison_print_json(const struct sg_comparison *comparison, FILE *out)
{
    const struct sg_compared_calls *calls = &comparison->calls;
    json_t *root = json_pack(
        "{s:i, s:s, s:o, s:o, s:I, s:I, s:I, s:o}", "version", JSON_VERSION, "intervals",
        sg_comparison_has_several(comparison) ? "runs" : "instances", "a", runs_of(comparison, 0),
        "b", runs_of(comparison, 1), "both_count", (json_int_t)comparison->both_count,
        "only_a_count", (json_int_t)comparison->only_count[0], "only_b_count",
        (json_int_t)comparison->only_count[1], "sites", table_of(comparison, SG_COMPARE_SITES));

    sg_json_set(&root, "runs", table_of(comparison, SG_COMPARE_RUNS));
    sg_json_set(&root, "gate", gate_of(&comparison->gate));
    sg_json_set(&root, "mpi_share",
                calls->is_known
                    ? json_pack("{s:o, s:o}", "a", share_of(calls, 0), "b", share_of(calls, 1))
                    : json_null());
    sg_json_set(&root, "functions", table_of(comparison, SG_COMPARE_FUNCTIONS));
    sg_json_set(&root, "calls", table_of(comparison, SG_COMPARE_CALLS));
    sg_json_set(&root, "wait_states", table_of(comparison, SG_COMPARE_WAITS));
    return sg_json_print(root, DIGITS, "compare", out);
}

/* The fields of the JSON's rows. */
#define SITE " id function file line module offset matched_by"
#define CALLS(side)                                                                                \
    " " side ".runs " side ".calls " side ".time_ns " side ".sent_bytes " side ".received_bytes"
#define WAITS(side) " " side ".runs " side ".waits " side ".wait_ns"
#define SIDE(side)                                                                                 \
    " " side ".runs " side ".calls " side ".bytes " side ".event_calls " side ".instances " side   \
    ".blocked_ns " side ".wait_ns " side ".processor_ns " side ".algorithm"
#define FIELD(name, path, field) " " name "_" field "=" path "." field
#define MEASURED(name, path)                                                                       \
    FIELD(name, path, "a_ns")                                                                      \
    FIELD(name, path, "b_ns")                                                                      \
    FIELD(name, path, "difference_ns")                                                             \
    FIELD(name, path, "change")                                                                    \
    FIELD(name, path, "low_ns")                                                                    \
    FIELD(name, path, "high_ns")                                                                   \
    FIELD(name, path, "verdict")
#define PER_CALL(name) MEASURED(name, "per_call." name)
#define TIME MEASURED("time", "time")

enum sg_status sg_comparison_print_csv(const struct sg_comparison *comparison,
                                       enum sg_compare_table table, FILE *out)
{
    static const char *const columns[SG_COMPARE_TABLES] = {
        [SG_COMPARE_SITES] = "id op function file line module offset matched_by" SIDE("a") SIDE("b")
            PER_CALL("blocked") PER_CALL("wait") PER_CALL("processor"),
        [SG_COMPARE_FUNCTIONS] = "mpi_function" CALLS("a") CALLS("b") TIME,
        [SG_COMPARE_CALLS] = "mpi_function" SITE CALLS("a") CALLS("b") TIME,
        [SG_COMPARE_WAITS] = "state mpi_function" SITE WAITS("a") WAITS("b") TIME,
        [SG_COMPARE_RUNS] = "figure" TIME,
    };
    const struct sg_csv csv = {SG_CSV_LINE_END, DIGITS, columns[table]};

    return sg_csv_print(&csv, table_of(comparison, table), "compare", out);
}
