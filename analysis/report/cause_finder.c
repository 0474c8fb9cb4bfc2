#include "report/cause_finder.h"

#include "core/room.h"
#include "report/cause_table.h"
#include "report/filter.h"
#include "report/path_history.h"
#include "report/quantiles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sums up why ranks were late, by collective and call site (cause_table.h).
 *
 * Memory grows with sites, and with causes and ranks at each. For the confidence intervals
 * SG_CAUSE_SAMPLES of a site's instances are kept one by one. Functions that return a status:
 * SG_ERR_MEMORY only, not logged. Not thread-safe.
 */

#define SG_CAUSE_SAMPLES 512

struct sg_cause_sums;

#define DRAWS 1000

struct row {
    uint32_t site, at; /* at: index among the site's rows */
    enum sg_cause cause;
    uint32_t rank, steps;
    uint64_t instances, last_instance; /* last_instance: the last one with this row, from 1 */
    double ns;
    uint32_t after, until;
    double longest_ns;
    double asides[SG_ASIDES], work_ns; /* for SG_CAUSE_COMPUTING */
    bool has_usage;
    struct sg_stretch_threads threads; /* as in struct sg_blame_part */
    double low_ns, high_ns, low_share, high_share;
};

/* The time that a kept instance has in a row. */
struct sample {
    uint32_t slot, row; /* slot: index among the site's kept instances */
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

/* `places` must outlive the sums and the result. */
static enum sg_status sg_cause_sums_create(const struct sg_places *places,
                                           struct sg_cause_sums **out)
{
    struct sg_cause_sums *sums = calloc(1, sizeof *sums);

    if (sums == NULL)
        return SG_ERR_MEMORY;
    sums->places = places;
    *out = sums;
    return SG_OK;
}

static void sg_cause_sums_destroy(struct sg_cause_sums *sums)
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

static void sg_cause_sums_unsampled(struct sg_cause_sums *sums)
{
    sums->unsampled++;
}

/* ---- adding ---------------------------------------------------------------------------------- */

/* Returns the slot of this instance among those kept, which it empties; SG_CAUSE_SAMPLES: not kept.
 * Keeps every instance with the same probability (reservoir sampling). */
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
    /* The number of samples also goes down. At each power of two, set the capacity to twice that.
     */
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
    row->work_ns += part->work_ns; /* NAN stays NAN */
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

/* Adds an instance for which the blame was found. place: the call site of its last rank. */
static enum sg_status sg_cause_sums_add(struct sg_cause_sums *sums, uint32_t place,
                                        const struct sg_blame *blame)
{
    int64_t index = SG_MAP_INDEX(&sums->site_by_place, place, sums->sites, sums->site_count,
                                 ((struct site){.place = place}));
    enum sg_status status = SG_OK;
    struct site *site;
    uint32_t slot;

    if (index < 0)
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

/* ---- confidence intervals of the shares ------------------------------------------------------ */

/* Sets a row's intervals from its time in each draw, which it sorts, and from the draws' lateness,
 * of which the time is a share: both vary together, so the share is that within each draw. */
static void set_limits(struct row *row, double *drawn, const double *late_ns)
{
    double shares[DRAWS];

    for (uint32_t d = 0; d < DRAWS; d++)
        shares[d] = late_ns[d] > 0 ? drawn[d] / late_ns[d] : 0;
    sg_resample_interval(drawn, DRAWS, 0.025, &row->low_ns, &row->high_ns);
    sg_resample_interval(shares, DRAWS, 0.025, &row->low_share, &row->high_share);
}

/* The bootstrap: draws as many instances as are kept, DRAWS times. */
static enum sg_status draw(struct sg_cause_sums *sums, struct site *site)
{
    uint32_t kept =
        site->instances < SG_CAUSE_SAMPLES ? (uint32_t)site->instances : SG_CAUSE_SAMPLES;
    double scale = (double)site->instances / kept;
    double *drawn = calloc((size_t)DRAWS * (site->row_count + 1), sizeof *drawn);
    double late_ns[DRAWS] = {0};
    uint32_t times[SG_CAUSE_SAMPLES];

    if (drawn == NULL)
        return SG_ERR_MEMORY;
    for (uint32_t d = 0; d < DRAWS; d++) {
        memset(times, 0, sizeof times);
        for (uint32_t i = 0; i < kept; i++)
            times[sg_resample_draw(&site->random, kept)]++;
        for (uint32_t i = 0; i < site->sample_count; i++) {
            const struct sample *sample = &site->samples[i];
            double ns = sample->ns * times[sample->slot] * scale;

            drawn[(size_t)sums->rows[sample->row].at * DRAWS + d] += ns;
            late_ns[d] += ns;
        }
    }
    for (uint32_t i = 0; i < sums->row_count; i++) {
        struct row *row = &sums->rows[i];

        if (&sums->sites[row->site] == site)
            set_limits(row, &drawn[(size_t)row->at * DRAWS], late_ns);
    }
    free(drawn);
    return SG_OK;
}

static enum sg_status find_limits(struct sg_cause_sums *sums)
{
    enum sg_status status = SG_OK;

    for (uint32_t i = 0; i < sums->row_count; i++) {
        struct row *row = &sums->rows[i];

        row->low_ns = row->high_ns = row->low_share = row->high_share = NAN;
    }
    for (uint32_t i = 0; i < sums->site_count && status == SG_OK; i++) {
        if (sums->sites[i].instances >= SG_RESAMPLE_SAMPLES_MIN)
            status = draw(sums, &sums->sites[i]);
    }
    return status;
}

/* ---- the result ------------------------------------------------------------------------------ */

/* Adds a part of a row under a cause of its own. share: of the row. */
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
                                 .low_share = row->low_share * share,
                                 .high_share = row->high_share * share,
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

/* Adds a row, split by cause into three at most. */
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

static enum sg_status sg_cause_sums_finish(struct sg_cause_sums *sums, struct sg_causes_found **out)
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

/* When the members came to the communicator's instance before. */
struct comm {
    int64_t *came_ns; /* by member; NULL: none yet */
    uint32_t size;
};

struct sg_cause_finder {
    struct sg_places *places;
    struct sg_intervals_kept *intervals;
    struct sg_cause_sums *sums;
    struct sg_cause_chains *chains;
    struct comm *comms;
    uint32_t comm_count;
    bool has_intervals;
    struct sg_blame blame;
};

enum sg_status sg_cause_finder_create(struct sg_history *history, struct sg_places *places,
                                      const uint32_t *ranks, const uint64_t *clock_errors_ns,
                                      uint32_t locations, struct sg_cause_finder **out)
{
    struct sg_cause_finder *finder = calloc(1, sizeof *finder);
    enum sg_status status;

    if (finder == NULL)
        return SG_ERR_MEMORY;
    finder->places = places;
    status = sg_intervals_kept_create(locations, &finder->intervals);
    if (status == SG_OK)
        status = sg_cause_sums_create(places, &finder->sums);
    if (status == SG_OK)
        status = sg_cause_chains_create(&finder->chains);
    if (status != SG_OK) {
        sg_cause_finder_destroy(finder);
        return status;
    }
    finder->blame.history = history;
    finder->blame.intervals = finder->intervals;
    finder->blame.ranks = ranks;
    finder->blame.clock_errors_ns = clock_errors_ns;
    *out = finder;
    return SG_OK;
}

void sg_cause_finder_destroy(struct sg_cause_finder *finder)
{
    if (finder == NULL)
        return;
    for (uint32_t i = 0; i < finder->comm_count; i++)
        free(finder->comms[i].came_ns);
    free(finder->comms);
    sg_intervals_kept_destroy(finder->intervals);
    sg_cause_sums_destroy(finder->sums);
    sg_cause_chains_destroy(finder->chains);
    free(finder);
}

enum sg_status sg_cause_finder_interval(struct sg_cause_finder *finder, uint32_t location,
                                        const struct sg_sampled_interval *interval)
{
    finder->has_intervals = true;
    return sg_intervals_kept_add(finder->intervals, location, interval);
}

struct sg_sampled_interval *sg_cause_finder_last(struct sg_cause_finder *finder, uint32_t location)
{
    return sg_intervals_kept_last(finder->intervals, location);
}

/* ---- instances ------------------------------------------------------------------------------- */

/* Finds when the call that began at begin_ns ended. False: it is not known. */
static bool find_end(struct sg_history *history, uint32_t location, int64_t begin_ns, int64_t *out)
{
    uint64_t count = sg_history_before(history, location, begin_ns + 1);
    const struct sg_history_call *call;

    if (count == 0)
        return false;
    call = sg_history_at(history, location, count - 1);
    *out = call->end_ns;
    return call->begin_ns == begin_ns;
}

/* Returns the last member to come, without `one` (instance->size: of all). */
static uint32_t last_but(const struct sg_cause_instance *instance, uint32_t one)
{
    uint32_t last = one == 0 ? 1 : 0;

    for (uint32_t i = last + 1; i < instance->size; i++) {
        if (i != one && instance->members[i].came_ns > instance->members[last].came_ns)
            last = i;
    }
    return last;
}

/* True if it is known which members wait. */
static bool is_known(const struct sg_cause_instance *instance)
{
    return instance->waiting == SG_CAUSE_ALL_WAIT || instance->root < instance->size;
}

/* Returns the member that is waited for. Requires is_known(). */
static uint32_t find_awaited(const struct sg_cause_instance *instance)
{
    switch (instance->waiting) {
    case SG_CAUSE_WAIT_FOR_ROOT:
        return instance->root;
    case SG_CAUSE_ROOT_WAITS:
        return last_but(instance, instance->root);
    default:
        return last_but(instance, instance->size);
    }
}

/* True if the member waits for the awaited one. */
static bool waits(const struct sg_cause_instance *instance, uint32_t member, uint32_t awaited)
{
    return member != awaited &&
           (instance->waiting == SG_CAUSE_ALL_WAIT ||
            (instance->members[member].came_ns < instance->members[awaited].came_ns &&
             (instance->waiting == SG_CAUSE_WAIT_FOR_ROOT || member == instance->root)));
}

/* Lists the members that wait and the awaited one, all with the call site of the latter. False: it
 * is not known of each when it left the instance before. */
static bool find_members(const struct sg_cause_finder *finder, const struct comm *comm,
                         const struct sg_cause_instance *instance, uint32_t awaited, uint32_t place,
                         struct sg_blame_member *out, uint32_t *count)
{
    *count = 0;
    for (uint32_t i = 0; i < instance->size; i++) {
        const struct sg_cause_member *member = &instance->members[i];
        struct sg_blame_member *to = &out[*count];

        if (i != awaited && !waits(instance, i, awaited))
            continue;
        *to = (struct sg_blame_member){.location = member->who.location,
                                       .rank = member->who.rank,
                                       .place = place,
                                       .came_ns = member->came_ns};
        if (!find_end(finder->blame.history, to->location, comm->came_ns[i], &to->left_ns) ||
            to->left_ns > to->came_ns)
            return false;
        ++*count;
    }
    return true;
}

static enum sg_status find_blame(struct sg_cause_finder *finder, const struct comm *comm,
                                 const struct sg_cause_instance *instance)
{
    uint32_t awaited = find_awaited(instance), count = 0;
    struct sg_blame_member *of = malloc(instance->size * sizeof *of);
    int64_t place = sg_places_find(finder->places, &instance->members[awaited].who);
    enum sg_blamed blamed = SG_BLAME_NOT_TOLD;
    enum sg_status status = of != NULL && place >= 0 ? SG_OK : SG_ERR_MEMORY;

    if (status == SG_OK && !instance->is_contradicted &&
        find_members(finder, comm, instance, awaited, (uint32_t)place, of, &count)) {
        blamed = SG_BLAME_NOBODY;
        if (count > 1)
            status = sg_blame_instance(&finder->blame, of, count, &blamed);
    }
    if (status == SG_OK && blamed == SG_BLAMED) {
        sg_cause_chains_add(finder->chains, (uint32_t)place, &finder->blame, of);
        status = sg_cause_sums_add(finder->sums, (uint32_t)place, &finder->blame);
    }
    free(of);
    if (status == SG_OK && blamed == SG_BLAME_NOT_TOLD)
        sg_cause_sums_unsampled(finder->sums);
    return status;
}

enum sg_status sg_cause_finder_instance(struct sg_cause_finder *finder,
                                        const struct sg_cause_instance *instance)
{
    uint32_t size = instance->size;
    enum sg_status status = SG_OK;
    struct comm *comm;

    if (size < 2 || sg_history_is_lost(finder->blame.history))
        return SG_OK;
    if (!SG_EXTEND(finder->comms, finder->comm_count, instance->comm))
        return SG_ERR_MEMORY;
    comm = &finder->comms[instance->comm];
    if (comm->came_ns != NULL && comm->size == size && finder->has_intervals && is_known(instance))
        status = find_blame(finder, comm, instance);
    if (comm->came_ns == NULL)
        comm->came_ns = malloc(size * sizeof *comm->came_ns);
    if (comm->came_ns == NULL)
        return SG_ERR_MEMORY;
    if (comm->size == 0)
        comm->size = size;
    for (uint32_t i = 0; i < size && comm->size == size; i++)
        comm->came_ns[i] = instance->members[i].came_ns;
    return status;
}

/* ---- the end --------------------------------------------------------------------------------- */

enum sg_status sg_cause_finder_finish(struct sg_cause_finder *finder, struct sg_causes_found **out)
{
    struct sg_causes_found *found = NULL;
    enum sg_status status;

    *out = NULL;
    if (!finder->has_intervals)
        return SG_OK;
    status = sg_cause_sums_finish(finder->sums, &found);
    if (status == SG_OK)
        status = sg_cause_chains_finish(finder->chains, finder->places, finder->blame.ranks, found);
    if (status == SG_OK)
        *out = found;
    else
        sg_causes_found_free(found);
    return status;
}
