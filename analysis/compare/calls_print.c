/* The part of a comparison about all calls of MPI and waits in them: text, JSON and CSV. */
#include "compare/columns.h"
#include "compare/compare.h"
#include "output/csv.h"
#include "output/format.h"
#include "output/json.h"
#include "output/table.h"
#include "report/columns.h"
#include "report/profile/columns.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN 20 /* call sites in the text, unless told otherwise */

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

/* names: how many columns before the calls are of a row of the report. */
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

        sg_table_cells(&table, names, list->of[i].row, NULL);
        add_calls(&table, &list->of[i]);
        sg_table_row(&table, &row, &several);
    }
    return sg_table_finish(&table, "compare", out);
}

enum sg_status sg_comparison_print_calls(const struct sg_comparison *comparison, FILE *out)
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

enum sg_status sg_comparison_print_waits(const struct sg_comparison *comparison, FILE *out)
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

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *side_of(const struct sg_call_side *side)
{
    if (side->run_count == 0)
        return json_null();
    return json_pack("{s:I, s:I, s:I, s:I, s:I}", "runs", (json_int_t)side->run_count, "calls",
                     (json_int_t)side->calls, "time_ns", (json_int_t)side->time_ns, "sent_bytes",
                     (json_int_t)side->sent_bytes, "received_bytes",
                     (json_int_t)side->received_bytes);
}

static json_t *matched_by(const struct sg_compared_call *call)
{
    if (call->side[0].run_count == 0 || call->side[1].run_count == 0)
        return json_null();
    return json_string(call->by_place ? "place" : "id");
}

static json_t *list_of(const struct sg_compared_call_list *list, uint32_t top, bool has_sites)
{
    uint32_t count = count_shown(list->count, top);
    json_t *rows = json_array();

    for (uint32_t i = 0; i < count && rows != NULL; i++) {
        const struct sg_compared_call *call = &list->of[i];
        const struct sg_measured_row measured = sg_measured_call_of(call);
        json_t *row = json_object(), *time = json_object();

        sg_columns_set(&row, sg_call_function_columns, call->row, NULL);
        if (has_sites) {
            sg_columns_set(&row, sg_call_site_columns, call->row, NULL);
            sg_json_set(&row, "matched_by", matched_by(call));
        }
        sg_json_set(&row, "a", side_of(&call->side[0]));
        sg_json_set(&row, "b", side_of(&call->side[1]));
        sg_columns_set(&time, sg_measured_columns, &measured, NULL);
        sg_json_set(&row, "time", time);
        sg_json_append(&rows, row);
    }
    return rows;
}

static json_t *waits_side_of(const struct sg_call_side *side)
{
    if (side->run_count == 0)
        return json_null();
    return json_pack("{s:I, s:I, s:I}", "runs", (json_int_t)side->run_count, "waits",
                     (json_int_t)side->calls, "wait_ns", (json_int_t)side->time_ns);
}

static json_t *wait_of(const struct sg_compared_call *call, int kind)
{
    const struct sg_measured_row measured = sg_measured_call_of(call);
    json_t *row = json_object(), *time = json_object();

    sg_json_set(&row, "state", json_string(sg_waitstate_names[kind]));
    sg_columns_set(&row, sg_call_function_columns, call->row, NULL);
    sg_columns_set(&row, sg_call_site_columns, call->row, NULL);
    sg_json_set(&row, "matched_by", matched_by(call));
    sg_json_set(&row, "a", waits_side_of(&call->side[0]));
    sg_json_set(&row, "b", waits_side_of(&call->side[1]));
    sg_columns_set(&time, sg_measured_columns, &measured, NULL);
    sg_json_set(&row, "time", time);
    return row;
}

/* Of each kind the first `top`. */
static json_t *waits_of(const struct sg_comparison *comparison)
{
    json_t *rows = json_array();

    for (int kind = 0; kind < SG_WAITSTATE_KINDS; kind++) {
        const struct sg_compared_call_list *list = &comparison->waits.of[kind];
        uint32_t count = count_shown(list->count, comparison->calls.top);

        for (uint32_t i = 0; i < count && rows != NULL; i++)
            sg_json_append(&rows, wait_of(&list->of[i], kind));
    }
    return rows;
}

static json_t *share_of(const struct sg_compared_calls *calls, int side)
{
    return sg_json_share(calls->time_ns[side], calls->processor_ns[side]);
}

void sg_comparison_calls_json(json_t **root, const struct sg_comparison *comparison)
{
    const struct sg_compared_calls *calls = &comparison->calls;
    bool known = calls->is_known;

    sg_json_set(root, "mpi_share",
                known ? json_pack("{s:o, s:o}", "a", share_of(calls, 0), "b", share_of(calls, 1))
                      : json_null());
    sg_json_set(root, "functions",
                known ? list_of(&calls->functions, calls->top, false) : json_null());
    sg_json_set(root, "calls", known ? list_of(&calls->sites, calls->top, true) : json_null());
    sg_json_set(root, "wait_states",
                comparison->waits.is_known ? waits_of(comparison) : json_null());
}

/* ---- CSV ------------------------------------------------------------------------------------- */

#define SITE " id function file line module offset matched_by"
#define CALLS(side)                                                                                \
    " " side ".runs " side ".calls " side ".time_ns " side ".sent_bytes " side ".received_bytes"
#define WAITS(side) " " side ".runs " side ".waits " side ".wait_ns"
#define TIME                                                                                       \
    " time_a_ns=time.a_ns time_b_ns=time.b_ns time_difference_ns=time.difference_ns "              \
    "time_change=time.change time_low_ns=time.low_ns time_high_ns=time.high_ns "                   \
    "time_verdict=time.verdict"

enum sg_status sg_comparison_print_calls_csv(const struct sg_comparison *comparison,
                                             enum sg_compare_table table, FILE *out)
{
    static const struct sg_csv forms[SG_COMPARE_TABLES] = {
        [SG_COMPARE_FUNCTIONS] = {"\r\n", 12, "mpi_function" CALLS("a") CALLS("b") TIME},
        [SG_COMPARE_CALLS] = {"\r\n", 12, "mpi_function" SITE CALLS("a") CALLS("b") TIME},
        [SG_COMPARE_WAITS] = {"\r\n", 12, "state mpi_function" SITE WAITS("a") WAITS("b") TIME},
    };
    const struct sg_compared_calls *calls = &comparison->calls;
    bool known = table == SG_COMPARE_WAITS ? comparison->waits.is_known : calls->is_known;
    json_t *rows = !known                          ? json_array()
                   : table == SG_COMPARE_WAITS     ? waits_of(comparison)
                   : table == SG_COMPARE_FUNCTIONS ? list_of(&calls->functions, calls->top, false)
                                                   : list_of(&calls->sites, calls->top, true);

    return sg_csv_print(&forms[table], rows, "compare", out);
}
