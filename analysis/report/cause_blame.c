#include "report/cause_finder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The cause of each part. SG_CAUSE_LEFT has no part. */
static const enum sg_cause causes[SG_PARTS] = {
    [SG_PART_CPU] = SG_CAUSE_COMPUTING,
    [SG_PART_RUNNABLE] = SG_CAUSE_PREEMPTED,
    [SG_PART_THROTTLED] = SG_CAUSE_THROTTLED,
    [SG_PART_IO] = SG_CAUSE_IO,
    [SG_PART_ASLEEP] = SG_CAUSE_ASLEEP,
    [SG_PART_CALLS] = SG_CAUSE_CALLS,
    [SG_PART_CALLS_CPU] = SG_CAUSE_CALLS_BUSY,
    [SG_PART_CALLS_RUNNABLE] = SG_CAUSE_CALLS_PREEMPTED,
    [SG_PART_CALLS_THROTTLED] = SG_CAUSE_CALLS_THROTTLED,
    [SG_PART_CALLS_ASLEEP] = SG_CAUSE_CALLS_ASLEEP,
    [SG_PART_UNKNOWN] = SG_CAUSE_UNKNOWN,
};

/* A path's time on one location. */
struct leg {
    uint32_t location, steps;
    double ns[SG_CAUSES];
    uint32_t after, until; /* ends of its longest interval */
    double longest_ns;
    /* For SG_CAUSE_PREEMPTED and SG_CAUSE_CALLS_PREEMPTED. */
    struct sg_stretch_threads threads, threads_in_calls;
    uint32_t call[SG_CAUSES]; /* call site with the most time of each cause */
    double call_ns[SG_CAUSES];
};

struct path {
    struct leg legs[SG_BLAME_STEPS];
    uint32_t leg_count;
    double ns[SG_CAUSES], asides[SG_ASIDES];
    bool has_usage, has_instructions;
    struct sg_blame *chain; /* receives the links; NULL: none does */
};

struct group {
    const struct sg_blame_member *members;
    uint32_t count;
    int64_t base_ns; /* when the first member left the instance before */
};

/* A time span on one location. */
struct span {
    int64_t from_ns, to_ns;
    uint32_t place; /* call site of the call that begins at to_ns, if the history lacks it */
    bool is_before; /* before the location left the instance before */
};

/* ---- one path -------------------------------------------------------------------------------- */

/* If all legs are in use, the last one takes the rest. */
static struct leg *leg_of(struct path *path, uint32_t location, uint32_t steps)
{
    uint32_t at = 0;

    while (at < path->leg_count && path->legs[at].location != location)
        at++;
    if (at == path->leg_count && at < SG_BLAME_STEPS)
        path->legs[path->leg_count++] = (struct leg){
            .location = location, .steps = steps, .after = SG_NO_PLACE, .until = SG_NO_PLACE};
    return &path->legs[at < SG_BLAME_STEPS ? at : SG_BLAME_STEPS - 1];
}

static void add_time(struct path *path, struct leg *leg, enum sg_cause cause, double ns)
{
    leg->ns[cause] += ns;
    path->ns[cause] += ns;
}

static void add_threads(struct sg_stretch_threads *to, const struct sg_stretch_threads *from,
                        double share)
{
    to->here_ns += from->here_ns * share;
    to->elsewhere_ns += from->elsewhere_ns * share;
}

static void find_longest(struct leg *leg, const struct sg_stretch *stretch, uint32_t place)
{
    if (stretch->longest_ns <= leg->longest_ns)
        return;
    leg->longest_ns = stretch->longest_ns;
    leg->after = stretch->after;
    leg->until = stretch->until != SG_NO_PLACE ? stretch->until : place;
}

/* Unexplained time before a location left the instance before counts as leaving later. */
static enum sg_cause cause_of(enum sg_part part, bool is_before)
{
    return is_before && (part == SG_PART_CALLS || part == SG_PART_UNKNOWN) ? SG_CAUSE_LEFT
                                                                           : causes[part];
}

/* Adds a span of the leg's location to path, leg and link. */
static void add_stretch(const struct sg_blame *blame, struct path *path, struct leg *leg,
                        const struct span *span, struct sg_blame_link *link)
{
    struct sg_stretch stretch;

    if (span->to_ns <= span->from_ns)
        return;
    sg_stretch_measure(blame->history, blame->intervals, leg->location, span->from_ns, span->to_ns,
                       &stretch);
    for (unsigned i = 0; i < SG_PARTS; i++) {
        enum sg_cause cause = cause_of(i, span->is_before);

        add_time(path, leg, cause, stretch.ns[i]);
        link->ns[cause] += stretch.ns[i];
        if (stretch.call_ns[i] > leg->call_ns[cause]) {
            leg->call_ns[cause] = stretch.call_ns[i];
            leg->call[cause] = stretch.call[i];
        }
    }
    add_threads(&leg->threads, &stretch.threads, 1);
    add_threads(&leg->threads_in_calls, &stretch.threads_in_calls, 1);
    for (int i = 0; i < SG_ASIDES; i++)
        path->asides[i] += stretch.asides[i];
    path->has_usage = path->has_usage && stretch.has_usage;
    path->has_instructions = path->has_instructions && stretch.has_instructions;
    if (span->is_before && !sg_stretch_is_sampled(&stretch))
        return;
    find_longest(leg, &stretch, span->place);
    if (stretch.longest_ns > 0 && link->after == SG_NO_PLACE && link->until == SG_NO_PLACE) {
        link->after = stretch.after;
        link->until = stretch.until != SG_NO_PLACE ? stretch.until : span->place;
    }
}

/* Returns the last call of the location whose wait for another ended between the two moments; NULL:
 * none. */
static const struct sg_history_call *find_wait(struct sg_history *history, uint32_t location,
                                               int64_t from_ns, int64_t to_ns)
{
    uint64_t number = sg_history_before(history, location, to_ns);

    for (; number > 0; number--) {
        const struct sg_history_call *call = sg_history_at(history, location, number - 1);

        if (call->end_ns <= from_ns)
            break;
        if (call->other != SG_HISTORY_NOBODY && call->until_ns > from_ns && call->until_ns < to_ns)
            return call;
    }
    return NULL;
}

/* Returns when the location left the instance before. If it is no member, returns otherwise_ns: the
 * path follows it as far back as the path's own member. */
static int64_t left_by(const struct group *group, uint32_t location, int64_t otherwise_ns)
{
    for (uint32_t i = 0; i < group->count; i++) {
        if (group->members[i].location == location)
            return group->members[i].left_ns;
    }
    return otherwise_ns;
}

/* Adds a part of a path on one location. place: the call site that it leads to, if the history
 * lacks that call. */
static void add_leg(const struct sg_blame *blame, struct path *path, struct leg *leg,
                    struct sg_blame_link *link, int64_t left_ns, uint32_t place)
{
    int64_t from_ns = link->from_ns, to_ns = link->to_ns;
    int64_t middle_ns = left_ns < from_ns ? from_ns : left_ns > to_ns ? to_ns : left_ns;

    add_stretch(blame, path, leg, &(struct span){middle_ns, to_ns, place, false}, link);
    add_stretch(blame, path, leg, &(struct span){from_ns, middle_ns, SG_NO_PLACE, true}, link);
    if (path->chain != NULL && to_ns > from_ns)
        path->chain->links[path->chain->link_count++] = *link;
}

/* Follows a member's path back to when the first of all left the instance before. */
static void walk_back(const struct sg_blame *blame, const struct group *group, uint32_t index,
                      struct path *path)
{
    const struct sg_blame_member *member = &group->members[index];
    struct sg_blame_link link = {.location = member->location,
                                 .waited = SG_NO_PLACE,
                                 .to_ns = member->came_ns,
                                 .after = SG_NO_PLACE,
                                 .until = SG_NO_PLACE};
    uint32_t place = member->place;
    const struct sg_history_call *wait;

    for (uint32_t steps = 0;; steps++) {
        struct leg *leg = leg_of(path, link.location, steps);

        wait = find_wait(blame->history, link.location, group->base_ns, link.to_ns);
        link.from_ns = wait != NULL ? wait->until_ns : group->base_ns;
        add_leg(blame, path, leg, &link, left_by(group, link.location, member->left_ns), place);
        if (wait == NULL)
            return;
        if (steps + 1 == SG_BLAME_STEPS) {
            add_time(path, leg, SG_CAUSE_UNKNOWN, (double)(wait->until_ns - group->base_ns));
            return;
        }
        link = (struct sg_blame_link){.location = wait->other,
                                      .waited = wait->place,
                                      .to_ns = wait->until_ns,
                                      .after = SG_NO_PLACE,
                                      .until = SG_NO_PLACE};
        place = SG_NO_PLACE;
    }
}

/* ---- two paths ------------------------------------------------------------------------------- */

/* The excess of the last rank's path over another one's. */
struct excess {
    double ns[SG_CAUSES], sum_ns;
    double scale; /* from the excess to the time that the other rank waits */
};

static void compare_paths(const struct path *last, const struct path *other, double late_ns,
                          struct excess *out)
{
    out->sum_ns = 0;
    for (int i = 0; i < SG_CAUSES; i++) {
        double more_ns = last->ns[i] - other->ns[i];

        out->ns[i] = more_ns > 0 ? more_ns : 0;
        out->sum_ns += out->ns[i];
    }
    out->scale = out->sum_ns > 0 ? late_ns / out->sum_ns : 0;
}

/* Returns the time of a cause that the path has on this location. */
static double on_location(const struct path *path, uint32_t location, enum sg_cause cause)
{
    for (uint32_t i = 0; i < path->leg_count; i++) {
        if (path->legs[i].location == location)
            return path->legs[i].ns[cause];
    }
    return 0;
}

static double more_on(const struct path *last, const struct path *other, uint32_t leg,
                      enum sg_cause cause)
{
    double ns = last->legs[leg].ns[cause] - on_location(other, last->legs[leg].location, cause);

    return ns > 0 ? ns : 0;
}

static struct sg_blame_part *part_of(struct sg_blame *blame, const struct leg *leg,
                                     enum sg_cause cause)
{
    struct sg_blame_part *part = blame->parts;
    uint32_t rank = blame->ranks[leg->location];

    while (part < blame->parts + blame->part_count && (part->rank != rank || part->cause != cause))
        part++;
    if (part == blame->parts + blame->part_count) {
        bool in_calls = sg_cause_is_in_calls(cause);
        uint32_t call = leg->call_ns[cause] > 0 ? leg->call[cause] : SG_NO_PLACE;

        blame->part_count++;
        *part =
            (struct sg_blame_part){.cause = cause,
                                   .rank = rank,
                                   .steps = leg->steps,
                                   .after = in_calls ? SG_NO_PLACE : leg->after,
                                   .until = in_calls ? call : leg->until,
                                   .longest_ns = in_calls ? leg->call_ns[cause] : leg->longest_ns,
                                   .has_usage = true};
    }
    return part;
}

static double work_of(const struct path *last, const struct path *other)
{
    double usual = other->asides[SG_ASIDE_INSTRUCTIONS];

    if (!last->has_instructions || !other->has_instructions || usual <= 0)
        return NAN;
    return other->ns[SG_CAUSE_COMPUTING] * (last->asides[SG_ASIDE_INSTRUCTIONS] / usual - 1);
}

/* share: this location's share of the excess for the cause. */
static void add_part(struct sg_blame *blame, const struct path *last, const struct path *other,
                     uint32_t leg, enum sg_cause cause, const struct excess *excess, double share)
{
    struct sg_blame_part *part = part_of(blame, &last->legs[leg], cause);

    double ns = excess->ns[cause] * excess->scale * share;

    part->ns += ns;
    /* In proportion to the part's share of the location's time for this cause. */
    if (cause == SG_CAUSE_PREEMPTED)
        add_threads(&part->threads, &last->legs[leg].threads, ns / last->legs[leg].ns[cause]);
    if (cause == SG_CAUSE_CALLS_PREEMPTED)
        add_threads(&part->threads, &last->legs[leg].threads_in_calls,
                    ns / last->legs[leg].ns[cause]);
    if (cause != SG_CAUSE_COMPUTING)
        return;
    for (int i = 0; i < SG_ASIDES; i++)
        part->asides[i] += (last->asides[i] - other->asides[i]) * excess->scale * share;
    part->work_ns += work_of(last, other) * excess->scale * share;
    part->has_usage = part->has_usage && last->has_usage && other->has_usage;
}

static void add_parts(struct sg_blame *blame, const struct path *last, const struct path *other,
                      double late_ns)
{
    struct excess excess;

    compare_paths(last, other, late_ns, &excess);
    for (unsigned cause = 0; cause < SG_CAUSES; cause++) {
        double sum_ns = 0;

        for (uint32_t i = 0; i < last->leg_count; i++)
            sum_ns += more_on(last, other, i, cause);
        for (uint32_t i = 0; i < last->leg_count && excess.ns[cause] > 0; i++) {
            double ns = more_on(last, other, i, cause);

            if (ns > 0)
                add_part(blame, last, other, i, cause, &excess, ns / sum_ns);
        }
    }
}

/* ---- an instance ----------------------------------------------------------------------------- */

static void find_ends(struct sg_blame *blame, const struct group *group)
{
    blame->first = blame->last = 0;
    for (uint32_t i = 1; i < group->count; i++) {
        if (group->members[i].came_ns > group->members[blame->last].came_ns)
            blame->last = i;
        if (group->members[i].came_ns < group->members[blame->first].came_ns)
            blame->first = i;
    }
}

static bool is_sampled(const struct sg_blame *blame, const struct group *group)
{
    struct sg_stretch stretch;

    for (uint32_t i = 0; i < group->count; i++) {
        const struct sg_blame_member *member = &group->members[i];

        sg_stretch_measure(blame->history, blame->intervals, member->location, member->left_ns,
                           member->came_ns, &stretch);
        if (!sg_stretch_is_sampled(&stretch))
            return false;
    }
    return true;
}

static void find_base(struct group *group)
{
    group->base_ns = group->members[0].left_ns;
    for (uint32_t i = 1; i < group->count; i++) {
        if (group->members[i].left_ns < group->base_ns)
            group->base_ns = group->members[i].left_ns;
    }
}

/* Returns how much later than the member the last one came, in ns; 0 if it is within the clock
 * errors. */
static double lateness(const struct sg_blame *blame, const struct group *group, uint32_t other)
{
    const struct sg_blame_member *last = &group->members[blame->last];
    const struct sg_blame_member *member = &group->members[other];
    double late_ns = (double)(last->came_ns - member->came_ns);
    double doubt_ns = (double)blame->clock_errors_ns[last->location] +
                      (double)blame->clock_errors_ns[member->location];

    return late_ns > doubt_ns ? late_ns : 0;
}

static void blame_last(struct sg_blame *blame, const struct group *group, struct path *paths)
{
    static const struct path empty = {.has_usage = true, .has_instructions = true};

    paths[0] = empty;
    paths[0].chain = blame;
    walk_back(blame, group, blame->last, &paths[0]);
    for (uint32_t i = 0; i < group->count; i++) {
        double late_ns = lateness(blame, group, i);

        if (late_ns <= 0)
            continue;
        paths[1] = empty;
        walk_back(blame, group, i, &paths[1]);
        add_parts(blame, &paths[0], &paths[1], late_ns);
    }
}

enum sg_status sg_blame_instance(struct sg_blame *blame, const struct sg_blame_member *members,
                                 uint32_t count, enum sg_blamed *out)
{
    struct group group = {members, count, 0};
    struct path *paths = malloc(2 * sizeof *paths); /* of the last rank, and of another */

    if (paths == NULL)
        return SG_ERR_MEMORY;
    find_base(&group);
    find_ends(blame, &group);
    blame->part_count = blame->link_count = 0;
    blame->late_ns = 0;
    for (uint32_t i = 0; i < count; i++)
        blame->late_ns += lateness(blame, &group, i);
    if (members[blame->last].came_ns == members[blame->first].came_ns)
        *out = is_sampled(blame, &group) ? SG_BLAME_NOBODY : SG_BLAME_NOT_TOLD;
    else
        *out = blame->late_ns > 0 && is_sampled(blame, &group) ? SG_BLAMED : SG_BLAME_NOT_TOLD;
    if (*out == SG_BLAMED)
        blame_last(blame, &group, paths);
    free(paths);
    return SG_OK;
}

struct chain {
    uint32_t place;
    double late_ns;
    uint32_t first_rank;
    int64_t first_ns;
    enum sg_cause cause;
    uint32_t cause_rank;
    double cause_ns;
    struct sg_blame_link links[SG_BLAME_STEPS];
    uint32_t link_count;
};

struct sg_cause_chains {
    struct chain of[SG_CAUSE_CHAINS];
    uint32_t count;
};

enum sg_status sg_cause_chains_create(struct sg_cause_chains **out)
{
    *out = calloc(1, sizeof **out);
    return *out != NULL ? SG_OK : SG_ERR_MEMORY;
}

void sg_cause_chains_destroy(struct sg_cause_chains *chains)
{
    free(chains);
}

/* Returns the chain of the call site, or a free one, or the one with the least lateness. */
static struct chain *find_chain(struct sg_cause_chains *chains, uint32_t place)
{
    struct chain *least = &chains->of[0];

    for (uint32_t i = 0; i < chains->count; i++) {
        if (chains->of[i].place == place)
            return &chains->of[i];
        if (chains->of[i].late_ns < least->late_ns)
            least = &chains->of[i];
    }
    if (chains->count < SG_CAUSE_CHAINS) {
        least = &chains->of[chains->count++];
        least->late_ns = 0;
    }
    return least;
}

void sg_cause_chains_add(struct sg_cause_chains *chains, uint32_t place,
                         const struct sg_blame *blame, const struct sg_blame_member *members)
{
    struct chain *chain = find_chain(chains, place);

    if (blame->late_ns <= chain->late_ns)
        return;
    chain->place = place;
    chain->late_ns = blame->late_ns;
    chain->first_rank = members[blame->first].rank;
    chain->first_ns = members[blame->first].came_ns;
    chain->cause_ns = 0;
    for (uint32_t i = 0; i < blame->part_count; i++) {
        const struct sg_blame_part *part = &blame->parts[i];

        if (part->ns <= chain->cause_ns)
            continue;
        chain->cause = part->cause;
        chain->cause_rank = part->rank;
        chain->cause_ns = part->ns;
    }
    chain->link_count = blame->link_count;
    memcpy(chain->links, blame->links, blame->link_count * sizeof *chain->links);
}

/* ---- the result ------------------------------------------------------------------------------ */

static int compare_chains(const void *left, const void *right)
{
    const struct sg_cause_chain *a = left, *b = right;

    return (a->late_ns < b->late_ns) - (a->late_ns > b->late_ns);
}

static void name_link(const struct sg_places *places, const uint32_t *ranks,
                      const struct sg_blame_link *link, struct sg_cause_link *out)
{
    out->rank = ranks[link->location];
    out->from_ns = link->from_ns;
    out->to_ns = link->to_ns;
    memcpy(out->ns, link->ns, sizeof out->ns);
    sg_places_name(places, link->after, &out->after);
    sg_places_name(places, link->until, &out->until);
    sg_places_name(places, link->waited, &out->waited);
}

enum sg_status sg_cause_chains_finish(const struct sg_cause_chains *chains,
                                      const struct sg_places *places, const uint32_t *ranks,
                                      struct sg_causes_found *out)
{
    out->chains = calloc(chains->count + 1, sizeof *out->chains);
    if (out->chains == NULL)
        return SG_ERR_MEMORY;
    for (uint32_t i = 0; i < chains->count; i++) {
        const struct chain *chain = &chains->of[i];
        struct sg_cause_chain *to = &out->chains[i];

        *to = (struct sg_cause_chain){.late_ns = (uint64_t)llround(chain->late_ns),
                                      .first_rank = chain->first_rank,
                                      .first_ns = chain->first_ns,
                                      .cause = chain->cause,
                                      .cause_rank = chain->cause_rank,
                                      .cause_ns = (uint64_t)llround(chain->cause_ns)};
        to->links = calloc(chain->link_count + 1, sizeof *to->links);
        out->chain_count++;
        if (to->links == NULL)
            return SG_ERR_MEMORY;
        sg_places_name(places, chain->place, &to->at);
        for (uint32_t at = 0; at < chain->link_count; at++)
            name_link(places, ranks, &chain->links[at], &to->links[at]);
        to->link_count = chain->link_count;
    }
    qsort(out->chains, out->chain_count, sizeof *out->chains, compare_chains);
    return SG_OK;
}
