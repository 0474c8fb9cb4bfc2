/* The rows of each call site and operation, summed over their communicators: what a site costs does
 * not hang on how many communicators it is called on.
 *
 * Figures add up; quantiles are of all instances together, and who is last is counted by rank in
 * MPI_COMM_WORLD.
 */
#include "report/aggregate_impl.h"

#include "core/room.h"

#include <stdlib.h>
#include <string.h>

/* What one sum is made of, used for one after another. */
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
        if (!sg_make_room((void **)&making->algorithms, making->algorithm_count,
                          sizeof *making->algorithms))
            return SG_ERR_MEMORY;
        making->algorithms[making->algorithm_count++] = row->algorithms[i];
    }
    return SG_OK;
}

static void add_figures(struct sg_report_site *sum, const struct sg_report_site *site)
{
    sum->calls += site->calls;
    sum->event_calls += site->event_calls;
    sum->bytes += site->bytes;
    sum->blocked_ns += site->blocked_ns;
    sg_counts_add_all(&sum->counts, &site->counts);
    sum->handler_ns += site->handler_ns;
    sum->hidden_ns += site->hidden_ns;
    sum->wait_ns += site->wait_ns;
    sum->wait_avoided_ns += site->wait_avoided_ns;
    sum->completion_ns += site->completion_ns;
    sum->exposed_ns += site->exposed_ns;
    if (site->instances > 0 && (sum->instances == 0 || site->skew_max_ns > sum->skew_max_ns)) {
        sum->skew_max_ns = site->skew_max_ns;
        sum->worst_seq = site->worst_seq;
        sum->worst_time_ns = site->worst_time_ns;
        sum->worst_comm = site->worst_comm;
        sum->worst_comm_size = site->worst_comm_size;
    }
    sum->instances += site->instances;
}

static enum sg_status add_row(struct making *making, const struct sg_report_site *site,
                              struct sg_report_site *sum)
{
    const struct sg_row *row = &making->aggregate->rows[site->row];
    enum sg_status status;

    if (sum->comms++ == 0) {
        sg_aggregate_name_row(making->aggregate, row, sum);
        sum->row = row->sum;
    } else {
        sum->comm = NULL;
        if (sum->comm_size != site->comm_size)
            sum->comm_size = 0;
    }
    add_figures(sum, site);
    for (uint32_t i = 0; row->last_counts != NULL && i < site->comm_size; i++)
        making->last_counts[row->last_ranks[i]] += row->last_counts[i];
    status = sg_quantiles_merge(&making->skews, &row->skews);
    return status == SG_OK ? add_algorithms(making, row) : status;
}

/* Leaves the counts at zero. */
static void find_last(struct making *making, struct sg_report_site *sum)
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
    find_last(making, sum);
    sum->algorithm =
        sg_aggregate_join(making->aggregate, making->algorithms, making->algorithm_count);
    sg_quantiles_clear(&making->skews);
    free(making->algorithms);
    making->algorithms = NULL;
    making->algorithm_count = 0;
    return sum->algorithm != NULL ? SG_OK : SG_ERR_MEMORY;
}

struct ordered {
    uint32_t sum, site;
};

static int compare(const void *left, const void *right)
{
    const struct ordered *a = left, *b = right;

    if (a->sum != b->sum)
        return a->sum < b->sum ? -1 : 1;
    return (a->site > b->site) - (a->site < b->site);
}

enum sg_status sg_aggregate_finish_sums(const struct sg_aggregate *aggregate,
                                        struct sg_report *report)
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
    qsort(order, report->site_count, sizeof *order, compare);
    status = SG_OK;
    for (uint32_t i = 0; i < report->site_count && status == SG_OK; i++) {
        struct sg_report_site *sum = &report->sums[report->sum_count];
        bool is_last = i + 1 == report->site_count || order[i + 1].sum != order[i].sum;

        status = add_row(&making, &report->sites[order[i].site], sum);
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
