#include "report/aggregate.h"

#include "report/map.h"
#include "report/measure.h"
#include "report/quantile.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define NO_SITE_KEY (UINT64_C(1) << 32) /* ids have 32 bits */

struct site {
    bool has_id;
    uint32_t id;
    uint32_t line;
    uint64_t offset;
    char *function, *file, *module;
    uint32_t votes; /* members of the instance at hand; 0 between instances */
};

struct comm {
    char *name;
    uint32_t size;
    int64_t first_rank;
};

struct row {
    uint32_t site, comm;
    enum sg_operation operation;
    struct sg_report_site events;
    struct sg_totals totals;
    uint64_t *last_counts; /* by rank in the communicator */
    uint32_t *last_ranks;  /* the world ranks behind them */
    struct sg_quantiles skews;
    uint32_t *algorithms; /* in order of use */
    uint32_t algorithm_count;
};

struct rank {
    uint64_t run_ns;
    uint64_t event_calls, event_blocked_ns;
    uint64_t total_calls, total_blocked_ns;
};

struct sg_aggregate {
    struct site *sites;
    struct comm *comms;
    struct row *rows;
    char **algorithms;
    struct rank *ranks;
    uint32_t site_count, comm_count, row_count, algorithm_count, rank_count;
    struct sg_map site_by_id, row_by_key[SG_OPERATION_COUNT];
    uint64_t violations, largest_violation_ns;
};

/* Room for one more element of an array that doubles; count is a power of two when it is full. */
static bool make_room(void **array, uint32_t count, size_t element_bytes)
{
    void *larger;

    if (count != 0 && (count & (count - 1)) != 0)
        return true;
    larger = realloc(*array, (count ? (size_t)count * 2 : 1) * element_bytes);
    if (larger == NULL)
        return false;
    *array = larger;
    return true;
}

enum sg_status sg_aggregate_create(uint32_t ranks, struct sg_aggregate **out)
{
    struct sg_aggregate *aggregate = calloc(1, sizeof *aggregate);

    if (aggregate == NULL)
        return SG_ERR_MEMORY;
    aggregate->ranks = calloc(ranks ? ranks : 1, sizeof *aggregate->ranks);
    if (aggregate->ranks == NULL) {
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
    for (uint32_t i = 0; i < aggregate->comm_count; i++)
        free(aggregate->comms[i].name);
    for (uint32_t i = 0; i < aggregate->algorithm_count; i++)
        free(aggregate->algorithms[i]);
    for (uint32_t i = 0; i < aggregate->row_count; i++) {
        free(aggregate->rows[i].last_counts);
        free(aggregate->rows[i].last_ranks);
        free(aggregate->rows[i].algorithms);
        sg_quantiles_clear(&aggregate->rows[i].skews);
    }
    for (int operation = 0; operation < SG_OPERATION_COUNT; operation++)
        sg_map_clear(&aggregate->row_by_key[operation]);
    sg_map_clear(&aggregate->site_by_id);
    free(aggregate->sites);
    free(aggregate->comms);
    free(aggregate->algorithms);
    free(aggregate->rows);
    free(aggregate->ranks);
    free(aggregate);
}

uint32_t sg_aggregate_ranks(const struct sg_aggregate *aggregate)
{
    return aggregate->rank_count;
}

/* ---- sites, algorithms, communicators ------------------------------------------------------- */

/* Keeps the first text that says something. */
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
    struct site *site;

    if (found < 0) {
        if (!make_room((void **)&aggregate->sites, aggregate->site_count, sizeof *site))
            return SG_ERR_MEMORY;
        found = aggregate->site_count;
        if (sg_map_put(&aggregate->site_by_id, key, (uint32_t)found) != SG_OK)
            return SG_ERR_MEMORY;
        aggregate->sites[aggregate->site_count++] =
            (struct site){.has_id = text != NULL, .id = text != NULL ? text->id : 0};
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

enum sg_status sg_aggregate_algorithm(struct sg_aggregate *aggregate, const char *name,
                                      uint32_t *out)
{
    uint32_t index = 0;
    char *copy;

    while (index < aggregate->algorithm_count && strcmp(aggregate->algorithms[index], name) != 0)
        index++;
    if (index == aggregate->algorithm_count) {
        copy = strdup(name);
        if (copy == NULL ||
            !make_room((void **)&aggregate->algorithms, index, sizeof *aggregate->algorithms)) {
            free(copy);
            return SG_ERR_MEMORY;
        }
        aggregate->algorithms[aggregate->algorithm_count++] = copy;
    }
    *out = index;
    return SG_OK;
}

enum sg_status sg_aggregate_comm(struct sg_aggregate *aggregate, const char *name, uint32_t size,
                                 int64_t first_rank, uint32_t *out)
{
    char *copy = strdup(name);

    if (copy == NULL ||
        !make_room((void **)&aggregate->comms, aggregate->comm_count, sizeof *aggregate->comms)) {
        free(copy);
        return SG_ERR_MEMORY;
    }
    *out = aggregate->comm_count;
    aggregate->comms[aggregate->comm_count++] =
        (struct comm){.name = copy, .size = size, .first_rank = first_rank};
    return SG_OK;
}

enum sg_status sg_aggregate_find_comm(struct sg_aggregate *aggregate, const char *name,
                                      uint32_t size, int64_t first_rank, uint32_t nth,
                                      uint32_t *out)
{
    for (uint32_t i = 0; i < aggregate->comm_count; i++) {
        const struct comm *comm = &aggregate->comms[i];

        if (comm->size == size && comm->first_rank == first_rank && strcmp(comm->name, name) == 0 &&
            nth-- == 0) {
            *out = i;
            return SG_OK;
        }
    }
    return sg_aggregate_comm(aggregate, name, size, first_rank, out);
}

/* ---- rows -------------------------------------------------------------------------------------
 */

static enum sg_status find_row(struct sg_aggregate *aggregate, uint32_t site, uint32_t comm,
                               enum sg_operation operation, struct row **out)
{
    struct sg_map *map = &aggregate->row_by_key[operation];
    uint64_t key = (uint64_t)site << 32 | comm;
    int64_t found = sg_map_get(map, key);

    if (found < 0) {
        if (!make_room((void **)&aggregate->rows, aggregate->row_count, sizeof *aggregate->rows))
            return SG_ERR_MEMORY;
        found = aggregate->row_count;
        if (sg_map_put(map, key, (uint32_t)found) != SG_OK)
            return SG_ERR_MEMORY;
        aggregate->rows[aggregate->row_count++] =
            (struct row){.site = site, .comm = comm, .operation = operation};
    }
    *out = &aggregate->rows[found];
    return SG_OK;
}

static enum sg_status use_algorithm(struct row *row, uint32_t algorithm)
{
    for (uint32_t i = 0; i < row->algorithm_count; i++) {
        if (row->algorithms[i] == algorithm)
            return SG_OK;
    }
    if (!make_room((void **)&row->algorithms, row->algorithm_count, sizeof *row->algorithms))
        return SG_ERR_MEMORY;
    row->algorithms[row->algorithm_count++] = algorithm;
    return SG_OK;
}

static enum sg_status add_call(struct sg_aggregate *aggregate, const struct sg_instance *instance,
                               const struct sg_measure *measure, uint32_t member)
{
    const struct sg_call *call = &instance->calls[member];
    struct rank *rank = &aggregate->ranks[call->rank];
    struct sg_call_measure cost;
    struct row *row;
    enum sg_status status =
        find_row(aggregate, call->site, instance->comm, instance->operation, &row);

    if (status == SG_OK)
        status = use_algorithm(row, call->algorithm);
    if (status != SG_OK)
        return status;
    sg_measure_call(instance, measure, member, &cost);
    row->events.event_calls++;
    row->events.bytes += call->bytes;
    row->events.blocked_ns += cost.blocked_ns;
    row->events.wait_ns += cost.wait_ns;
    row->events.wait_avoided_ns += cost.avoided_ns;
    row->events.completion_ns += cost.completion_ns;
    row->events.early += call->early;
    row->events.late += call->late;
    row->events.signals += call->signals;
    rank->event_calls++;
    rank->event_blocked_ns += cost.blocked_ns;
    return SG_OK;
}

/* The site from which most members came; the first in rank order of several such. */
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

static enum sg_status count_last(struct row *row, const struct sg_instance *instance, uint32_t last)
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

enum sg_status sg_aggregate_instance(struct sg_aggregate *aggregate,
                                     const struct sg_instance *instance)
{
    struct sg_measure measure;
    struct row *row;
    enum sg_status status = SG_OK;

    sg_measure_instance(instance, &measure);
    for (uint32_t member = 0; member < instance->size && status == SG_OK; member++)
        status = add_call(aggregate, instance, &measure, member);
    if (status == SG_OK)
        status = find_row(aggregate, majority_site(aggregate, instance), instance->comm,
                          instance->operation, &row);
    if (status == SG_OK && instance->size > 1)
        status = count_last(row, instance, measure.last);
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
    if (measure.violation_ns > 0)
        aggregate->violations++;
    if (measure.violation_ns > aggregate->largest_violation_ns)
        aggregate->largest_violation_ns = measure.violation_ns;
    return SG_OK;
}

enum sg_status sg_aggregate_totals(struct sg_aggregate *aggregate, const struct sg_totals *totals)
{
    struct row *row;
    enum sg_status status =
        find_row(aggregate, totals->site, totals->comm, totals->operation, &row);

    assert(totals->rank < aggregate->rank_count);
    if (status == SG_OK)
        status = use_algorithm(row, totals->algorithm);
    if (status != SG_OK)
        return status;
    row->totals.calls += totals->calls;
    row->totals.bytes += totals->bytes;
    row->totals.blocked_ns += totals->blocked_ns;
    row->totals.early += totals->early;
    row->totals.late += totals->late;
    row->totals.signals += totals->signals;
    aggregate->ranks[totals->rank].total_calls += totals->calls;
    aggregate->ranks[totals->rank].total_blocked_ns += totals->blocked_ns;
    return SG_OK;
}

void sg_aggregate_run_time(struct sg_aggregate *aggregate, uint32_t rank, uint64_t run_ns)
{
    assert(rank < aggregate->rank_count);
    if (aggregate->ranks[rank].run_ns == 0)
        aggregate->ranks[rank].run_ns = run_ns;
}

/* ---- the report -------------------------------------------------------------------------------
 */

static char *join_algorithms(const struct sg_aggregate *aggregate, const struct row *row)
{
    size_t size_bytes = 1;
    char *text, *end;

    for (uint32_t i = 0; i < row->algorithm_count; i++)
        size_bytes += strlen(aggregate->algorithms[row->algorithms[i]]) + 1;
    text = malloc(size_bytes);
    if (text == NULL)
        return NULL;
    *text = '\0';
    end = text;
    for (uint32_t i = 0; i < row->algorithm_count; i++) {
        const char *name = aggregate->algorithms[row->algorithms[i]];

        if (end != text && name[0] != '\0')
            *end++ = '+';
        end = stpcpy(end, name);
    }
    return text;
}

static void find_last(const struct sg_aggregate *aggregate, const struct row *row,
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

static bool finish_row(const struct sg_aggregate *aggregate, struct row *row,
                       struct sg_report_site *out)
{
    const struct site *site = &aggregate->sites[row->site];
    const struct comm *comm = &aggregate->comms[row->comm];

    *out = row->events;
    out->id = site->id;
    out->has_id = site->has_id;
    out->operation = row->operation;
    out->function = site->function;
    out->file = site->file;
    out->module = site->module;
    out->line = site->line;
    out->offset = site->offset;
    out->comm = comm->name;
    out->comm_size = comm->size;
    out->comm_index = row->comm;
    out->calls = out->event_calls;
    if (row->totals.calls >= out->calls) {
        out->calls = row->totals.calls;
        out->bytes = row->totals.bytes;
        out->blocked_ns = row->totals.blocked_ns;
        out->early = row->totals.early;
        out->late = row->totals.late;
        out->signals = row->totals.signals;
    }
    out->skew_p50_ns = sg_quantiles_get(&row->skews, 0.50);
    out->skew_p95_ns = sg_quantiles_get(&row->skews, 0.95);
    find_last(aggregate, row, out);
    out->algorithm = join_algorithms(aggregate, row);
    return out->algorithm != NULL;
}

enum sg_status sg_aggregate_finish(struct sg_aggregate *aggregate, struct sg_report *report)
{
    report->strings = aggregate;
    report->ranks = calloc(aggregate->rank_count + 1, sizeof *report->ranks);
    report->sites = calloc((size_t)aggregate->row_count + 1, sizeof *report->sites);
    if (report->ranks == NULL || report->sites == NULL)
        return SG_ERR_MEMORY;
    report->rank_count = aggregate->rank_count;
    for (uint32_t i = 0; i < aggregate->rank_count; i++) {
        const struct rank *rank = &aggregate->ranks[i];

        report->ranks[i].run_ns = rank->run_ns;
        report->ranks[i].blocked_ns = rank->total_calls >= rank->event_calls
                                          ? rank->total_blocked_ns
                                          : rank->event_blocked_ns;
        report->ranks_run_ns += rank->run_ns;
        if (rank->run_ns > report->run_ns)
            report->run_ns = rank->run_ns;
    }
    for (uint32_t i = 0; i < aggregate->row_count; i++) {
        if (!finish_row(aggregate, &aggregate->rows[i], &report->sites[report->site_count]))
            return SG_ERR_MEMORY;
        report->site_count++;
    }
    report->clock_violations = aggregate->violations;
    report->largest_violation_ns = aggregate->largest_violation_ns;
    return SG_OK;
}
