#include "compare/series.h"

#include "core/room.h"

static void add(struct sg_sample *into, const struct sg_sample *more)
{
    into->calls += more->calls;
    for (int measured = 0; measured < SG_MEASURED_COUNT; measured++)
        into->ns[measured] += more->ns[measured];
}

/* All samples are complete when this happens. */
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
