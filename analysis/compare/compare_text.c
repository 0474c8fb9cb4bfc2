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
#include "report/profile_calls.h"
#include "report/report_columns.h"

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

/* ---- call sites in both ---------------------------------------------------------------------- */

/* Both sides' text, or one if they are equal. */
static void add_pair(struct sg_table *table, const char *a, const char *b)
{
    char *both = NULL;

    if (asprintf(&both, strcmp(a, b) == 0 ? "%s" : "%s > %s", a, b) < 0)
        both = NULL;
    sg_table_add(table, both != NULL ? sg_format_clean(both, true) : NULL);
    free(both);
}

/* Names and counts, printed only in the first line of a site. */
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

/* ---- call sites in one side only ------------------------------------------------------------- */

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

/* ---- all MPI calls and their waits ----------------------------------------------------------- */

#define SHOWN 20 /* default number of call sites in the text */

static uint32_t count_shown(uint32_t count, uint32_t top)
{
    return top != 0 && top < count ? top : count;
}

/* ---- text ------------------------------------------------------------------------------------ */

static void add_calls(struct sg_table *table, const struct sg_compared_call *call)
{
    char calls[2][SG_FORMAT_BYTES] = {"-", "-"};

    for (int side = 0; side < 2; side++) {
        if (call->side[side].run_count > 0)
            snprintf(calls[side], sizeof calls[side], "%" PRIu64, call->side[side].calls);
    }
    if (strcmp(calls[0], calls[1]) == 0)
        sg_table_addf(table, "%s", calls[0]);
    else
        sg_table_addf(table, "%s > %s", calls[0], calls[1]);
}

/* names: number of leading columns that come from a row of the report. */
static enum sg_status put_list(const struct sg_compared_call_list *list, uint32_t count,
                               size_t names, bool several, FILE *out)
{
    struct sg_table table = {0};

    sg_table_show(&table, sg_call_columns, "function");
    if (names > 1)
        sg_table_show(&table, sg_site_columns, "site");
    sg_table_show(&table, sg_call_columns, "calls");
    sg_table_show(&table, sg_measured_columns,
                  several ? "a b difference change interval verdict" : "a b difference change");
    for (uint32_t i = 0; i < count; i++) {
        const struct sg_measured_row row = sg_measured_call_of(&list->of[i]);

        sg_table_cells(&table, names, &list->of[i].row, NULL);
        add_calls(&table, &list->of[i]);
        sg_table_row(&table, &row, &several);
    }
    return sg_table_finish(&table, "compare", out);
}

static enum sg_status put_calls(const struct sg_comparison *comparison, FILE *out)
{
    const struct sg_compared_calls *calls = &comparison->calls;
    uint32_t functions = count_shown(calls->functions.count, calls->top);
    uint32_t sites = count_shown(calls->sites.count, calls->top != 0 ? calls->top : SHOWN);
    bool several = sg_comparison_has_several(comparison);
    enum sg_status status;

    if (!calls->is_known || functions == 0)
        return SG_OK;
    fprintf(out, "\nin MPI: %s of processor time in A, %s in B; functions, time per run:\n",
            SG_SHARE(calls->time_ns[0], calls->processor_ns[0]),
            SG_SHARE(calls->time_ns[1], calls->processor_ns[1]));
    status = put_list(&calls->functions, functions, 1, several, out);
    if (status != SG_OK)
        return status;
    fprintf(out, "\ncall sites of all MPI functions, time per run, %" PRIu32 " of %" PRIu32 ":\n",
            sites, calls->sites.count);
    return put_list(&calls->sites, sites, 2, several, out);
}

static enum sg_status put_waits(const struct sg_comparison *comparison, FILE *out)
{
    const struct sg_compared_waits *waits = &comparison->waits;
    uint32_t top = comparison->calls.top;
    bool several = sg_comparison_has_several(comparison);
    enum sg_status status = SG_OK;

    for (int kind = 0; kind < SG_WAITSTATE_KINDS && waits->is_known && status == SG_OK; kind++) {
        const struct sg_compared_call_list *list = &waits->of[kind];
        uint32_t shown = count_shown(list->count, top != 0 ? top : SHOWN);

        if (list->count == 0)
            continue;
        fprintf(out, "\nwaits, %s: number and time per run, %" PRIu32 " of %" PRIu32 ":\n",
                sg_waitstate_names[kind], shown, list->count);
        status = put_list(list, shown, 2, several, out);
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
              "variation between runs\n",
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
    put_summary(comparison, out);
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

static json_t *side_of(const struct sg_compared_call *call, int side)
{
    const struct sg_call_side *of = &call->side[side];

    if (of->run_count == 0)
        return json_null();
    if (call->state != NULL)
        return json_pack("{s:I, s:I, s:I}", "runs", (json_int_t)of->run_count, "waits",
                         (json_int_t)of->calls, "wait_ns", (json_int_t)of->time_ns);
    return json_pack("{s:I, s:I, s:I, s:I, s:I}", "runs", (json_int_t)of->run_count, "calls",
                     (json_int_t)of->calls, "time_ns", (json_int_t)of->time_ns, "sent_bytes",
                     (json_int_t)of->sent_bytes, "received_bytes", (json_int_t)of->received_bytes);
}

static json_t *matched_by(const struct sg_compared_call *call)
{
    if (call->side[0].run_count == 0 || call->side[1].run_count == 0)
        return json_null();
    return json_string(call->by_place ? "place" : "id");
}

/* The first `top` rows of each list. */
static json_t *lists_of(const struct sg_compared_call_list *lists, int list_count, uint32_t top,
                        bool has_sites)
{
    json_t *rows = json_array();

    for (int list = 0; list < list_count; list++) {
        for (uint32_t i = 0; i < count_shown(lists[list].count, top) && rows != NULL; i++) {
            const struct sg_compared_call *call = &lists[list].of[i];
            const struct sg_measured_row measured = sg_measured_call_of(call);
            json_t *row = json_object(), *time = json_object();

            if (call->state != NULL)
                sg_json_set(&row, "state", json_string(call->state));
            sg_columns_set(&row, sg_call_function_columns, &call->row, NULL);
            if (has_sites) {
                sg_columns_set(&row, sg_call_site_columns, &call->row, NULL);
                sg_json_set(&row, "matched_by", matched_by(call));
            }
            sg_json_set(&row, "a", side_of(call, 0));
            sg_json_set(&row, "b", side_of(call, 1));
            sg_columns_set(&time, sg_measured_columns, &measured, NULL);
            sg_json_set(&row, "time", time);
            sg_json_append(&rows, row);
        }
    }
    return rows;
}

/* Null: unknown. */
static json_t *table_of(const struct sg_comparison *comparison, enum sg_compare_table table)
{
    const struct sg_compared_calls *calls = &comparison->calls;

    if (!(table == SG_COMPARE_WAITS ? comparison->waits.is_known : calls->is_known))
        return json_null();
    if (table == SG_COMPARE_WAITS)
        return lists_of(comparison->waits.of, SG_WAITSTATE_KINDS, calls->top, true);
    return table == SG_COMPARE_CALLS ? lists_of(&calls->sites, 1, calls->top, true)
                                     : lists_of(&calls->functions, 1, calls->top, false);
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

static json_t *json_side_of(const struct sg_side *side)
{
    json_t *value = json_object();

    if (!side->present) {
        json_decref(value);
        return json_null();
    }
    sg_columns_set(&value, sg_side_columns, side, NULL);
    return value;
}

static json_t *per_call_of(const struct sg_compared *row)
{
    json_t *value = json_object();

    for (int measured = 0; measured < SG_MEASURED_COUNT; measured++) {
        const struct sg_measured_row of = sg_measured_row_of(row, (enum sg_measured)measured);
        json_t *figures = json_object();

        sg_columns_set(&figures, sg_measured_columns, &of, NULL);
        sg_json_set(&value, of.measured, figures);
    }
    return value;
}

static json_t *row_of(const struct sg_compared *row)
{
    bool both = sg_compared_in_both(row);
    json_t *value = json_object();

    sg_columns_set(&value, sg_site_place_columns, row->site, NULL);
    sg_json_set(&value, "matched_by",
                both ? json_string(row->by_place ? "place" : "id") : json_null());
    sg_json_set(&value, "a", json_side_of(&row->side[0]));
    sg_json_set(&value, "b", json_side_of(&row->side[1]));
    sg_json_set(&value, "per_call", both ? per_call_of(row) : json_null());
    return value;
}

static json_t *rows_of(const struct sg_comparison *comparison)
{
    json_t *rows = json_array();

    for (uint32_t i = 0; i < comparison->row_count && rows != NULL; i++)
        sg_json_append(&rows, row_of(&comparison->rows[i]));
    return rows;
}

enum sg_status sg_comparison_print_json(const struct sg_comparison *comparison, FILE *out)
{
    const struct sg_compared_calls *calls = &comparison->calls;
    json_t *root = json_pack(
        "{s:i, s:s, s:o, s:o, s:I, s:I, s:I, s:o}", "version", JSON_VERSION, "intervals",
        sg_comparison_has_several(comparison) ? "runs" : "instances", "a", runs_of(comparison, 0),
        "b", runs_of(comparison, 1), "both_count", (json_int_t)comparison->both_count,
        "only_a_count", (json_int_t)comparison->only_count[0], "only_b_count",
        (json_int_t)comparison->only_count[1], "sites", rows_of(comparison));

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
    };
    const struct sg_csv csv = {SG_CSV_LINE_END, DIGITS, columns[table]};

    return sg_csv_print(
        &csv, table == SG_COMPARE_SITES ? rows_of(comparison) : table_of(comparison, table),
        "compare", out);
}
