/* From the aggregate to the rows of the report. */
#include "report/aggregate_impl.h"

#include <stdlib.h>
#include <string.h>

/* ---- the report -------------------------------------------------------------------------------
 */

char *sg_aggregate_join(const struct sg_aggregate *aggregate, const uint32_t *algorithms,
                        uint32_t count)
{
    size_t size_bytes = 1;
    char *text, *end;

    for (uint32_t i = 0; i < count; i++)
        size_bytes += strlen(aggregate->algorithms[algorithms[i]]) + 1;
    text = malloc(size_bytes);
    if (text == NULL)
        return NULL;
    *text = '\0';
    end = text;
    for (uint32_t i = 0; i < count; i++) {
        const char *name = aggregate->algorithms[algorithms[i]];

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

        /* Of equals the lowest world rank, whatever the order in the communicator. */
        if (count > site->last_count ||
            (count == site->last_count && count > 0 && row->last_ranks[i] < site->last_rank)) {
            site->last_count = count;
            site->last_rank = row->last_ranks[i];
        }
    }
}

void sg_aggregate_name_row(const struct sg_aggregate *aggregate, const struct sg_row *row,
                           struct sg_report_site *out)
{
    const struct sg_site *site = &aggregate->sites[row->site];
    const struct sg_comm *comm = &aggregate->comms[row->comm];

    out->site = row->site;
    out->id = site->id;
    out->has_id = site->has_id;
    out->operation = row->operation;
    out->nonblocking = row->nonblocking;
    out->function = site->function;
    out->file = site->file;
    out->module = site->module;
    out->line = site->line;
    out->offset = site->offset;
    out->comm = comm->name;
    out->comm_size = comm->size;
    out->comm_index = row->comm;
    out->comms = 1;
    out->worst_comm = comm->name;
    out->worst_comm_size = comm->size;
}

static bool finish_row(const struct sg_aggregate *aggregate, struct sg_row *row,
                       struct sg_report_site *out)
{
    *out = row->events;
    out->row = (uint32_t)(row - aggregate->rows);
    sg_aggregate_name_row(aggregate, row, out);
    out->calls = out->event_calls;
    if (row->totals.calls >= out->calls) {
        out->calls = row->totals.calls;
        out->bytes = row->totals.bytes;
        out->blocked_ns = row->totals.blocked_ns;
        out->counts = row->totals.counts;
        out->hidden_ns = row->totals.hidden_ns;
        out->handler_ns = row->totals.handler_ns;
    }
    out->skew_p50_ns = sg_quantiles_get(&row->skews, 0.50);
    out->skew_p95_ns = sg_quantiles_get(&row->skews, 0.95);
    find_last(aggregate, row, out);
    out->algorithm = sg_aggregate_join(aggregate, row->algorithms, row->algorithm_count);
    return out->algorithm != NULL;
}

/* What came late may be all that is left of a row's calls. */
static bool has_calls(const struct sg_row *row)
{
    return !row->left_out && (row->events.event_calls > 0 || row->totals.calls > 0);
}

/* What was late where there are no calls was so for posts. It spared them no wait that their
 * arrivals do not tell of already. */
static void move_late(struct sg_aggregate *aggregate)
{
    for (uint32_t i = 0; i < aggregate->row_count; i++) {
        const struct sg_row *row = &aggregate->rows[i];
        int64_t posts = has_calls(row) ? -1
                                       : sg_map_get(&aggregate->row_by_key[true][row->operation],
                                                    sg_row_key(row->site, row->comm));

        if (posts >= 0 && posts != i)
            aggregate->rows[posts].events.handler_ns += row->events.handler_ns;
    }
}

static void name_trial(const struct sg_aggregate *aggregate, struct sg_report_trial *trial)
{
    const struct sg_site *site = &aggregate->sites[trial->site];

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

enum sg_status sg_aggregate_finish(struct sg_aggregate *aggregate, struct sg_report *report)
{
    report->strings = aggregate;
    report->ranks = calloc(aggregate->rank_count + 1, sizeof *report->ranks);
    report->sites = calloc((size_t)aggregate->row_count + 1, sizeof *report->sites);
    if (report->ranks == NULL || report->sites == NULL)
        return SG_ERR_MEMORY;
    report->rank_count = aggregate->rank_count;
    move_late(aggregate);
    for (uint32_t i = 0; i < aggregate->rank_count; i++) {
        const struct sg_rank *rank = &aggregate->ranks[i];

        report->ranks[i].run_ns = rank->run_ns;
        report->ranks[i].blocked_ns = rank->total_calls >= rank->event_calls
                                          ? rank->total_blocked_ns
                                          : rank->event_blocked_ns;
        report->ranks[i].calls =
            rank->total_calls >= rank->event_calls ? rank->total_calls : rank->event_calls;
        report->ranks[i].wait_ns = rank->wait_ns;
        report->ranks[i].last_count = rank->last_count;
        report->ranks[i].threads = count_threads(rank);
        if (sg_filter_takes_rank(aggregate->filter, i))
            report->ranks_run_ns += sg_rank_processor_ns(&report->ranks[i]);
        if (rank->run_ns > report->run_ns)
            report->run_ns = rank->run_ns;
    }
    for (uint32_t i = 0; i < aggregate->row_count; i++) {
        if (!has_calls(&aggregate->rows[i]))
            continue;
        if (!finish_row(aggregate, &aggregate->rows[i], &report->sites[report->site_count]))
            return SG_ERR_MEMORY;
        report->site_count++;
    }
    if (sg_aggregate_finish_sums(aggregate, report) != SG_OK)
        return SG_ERR_MEMORY;
    if (sg_trials_finish(aggregate->trials, &report->trials, &report->trial_count) != SG_OK)
        return SG_ERR_MEMORY;
    for (uint32_t i = 0; i < report->trial_count; i++)
        name_trial(aggregate, &report->trials[i]);
    report->filter = aggregate->filter;
    report->clock_violations = aggregate->violations;
    report->largest_violation_ns = aggregate->largest_violation_ns;
    return SG_OK;
}
