#include "trace/export/unify_comms.h"

#include "trace/export/vocabulary.h"

#include <stdlib.h>
#include <string.h>

/* True if the views agree: one size, each rank once and at its position in the member list. */
static bool views_agree(const struct sg_gathering *gathering, const uint32_t *members)
{
    for (uint32_t i = 0; i < gathering->count; i++) {
        const struct sg_comm_view *view = &gathering->views[i];

        if (view->comm->size != gathering->views[0].comm->size ||
            (i > 0 && view->comm->rank == view[-1].comm->rank) ||
            members[view->comm->rank] != (uint32_t)view->summary->rank)
            return false;
    }
    return true;
}

/* False if a rank occurs twice or is outside the world, or when out of memory. */
static bool are_distinct(const uint32_t *members, uint32_t size, uint32_t world_size)
{
    bool *seen = calloc(world_size, sizeof *seen);
    bool distinct = seen != NULL;

    for (uint32_t i = 0; i < size && distinct; i++) {
        distinct = members[i] < world_size && !seen[members[i]];
        if (distinct)
            seen[members[i]] = true;
    }
    free(seen);
    return distinct;
}

enum sg_status sg_gathering_find_members(struct sg_gathering *gathering)
{
    const struct sg_comm_view *views = gathering->views;
    uint32_t size = views[0].comm->size;
    uint32_t *members = malloc(size * sizeof *members);
    const uint32_t *known = NULL;

    if (members == NULL)
        return SG_ERR_MEMORY;
    for (uint32_t i = 0; i < gathering->count; i++) {
        if (views[i].comm->members != NULL && views[i].comm->size == size)
            known = views[i].comm->members;
    }
    for (uint32_t i = 0; i < size; i++)
        members[i] = known != NULL ? known[i] : UINT32_MAX;
    for (uint32_t i = 0; known == NULL && i < gathering->count; i++) {
        if (views[i].comm->rank < size)
            members[views[i].comm->rank] = (uint32_t)views[i].summary->rank;
    }
    for (uint32_t i = 0; known == NULL && i < size; i++) {
        if (members[i] == UINT32_MAX)
            goto unknown;
    }
    if (!views_agree(gathering, members) ||
        !are_distinct(members, size, (uint32_t)views[0].summary->world_size))
        goto unknown;
    gathering->members = members;
    gathering->complete = gathering->count == size;
    return SG_OK;

unknown:
    free(members);
    return SG_OK;
}

enum sg_status sg_views_keep(const struct sg_comm_view *views, uint32_t count, bool complete,
                             struct sg_intervals *kept, uint64_t *lost)
{
    uint64_t recorded = 0;

    if (complete && !sg_intervals_fill(kept))
        return SG_ERR_MEMORY;
    for (uint32_t i = 0; i < count; i++) {
        recorded += sg_intervals_size(&views[i].comm->recorded);
        if (complete && !sg_intervals_intersect(kept, &views[i].comm->recorded))
            return SG_ERR_MEMORY;
    }
    *lost += recorded - count * sg_intervals_size(kept);
    return SG_OK;
}

static int by_identity(const void *a, const void *b)
{
    const struct sg_comm_view *left = a;
    const struct sg_comm_view *right = b;

    if (left->comm->root_world_rank != right->comm->root_world_rank)
        return left->comm->root_world_rank > right->comm->root_world_rank ? 1 : -1;
    if (left->comm->root_counter != right->comm->root_counter)
        return left->comm->root_counter > right->comm->root_counter ? 1 : -1;
    return (left->comm->rank > right->comm->rank) - (left->comm->rank < right->comm->rank);
}

static bool same_identity(const struct sg_comm_view *a, const struct sg_comm_view *b)
{
    return a->comm->root_world_rank == b->comm->root_world_rank &&
           a->comm->root_counter == b->comm->root_counter;
}

static enum sg_status keep(const struct sg_comm_view *views, uint32_t count, bool complete,
                           struct sg_intervals *kept, struct sg_unified_comms *out)
{
    enum sg_status status = sg_views_keep(views, count, complete, kept, &out->dropped);

    if (status == SG_OK)
        out->calls += count * sg_intervals_size(kept);
    return status;
}

static enum sg_status unify_predefined(const struct sg_summary *summaries, int count,
                                       struct sg_plan *plan, struct sg_unified_comms *out)
{
    struct sg_comm_view *views = calloc((size_t)count, sizeof *views);
    enum sg_status status;

    if (views == NULL)
        return SG_ERR_MEMORY;
    for (int i = 0; i < count; i++) {
        views[i].summary = &summaries[i];
        views[i].comm = sg_summary_comm(&summaries[i], SG_COMM_WORLD_INDEX);
        out->calls +=
            sg_intervals_size(&sg_summary_comm(&summaries[i], SG_COMM_SELF_INDEX)->recorded);
    }
    status = keep(views, (uint32_t)count, views[0].comm->size == (uint32_t)count, &plan->world_kept,
                  out);
    free(views);
    return status;
}

/* Collects the views of all but the predefined communicators, sorted by communicator; malloc'ed. */
static enum sg_status collect_views(const struct sg_summary *summaries, int summary_count,
                                    struct sg_comm_view **out, uint32_t *out_count)
{
    struct sg_comm_view *views;
    uint32_t count = 0;
    size_t total = 0;

    for (int i = 0; i < summary_count; i++)
        total += summaries[i].comm_count;
    views = calloc(total + 1, sizeof *views);
    if (views == NULL)
        return SG_ERR_MEMORY;
    for (int i = 0; i < summary_count; i++) {
        const struct sg_summary *summary = &summaries[i];

        for (uint32_t c = 0; c < summary->comm_count; c++) {
            if (summary->comms[c].index > SG_COMM_SELF_INDEX)
                views[count++] = (struct sg_comm_view){summary, &summary->comms[c]};
        }
    }
    qsort(views, count, sizeof *views, by_identity);
    *out = views;
    *out_count = count;
    return SG_OK;
}

/* Returns the parent's position in plan->comms, the ref of a predefined parent (*predefined), or
 * SG_NO_COMM. */
static uint32_t find_parent(const struct sg_plan *plan, const struct sg_comm_view *view,
                            bool *predefined)
{
    const struct sg_comm_entry *parent = sg_summary_comm(view->summary, view->comm->parent);
    const struct sg_plan_comm *found;

    *predefined = parent != NULL && parent->index <= SG_COMM_SELF_INDEX;
    if (parent == NULL)
        return SG_NO_COMM;
    if (*predefined)
        return sg_plan_comm_ref(plan, parent);
    found = sg_plan_find_comm(plan, parent);
    return found != NULL ? (uint32_t)(found - plan->comms) : SG_NO_COMM;
}

static uint32_t add_name(struct sg_strings *strings, const struct sg_comm_entry *comm)
{
    if (comm->name[0] != '\0')
        return sg_strings_add(strings, comm->name);
    return sg_strings_addf(strings, "comm %u.%u", comm->root_world_rank, comm->root_counter);
}

static void define(struct sg_unified_comms *comms, struct sg_strings *strings,
                   struct sg_gathering *gathering, uint32_t parent, struct sg_plan_comm *comm)
{
    struct sg_comm_definition *definition = &comms->definitions[comms->count];

    comm->ref = SG_COMM_SELF_REF + 1 + comms->count++;
    definition->name = add_name(strings, gathering->views[0].comm);
    definition->parent = parent;
    definition->size = gathering->views[0].comm->size;
    definition->remote_size = 0;
    definition->grid = NULL;
    definition->dimensions = 0;
    definition->members = gathering->members;
    gathering->members = NULL;
}

/* Numbers the communicators, parents first. Walks up from each one to an ancestor visited
 * before, then numbers on the way down. A cycle, which only a damaged log has, is cut where the
 * walk meets itself. */
static enum sg_status number_comms(struct sg_gathering *gatherings, struct sg_strings *strings,
                                   struct sg_plan *plan, struct sg_unified_comms *out)
{
    uint32_t *walk = malloc((plan->comm_count + 1) * sizeof *walk);
    bool *visited = calloc(plan->comm_count + 1, sizeof *visited);

    if (walk == NULL || visited == NULL) {
        free(walk);
        free(visited);
        return SG_ERR_MEMORY;
    }
    for (uint32_t i = 0; i < plan->comm_count; i++) {
        uint32_t parent = SG_NO_COMM;
        uint32_t depth = 0;
        uint32_t at = i;

        while (at != SG_NO_COMM && !visited[at]) {
            bool predefined;

            visited[at] = true;
            walk[depth++] = at;
            parent = find_parent(plan, gatherings[at].views, &predefined);
            at = predefined ? SG_NO_COMM : parent;
        }
        if (at != SG_NO_COMM)
            parent = plan->comms[at].ref;
        while (depth-- > 0) {
            at = walk[depth];
            if (gatherings[at].members != NULL)
                define(out, strings, &gatherings[at], parent, &plan->comms[at]);
            parent = plan->comms[at].ref;
        }
    }
    free(walk);
    free(visited);
    return SG_OK;
}

static enum sg_status gather_comms(const struct sg_comm_view *views, uint32_t view_count,
                                   struct sg_gathering *gatherings, struct sg_plan *plan,
                                   struct sg_unified_comms *out)
{
    for (uint32_t i = 0; i < view_count;) {
        struct sg_gathering *gathering = &gatherings[plan->comm_count];
        struct sg_plan_comm *comm = &plan->comms[plan->comm_count++];
        enum sg_status status;

        gathering->views = &views[i];
        while (i < view_count && same_identity(gathering->views, &views[i])) {
            gathering->count++;
            i++;
        }
        comm->root_world_rank = gathering->views->comm->root_world_rank;
        comm->root_counter = gathering->views->comm->root_counter;
        comm->ref = SG_NO_COMM;
        status = sg_gathering_find_members(gathering);
        if (status == SG_OK)
            status =
                keep(gathering->views, gathering->count, gathering->complete, &comm->kept, out);
        if (status != SG_OK)
            return status;
    }
    return SG_OK;
}

enum sg_status sg_unify_comms(const struct sg_summary *summaries, int summary_count,
                              struct sg_strings *strings, struct sg_plan *plan,
                              struct sg_unified_comms *out)
{
    struct sg_gathering *gatherings = NULL;
    struct sg_comm_view *views = NULL;
    uint32_t count = 0;
    enum sg_status status = unify_predefined(summaries, summary_count, plan, out);

    if (status == SG_OK)
        status = collect_views(summaries, summary_count, &views, &count);
    if (status != SG_OK)
        return status;
    status = SG_ERR_MEMORY;
    gatherings = calloc(count + 1, sizeof *gatherings);
    plan->comms = calloc(count + 1, sizeof *plan->comms);
    out->definitions = calloc(count + 1, sizeof *out->definitions);
    if (gatherings != NULL && plan->comms != NULL && out->definitions != NULL)
        status = gather_comms(views, count, gatherings, plan, out);
    if (status == SG_OK)
        status = number_comms(gatherings, strings, plan, out);
    for (uint32_t i = 0; gatherings != NULL && i < count; i++)
        free(gatherings[i].members);
    free(gatherings);
    free(views);
    return status;
}

void sg_unified_comms_clear(struct sg_unified_comms *comms)
{
    for (uint32_t i = 0; i < comms->count; i++)
        free(comms->definitions[i].members);
    free(comms->definitions);
}
