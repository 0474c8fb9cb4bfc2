#include "report/causes/finder.h"

#include "core/room.h"
#include "report/causes/chains.h"
#include "report/causes/sums.h"
#include "report/path/history.h"

#include <stdlib.h>

/* When the members came to the instance before. */
struct comm {
    int64_t *came_ns; /* by member; NULL: there was none */
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

/* When the call that began then was left; false: it is not known. */
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

/* The last of all but one (instance->size: of all). */
static uint32_t last_but(const struct sg_cause_instance *instance, uint32_t one)
{
    uint32_t last = one == 0 ? 1 : 0;

    for (uint32_t i = last + 1; i < instance->size; i++) {
        if (i != one && instance->members[i].came_ns > instance->members[last].came_ns)
            last = i;
    }
    return last;
}

/* Whether it is known who waits. */
static bool is_known(const struct sg_cause_instance *instance)
{
    return instance->waiting == SG_CAUSE_ALL_WAIT || instance->root < instance->size;
}

/* The member that is waited for; it is known. */
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

/* Whether a member waits for that one. */
static bool waits(const struct sg_cause_instance *instance, uint32_t member, uint32_t awaited)
{
    return member != awaited &&
           (instance->waiting == SG_CAUSE_ALL_WAIT ||
            (instance->members[member].came_ns < instance->members[awaited].came_ns &&
             (instance->waiting == SG_CAUSE_WAIT_FOR_ROOT || member == instance->root)));
}

/* Those that wait, and the one that is waited for, at whose place they are. False: it is not known
 * of all when they left the instance before. */
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
