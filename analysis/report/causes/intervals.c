#include "report/causes/intervals.h"

#include <stdlib.h>

/* A ring, which grows up to the greatest size. */
struct ring {
    struct sg_sampled_interval *of;
    uint32_t room, first, count;
};

struct sg_intervals_kept {
    struct ring *rings;
    uint32_t location_count;
};

enum sg_status sg_intervals_kept_create(uint32_t locations, struct sg_intervals_kept **out)
{
    struct sg_intervals_kept *kept = calloc(1, sizeof *kept);

    if (kept == NULL)
        return SG_ERR_MEMORY;
    kept->location_count = locations;
    kept->rings = calloc((size_t)locations + 1, sizeof *kept->rings);
    if (kept->rings == NULL) {
        free(kept);
        return SG_ERR_MEMORY;
    }
    *out = kept;
    return SG_OK;
}

void sg_intervals_kept_destroy(struct sg_intervals_kept *kept)
{
    if (kept == NULL)
        return;
    for (uint32_t i = 0; i < kept->location_count; i++)
        free(kept->rings[i].of);
    free(kept->rings);
    free(kept);
}

/* room: a power of two. */
static struct sg_sampled_interval *at(const struct ring *ring, uint32_t index)
{
    return &ring->of[(ring->first + index) & (ring->room - 1)];
}

static bool grow(struct ring *ring)
{
    uint32_t room = ring->room > 0 ? 2 * ring->room : 16;
    struct sg_sampled_interval *larger = malloc(room * sizeof *larger);

    if (larger == NULL)
        return false;
    for (uint32_t i = 0; i < ring->count; i++)
        larger[i] = *at(ring, i);
    free(ring->of);
    *ring = (struct ring){.of = larger, .room = room, .count = ring->count};
    return true;
}

enum sg_status sg_intervals_kept_add(struct sg_intervals_kept *kept, uint32_t location,
                                     const struct sg_sampled_interval *interval)
{
    struct ring *ring = &kept->rings[location];

    if (ring->count > 0 && interval->end_ns < at(ring, ring->count - 1)->end_ns)
        return SG_OK;
    if (ring->count == SG_INTERVALS_KEPT) {
        ring->first = (ring->first + 1) & (ring->room - 1);
        ring->count--;
    } else if (ring->count == ring->room && !grow(ring)) {
        return SG_ERR_MEMORY;
    }
    *at(ring, ring->count++) = *interval;
    return SG_OK;
}

struct sg_sampled_interval *sg_intervals_kept_last(struct sg_intervals_kept *kept,
                                                   uint32_t location)
{
    const struct ring *ring = &kept->rings[location];

    return ring->count > 0 ? at(ring, ring->count - 1) : NULL;
}

const struct sg_sampled_interval *sg_intervals_kept_first(const struct sg_intervals_kept *kept,
                                                          uint32_t location, int64_t time_ns)
{
    const struct ring *ring = &kept->rings[location];
    uint32_t low = 0, high = ring->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (at(ring, middle)->end_ns <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low < ring->count ? at(ring, low) : NULL;
}

const struct sg_sampled_interval *sg_intervals_kept_next(const struct sg_intervals_kept *kept,
                                                         uint32_t location,
                                                         const struct sg_sampled_interval *interval)
{
    const struct ring *ring = &kept->rings[location];
    uint32_t index =
        ((uint32_t)(interval - ring->of) + ring->room - ring->first) & (ring->room - 1);

    return index + 1 < ring->count ? at(ring, index + 1) : NULL;
}
