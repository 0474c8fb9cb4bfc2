/* Turns the aggregate into the report: a row for each call site, communicator and operation, and
 * their sums over communicators, because the cost of a call site does not depend on the number of
 * communicators that it is called on.
 *
 * In a sum, figures add up, quantiles are of all instances together, and the last rank is counted
 * by rank in MPI_COMM_WORLD.
 */
#include "core/room.h"
#include "report/aggregate.h"
#include "report/rule_use.h"

#include <stdlib.h>
#include <string.h>

/* ---- rows ------------------------------------------------------------------------------------ */

/* Joins the names of algorithms, in this order, with '+'. The result is malloc'ed; NULL: out of
 * memory. */
static char *join(const struct sg_aggregate *aggregate, const uint32_t *algorithms, uint32_t count)
{
    size_t size_bytes = 1;
    char *text, *end;

    for (uint32_t i = 0; i < count; i++)
        size_bytes += strlen(aggregate->algorithms.of[algorithms[i]]) + 1;
    text = malloc(size_bytes);
    if (text == NULL)
        return NULL;
    *text = '\0';
    end = text;
    for (uint32_t i = 0; i < count; i++) {
        const char *name = aggregate->algorithms.of[algorithms[i]];

        if (end != text && name[0] != '\0')
            *end++ = '+';
        end = stpcpy(end, name);
    }
    return text;
}

static void find_last(const struct sg_aggregate *aggregate, const struct sg_row *row,
                      struct sg_report_site *site)
{
    site->last_rank = -1;
    if (row->last_counts == NULL)
        return;
    for (uint32_t i = 0; i < aggregate->comms[row->comm].size; i++) {
        uint64_t count = row->last_counts[i];

        /* On a tie take the lowest world rank, whatever the order in the communicator. */
        if (count > site->last_count ||
            (count == site->last_count && count > 0 && row->last_ranks[i] < site->last_rank)) {
            site->last_count = count;
            site->last_rank = row->last_ranks[i];
        }
    }
}

static bool finish_row(const struct sg_aggregate *aggregate, struct sg_row *row,
                       struct sg_report_site *out)
{
    *out = row->events;
    sg_aggregate_name_row(aggregate, (uint32_t)(row - aggregate->rows), out);
    out->calls = out->event_calls;
    if (row->totals.calls >= out->calls) {
        out->calls = row->totals.calls;
        out->bytes = row->totals.bytes;
        out->blocked_ns = row->totals.blocked_ns;
        out->blocked_max_ns = row->totals.blocked_max_ns;
        out->own = row->totals.own;
        out->latency = row->totals.latency;
        out->counts = row->totals.counts;
        out->hidden_ns = row->totals.hidden_ns;
        out->handler_ns = row->totals.handler_ns;
    }
    out->skew_p50_ns = sg_quantiles_get(&row->skews, 0.50);
    out->skew_p95_ns = sg_quantiles_get(&row->skews, 0.95);
    find_last(aggregate, row, out);
    out->algorithm = join(aggregate, row->algorithms, row->algorithm_count);
    return out->algorithm != NULL;
}

/* A row may have late contributions but no calls. */
static bool has_calls(const struct sg_row *row)
{
    return !row->left_out && (row->events.event_calls > 0 || row->totals.calls > 0);
}

/* A late contribution at a call site without blocking calls belongs to its nonblocking calls. It
 * spared them no wait beyond what their arrivals already show. */
static void move_late(struct sg_aggregate *aggregate)
{
    for (uint32_t i = 0; i < aggregate->row_count; i++) {
        const struct sg_row *row = &aggregate->rows[i];
        int64_t sum =
            sg_map_get(&aggregate->sum_by_key, sg_sum_key(row->site, row->operation, true));
        int64_t posts = sum < 0 || has_calls(row)
                            ? -1
                            : sg_map_get(&aggregate->row_by_key, sg_row_key(sum, row->comm));

        if (posts >= 0 && posts != i) {
            aggregate->rows[posts].events.handler_ns += row->events.handler_ns;
            aggregate->rows[posts].events.late_by_signal += row->events.late_by_signal;
        }
    }
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* Working memory that each sum uses in turn. */
struct making {
    const struct sg_aggregate *aggregate;
    struct sg_quantiles skews;
    uint64_t *last_counts; /* by rank in MPI_COMM_WORLD */
    uint32_t *algorithms;  /* in order of use */
    uint32_t algorithm_count;
};

static enum sg_status add_algorithms(struct making *making, const struct sg_row *row)
{
    for (uint32_t i = 0; i < row->algorithm_count; i++) {
        uint32_t known = 0;

        while (known < making->algorithm_count && making->algorithms[known] != row->algorithms[i])
            known++;
        if (known < making->algorithm_count)
            continue;
        if (!SG_APPEND(making->algorithms, making->algorithm_count, row->algorithms[i]))
            return SG_ERR_MEMORY;
    }
    return SG_OK;
}

static void add_figures(struct sg_report_site *sum, const struct sg_report_site *site)
{
    sum->calls += site->calls;
    sum->event_calls += site->event_calls;
    sum->bytes += site->bytes;
    sum->blocked_ns += site->blocked_ns;
    if (site->blocked_max_ns > sum->blocked_max_ns)
        sum->blocked_max_ns = site->blocked_max_ns;
    sg_call_times_add(&sum->own, &site->own);
    sg_call_times_add(&sum->latency, &site->latency);
    sg_counts_add_all(&sum->counts, &site->counts);
    sum->handler_ns += site->handler_ns;
    sum->hidden_ns += site->hidden_ns;
    sum->wait_ns += site->wait_ns;
    sum->wait_avoided_ns += site->wait_avoided_ns;
    sum->completion_ns += site->completion_ns;
    sum->ran_ahead += site->ran_ahead;
    sum->late_by_signal += site->late_by_signal;
    sum->exposed_ns += site->exposed_ns;
    sum->skew_sum_ns += site->skew_sum_ns;
    if (site->instances > 0 && (sum->instances == 0 || site->skew_max_ns > sum->skew_max_ns)) {
        sum->skew_max_ns = site->skew_max_ns;
        sum->worst_seq = site->worst_seq;
        sum->worst_time_ns = site->worst_time_ns;
        sum->worst_comm = site->worst_comm;
        sum->worst_comm_size = site->worst_comm_size;
    }
    sum->instances += site->instances;
}

static enum sg_status add_to_sum(struct making *making, const struct sg_report_site *site,
                                 struct sg_report_site *sum)
{
    const struct sg_row *row = &making->aggregate->rows[site->row];
    enum sg_status status;

    if (sum->comms++ == 0) {
        sg_aggregate_name_row(making->aggregate, site->row, sum);
        sum->row = row->sum;
    } else {
        sum->comm = NULL;
        if (sum->comm_parent == NULL || site->comm_parent == NULL ||
            strcmp(sum->comm_parent, site->comm_parent) != 0)
            sum->comm_parent = NULL;
        if (sum->comm_size != site->comm_size)
            sum->comm_size = 0;
    }
    add_figures(sum, site);
    for (uint32_t i = 0; row->last_counts != NULL && i < site->comm_size; i++)
        making->last_counts[row->last_ranks[i]] += row->last_counts[i];
    status = sg_quantiles_merge(&making->skews, &row->skews);
    return status == SG_OK ? add_algorithms(making, row) : status;
}

/* Resets the counts to zero for the next sum. */
static void find_last_of_sum(struct making *making, struct sg_report_site *sum)
{
    sum->last_rank = -1;
    for (uint32_t rank = 0; rank < making->aggregate->rank_count; rank++) {
        if (making->last_counts[rank] > sum->last_count) {
            sum->last_count = making->last_counts[rank];
            sum->last_rank = rank;
        }
        making->last_counts[rank] = 0;
    }
}

static enum sg_status finish_sum(struct making *making, struct sg_report_site *sum)
{
    sum->skew_p50_ns = sg_quantiles_get(&making->skews, 0.50);
    sum->skew_p95_ns = sg_quantiles_get(&making->skews, 0.95);
    find_last_of_sum(making, sum);
    sum->algorithm = join(making->aggregate, making->algorithms, making->algorithm_count);
    sg_quantiles_clear(&making->skews);
    free(making->algorithms);
    making->algorithms = NULL;
    making->algorithm_count = 0;
    return sum->algorithm != NULL ? SG_OK : SG_ERR_MEMORY;
}

struct ordered {
    uint32_t sum, site;
};

static int compare_ordered(const void *left, const void *right)
{
    const struct ordered *a = left, *b = right;

    if (a->sum != b->sum)
        return a->sum < b->sum ? -1 : 1;
    return (a->site > b->site) - (a->site < b->site);
}

static enum sg_status finish_sums(const struct sg_aggregate *aggregate, struct sg_report *report)
{
    struct making making = {
        .aggregate = aggregate,
        .last_counts = calloc((size_t)aggregate->rank_count + 1, sizeof *making.last_counts)};
    struct ordered *order = calloc((size_t)report->site_count + 1, sizeof *order);
    enum sg_status status = SG_ERR_MEMORY;

    report->sums = calloc((size_t)aggregate->sum_count + 1, sizeof *report->sums);
    if (making.last_counts == NULL || order == NULL || report->sums == NULL)
        goto out;
    for (uint32_t i = 0; i < report->site_count; i++)
        order[i] = (struct ordered){aggregate->rows[report->sites[i].row].sum, i};
    qsort(order, report->site_count, sizeof *order, compare_ordered);
    status = SG_OK;
    for (uint32_t i = 0; i < report->site_count && status == SG_OK; i++) {
        struct sg_report_site *sum = &report->sums[report->sum_count];
        bool is_last = i + 1 == report->site_count || order[i + 1].sum != order[i].sum;

        status = add_to_sum(&making, &report->sites[order[i].site], sum);
        if (status == SG_OK && is_last)
            status = finish_sum(&making, sum);
        if (status == SG_OK && is_last)
            report->sum_count++;
    }
out:
    sg_quantiles_clear(&making.skews);
    free(making.algorithms);
    free(making.last_counts);
    free(order);
    return status;
}

/* ---- the report ------------------------------------------------------------------------------ */

static void name_trial(const struct sg_aggregate *aggregate, struct sg_report_trial *trial)
{
    const struct sg_known_site *site = &aggregate->sites[trial->site];

    trial->id = site->id;
    trial->has_id = site->has_id;
    trial->function = site->function;
    trial->file = site->file;
    trial->module = site->module;
    trial->line = site->line;
    trial->offset = site->offset;
}

static uint32_t count_threads(const struct sg_rank *rank)
{
    uint32_t callers = (uint32_t)__builtin_popcountll(rank->callers | 1);

    return callers > rank->threads ? callers : rank->threads;
}

static uint64_t threads_ns(const struct sg_rank *rank, uint32_t threads, uint64_t blocked_ns)
{
    uint64_t all_ns = rank->run_ns * (threads - rank->short_threads) + rank->short_ns;

    return all_ns > blocked_ns ? all_ns : blocked_ns;
}

static void finish_ranks(const struct sg_aggregate *aggregate, struct sg_report *report)
{
    for (uint32_t i = 0; i < aggregate->rank_count; i++) {
        const struct sg_rank *rank = &aggregate->ranks[i];
        bool has_totals = rank->total_calls >= rank->event_calls;

        report->ranks[i].run_ns = rank->run_ns;
        report->ranks[i].ends_ns = rank->ends_ns;
        report->ranks[i].open_ns = rank->open_ns;
        report->ranks[i].blocked_ns = has_totals ? rank->total_blocked_ns : rank->event_blocked_ns;
        report->ranks[i].exposed_ns = has_totals ? rank->total_exposed_ns : rank->event_exposed_ns;
        report->ranks[i].calls = has_totals ? rank->total_calls : rank->event_calls;
        report->ranks[i].wait_ns = rank->wait_ns;
        report->ranks[i].last_count = rank->last_count;
        report->ranks[i].threads = count_threads(rank);
        report->ranks[i].thread_ns =
            threads_ns(rank, report->ranks[i].threads, report->ranks[i].blocked_ns);
        if (sg_filter_takes_rank(aggregate->filter, i))
            report->ranks_run_ns += report->ranks[i].thread_ns;
        if (rank->run_ns > report->run_ns)
            report->run_ns = rank->run_ns;
    }
}

enum sg_status sg_aggregate_finish(struct sg_aggregate *aggregate, struct sg_report *report)
{
    report->strings = aggregate;
    report->ranks = calloc(aggregate->rank_count + 1, sizeof *report->ranks);
    report->sites = calloc((size_t)aggregate->row_count + 1, sizeof *report->sites);
    if (report->ranks == NULL || report->sites == NULL)
        return SG_ERR_MEMORY;
    report->rank_count = aggregate->rank_count;
    move_late(aggregate);
    finish_ranks(aggregate, report);
    for (uint32_t i = 0; i < aggregate->row_count; i++) {
        if (!has_calls(&aggregate->rows[i]))
            continue;
        if (!finish_row(aggregate, &aggregate->rows[i], &report->sites[report->site_count]))
            return SG_ERR_MEMORY;
        add_figures(&report->total, &report->sites[report->site_count++]);
    }
    if (finish_sums(aggregate, report) != SG_OK ||
        sg_trials_finish(aggregate->trials, &report->trials, &report->trial_count) != SG_OK)
        return SG_ERR_MEMORY;
    for (uint32_t i = 0; i < report->trial_count; i++)
        name_trial(aggregate, &report->trials[i]);
    if (aggregate->rules != NULL && sg_rule_uses_finish(aggregate->rules, report) != SG_OK)
        return SG_ERR_MEMORY;
    report->filter = aggregate->filter;
    report->clock_violations = aggregate->violations;
    report->largest_violation_ns = aggregate->largest_violation_ns;
    return SG_OK;
}
