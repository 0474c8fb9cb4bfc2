/* Makes the result of what was gathered: rows, their sums over communicators and over call sites,
 * and shares of the run time. */
#include "report/filter.h"
#include "report/profile/gathered.h"
#include "report/profile/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the calls that the library carried out -------------------------------------------------- */

/* Bytes as the statistics of all calls have them: of a reduce the root alone receives, of a
 * broadcast it alone sends. */
static uint64_t of_one_member(const struct sg_report_site *site)
{
    return site->comm_size > 0 ? site->bytes / site->comm_size : 0;
}

static uint64_t sent_bytes(const struct sg_report_site *site)
{
    return site->operation == SG_OPERATION_BCAST ? of_one_member(site) : site->bytes;
}

static uint64_t received_bytes(const struct sg_report_site *site)
{
    if (site->operation == SG_OPERATION_ALLREDUCE)
        return site->bytes;
    if (site->operation == SG_OPERATION_BCAST)
        return site->bytes - of_one_member(site);
    return site->operation == SG_OPERATION_REDUCE ? of_one_member(site) : 0;
}

static struct sg_call_figures own_figures(const struct sg_report_site *site)
{
    return (struct sg_call_figures){.calls = site->calls,
                                    .carried_out = site->calls,
                                    .time_ns = site->own.sum_ns,
                                    .min_ns = site->own.min_ns,
                                    .max_ns = site->own.max_ns,
                                    .square = site->own.square,
                                    .sent_bytes = sent_bytes(site),
                                    .received_bytes = received_bytes(site),
                                    .completed = site->latency.calls,
                                    .latency_ns = site->latency.sum_ns,
                                    .latency_min_ns = site->latency.min_ns,
                                    .latency_max_ns = site->latency.max_ns};
}

/* They are filtered already. */
static enum sg_status add_own(struct sg_call_table *table, const struct sg_report_site *site)
{
    const struct sg_call_figures figures = own_figures(site);
    struct sg_call_place place = {.site = site->site};
    struct sg_gathered_row *row;
    enum sg_status status =
        sg_call_table_function(table,
                               (site->nonblocking ? sg_operation_nonblocking_regions
                                                  : sg_operation_regions)[site->operation],
                               &place.function);

    if (status == SG_OK)
        status = sg_call_table_comm(table, site->comm, site->comm_size, &place.comm);
    if (status == SG_OK)
        status = sg_call_table_row(table, &place, &row);
    if (status == SG_OK) {
        row->is_left_out = false;
        sg_call_figures_add(&row->figures, &figures);
    }
    return status;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static int order_of(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_rows(const void *left, const void *right)
{
    const struct sg_call_row *a = left, *b = right;
    int order = order_of(b->of.time_ns, a->of.time_ns);

    if (order == 0)
        order = order_of(b->of.calls, a->of.calls);
    if (order == 0)
        order = strcmp(a->function, b->function);
    if (order == 0)
        order = order_of(a->place.id, b->place.id);
    if (order == 0 && a->place.comm != NULL && b->place.comm != NULL)
        order = strcmp(a->place.comm, b->place.comm);
    return order != 0 ? order : order_of(a->place.comm_size, b->place.comm_size);
}

static int compare_pairs(const void *left, const void *right)
{
    const struct sg_call_pair *a = left, *b = right;
    int order = order_of(b->bytes, a->bytes);

    if (order == 0)
        order = order_of(b->messages, a->messages);
    if (order == 0)
        order = order_of(a->from, b->from);
    return order != 0 ? order : order_of(a->to, b->to);
}

static void finish_figures(struct sg_call_row *row)
{
    const struct sg_call_figures *of = &row->of;
    double calls = (double)of->calls, variance;

    row->is_carried_out = of->carried_out == of->calls;
    row->mean_ns = (double)of->time_ns / calls;
    row->latency_ns = of->completed > 0 ? (double)of->latency_ns / (double)of->completed : NAN;
    variance = of->square / calls - row->mean_ns * row->mean_ns;
    /* What is left of two great numbers may be a little below zero, and a damaged one anything. */
    row->deviation_ns = isfinite(variance) ? sqrt(fmax(variance, 0)) : NAN;
}

/* Leaves out what has no calls, finishes the rest and sorts it. */
static void finish_rows(struct sg_call_row *rows, uint32_t *count)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < *count; i++) {
        if (rows[i].of.calls == 0)
            continue;
        rows[kept] = rows[i];
        finish_figures(&rows[kept++]);
    }
    *count = kept;
    qsort(rows, kept, sizeof *rows, compare_rows);
}

static void add_to_site(struct sg_call_row *site, const struct sg_call_row *row)
{
    uint32_t comms = site->place.comms + row->place.comms;

    if (site->of.calls == 0) {
        *site = *row;
        return;
    }
    if (site->place.comms == 0) {
        site->place.comm = row->place.comm;
        site->place.comm_size = row->place.comm_size;
    } else if (row->place.comms > 0) {
        site->place.comm = NULL;
        if (site->place.comm_size != row->place.comm_size)
            site->place.comm_size = 0;
    }
    site->place.comms = comms;
    sg_call_figures_add(&site->of, &row->of);
}

static enum sg_status make_rows(const struct sg_call_table *table, struct sg_calls *calls)
{
    calls->rows = calloc((size_t)table->row_count + 1, sizeof *calls->rows);
    calls->sites = calloc((size_t)table->sum_count + 1, sizeof *calls->sites);
    calls->functions = calloc((size_t)table->functions.count + 1, sizeof *calls->functions);
    if (calls->rows == NULL || calls->sites == NULL || calls->functions == NULL)
        return SG_ERR_MEMORY;
    calls->site_count = table->sum_count;
    calls->function_count = table->functions.count;
    for (uint32_t i = 0; i < table->row_count; i++) {
        const struct sg_gathered_row *from = &table->rows[i];
        struct sg_call_row *row = &calls->rows[calls->row_count];
        struct sg_call_row *function = &calls->functions[from->place.function];

        if (from->is_left_out || from->figures.calls == 0)
            continue;
        calls->row_count++;
        row->function = function->function = table->functions.of[from->place.function].text;
        row->of = from->figures;
        sg_call_table_name(table, &from->place, &row->place);
        add_to_site(&calls->sites[from->sum], row);
        sg_call_figures_add(&function->of, &row->of);
    }
    finish_rows(calls->rows, &calls->row_count);
    finish_rows(calls->sites, &calls->site_count);
    finish_rows(calls->functions, &calls->function_count);
    return SG_OK;
}

/* ---- messages and shares --------------------------------------------------------------------- */

static uint64_t greater_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void take_messages(struct sg_call_table *table, struct sg_calls *calls)
{
    calls->pairs = table->pairs;
    calls->pair_count = table->pair_count;
    table->pairs = NULL;
    table->pair_count = 0;
    for (uint32_t i = 0; i < calls->pair_count; i++) {
        struct sg_call_pair *pair = &calls->pairs[i];

        pair->messages = greater_of(pair->sent_messages, pair->received_messages);
        pair->bytes = greater_of(pair->sent_bytes, pair->received_bytes);
    }
    if (calls->pair_count > 0)
        qsort(calls->pairs, calls->pair_count, sizeof *calls->pairs, compare_pairs);
    calls->other_messages = table->other_messages;
    calls->other_bytes = table->other_bytes;
    calls->one_sided = table->one_sided;
    table->one_sided = (struct sg_call_targets){0};
    sg_call_targets_sort(&calls->one_sided);
}

static uint64_t processor_ns(const struct sg_gathered_rank *gathered,
                             const struct sg_report_rank *rank)
{
    uint32_t threads = (uint32_t)__builtin_popcountll(gathered->callers | 1);

    return rank->run_ns * (threads > rank->threads ? threads : rank->threads);
}

static void share_out(const struct sg_call_table *table, const struct sg_report *report,
                      struct sg_calls *calls)
{
    bool is_first = true;

    for (uint32_t i = 0; i < table->rank_count; i++) {
        const struct sg_report_rank *rank = &report->ranks[i];
        uint64_t own_ns =
            rank->blocked_ns > rank->exposed_ns ? rank->blocked_ns - rank->exposed_ns : 0;
        uint64_t time_ns = table->ranks[i].time_ns + own_ns;
        uint64_t all_ns = processor_ns(&table->ranks[i], rank);
        double share = all_ns > 0 ? (double)time_ns / (double)all_ns : 0;

        if (!table->ranks[i].is_seen)
            continue;
        calls->time_ns += time_ns;
        calls->processor_ns += all_ns;
        if (all_ns > 0 && (is_first || share < calls->least_share)) {
            calls->least_rank = i;
            calls->least_share = share;
        }
        if (all_ns > 0 && (is_first || share > calls->greatest_share)) {
            calls->greatest_rank = i;
            calls->greatest_share = share;
        }
        is_first = is_first && all_ns == 0;
    }
}

static void take_mmds(struct sg_call_table *table, struct sg_calls *calls)
{
    calls->mmds = table->mmds;
    table->mmds = (struct sg_mmds){0};
    for (uint32_t i = 0; i < calls->mmds.distribution_count; i++) {
        struct sg_mmds_distribution *distribution = &calls->mmds.distributions[i];

        distribution->primitive = sg_mmds_is_of_function(distribution->of)
                                      ? table->functions.of[distribution->function].text
                                      : sg_mmds_names[distribution->of];
    }
}

/* The function with the most time at a site, as rows come in this order. */
static const char *function_at(const void *context, uint32_t site)
{
    const struct sg_calls *calls = context;

    for (uint32_t i = 0; i < calls->site_count; i++) {
        if (calls->sites[i].place.site == site)
            return calls->sites[i].function;
    }
    return "MPI";
}

/* ---- the result ------------------------------------------------------------------------------ */

static bool is_any_seen(const struct sg_call_table *table)
{
    for (uint32_t i = 0; i < table->rank_count; i++) {
        if (table->ranks[i].is_seen)
            return true;
    }
    return false;
}

enum sg_status sg_call_table_finish(struct sg_call_table *table, const struct sg_report *report,
                                    struct sg_calls **out)
{
    struct sg_calls *calls;
    enum sg_status status = SG_OK;

    *out = NULL;
    if (!is_any_seen(table)) {
        sg_call_table_destroy(table);
        return SG_OK;
    }
    calls = calloc(1, sizeof *calls);
    if (calls == NULL) {
        sg_call_table_destroy(table);
        return SG_ERR_MEMORY;
    }
    calls->table = table;
    calls->rank_count = table->rank_count;
    for (uint32_t i = 0; i < report->site_count && status == SG_OK; i++)
        status = add_own(table, &report->sites[i]);
    if (status == SG_OK)
        status = make_rows(table, calls);
    if (status == SG_OK)
        status = sg_slices_finish(&table->slices);
    if (status == SG_OK)
        status = sg_before_sums_finish(table->before, table->aggregate, table->filter, function_at,
                                       calls, &calls->before);
    if (status != SG_OK) {
        sg_calls_free(calls);
        return status;
    }
    take_messages(table, calls);
    take_mmds(table, calls);
    calls->slices = table->slices;
    table->slices = (struct sg_slice_set){0};
    share_out(table, report, calls);
    *out = calls;
    return SG_OK;
}

void sg_calls_free(struct sg_calls *calls)
{
    if (calls == NULL)
        return;
    sg_call_table_destroy(calls->table);
    free(calls->functions);
    free(calls->sites);
    free(calls->rows);
    free(calls->pairs);
    sg_call_targets_clear(&calls->one_sided);
    sg_mmds_clear(&calls->mmds);
    sg_slices_clear(&calls->slices);
    sg_before_free(calls->before);
    free(calls);
}
