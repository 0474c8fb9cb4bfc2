/* Samples of call sites for a comparison: keeps bounded series of instances, draws bootstrap
 * intervals from them, and collects them while a run is read.
 */
#include "compare/compared_samples.h"

#include "core/room.h"
#include "report/aggregate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void add(struct sg_sample *into, const struct sg_sample *more)
{
    into->calls += more->calls;
    for (int measured = 0; measured < SG_MEASURED_COUNT; measured++)
        into->ns[measured] += more->ns[measured];
}

/* Only called when all samples are complete. */
static void halve(struct sg_series *series)
{
    for (uint32_t i = 0; i < SG_SERIES_ROOM / 2; i++) {
        series->samples[i] = series->samples[2 * i];
        add(&series->samples[i], &series->samples[2 * i + 1]);
    }
    series->count = SG_SERIES_ROOM / 2;
    series->per_sample *= 2;
    series->in_last = series->per_sample;
}

enum sg_status sg_series_add(struct sg_series *series, const struct sg_sample *sample)
{
    if (series->per_sample == 0)
        series->per_sample = 1;
    if (series->count > 0 && series->in_last < series->per_sample) {
        add(&series->samples[series->count - 1], sample);
        series->in_last++;
    } else {
        if (series->count == SG_SERIES_ROOM) {
            halve(series);
            return sg_series_add(series, sample);
        }
        if (!SG_APPEND(series->samples, series->count, *sample))
            return SG_ERR_MEMORY;
        series->in_last = 1;
    }
    add(&series->sum, sample);
    series->instances++;
    return SG_OK;
}

void sg_series_add_processor(struct sg_series *series, uint64_t ns)
{
    if (series->count == 0)
        return;
    series->samples[series->count - 1].ns[SG_MEASURED_PROCESSOR] += ns;
    series->sum.ns[SG_MEASURED_PROCESSOR] += ns;
}

void sg_series_clear(struct sg_series *series)
{
    free(series->samples);
    *series = (struct sg_series){0};
}

/* ---- bootstrap ------------------------------------------------------------------------------- */

#define OUTSIDE 0.025 /* share of the draws beyond each end of the interval */

static double mean_of(const struct sg_sample *sum, enum sg_measured measured)
{
    return sum->calls > 0 ? (double)sum->ns[measured] / (double)sum->calls : 0;
}

double sg_series_mean(const struct sg_series *series, enum sg_measured measured)
{
    return mean_of(&series->sum, measured);
}

/* The sum of a resample: as many samples as the series has, drawn with replacement. */
static struct sg_sample draw(const struct sg_series *series, uint64_t *random)
{
    struct sg_sample sum = {0};

    for (uint32_t i = 0; i < series->count; i++) {
        const struct sg_sample *sample = &series->samples[sg_resample_draw(random, series->count)];

        sum.calls += sample->calls;
        for (int measured = 0; measured < SG_MEASURED_COUNT; measured++)
            sum.ns[measured] += sample->ns[measured];
    }
    return sum;
}

enum sg_status sg_bootstrap(const struct sg_series *a, const struct sg_series *b, uint64_t seed,
                            struct sg_difference out[SG_MEASURED_COUNT])
{
    uint64_t random = sg_random_mix(seed);
    double *drawn;

    for (int measured = 0; measured < SG_MEASURED_COUNT; measured++)
        out[measured] = (struct sg_difference){.verdict = SG_VERDICT_FEW};
    if (a->count < SG_BOOTSTRAP_SAMPLES_MIN || b->count < SG_BOOTSTRAP_SAMPLES_MIN)
        return SG_OK;
    drawn = malloc((size_t)SG_MEASURED_COUNT * SG_BOOTSTRAP_DRAWS * sizeof *drawn);
    if (drawn == NULL)
        return SG_ERR_MEMORY;
    for (int i = 0; i < SG_BOOTSTRAP_DRAWS; i++) {
        struct sg_sample from_a = draw(a, &random), from_b = draw(b, &random);

        for (int measured = 0; measured < SG_MEASURED_COUNT; measured++)
            drawn[measured * SG_BOOTSTRAP_DRAWS + i] =
                mean_of(&from_b, (enum sg_measured)measured) -
                mean_of(&from_a, (enum sg_measured)measured);
    }
    for (int measured = 0; measured < SG_MEASURED_COUNT; measured++) {
        sg_resample_interval(&drawn[measured * SG_BOOTSTRAP_DRAWS], SG_BOOTSTRAP_DRAWS, OUTSIDE,
                             &out[measured].low, &out[measured].high);
        out[measured].verdict =
            out[measured].low > 0 || out[measured].high < 0 ? SG_VERDICT_DIFFERS : SG_VERDICT_NOISE;
    }
    free(drawn);
    return SG_OK;
}

bool sg_bootstrap_mean(const double *values, uint32_t count, uint64_t seed, double *low,
                       double *high)
{
    uint64_t random = sg_random_mix(seed);
    double *drawn;

    if (count < SG_BOOTSTRAP_SAMPLES_MIN)
        return false;
    drawn = malloc(SG_BOOTSTRAP_DRAWS * sizeof *drawn);
    if (drawn == NULL)
        return false;
    for (int i = 0; i < SG_BOOTSTRAP_DRAWS; i++) {
        double sum = 0;

        for (uint32_t j = 0; j < count; j++)
            sum += values[sg_resample_draw(&random, count)];
        drawn[i] = sum / count;
    }
    sg_resample_interval(drawn, SG_BOOTSTRAP_DRAWS, OUTSIDE, low, high);
    free(drawn);
    return true;
}

/* ---- collecting ------------------------------------------------------------------------------ */

static bool is_of(const struct sg_collected *item, uint32_t site, enum sg_operation operation,
                  bool nonblocking)
{
    return item->site == site && item->operation == operation && item->nonblocking == nonblocking;
}

/* Rows of one call site differ only by communicator: there are few, and each is looked up once. */
static enum sg_status find_item(struct sg_collection *collection,
                                const struct sg_aggregate *aggregate, uint32_t row, uint32_t *out)
{
    struct sg_report_site name;
    uint32_t item = 0;

    if (!SG_EXTEND(collection->item_of_row, collection->row_room, row))
        return SG_ERR_MEMORY;
    if (collection->item_of_row[row] > 0) {
        *out = collection->item_of_row[row] - 1;
        return SG_OK;
    }
    sg_aggregate_name_row(aggregate, row, &name);
    while (item < collection->count &&
           !is_of(&collection->items[item], name.site, name.operation, name.nonblocking))
        item++;
    if (item == collection->count &&
        !SG_APPEND(collection->items, collection->count,
                   (struct sg_collected){.site = name.site,
                                         .operation = name.operation,
                                         .nonblocking = name.nonblocking}))
        return SG_ERR_MEMORY;
    collection->item_of_row[row] = item + 1;
    *out = item;
    return SG_OK;
}

static enum sg_status add_call(struct sg_collection *collection,
                               const struct sg_aggregate *aggregate, uint32_t row,
                               const struct sg_call_measure *cost)
{
    struct sg_collected *item;
    uint32_t index;
    enum sg_status status = find_item(collection, aggregate, row, &index);

    if (status != SG_OK)
        return status;
    item = &collection->items[index];
    if (!item->touched) {
        if (!SG_APPEND(collection->touched, collection->touched_count, index))
            return SG_ERR_MEMORY;
        item->touched = true;
    }
    item->pending.calls++;
    item->pending.ns[SG_MEASURED_BLOCKED] += cost->blocked_ns;
    item->pending.ns[SG_MEASURED_WAIT] += cost->wait_ns;
    item->pending.ns[SG_MEASURED_PROCESSOR] += cost->blocked_ns;
    return SG_OK;
}

static enum sg_status on_instance(void *context, const struct sg_aggregate *aggregate,
                                  const struct sg_seen_instance *seen)
{
    struct sg_collection *collection = context;
    enum sg_status status = SG_OK;

    collection->touched_count = 0;
    for (uint32_t i = 0; i < seen->instance->size && status == SG_OK; i++)
        status = add_call(collection, aggregate, seen->rows[i], &seen->costs[i]);
    for (uint32_t i = 0; i < collection->touched_count; i++) {
        struct sg_collected *item = &collection->items[collection->touched[i]];

        if (status == SG_OK)
            status = sg_series_add(&item->series, &item->pending);
        item->pending = (struct sg_sample){0};
        item->touched = false;
    }
    return status;
}

/* Handling inside a call is already part of that call's time. */
static enum sg_status on_late(void *context, const struct sg_aggregate *aggregate,
                              const struct sg_late_cost *late, uint32_t row)
{
    struct sg_collection *collection = context;
    uint32_t item;
    enum sg_status status;

    if (late->in_call)
        return SG_OK;
    status = find_item(collection, aggregate, row, &item);
    if (status == SG_OK)
        collection->items[item].pending.ns[SG_MEASURED_PROCESSOR] += late->handler_ns;
    return status;
}

/* Adds the contributions that came after the last instance. They belong to nonblocking calls if the
 * call site has no other calls. */
static void spend_pending(const struct sg_collection *collection, struct sg_collected *item)
{
    struct sg_collected *to = item;

    for (uint32_t i = 0; i < collection->count && item->series.instances == 0; i++) {
        if (is_of(&collection->items[i], item->site, item->operation, true))
            to = &collection->items[i];
    }
    sg_series_add_processor(&to->series, item->pending.ns[SG_MEASURED_PROCESSOR]);
}

enum sg_status sg_collect(const char *path, bool progress, struct sg_report *report,
                          struct sg_collection *out)
{
    struct sg_watch watch = {.context = out,
                             .instance = on_instance,
                             .late = on_late,
                             .calls = true,
                             .waitstates = true};
    enum sg_status status;

    *out = (struct sg_collection){0};
    status = sg_report_read(path, progress, &watch, report);
    for (uint32_t i = 0; i < out->count; i++)
        spend_pending(out, &out->items[i]);
    return status;
}

void sg_collection_clear(struct sg_collection *collection)
{
    for (uint32_t i = 0; i < collection->count; i++)
        sg_series_clear(&collection->items[i].series);
    free(collection->items);
    free(collection->item_of_row);
    free(collection->touched);
    *collection = (struct sg_collection){0};
}

const struct sg_collected *sg_collection_find(const struct sg_collection *collection,
                                              const struct sg_report_site *site)
{
    for (uint32_t i = 0; i < collection->count; i++) {
        if (is_of(&collection->items[i], site->site, site->operation, site->nonblocking))
            return &collection->items[i];
    }
    return NULL;
}
