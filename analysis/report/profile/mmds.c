#include "report/profile/mmds.h"

#include "core/room.h"

#include <stdlib.h>
#include <string.h>

const char *const sg_mmds_names[] = {[SG_DISTRIBUTION_GRANULARITY] = "Comp Granularity",
                                     [SG_DISTRIBUTION_OVERHEAD] = "Comm Overhead"};

static bool is_same(const struct sg_mmds_distribution *a, const struct sg_mmds_distribution *b)
{
    return a->of == b->of && a->function == b->function &&
           (sg_mmds_is_of_function(a->of) || a->is_first_thread == b->is_first_thread);
}

static void add_points(struct sg_mmds_points *into, const struct sg_mmds_points *more)
{
    if (more->count == 0)
        return;
    if (into->count == 0 || more->min < into->min)
        into->min = more->min;
    if (more->max > into->max)
        into->max = more->max;
    into->count += more->count;
    into->sum += more->sum;
}

static enum sg_status add_new(struct sg_mmds *mmds, const struct sg_mmds_distribution *one)
{
    struct sg_mmds_distribution copy = *one;
    size_t bytes = sg_bins_count(one->to_doubling) * sizeof *copy.bins;

    copy.bins = malloc(bytes);
    if (copy.bins == NULL)
        return SG_ERR_MEMORY;
    memcpy(copy.bins, one->bins, bytes);
    if (SG_APPEND(mmds->distributions, mmds->distribution_count, copy))
        return SG_OK;
    free(copy.bins);
    return SG_ERR_MEMORY;
}

enum sg_status sg_mmds_add(struct sg_mmds *mmds, const struct sg_mmds_distribution *more)
{
    struct sg_mmds_distribution *into = NULL;

    for (uint32_t i = 0; into == NULL && i < mmds->distribution_count; i++) {
        if (is_same(&mmds->distributions[i], more))
            into = &mmds->distributions[i];
    }
    if (into == NULL)
        return add_new(mmds, more);
    if (into->to_doubling != more->to_doubling)
        return SG_OK;
    add_points(&into->points, &more->points);
    for (uint32_t i = 0; i < sg_bins_count(more->to_doubling); i++)
        into->bins[i] += more->bins[i];
    return SG_OK;
}

void sg_mmds_clear(struct sg_mmds *mmds)
{
    for (uint32_t i = 0; i < mmds->distribution_count; i++)
        free(mmds->distributions[i].bins);
    free(mmds->distributions);
    *mmds = (struct sg_mmds){0};
}

struct sg_mmds_points sg_mmds_points_of(const struct sg_mmds *mmds, enum sg_distribution of,
                                        bool is_first_thread)
{
    for (uint32_t i = 0; i < mmds->distribution_count; i++) {
        const struct sg_mmds_distribution *distribution = &mmds->distributions[i];

        if (distribution->of == of && distribution->is_first_thread == is_first_thread)
            return distribution->points;
    }
    return (struct sg_mmds_points){0};
}

uint64_t sg_mmds_sum_ns(const struct sg_mmds *mmds)
{
    return sg_mmds_points_of(mmds, SG_DISTRIBUTION_GRANULARITY, true).sum +
           sg_mmds_points_of(mmds, SG_DISTRIBUTION_OVERHEAD, true).sum;
}

int64_t sg_mmds_gap_ns(const struct sg_mmds *mmds)
{
    return (int64_t)(mmds->run_ns - sg_mmds_sum_ns(mmds));
}
