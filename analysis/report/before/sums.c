#include "report/before/sums.h"

#include "core/room.h"
#include "report/aggregate.h"
#include "report/before/why.h"
#include "report/filter.h"
#include "report/map.h"

#include <math.h>
#include <stdlib.h>

struct pair {
    uint32_t after, until;
    struct sg_before_figures all;
};

struct part {
    uint32_t pair, rank;
    struct sg_before_figures of;
};

struct sg_before_sums {
    struct pair *pairs;
    struct part *parts;
    uint32_t pair_count, part_count;
    struct sg_map pair_by_key, part_by_key;
};

enum sg_status sg_before_sums_create(struct sg_before_sums **out)
{
    *out = calloc(1, sizeof **out);
    return *out != NULL ? SG_OK : SG_ERR_MEMORY;
}

void sg_before_sums_destroy(struct sg_before_sums *sums)
{
    if (sums == NULL)
        return;
    sg_map_clear(&sums->pair_by_key);
    sg_map_clear(&sums->part_by_key);
    free(sums->pairs);
    free(sums->parts);
    free(sums);
}

void sg_before_free(struct sg_before *before)
{
    if (before == NULL)
        return;
    free(before->rows);
    free(before->places);
    free(before);
}

/* A figure that a part lacks is in no sum. */
static void add(struct sg_before_figures *into, const struct sg_before_figures *more)
{
    into->mask = into->intervals > 0 ? into->mask & more->mask : more->mask;
    into->intervals += more->intervals;
    into->time_ns += more->time_ns;
    for (unsigned i = 0; i < SG_FIGURE_COUNT; i++)
        into->of[i] += more->of[i];
}

static void subtract(const struct sg_before_figures *all, const struct sg_before_figures *own,
                     struct sg_before_figures *out)
{
    *out = (struct sg_before_figures){.intervals = all->intervals - own->intervals,
                                      .time_ns = all->time_ns - own->time_ns,
                                      .mask = all->mask & own->mask};
    for (unsigned i = 0; i < SG_FIGURE_COUNT; i++)
        out->of[i] = all->of[i] - own->of[i];
}

enum sg_status sg_before_sums_add(struct sg_before_sums *sums, uint32_t rank, uint32_t after,
                                  uint32_t until, const struct sg_before_figures *figures)
{
    bool is_new;
    int64_t pair = sg_map_number(&sums->pair_by_key, (uint64_t)after << 32 | until,
                                 sums->pair_count, &is_new),
            part;

    if (pair < 0 || (is_new && !SG_APPEND(sums->pairs, sums->pair_count,
                                          (struct pair){.after = after, .until = until})))
        return SG_ERR_MEMORY;
    part =
        sg_map_number(&sums->part_by_key, (uint64_t)pair << 32 | rank, sums->part_count, &is_new);
    if (part < 0 || (is_new && !SG_APPEND(sums->parts, sums->part_count,
                                          (struct part){.pair = (uint32_t)pair, .rank = rank})))
        return SG_ERR_MEMORY;
    add(&sums->pairs[pair].all, figures);
    add(&sums->parts[part].of, figures);
    return SG_OK;
}

/* ---- the result ------------------------------------------------------------------------------ */

struct naming {
    const struct sg_aggregate *aggregate;
    sg_before_function function;
    const void *context;
};

static void name(const struct naming *naming, uint32_t site, struct sg_waitstate_place *out)
{
    *out = (struct sg_waitstate_place){0};
    if (site == SG_BEFORE_NO_SITE)
        return;
    sg_aggregate_name_site(naming->aggregate, site, &out->site);
    out->function = naming->function(naming->context, site);
}

/* Two for each pair. */
static void name_all(const struct sg_before_sums *sums, const struct naming *naming,
                     struct sg_waitstate_place *places)
{
    for (uint32_t i = 0; i < sums->pair_count; i++) {
        name(naming, sums->pairs[i].after, &places[2 * i]);
        name(naming, sums->pairs[i].until, &places[2 * i + 1]);
    }
}

static void make_row(const struct sg_before_sums *sums, const struct sg_before *before,
                     const struct part *part, struct sg_before_row *out)
{
    *out = (struct sg_before_row){.after = &before->places[2 * part->pair],
                                  .until = &before->places[2 * part->pair + 1],
                                  .rank = part->rank,
                                  .own = part->of};
    subtract(&sums->pairs[part->pair].all, &part->of, &out->others);
    sg_before_judge(out);
}

static int compare_rows(const void *left, const void *right)
{
    const struct sg_before_row *a = left, *b = right;

    if (a->longer_ns != b->longer_ns)
        return a->longer_ns < b->longer_ns ? 1 : -1;
    if (a->own.time_ns != b->own.time_ns)
        return a->own.time_ns < b->own.time_ns ? 1 : -1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

enum sg_status sg_before_sums_finish(const struct sg_before_sums *sums,
                                     const struct sg_aggregate *aggregate,
                                     const struct sg_filter *filter, sg_before_function function,
                                     const void *context, struct sg_before **out)
{
    const struct naming naming = {aggregate, function, context};
    struct sg_before *before;

    *out = NULL;
    /* Sums know of no communicators. */
    if (sums->part_count == 0 || (filter != NULL && filter->comm != NULL))
        return SG_OK;
    before = calloc(1, sizeof *before);
    if (before != NULL) {
        before->rows = malloc(sums->part_count * sizeof *before->rows);
        before->places = malloc(2 * (size_t)sums->pair_count * sizeof *before->places);
    }
    if (before == NULL || before->rows == NULL || before->places == NULL) {
        sg_before_free(before);
        return SG_ERR_MEMORY;
    }
    name_all(sums, &naming, before->places);
    for (uint32_t i = 0; i < sums->part_count; i++) {
        struct sg_before_row *row = &before->rows[before->row_count];

        make_row(sums, before, &sums->parts[i], row);
        if (filter != NULL && filter->site != NULL &&
            !sg_filter_takes_row(filter, &row->until->site))
            continue;
        before->row_count++;
        before->intervals += row->own.intervals;
        before->time_ns += row->own.time_ns;
        before->mask |= row->own.mask;
    }
    qsort(before->rows, before->row_count, sizeof *before->rows, compare_rows);
    *out = before;
    return SG_OK;
}
