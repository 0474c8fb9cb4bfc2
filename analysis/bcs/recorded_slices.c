#include "bcs/recorded_slices.h"

#include "core/room.h"

#include <stdlib.h>
#include <string.h>

/* ---- gathering ------------------------------------------------------------------------------- */

enum sg_status sg_slices_comm(struct sg_slice_set *slices, const struct sg_record_comm *record,
                              const char *name, uint32_t *out)
{
    struct sg_slice_comm comm = {.size = record->size,
                                 .root_world_rank = record->root_world_rank,
                                 .root_counter = record->root_counter};

    for (uint32_t i = 0; i < slices->comm_count; i++) {
        const struct sg_slice_comm *known = &slices->comms[i];

        if (known->root_world_rank == comm.root_world_rank &&
            known->root_counter == comm.root_counter && known->size == comm.size) {
            *out = i;
            return SG_OK;
        }
    }
    comm.name = strdup(name);
    if (comm.name == NULL || !SG_APPEND(slices->comms, slices->comm_count, comm)) {
        free(comm.name);
        return SG_ERR_MEMORY;
    }
    *out = slices->comm_count - 1;
    return SG_OK;
}

enum sg_status sg_slices_add(struct sg_slice_set *slices, uint32_t comm,
                             const struct sg_record_slice *record, uint64_t begin_ns)
{
    struct sg_slices_row row = {
        .comm = comm, .node = record->node, .slice = sg_record_slice_read(record)};

    row.slice.begin_ns = begin_ns;
    return SG_APPEND(slices->rows, slices->row_count, row) ? SG_OK : SG_ERR_MEMORY;
}

static void merge(struct sg_slices_sum *into, const struct sg_slices_sum *more)
{
    into->slices += more->slices;
    for (int metric = 0; metric < SG_SLICE_METRICS; metric++) {
        uint64_t *a = into->of[metric];
        const uint64_t *b = more->of[metric];

        if (b[SG_SLICE_COUNT] == 0)
            continue;
        if (a[SG_SLICE_COUNT] == 0 || b[SG_SLICE_MIN] < a[SG_SLICE_MIN])
            a[SG_SLICE_MIN] = b[SG_SLICE_MIN];
        if (b[SG_SLICE_MAX] > a[SG_SLICE_MAX])
            a[SG_SLICE_MAX] = b[SG_SLICE_MAX];
        a[SG_SLICE_COUNT] += b[SG_SLICE_COUNT];
        a[SG_SLICE_SUM] += b[SG_SLICE_SUM];
    }
}

enum sg_status sg_slices_add_sum(struct sg_slice_set *slices, uint32_t comm,
                                 const struct sg_record_slice_sum *record)
{
    struct sg_slices_sum sum = {.comm = comm,
                                .node = record->node,
                                .slices =
                                    atomic_load_explicit(&record->slices, memory_order_relaxed)};

    for (int metric = 0; metric < SG_SLICE_METRICS; metric++) {
        for (int of = 0; of < SG_SLICE_SUMS; of++)
            sum.of[metric][of] =
                sg_figure_read(record->sums, (unsigned)(metric * SG_SLICE_SUMS + of));
    }
    for (uint32_t i = 0; i < slices->sum_count; i++) {
        if (slices->sums[i].comm == sum.comm && slices->sums[i].node == sum.node) {
            merge(&slices->sums[i], &sum);
            return SG_OK;
        }
    }
    return SG_APPEND(slices->sums, slices->sum_count, sum) ? SG_OK : SG_ERR_MEMORY;
}

static int compare_rows(const void *a, const void *b)
{
    const struct sg_slices_row *left = a, *right = b;

    if (left->comm != right->comm)
        return left->comm < right->comm ? -1 : 1;
    if (left->node != right->node)
        return left->node < right->node ? -1 : 1;
    return (left->slice.number > right->slice.number) - (left->slice.number < right->slice.number);
}

static int compare_places(const void *a, const void *b)
{
    const struct sg_slices_place *left = a, *right = b;

    if (left->comm != right->comm)
        return left->comm < right->comm ? -1 : 1;
    return (left->node > right->node) - (left->node < right->node);
}

static struct sg_slices_place *find_place(struct sg_slice_set *slices, uint32_t comm, uint32_t node)
{
    for (uint32_t i = slices->place_count; i > 0; i--) {
        if (slices->places[i - 1].comm == comm && slices->places[i - 1].node == node)
            return &slices->places[i - 1];
    }
    if (!SG_APPEND(slices->places, slices->place_count,
                   ((struct sg_slices_place){.comm = comm, .node = node})))
        return NULL;
    return &slices->places[slices->place_count - 1];
}

enum sg_status sg_slices_finish(struct sg_slice_set *slices)
{
    struct sg_slices_place *place;

    if (slices->row_count > 1)
        qsort(slices->rows, slices->row_count, sizeof *slices->rows, compare_rows);
    for (uint32_t i = 0; i < slices->row_count; i++) {
        place = find_place(slices, slices->rows[i].comm, slices->rows[i].node);
        if (place == NULL)
            return SG_ERR_MEMORY;
        if (place->row_count++ == 0)
            place->row = i;
    }
    for (uint32_t i = 0; i < slices->sum_count; i++) {
        if (slices->sums[i].slices == 0)
            continue;
        place = find_place(slices, slices->sums[i].comm, slices->sums[i].node);
        if (place == NULL)
            return SG_ERR_MEMORY;
        place->sum = &slices->sums[i];
    }
    if (slices->place_count > 1)
        qsort(slices->places, slices->place_count, sizeof *slices->places, compare_places);
    return SG_OK;
}

void sg_slices_clear(struct sg_slice_set *slices)
{
    for (uint32_t i = 0; i < slices->comm_count; i++)
        free(slices->comms[i].name);
    free(slices->comms);
    free(slices->rows);
    free(slices->sums);
    free(slices->places);
    *slices = (struct sg_slice_set){0};
}

/* ---- figures
 * ---------------------------------------------------------------------------------- */

bool sg_slices_takes_metric(const struct sg_slices_filter *filter, enum sg_slice_metric metric)
{
    return filter->metrics == 0 || (filter->metrics >> metric & 1);
}

bool sg_slices_takes_place(const struct sg_slices_filter *filter,
                           const struct sg_slices_place *place)
{
    return !filter->has_nodes || sg_rank_list_has(&filter->nodes, place->node);
}

bool sg_slices_takes(const struct sg_slices_filter *filter, const struct sg_slice *slice)
{
    return !filter->has_window || (slice->number >= filter->first && slice->number <= filter->last);
}

static int compare_values(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

    return (left > right) - (left < right);
}

/* Computes the figures; sorts values. */
static void put_values(uint64_t *values, uint64_t count, struct sg_slices_figures *figures)
{
    double sum = 0;

    if (count == 0)
        return;
    qsort(values, count, sizeof *values, compare_values);
    for (uint64_t i = 0; i < count; i++)
        sum += (double)values[i];
    *figures = (struct sg_slices_figures){.count = count,
                                          .min = values[0],
                                          .max = values[count - 1],
                                          .p95 = values[(count * 95 + 99) / 100 - 1],
                                          .mean = sum / (double)count,
                                          .has_p95 = true};
}

/* Slices without a row have no number, so no window includes them. */
static void add_sum(const struct sg_slices_place *place, enum sg_slice_metric metric,
                    struct sg_slices_figures *figures)
{
    const uint64_t *of = place->sum->of[metric];
    uint64_t count = of[SG_SLICE_COUNT];

    if (count == 0)
        return;
    figures->mean = (figures->mean * (double)figures->count + (double)of[SG_SLICE_SUM]) /
                    (double)(figures->count + count);
    if (figures->count == 0 || of[SG_SLICE_MIN] < figures->min)
        figures->min = of[SG_SLICE_MIN];
    if (of[SG_SLICE_MAX] > figures->max)
        figures->max = of[SG_SLICE_MAX];
    figures->count += count;
    figures->has_p95 = false;
}

static enum sg_status figure(const struct sg_slice_set *slices,
                             const struct sg_slices_filter *filter,
                             const struct sg_slices_place *place, enum sg_slice_metric metric,
                             struct sg_slices_figures *out)
{
    uint64_t *values = malloc(((size_t)place->row_count + 1) * sizeof *values), count = 0;

    *out = (struct sg_slices_figures){0};
    if (values == NULL)
        return SG_ERR_MEMORY;
    for (uint32_t i = place->row; i < place->row + place->row_count; i++) {
        const struct sg_slice *slice = &slices->rows[i].slice;

        if (sg_slice_knows(slice, metric) && sg_slices_takes(filter, slice))
            values[count++] = sg_slice_value(slice, metric);
    }
    put_values(values, count, out);
    if (place->sum != NULL && !filter->has_window)
        add_sum(place, metric, out);
    free(values);
    return SG_OK;
}

/* Returns true if the node has the metric: only a communicator's endpoint 0 has global ones. */
static bool has_metric(const struct sg_slice_set *slices, const struct sg_slices_place *place,
                       enum sg_slice_metric metric)
{
    bool has = !sg_slice_metrics[metric].is_global;

    for (uint32_t i = place->row; !has && i < place->row + place->row_count; i++) {
        for (int global = SG_SLICE_GETTS; !has && global <= SG_SLICE_USRMSM; global++)
            has = sg_slice_knows(&slices->rows[i].slice, (enum sg_slice_metric)global);
    }
    for (int global = SG_SLICE_GETTS; !has && place->sum != NULL && global <= SG_SLICE_USRMSM;
         global++)
        has = place->sum->of[global][SG_SLICE_COUNT] > 0;
    return has;
}

static enum sg_status add_lines(const struct sg_slice_set *slices,
                                const struct sg_slices_filter *filter,
                                const struct sg_slices_place *place, bool global,
                                struct sg_slices_line **lines, uint32_t *count)
{
    enum sg_status status = SG_OK;

    for (int at = 0; at < SG_SLICE_METRICS && status == SG_OK; at++) {
        struct sg_slices_line line = {.metric = (enum sg_slice_metric)at,
                                      .comm = &slices->comms[place->comm],
                                      .node = place->node};

        if (sg_slice_metrics[at].is_global != global ||
            !sg_slices_takes_metric(filter, line.metric) || !has_metric(slices, place, line.metric))
            continue;
        status = figure(slices, filter, place, line.metric, &line.figures);
        if (status == SG_OK && !SG_APPEND(*lines, *count, line))
            status = SG_ERR_MEMORY;
    }
    return status;
}

enum sg_status sg_slices_lines(const struct sg_slice_set *slices,
                               const struct sg_slices_filter *filter, struct sg_slices_line **out,
                               uint32_t *count)
{
    struct sg_slices_line *lines = NULL;
    enum sg_status status = SG_OK;
    uint32_t made = 0;

    for (uint32_t comm = 0; comm < slices->comm_count; comm++) {
        for (int global = 1; global >= 0; global--) {
            for (uint32_t i = 0; i < slices->place_count && status == SG_OK; i++) {
                const struct sg_slices_place *place = &slices->places[i];

                if (place->comm == comm && sg_slices_takes_place(filter, place))
                    status = add_lines(slices, filter, place, global, &lines, &made);
            }
        }
    }
    if (status != SG_OK) {
        free(lines);
        return status;
    }
    *out = lines;
    *count = made;
    return SG_OK;
}

/* ---- the slices of one log */

enum sg_status sg_slices_log_comm(struct sg_slices_log *own, const struct sg_record_comm *record)
{
    if (!SG_APPEND(own->comms, own->comm_count, ((struct sg_slices_log_comm){.record = record})))
        return SG_ERR_MEMORY;
    return sg_map_put(&own->by_index, record->index, own->comm_count - 1);
}

enum sg_status sg_slices_log_clock(struct sg_slices_log *own, const struct sg_record_clock *record)
{
    struct sg_clock_point point = {record->local_ns, record->offset_ns, record->error_ns};

    if (!SG_APPEND(own->clock, own->clock_count, point))
        return SG_ERR_MEMORY;
    own->clock_count = (uint32_t)sg_clock_sanitize(own->clock, own->clock_count);
    return SG_OK;
}

uint64_t sg_slices_log_global_ns(const struct sg_slices_log *own, uint64_t local_ns)
{
    return own->clock_count > 0 ? sg_clock_global(own->clock, own->clock_count, local_ns)
                                : local_ns;
}

/* Adds a slice, with its begin on the clock of all ranks. */
static enum sg_status add(const struct sg_slices_log *own, uint32_t comm,
                          const struct sg_record_slice *record, struct sg_slice_set *slices)
{
    return sg_slices_add(slices, comm, record, sg_slices_log_global_ns(own, record->begin_ns));
}

static enum sg_status look_for(struct sg_slices_log_comm *comm, struct sg_logread *log,
                               struct sg_slice_set *slices)
{
    char *name = sg_logread_text(log, comm->record, comm->record->text_bytes);
    enum sg_status status =
        name != NULL ? sg_slices_comm(slices, comm->record, name, &comm->comm) : SG_ERR_MEMORY;

    comm->is_known = status == SG_OK;
    free(name);
    return status;
}

enum sg_status sg_slices_log_take(struct sg_slices_log *own, struct sg_logread *log,
                                  const void *record, enum sg_record_kind kind,
                                  struct sg_slice_set *slices)
{
    uint32_t index = kind == SG_RECORD_SLICE ? ((const struct sg_record_slice *)record)->comm
                                             : ((const struct sg_record_slice_sum *)record)->comm;
    int64_t found = sg_map_get(&own->by_index, index);
    struct sg_slices_log_comm *comm = found >= 0 ? &own->comms[found] : NULL;
    enum sg_status status = SG_OK;

    if (comm == NULL)
        return SG_OK;
    if (!comm->is_known)
        status = look_for(comm, log, slices);
    if (status != SG_OK)
        return status;
    return kind == SG_RECORD_SLICE ? add(own, comm->comm, record, slices)
                                   : sg_slices_add_sum(slices, comm->comm, record);
}

void sg_slices_log_clear(struct sg_slices_log *own)
{
    sg_map_clear(&own->by_index);
    free(own->comms);
    free(own->clock);
    *own = (struct sg_slices_log){0};
}
