#include "report/causes/sums.h"

#include "core/room.h"
#include "report/causes/split.h"
#include "report/map.h"
#include "report/resample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DRAWS 1000

struct row {
    uint32_t site, at; /* at: among the site's rows */
    enum sg_cause cause;
    uint32_t rank, steps;
    uint64_t instances, last_instance; /* the last that it was in, from 1 */
    double ns;
    uint32_t after, until;
    double longest_ns;
    double asides[SG_ASIDES], work_ns; /* of computing */
    bool has_usage;
    struct sg_stretch_threads threads; /* as in struct sg_blame_part */
    double low_ns, high_ns;
};

/* What an instance that is remembered has of a row. */
struct sample {
    uint32_t slot, row; /* slot: of the site's instances that are remembered */
    double ns;
};

struct site {
    uint32_t place;
    uint64_t instances;
    double late_ns;
    struct sample *samples;
    uint32_t sample_count, row_count;
    uint64_t random;
};

struct sg_cause_sums {
    const struct sg_places *places;
    struct site *sites;
    struct row *rows;
    uint32_t site_count, row_count;
    struct sg_map site_by_place, row_by_key;
    uint64_t instances, unsampled;
    double late_ns;
};

enum sg_status sg_cause_sums_create(const struct sg_places *places, struct sg_cause_sums **out)
{
    struct sg_cause_sums *sums = calloc(1, sizeof *sums);

    if (sums == NULL)
        return SG_ERR_MEMORY;
    sums->places = places;
    *out = sums;
    return SG_OK;
}

void sg_cause_sums_destroy(struct sg_cause_sums *sums)
{
    if (sums == NULL)
        return;
    for (uint32_t i = 0; i < sums->site_count; i++)
        free(sums->sites[i].samples);
    sg_map_clear(&sums->site_by_place);
    sg_map_clear(&sums->row_by_key);
    free(sums->sites);
    free(sums->rows);
    free(sums);
}

void sg_cause_sums_unsampled(struct sg_cause_sums *sums)
{
    sums->unsampled++;
}

/* ---- adding ---------------------------------------------------------------------------------- */

/* Which of the remembered instances this one is; SG_CAUSE_SAMPLES: it is not remembered. Each of
 * all instances is, with the same probability. */
static uint32_t slot_of(struct site *site)
{
    uint32_t slot = (uint32_t)(site->instances - 1), kept = 0;

    if (site->instances <= SG_CAUSE_SAMPLES)
        return slot;
    slot = sg_resample_draw(
        &site->random, (uint32_t)(site->instances > UINT32_MAX ? UINT32_MAX : site->instances));
    if (slot >= SG_CAUSE_SAMPLES)
        return SG_CAUSE_SAMPLES;
    for (uint32_t i = 0; i < site->sample_count; i++) {
        if (site->samples[i].slot != slot)
            site->samples[kept++] = site->samples[i];
    }
    site->sample_count = kept;
    return slot;
}

static enum sg_status remember(struct site *site, uint32_t slot, uint32_t row, double ns)
{
    uint32_t count = site->sample_count;
    struct sample *samples;

    if (slot == SG_CAUSE_SAMPLES)
        return SG_OK;
    /* The number of samples goes down, too: room for twice what is there. */
    if ((count & (count - 1)) == 0) {
        samples = realloc(site->samples, (count > 0 ? 2 * (size_t)count : 1) * sizeof *samples);
        if (samples == NULL)
            return SG_ERR_MEMORY;
        site->samples = samples;
    }
    site->samples[site->sample_count++] = (struct sample){slot, row, ns};
    return SG_OK;
}

static struct row *find_row(struct sg_cause_sums *sums, uint32_t site,
                            const struct sg_blame_part *part, uint32_t *out)
{
    uint64_t key = ((uint64_t)site * SG_CAUSES + part->cause) << 32 | part->rank;
    bool is_new;
    int64_t index = sg_map_number(&sums->row_by_key, key, sums->row_count, &is_new);

    if (index < 0 || (is_new && !SG_APPEND(sums->rows, sums->row_count,
                                           (struct row){.site = site,
                                                        .at = sums->sites[site].row_count,
                                                        .cause = part->cause,
                                                        .rank = part->rank,
                                                        .after = SG_NO_PLACE,
                                                        .until = SG_NO_PLACE,
                                                        .has_usage = true})))
        return NULL;
    sums->sites[site].row_count += is_new;
    *out = (uint32_t)index;
    return &sums->rows[index];
}

static void add_part(struct row *row, const struct sg_blame_part *part, uint64_t instance)
{
    row->ns += part->ns;
    row->instances += row->last_instance != instance;
    row->last_instance = instance;
    row->work_ns += part->work_ns; /* NAN stays */
    row->has_usage = row->has_usage && part->has_usage;
    row->threads.here_ns += part->threads.here_ns;
    row->threads.elsewhere_ns += part->threads.elsewhere_ns;
    for (int i = 0; i < SG_ASIDES; i++)
        row->asides[i] += part->asides[i];
    if (part->steps > row->steps)
        row->steps = part->steps;
    if (part->longest_ns > row->longest_ns) {
        row->longest_ns = part->longest_ns;
        row->after = part->after;
        row->until = part->until;
    }
}

enum sg_status sg_cause_sums_add(struct sg_cause_sums *sums, uint32_t place,
                                 const struct sg_blame *blame)
{
    bool is_new;
    int64_t index = sg_map_number(&sums->site_by_place, place, sums->site_count, &is_new);
    enum sg_status status = SG_OK;
    struct site *site;
    uint32_t slot;

    if (index < 0 ||
        (is_new && !SG_APPEND(sums->sites, sums->site_count, (struct site){.place = place})))
        return SG_ERR_MEMORY;
    site = &sums->sites[index];
    site->instances++;
    site->late_ns += blame->late_ns;
    sums->instances++;
    sums->late_ns += blame->late_ns;
    slot = slot_of(site);
    for (uint32_t i = 0; i < blame->part_count && status == SG_OK; i++) {
        const struct sg_blame_part *part = &blame->parts[i];
        uint32_t number = 0;
        struct row *row = find_row(sums, (uint32_t)index, part, &number);

        if (row == NULL)
            return SG_ERR_MEMORY;
        add_part(row, part, site->instances);
        status = remember(site, slot, number, part->ns);
    }
    return status;
}

/* ---- how sure the shares are ----------------------------------------------------------------- */

/* The bootstrap: as many instances as are remembered are drawn again and again. */
static enum sg_status draw(struct sg_cause_sums *sums, struct site *site)
{
    uint32_t kept =
        site->instances < SG_CAUSE_SAMPLES ? (uint32_t)site->instances : SG_CAUSE_SAMPLES;
    double scale = (double)site->instances / kept;
    double *drawn = calloc((size_t)DRAWS * (site->row_count + 1), sizeof *drawn);
    uint32_t times[SG_CAUSE_SAMPLES];

    if (drawn == NULL)
        return SG_ERR_MEMORY;
    for (uint32_t d = 0; d < DRAWS; d++) {
        memset(times, 0, sizeof times);
        for (uint32_t i = 0; i < kept; i++)
            times[sg_resample_draw(&site->random, kept)]++;
        for (uint32_t i = 0; i < site->sample_count; i++) {
            const struct sample *sample = &site->samples[i];

            drawn[(size_t)sums->rows[sample->row].at * DRAWS + d] +=
                sample->ns * times[sample->slot] * scale;
        }
    }
    for (uint32_t i = 0; i < sums->row_count; i++) {
        struct row *row = &sums->rows[i];

        if (&sums->sites[row->site] == site)
            sg_resample_interval(&drawn[(size_t)row->at * DRAWS], DRAWS, 0.025, &row->low_ns,
                                 &row->high_ns);
    }
    free(drawn);
    return SG_OK;
}

static enum sg_status find_limits(struct sg_cause_sums *sums)
{
    enum sg_status status = SG_OK;

    for (uint32_t i = 0; i < sums->row_count; i++)
        sums->rows[i].low_ns = sums->rows[i].high_ns = NAN;
    for (uint32_t i = 0; i < sums->site_count && status == SG_OK; i++) {
        if (sums->sites[i].instances >= SG_RESAMPLE_SAMPLES_MIN)
            status = draw(sums, &sums->sites[i]);
    }
    return status;
}

/* ---- the result ------------------------------------------------------------------------------ */

/* A part of a row under a cause of its own; share: of the row. */
static void put(const struct sg_places *places, const struct row *row, enum sg_cause cause,
                double share, struct sg_cause_site *site)
{
    struct sg_cause_row *out = &site->rows[site->row_count];

    if (llround(row->ns * share) <= 0)
        return;
    *out = (struct sg_cause_row){.at = site->at,
                                 .site_ns = site->late_ns,
                                 .cause = cause,
                                 .rank = row->rank,
                                 .ns = (uint64_t)llround(row->ns * share),
                                 .low_ns = row->low_ns * share,
                                 .high_ns = row->high_ns * share,
                                 .instances = row->instances,
                                 .steps = row->steps};
    sg_places_name(places, row->after, &out->after);
    sg_places_name(places, row->until, &out->until);
    site->row_count++;
}

static void split_computing(const struct row *row, double shares[SG_CAUSES])
{
    const struct sg_cause_more more = {.ns = row->ns,
                                       .user_ns = row->asides[SG_ASIDE_USER],
                                       .system_ns = row->asides[SG_ASIDE_SYSTEM],
                                       .faults = row->asides[SG_ASIDE_FAULTS],
                                       .work_ns = row->work_ns,
                                       .has_usage = row->has_usage};

    sg_cause_split(&more, shares);
}

/* A row is put as what it is told apart into: three at most. */
static void put_row(const struct sg_places *places, const struct row *row,
                    struct sg_cause_site *site)
{
    double shares[SG_CAUSES] = {0};

    shares[row->cause] = 1;
    if (row->cause == SG_CAUSE_COMPUTING)
        split_computing(row, shares);
    else if (row->cause == SG_CAUSE_PREEMPTED || row->cause == SG_CAUSE_CALLS_PREEMPTED)
        sg_cause_split_preempted(row->cause, row->ns, row->threads.here_ns,
                                 row->threads.elsewhere_ns, shares);
    for (unsigned cause = 0; cause < SG_CAUSES; cause++) {
        if (shares[cause] > 0)
            put(places, row, cause, shares[cause], site);
    }
}

static int compare_rows(const void *left, const void *right)
{
    const struct sg_cause_row *a = left, *b = right;

    if (a->ns != b->ns)
        return a->ns < b->ns ? 1 : -1;
    return a->rank != b->rank ? (a->rank > b->rank ? 1 : -1) : (int)a->cause - (int)b->cause;
}

static int compare_sites(const void *left, const void *right)
{
    const struct sg_cause_site *a = left, *b = right;

    return (a->late_ns < b->late_ns) - (a->late_ns > b->late_ns);
}

static enum sg_status put_site(const struct sg_cause_sums *sums, uint32_t index,
                               struct sg_cause_site *out)
{
    const struct site *site = &sums->sites[index];

    sg_places_name(sums->places, site->place, &out->at);
    out->instances = site->instances;
    out->late_ns = (uint64_t)llround(site->late_ns);
    out->rows = calloc(3 * (size_t)site->row_count + 1, sizeof *out->rows);
    if (out->rows == NULL)
        return SG_ERR_MEMORY;
    for (uint32_t i = 0; i < sums->row_count; i++) {
        const struct row *row = &sums->rows[i];

        if (row->site == index)
            put_row(sums->places, row, out);
    }
    if (out->row_count > 0)
        qsort(out->rows, out->row_count, sizeof *out->rows, compare_rows);
    return SG_OK;
}

enum sg_status sg_cause_sums_finish(struct sg_cause_sums *sums, struct sg_causes_found **out)
{
    struct sg_causes_found *found = calloc(1, sizeof *found);
    enum sg_status status = SG_ERR_MEMORY;

    if (found == NULL)
        return SG_ERR_MEMORY;
    found->sites = calloc((size_t)sums->site_count + 1, sizeof *found->sites);
    if (found->sites != NULL)
        status = find_limits(sums);
    for (uint32_t i = 0; i < sums->site_count && status == SG_OK; i++) {
        status = put_site(sums, i, &found->sites[i]);
        found->site_count++;
    }
    if (status != SG_OK) {
        sg_causes_found_free(found);
        return status;
    }
    if (found->site_count > 0)
        qsort(found->sites, found->site_count, sizeof *found->sites, compare_sites);
    found->instances = sums->instances;
    found->late_ns = (uint64_t)llround(sums->late_ns);
    found->unsampled = sums->unsampled;
    *out = found;
    return SG_OK;
}

const struct sg_cause_site *sg_causes_at(const struct sg_causes_found *found, const char *function,
                                         uint32_t site)
{
    for (uint32_t i = 0; found != NULL && i < found->site_count; i++) {
        const struct sg_waitstate_place *at = &found->sites[i].at;

        if (at->site.site == site && at->function != NULL && strcmp(at->function, function) == 0)
            return &found->sites[i];
    }
    return NULL;
}

void sg_causes_found_free(struct sg_causes_found *found)
{
    if (found == NULL)
        return;
    for (uint32_t i = 0; i < found->site_count; i++)
        free(found->sites[i].rows);
    for (uint32_t i = 0; i < found->chain_count; i++)
        free(found->chains[i].links);
    free(found->sites);
    free(found->chains);
    free(found);
}
