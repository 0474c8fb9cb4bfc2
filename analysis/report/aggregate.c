#include "report/aggregate.h"

#include "core/room.h"
#include "report/quantiles.h"
#include "report/rule_use.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define NO_SITE_KEY (UINT64_C(1) << 32) /* ids have 32 bits */

enum sg_status sg_aggregate_create(uint32_t ranks, struct sg_aggregate **out)
{
    struct sg_aggregate *aggregate = calloc(1, sizeof *aggregate);

    if (aggregate == NULL)
        return SG_ERR_MEMORY;
    aggregate->ranks = calloc(ranks ? ranks : 1, sizeof *aggregate->ranks);
    if (aggregate->ranks == NULL || sg_trials_create(&aggregate->trials) != SG_OK) {
        free(aggregate->ranks);
        free(aggregate);
        return SG_ERR_MEMORY;
    }
    aggregate->rank_count = ranks;
    *out = aggregate;
    return SG_OK;
}

void sg_aggregate_destroy(struct sg_aggregate *aggregate)
{
    if (aggregate == NULL)
        return;
    for (uint32_t i = 0; i < aggregate->site_count; i++) {
        free(aggregate->sites[i].function);
        free(aggregate->sites[i].file);
        free(aggregate->sites[i].module);
    }
    for (uint32_t i = 0; i < aggregate->comm_count; i++) {
        free(aggregate->comms[i].name);
        free(aggregate->comms[i].parent);
    }
    for (uint32_t i = 0; i < aggregate->row_count; i++) {
        free(aggregate->rows[i].last_counts);
        free(aggregate->rows[i].last_ranks);
        free(aggregate->rows[i].algorithms);
        sg_quantiles_clear(&aggregate->rows[i].skews);
    }
    sg_map_clear(&aggregate->row_by_key);
    sg_map_clear(&aggregate->sum_by_key);
    sg_map_clear(&aggregate->site_by_id);
    sg_trials_destroy(aggregate->trials);
    sg_rule_uses_destroy(aggregate->rules);
    free(aggregate->sites);
    free(aggregate->comms);
    sg_names_clear(&aggregate->algorithms);
    free(aggregate->rows);
    free(aggregate->ranks);
    free(aggregate->costs);
    free(aggregate->cost_rows);
    free(aggregate);
}

uint32_t sg_aggregate_ranks(const struct sg_aggregate *aggregate)
{
    return aggregate->rank_count;
}

struct sg_trials *sg_aggregate_trials(struct sg_aggregate *aggregate)
{
    return aggregate->trials;
}

void sg_aggregate_watch(struct sg_aggregate *aggregate, const struct sg_watch *watch)
{
    aggregate->watch = watch;
    aggregate->filter = watch != NULL ? watch->filter : NULL;
}

enum sg_status sg_aggregate_read_rules(struct sg_aggregate *aggregate, const char *path,
                                       const struct sg_run_waiting *waiting)
{
    if (aggregate->watch == NULL || !aggregate->watch->rules || aggregate->filter != NULL)
        return SG_OK;
    return sg_rule_uses_create(path, waiting, aggregate->rank_count, &aggregate->rules);
}

void sg_aggregate_name_site(const struct sg_aggregate *aggregate, uint32_t site,
                            struct sg_report_site *out)
{
    const struct sg_known_site *of = &aggregate->sites[site];

    out->site = site;
    out->id = of->id;
    out->has_id = of->has_id;
    out->function = of->function;
    out->file = of->file;
    out->module = of->module;
    out->line = of->line;
    out->offset = of->offset;
}

void sg_aggregate_name_row(const struct sg_aggregate *aggregate, uint32_t row,
                           struct sg_report_site *out)
{
    const struct sg_row *of = &aggregate->rows[row];

    sg_aggregate_name_site(aggregate, of->site, out);
    sg_aggregate_name_comm(aggregate, of->comm, out);
    out->row = row;
    out->operation = of->operation;
    out->nonblocking = of->nonblocking;
}

uint32_t sg_aggregate_sum_of(const struct sg_aggregate *aggregate, uint32_t row)
{
    return aggregate->rows[row].sum;
}

const char *sg_aggregate_algorithm_name(const struct sg_aggregate *aggregate, uint32_t algorithm)
{
    return aggregate->algorithms.of[algorithm];
}

/* ---- sites, algorithms ------------------------------------------------------- */

/* Keeps the first text that is not empty. False: out of memory. */
static bool take_text(char **into, const char *text)
{
    if (*into == NULL && text != NULL && text[0] != '\0') {
        *into = strdup(text);
        return *into != NULL;
    }
    return true;
}

enum sg_status sg_aggregate_site(struct sg_aggregate *aggregate, const struct sg_site_text *text,
                                 uint32_t *out)
{
    uint64_t key = text != NULL ? text->id : NO_SITE_KEY;
    int64_t found = sg_map_get(&aggregate->site_by_id, key);
    struct sg_known_site *site;

    if (found < 0) {
        found = aggregate->site_count;
        if (!SG_APPEND(aggregate->sites, aggregate->site_count,
                       (struct sg_known_site){.has_id = text != NULL, .id = (uint32_t)key}) ||
            sg_map_put(&aggregate->site_by_id, key, (uint32_t)found) != SG_OK)
            return SG_ERR_MEMORY;
    }
    site = &aggregate->sites[found];
    if (text != NULL) {
        if (site->module == NULL)
            site->offset = text->offset;
        if (site->file == NULL)
            site->line = text->line;
        if (!take_text(&site->function, text->function) || !take_text(&site->file, text->file) ||
            !take_text(&site->module, text->module))
            return SG_ERR_MEMORY;
    }
    *out = (uint32_t)found;
    return SG_OK;
}

bool sg_aggregate_knows_site(const struct sg_aggregate *aggregate, uint32_t id, uint32_t *out)
{
    int64_t found = sg_map_get(&aggregate->site_by_id, id);

    if (found < 0 || aggregate->sites[found].function == NULL ||
        aggregate->sites[found].module == NULL)
        return false;
    *out = (uint32_t)found;
    return true;
}

enum sg_status sg_aggregate_algorithm(struct sg_aggregate *aggregate, const char *name,
                                      uint32_t *out)
{
    return sg_names_number(&aggregate->algorithms, name, out);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Finds or adds the sum over communicators for a call site and an operation. Returns its index; -1:
 * out of memory. */
static int64_t find_sum(struct sg_aggregate *aggregate, uint32_t site, enum sg_operation operation,
                        bool nonblocking)
{
    uint64_t key = sg_sum_key(site, operation, nonblocking);
    int64_t found = sg_map_get(&aggregate->sum_by_key, key);

    if (found >= 0)
        return found;
    if (sg_map_put(&aggregate->sum_by_key, key, aggregate->sum_count) != SG_OK)
        return -1;
    return aggregate->sum_count++;
}

static enum sg_status find_row(struct sg_aggregate *aggregate, uint32_t site, uint32_t comm,
                               enum sg_operation operation, bool nonblocking, struct sg_row **out)
{
    int64_t sum = find_sum(aggregate, site, operation, nonblocking);
    int64_t found = sg_map_get(&aggregate->row_by_key, sg_row_key(sum, comm));

    if (sum < 0)
        return SG_ERR_MEMORY;
    if (found < 0) {
        const struct sg_row row = {.site = site,
                                   .comm = comm,
                                   .sum = (uint32_t)sum,
                                   .operation = operation,
                                   .nonblocking = nonblocking};
        struct sg_report_site name;

        found = aggregate->row_count;
        if (!SG_APPEND(aggregate->rows, aggregate->row_count, row) ||
            sg_map_put(&aggregate->row_by_key, sg_row_key(sum, comm), (uint32_t)found) != SG_OK)
            return SG_ERR_MEMORY;
        sg_aggregate_name_row(aggregate, (uint32_t)found, &name);
        aggregate->rows[found].left_out = !sg_filter_takes_row(aggregate->filter, &name);
        if (aggregate->rules != NULL && sg_rule_uses_row(aggregate->rules, &name) != SG_OK)
            return SG_ERR_MEMORY;
    }
    *out = &aggregate->rows[found];
    return SG_OK;
}

static enum sg_status use_algorithm(struct sg_row *row, uint32_t algorithm)
{
    for (uint32_t i = 0; i < row->algorithm_count; i++) {
        if (row->algorithms[i] == algorithm)
            return SG_OK;
    }
    return SG_APPEND(row->algorithms, row->algorithm_count, algorithm) ? SG_OK : SG_ERR_MEMORY;
}

static enum sg_status add_call(struct sg_aggregate *aggregate, const struct sg_instance *instance,
                               const struct sg_measure *measure, uint32_t member)
{
    const struct sg_member_call *call = &instance->calls[member];
    struct sg_rank *rank = &aggregate->ranks[call->rank];
    struct sg_call_measure cost;
    struct sg_row *row;
    enum sg_status status = find_row(aggregate, call->site, instance->comm, instance->operation,
                                     call->nonblocking, &row);

    if (status == SG_OK)
        status = use_algorithm(row, call->algorithm);
    if (status != SG_OK)
        return status;
    sg_measure_call(instance, measure, member, &cost);
    aggregate->costs[member] = cost;
    aggregate->cost_rows[member] = (uint32_t)(row - aggregate->rows);
    if (row->left_out || !sg_filter_takes_rank(aggregate->filter, call->rank))
        return SG_OK;
    if (aggregate->rules != NULL)
        sg_rule_uses_call(aggregate->rules, (uint32_t)(row - aggregate->rows), call->bytes);
    row->events.event_calls++;
    row->events.bytes += call->bytes;
    row->events.blocked_ns += cost.blocked_ns;
    if (cost.blocked_ns > row->events.blocked_max_ns)
        row->events.blocked_max_ns = cost.blocked_ns;
    sg_call_times_add_one(&row->events.own, call->nonblocking ? call->start_ns : cost.blocked_ns);
    if (call->nonblocking)
        sg_call_times_add_one(&row->events.latency, cost.blocked_ns + call->hidden_ns);
    row->events.wait_ns += cost.wait_ns;
    row->events.wait_avoided_ns += cost.avoided_ns;
    row->events.completion_ns += cost.completion_ns;
    row->events.ran_ahead += cost.ran_ahead;
    row->events.exposed_ns += call->exposed_ns;
    row->events.hidden_ns += call->hidden_ns;
    sg_counts_add_all(&row->events.counts, &call->counts);
    rank->event_calls++;
    rank->event_blocked_ns += cost.blocked_ns;
    rank->event_exposed_ns += call->exposed_ns;
    rank->wait_ns += cost.wait_ns;
    rank->callers |= UINT64_C(1) << (call->thread < 63 ? call->thread : 63);
    return SG_OK;
}

/* Returns the call site that most members called from; on a tie, the one that comes first in rank
 * order. */
static uint32_t majority_site(struct sg_aggregate *aggregate, const struct sg_instance *instance)
{
    uint32_t best = instance->calls[0].site;

    for (uint32_t i = 0; i < instance->size; i++)
        aggregate->sites[instance->calls[i].site].votes++;
    for (uint32_t i = 0; i < instance->size; i++) {
        if (aggregate->sites[instance->calls[i].site].votes > aggregate->sites[best].votes)
            best = instance->calls[i].site;
    }
    for (uint32_t i = 0; i < instance->size; i++)
        aggregate->sites[instance->calls[i].site].votes = 0;
    return best;
}

static enum sg_status count_last(struct sg_row *row, const struct sg_instance *instance,
                                 uint32_t last)
{
    if (row->last_counts == NULL) {
        row->last_counts = calloc(instance->size, sizeof *row->last_counts);
        row->last_ranks = calloc(instance->size, sizeof *row->last_ranks);
        if (row->last_counts == NULL || row->last_ranks == NULL)
            return SG_ERR_MEMORY;
    }
    row->last_counts[last]++;
    row->last_ranks[last] = instance->calls[last].rank;
    return SG_OK;
}

static bool make_cost_room(struct sg_aggregate *aggregate, uint32_t members)
{
    struct sg_call_measure *costs;
    uint32_t *rows;

    if (members <= aggregate->cost_room)
        return true;
    costs = realloc(aggregate->costs, members * sizeof *costs);
    if (costs != NULL)
        aggregate->costs = costs;
    rows = realloc(aggregate->cost_rows, members * sizeof *rows);
    if (rows != NULL)
        aggregate->cost_rows = rows;
    if (costs == NULL || rows == NULL)
        return false;
    aggregate->cost_room = members;
    return true;
}

static enum sg_status tell(const struct sg_aggregate *aggregate, const struct sg_instance *instance,
                           const struct sg_measure *measure, const struct sg_row *row)
{
    const struct sg_watch *watch = aggregate->watch;
    const struct sg_seen_instance seen = {.instance = instance,
                                          .measure = measure,
                                          .costs = aggregate->costs,
                                          .rows = aggregate->cost_rows,
                                          .row = (uint32_t)(row - aggregate->rows)};
    enum sg_status status =
        sg_trials_instance(aggregate->trials, &seen, row->site, aggregate->algorithms.of);

    if (status != SG_OK || watch == NULL || watch->instance == NULL)
        return status;
    return watch->instance(watch->context, aggregate, &seen);
}

/* Clock violations count over the whole run, even if the filter takes a part of it. */
static void count_violation(struct sg_aggregate *aggregate, const struct sg_measure *measure)
{
    if (measure->violation_ns > 0)
        aggregate->violations++;
    if (measure->violation_ns > aggregate->largest_violation_ns)
        aggregate->largest_violation_ns = measure->violation_ns;
}

static bool takes_any_rank(const struct sg_aggregate *aggregate, const struct sg_instance *instance)
{
    bool taken = false;

    for (uint32_t i = 0; i < instance->size && !taken; i++)
        taken = sg_filter_takes_rank(aggregate->filter, instance->calls[i].rank);
    return taken;
}

enum sg_status sg_aggregate_instance(struct sg_aggregate *aggregate,
                                     const struct sg_instance *instance)
{
    struct sg_measure measure;
    struct sg_row *row;
    enum sg_status status = SG_OK;

    if (!make_cost_room(aggregate, instance->size))
        return SG_ERR_MEMORY;
    sg_measure_instance(instance, &measure);
    count_violation(aggregate, &measure);
    if (!sg_filter_takes_time(aggregate->filter, measure.first_begin_ns))
        return SG_OK;
    for (uint32_t member = 0; member < instance->size && status == SG_OK; member++)
        status = add_call(aggregate, instance, &measure, member);
    if (status == SG_OK)
        status = find_row(aggregate, majority_site(aggregate, instance), instance->comm,
                          instance->operation, instance->nonblocking, &row);
    if (status == SG_OK && (row->left_out || !takes_any_rank(aggregate, instance)))
        return SG_OK;
    if (status == SG_OK && instance->size > 1)
        status = count_last(row, instance, measure.last);
    if (status == SG_OK && instance->size > 1)
        aggregate->ranks[instance->calls[measure.last].rank].last_count++;
    if (status == SG_OK)
        status = sg_quantiles_add(&row->skews, measure.skew_ns);
    if (status != SG_OK)
        return status;
    if (row->events.instances == 0 || measure.skew_ns > row->events.skew_max_ns) {
        row->events.skew_max_ns = measure.skew_ns;
        row->events.worst_seq = instance->seq;
        row->events.worst_time_ns = measure.first_begin_ns;
    }
    row->events.instances++;
    row->events.skew_sum_ns += measure.skew_ns;
    return tell(aggregate, instance, &measure, row);
}

enum sg_status sg_aggregate_late(struct sg_aggregate *aggregate, const struct sg_late_cost *late)
{
    const struct sg_watch *watch = aggregate->watch;
    struct sg_row *row;
    enum sg_status status =
        find_row(aggregate, late->site, late->comm, late->operation, false, &row);

    if (status != SG_OK || row->left_out || !sg_filter_takes_rank(aggregate->filter, late->rank) ||
        !sg_filter_takes_time(aggregate->filter, late->begin_ns))
        return status;
    row->events.handler_ns += late->handler_ns;
    row->events.wait_avoided_ns += late->avoided_ns;
    row->events.late_by_signal += late->by_signal;
    status = sg_trials_late(aggregate->trials, late);
    if (status != SG_OK)
        return status;
    if (watch == NULL || watch->late == NULL)
        return SG_OK;
    return watch->late(watch->context, aggregate, late, (uint32_t)(row - aggregate->rows));
}

enum sg_status sg_aggregate_totals(struct sg_aggregate *aggregate, const struct sg_totals *totals)
{
    struct sg_row *row;
    enum sg_status status = find_row(aggregate, totals->site, totals->comm, totals->operation,
                                     totals->nonblocking, &row);

    assert(totals->rank < aggregate->rank_count);
    if (status == SG_OK)
        status = use_algorithm(row, totals->algorithm);
    if (status != SG_OK || row->left_out ||
        !sg_filter_takes_rank(aggregate->filter, totals->rank) ||
        (aggregate->filter != NULL && aggregate->filter->time != NULL))
        return status;
    row->totals.calls += totals->calls;
    row->totals.bytes += totals->bytes;
    row->totals.blocked_ns += totals->blocked_ns;
    if (totals->blocked_max_ns > row->totals.blocked_max_ns)
        row->totals.blocked_max_ns = totals->blocked_max_ns;
    sg_call_times_add(&row->totals.own, &totals->own);
    sg_call_times_add(&row->totals.latency, &totals->latency);
    row->totals.hidden_ns += totals->hidden_ns;
    row->totals.handler_ns += totals->handler_ns;
    sg_counts_add_all(&row->totals.counts, &totals->counts);
    aggregate->ranks[totals->rank].total_calls += totals->calls;
    aggregate->ranks[totals->rank].total_blocked_ns += totals->blocked_ns;
    if (totals->blocked_ns > totals->own.sum_ns)
        aggregate->ranks[totals->rank].total_exposed_ns += totals->blocked_ns - totals->own.sum_ns;
    return sg_trials_totals(aggregate->trials, totals, aggregate->algorithms.of);
}

void sg_aggregate_span(struct sg_aggregate *aggregate, uint32_t rank, int64_t begin_ns,
                       int64_t end_ns)
{
    aggregate->ranks[rank].begin_ns = begin_ns;
    aggregate->ranks[rank].end_ns = end_ns;
    sg_aggregate_run_time(aggregate, rank, (uint64_t)end_ns - (uint64_t)begin_ns);
}

void sg_aggregate_open(struct sg_aggregate *aggregate, uint32_t rank, uint64_t open_ns)
{
    aggregate->ranks[rank].open_ns += open_ns;
}

void sg_aggregate_ends(struct sg_aggregate *aggregate, uint32_t rank, uint64_t ends_ns)
{
    if (ends_ns > aggregate->ranks[rank].ends_ns)
        aggregate->ranks[rank].ends_ns = ends_ns;
}

void sg_aggregate_threads(struct sg_aggregate *aggregate, uint32_t rank, uint32_t threads)
{
    if (threads > aggregate->ranks[rank].threads)
        aggregate->ranks[rank].threads = threads;
}

void sg_aggregate_run_time(struct sg_aggregate *aggregate, uint32_t rank, uint64_t run_ns)
{
    assert(rank < aggregate->rank_count);
    if (run_ns > aggregate->ranks[rank].run_ns)
        aggregate->ranks[rank].run_ns = run_ns;
}

/* ---- communicators --------------------------------------------------------------------------- */

enum sg_status sg_aggregate_comm(struct sg_aggregate *aggregate, const char *name, uint32_t size,
                                 int64_t first_rank, uint32_t *out)
{
    struct sg_known_comm comm = {.name = strdup(name), .size = size, .first_rank = first_rank};

    *out = aggregate->comm_count;
    if (comm.name == NULL || !SG_APPEND(aggregate->comms, aggregate->comm_count, comm)) {
        free(comm.name);
        return SG_ERR_MEMORY;
    }
    return SG_OK;
}

enum sg_status sg_aggregate_comm_parent(struct sg_aggregate *aggregate, uint32_t comm,
                                        const char *parent)
{
    if (parent == NULL || aggregate->comms[comm].parent != NULL)
        return SG_OK;
    aggregate->comms[comm].parent = strdup(parent);
    return aggregate->comms[comm].parent != NULL ? SG_OK : SG_ERR_MEMORY;
}

enum sg_status sg_aggregate_find_comm(struct sg_aggregate *aggregate, const char *name,
                                      uint32_t size, int64_t first_rank, uint32_t nth,
                                      uint32_t *out)
{
    for (uint32_t i = 0; i < aggregate->comm_count; i++) {
        const struct sg_known_comm *comm = &aggregate->comms[i];

        if (comm->size == size && comm->first_rank == first_rank && strcmp(comm->name, name) == 0 &&
            nth-- == 0) {
            *out = i;
            return SG_OK;
        }
    }
    return sg_aggregate_comm(aggregate, name, size, first_rank, out);
}

void sg_aggregate_name_comm(const struct sg_aggregate *aggregate, uint32_t comm,
                            struct sg_report_site *out)
{
    out->comm = out->worst_comm = aggregate->comms[comm].name;
    out->comm_size = out->worst_comm_size = aggregate->comms[comm].size;
    out->comm_parent = aggregate->comms[comm].parent;
    out->comm_index = comm;
    out->comms = 1;
}
