/* Communicators of all ranks, each once: who its members are, and which of its instances every
 * member recorded. A communicator whose members are not all known (their logs are lost) has no
 * whole instance and is left out; one that lacks a member's log stays, without instances. */
#include "trace/export/plan.h"

/* One rank's knowledge of one communicator. */
struct view {
    const struct sg_summary *summary;
    const struct sg_comm_entry *comm;
};

/* All views of one communicator, views[0..count). */
struct gathering {
    const struct view *views;
    uint32_t count;
    uint32_t *members; /* malloc'ed; NULL: not all known */
    bool complete;     /* every member's view is here */
};

static int by_identity(const void *a, const void *b)
{
    const struct view *left = a;
    const struct view *right = b;

    if (left->comm->root_world_rank != right->comm->root_world_rank)
        return left->comm->root_world_rank > right->comm->root_world_rank ? 1 : -1;
    if (left->comm->root_counter != right->comm->root_counter)
        return left->comm->root_counter > right->comm->root_counter ? 1 : -1;
    return (left->comm->rank > right->comm->rank) - (left->comm->rank < right->comm->rank);
}

static bool same_identity(const struct view *a, const struct view *b)
{
    return a->comm->root_world_rank == b->comm->root_world_rank &&
           a->comm->root_counter == b->comm->root_counter;
}

/* True when the views agree: one size, each rank once, each where the member list says. */
static bool views_agree(const struct gathering *gathering, const uint32_t *members)
{
    for (uint32_t i = 0; i < gathering->count; i++) {
        const struct view *view = &gathering->views[i];

        if (view->comm->size != gathering->views[0].comm->size ||
            (i > 0 && view->comm->rank == view[-1].comm->rank) ||
            members[view->comm->rank] != (uint32_t)view->summary->rank)
            return false;
    }
    return true;
}

static int by_value(const void *a, const void *b)
{
    const uint32_t *left = a;
    const uint32_t *right = b;

    return (*left > *right) - (*left < *right);
}

/* False when a rank is a member twice, or when out of memory. */
static bool are_distinct(const uint32_t *members, uint32_t size)
{
    uint32_t *sorted = malloc(size * sizeof *sorted);
    bool distinct = sorted != NULL;

    if (sorted == NULL)
        return false;
    memcpy(sorted, members, size * sizeof *sorted);
    qsort(sorted, size, sizeof *sorted, by_value);
    for (uint32_t i = 1; i < size; i++)
        distinct = distinct && sorted[i] != sorted[i - 1];
    free(sorted);
    return distinct;
}

/* The member list: rank 0's where its log is there, else put together from the views. */
static enum sg_status find_members(struct gathering *gathering)
{
    const struct view *views = gathering->views;
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
    if (!views_agree(gathering, members) || !are_distinct(members, size))
        goto unknown;
    gathering->members = members;
    gathering->complete = gathering->count == size;
    return SG_OK;

unknown:
    free(members);
    return SG_OK;
}

/* Keeps what all views recorded and counts what is lost. */
static enum sg_status keep_instances(struct sg_unified *unified, const struct view *views,
                                     uint32_t count, bool complete, struct sg_intervals *kept)
{
    uint64_t recorded = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct sg_intervals *one = &views[i].comm->recorded;

        recorded += sg_intervals_size(one);
        if (!complete)
            continue;
        if (i == 0) {
            struct sg_bytes copy = {0};
            struct sg_cursor cursor;
            bool copied;

            sg_intervals_put(&copy, one);
            cursor = sg_cursor_start(copy.data, copy.size_bytes);
            copied = !copy.failed && sg_intervals_take(&cursor, kept);
            free(copy.data);
            if (!copied)
                return SG_ERR_MEMORY;
        } else if (!sg_intervals_intersect(kept, one)) {
            return SG_ERR_MEMORY;
        }
    }
    unified->calls += count * sg_intervals_size(kept);
    unified->dropped += recorded - count * sg_intervals_size(kept);
    return SG_OK;
}

static enum sg_status unify_predefined(struct sg_unified *unified, struct sg_plan *plan)
{
    struct view *views = calloc((size_t)unified->summary_count, sizeof *views);
    enum sg_status status;

    if (views == NULL)
        return SG_ERR_MEMORY;
    for (int i = 0; i < unified->summary_count; i++) {
        const struct sg_summary *summary = &unified->summaries[i];

        views[i].summary = summary;
        views[i].comm = sg_summary_comm(summary, SG_COMM_WORLD_INDEX);
        unified->calls +=
            sg_intervals_size(&sg_summary_comm(summary, SG_COMM_SELF_INDEX)->recorded);
    }
    status = keep_instances(unified, views, (uint32_t)unified->summary_count,
                            unified->summary_count == unified->world_size, &plan->world_kept);
    free(views);
    return status;
}

static enum sg_status collect_views(const struct sg_unified *unified, struct view **out,
                                    uint32_t *out_count)
{
    struct view *views;
    uint32_t count = 0;
    size_t total = 0;

    for (int i = 0; i < unified->summary_count; i++)
        total += unified->summaries[i].comm_count;
    views = calloc(total + 1, sizeof *views);
    if (views == NULL)
        return SG_ERR_MEMORY;
    for (int i = 0; i < unified->summary_count; i++) {
        const struct sg_summary *summary = &unified->summaries[i];

        for (uint32_t c = 0; c < summary->comm_count; c++) {
            if (summary->comms[c].index > SG_COMM_SELF_INDEX)
                views[count++] = (struct view){summary, &summary->comms[c]};
        }
    }
    qsort(views, count, sizeof *views, by_identity);
    *out = views;
    *out_count = count;
    return SG_OK;
}

/* Position in plan->comms of the communicator that this one was made from, or a predefined one's
 * ref, or SG_NO_COMM. */
static uint32_t find_parent(const struct sg_plan *plan, const struct view *view, bool *predefined)
{
    const struct sg_comm_entry *parent = sg_summary_comm(view->summary, view->comm->parent);
    const struct sg_plan_comm *found;

    *predefined = parent != NULL && parent->index <= SG_COMM_SELF_INDEX;
    if (parent == NULL)
        return SG_NO_COMM;
    if (*predefined)
        return parent->index == SG_COMM_WORLD_INDEX ? SG_COMM_WORLD_REF : SG_COMM_SELF_REF;
    found = sg_plan_find_comm(plan, parent->root_world_rank, parent->root_counter);
    return found != NULL ? (uint32_t)(found - plan->comms) : SG_NO_COMM;
}

static uint32_t add_name(struct sg_unified *unified, const struct sg_comm_entry *comm)
{
    if (comm->name[0] != '\0')
        return sg_strings_add(&unified->strings, comm->name);
    return sg_strings_addf(&unified->strings, "comm %u.%u", comm->root_world_rank,
                           comm->root_counter);
}

static void define(struct sg_unified *unified, struct gathering *gathering, uint32_t parent,
                   struct sg_plan_comm *comm)
{
    struct sg_comm_definition *definition = &unified->comms[unified->comm_count];

    comm->ref = SG_COMM_SELF_REF + 1 + unified->comm_count++;
    definition->name = add_name(unified, gathering->views[0].comm);
    definition->parent = parent;
    definition->size = gathering->views[0].comm->size;
    definition->members = gathering->members;
    gathering->members = NULL;
}

/* Numbers the communicators so that each stands behind the one it was made from. Walks up from
 * each one to an ancestor with a number, and numbers downwards; a circle, which only damage makes,
 * is cut where the walk meets itself. */
static enum sg_status number_comms(struct sg_unified *unified, struct sg_plan *plan,
                                   struct gathering *gatherings)
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
                define(unified, &gatherings[at], parent, &plan->comms[at]);
            parent = plan->comms[at].ref;
        }
    }
    free(walk);
    free(visited);
    return SG_OK;
}

static enum sg_status gather_comms(struct sg_unified *unified, struct sg_plan *plan,
                                   const struct view *views, uint32_t view_count,
                                   struct gathering *gatherings)
{
    for (uint32_t i = 0; i < view_count;) {
        struct gathering *gathering = &gatherings[plan->comm_count];
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
        status = find_members(gathering);
        if (status == SG_OK)
            status = keep_instances(unified, gathering->views, gathering->count,
                                    gathering->complete, &comm->kept);
        if (status != SG_OK)
            return status;
    }
    return SG_OK;
}

enum sg_status sg_unify_comms(struct sg_unified *unified, struct sg_plan *plan)
{
    struct gathering *gatherings = NULL;
    struct view *views = NULL;
    uint32_t count = 0;
    enum sg_status status = unify_predefined(unified, plan);

    if (status == SG_OK)
        status = collect_views(unified, &views, &count);
    if (status != SG_OK)
        return status;
    status = SG_ERR_MEMORY;
    gatherings = calloc(count + 1, sizeof *gatherings);
    plan->comms = calloc(count + 1, sizeof *plan->comms);
    unified->comms = calloc(count + 1, sizeof *unified->comms);
    if (gatherings != NULL && plan->comms != NULL && unified->comms != NULL)
        status = gather_comms(unified, plan, views, count, gatherings);
    if (status == SG_OK)
        status = number_comms(unified, plan, gatherings);
    for (uint32_t i = 0; gatherings != NULL && i < count; i++)
        free(gatherings[i].members);
    free(gatherings);
    free(views);
    return status;
}
