#include "trace/export/unify.h"

#include "core/room.h"
#include "trace/export/unify_comms.h"
#include "trace/export/vocabulary.h"

#include <stdlib.h>
#include <string.h>

/* State of the merge: the views of all communicators, and a gathering of views for each
 * communicator. */
struct joining {
    const struct sg_summary *summaries;
    int summary_count;
    struct sg_comm_view *views;
    uint32_t view_count;
    struct sg_gathering *gatherings; /* parallel to plan->profile_comms */
    struct sg_plan *plan;
    struct sg_strings *strings;
    struct sg_unified_comms *out;
};

/* ---- groups of an intercommunicator ---------------------------------------------------------
 *
 * The rank 0 of each group records both groups, its own first; one such record is enough. */

/* Orders the groups the same way for all ranks: the group with the lower first rank comes first. */
static uint32_t *in_order(const struct sg_comm_entry *told, uint32_t sizes[2])
{
    uint32_t own = told->size, remote = told->remote_size;
    bool is_first = told->members[0] < told->members[own];
    uint32_t *members = malloc(((size_t)own + remote) * sizeof *members);

    if (members == NULL)
        return NULL;
    memcpy(members + (is_first ? 0 : remote), told->members, own * sizeof *members);
    memcpy(members + (is_first ? own : 0), told->members + own, remote * sizeof *members);
    sizes[0] = is_first ? own : remote;
    sizes[1] = is_first ? remote : own;
    return members;
}

/* Returns the position of the view's rank among all members; UINT32_MAX: they are inconsistent. */
static uint32_t place_of(const struct sg_comm_view *view, const uint32_t *members,
                         const uint32_t sizes[2])
{
    for (uint32_t side = 0; side < 2; side++) {
        uint32_t at = view->comm->rank + (side == 0 ? 0 : sizes[0]);

        if (view->comm->size == sizes[side] && view->comm->remote_size == sizes[1 - side] &&
            view->comm->rank < sizes[side] && members[at] == (uint32_t)view->summary->rank)
            return at;
    }
    return UINT32_MAX;
}

/* True if no rank occurs twice. seen: zeroed, one for each rank of the world; marks the members. */
static bool are_distinct(const uint32_t *members, uint32_t count, bool *seen)
{
    for (uint32_t i = 0; i < count; i++) {
        if (seen[members[i]])
            return false;
        seen[members[i]] = true;
    }
    return true;
}

static bool views_agree(const struct sg_gathering *gathering, const uint32_t *members, bool *seen)
{
    for (uint32_t i = 0; i < gathering->count; i++) {
        uint32_t at = place_of(&gathering->views[i], members, gathering->sizes);

        if (at == UINT32_MAX || !seen[members[at]])
            return false;
        seen[members[at]] = false;
    }
    return true;
}

/* Finds the members of both groups of an intercommunicator, the group with the lower first rank
 * first. members remains NULL unless the rank 0 of a group recorded them and all views agree. */
static enum sg_status find_groups(struct sg_gathering *gathering)
{
    uint32_t world_size = (uint32_t)gathering->views[0].summary->world_size;
    const struct sg_comm_entry *told = NULL;
    enum sg_status status = SG_ERR_MEMORY;
    uint32_t *members;
    bool *seen;

    for (uint32_t i = 0; i < gathering->count && told == NULL; i++) {
        if (gathering->views[i].comm->members != NULL && gathering->views[i].comm->remote_size > 0)
            told = gathering->views[i].comm;
    }
    if (told == NULL)
        return SG_OK;
    members = in_order(told, gathering->sizes);
    seen = calloc(world_size, sizeof *seen);
    if (members == NULL || seen == NULL)
        goto done;
    status = SG_OK;
    if (are_distinct(members, gathering->sizes[0] + gathering->sizes[1], seen) &&
        views_agree(gathering, members, seen)) {
        gathering->members = members;
        gathering->complete = gathering->count == gathering->sizes[0] + gathering->sizes[1];
        members = NULL;
    }
done:
    free(members);
    free(seen);
    return status;
}

/* ---- communicators -------------------------------------------------------------------------- */

static const struct sg_profile_comm_entry *entry_of(const struct sg_comm_view *view)
{
    return (const struct sg_profile_comm_entry *)view->comm; /* the entry's first member */
}

static int by_identity(const void *a, const void *b)
{
    const struct sg_comm_view *left_view = a;
    const struct sg_comm_view *right_view = b;
    const struct sg_profile_comm_entry *left = entry_of(left_view), *right = entry_of(right_view);

    if (left->identity != right->identity)
        return left->identity > right->identity ? 1 : -1;
    if (left->ordinal != right->ordinal)
        return left->ordinal > right->ordinal ? 1 : -1;
    return (left->comm.rank > right->comm.rank) - (left->comm.rank < right->comm.rank);
}

static bool same_identity(const struct sg_comm_view *a, const struct sg_comm_view *b)
{
    return entry_of(a)->identity == entry_of(b)->identity &&
           entry_of(a)->ordinal == entry_of(b)->ordinal;
}

/* Collects the views of communicators that events use and whose identity is known. Messages and
 * collectives on communicators without an identity are counted as dropped. */
static enum sg_status collect_views(struct joining *joining)
{
    size_t total = 0;

    for (int i = 0; i < joining->summary_count; i++)
        total += joining->summaries[i].calls.comm_count;
    joining->views = calloc(total + 1, sizeof *joining->views);
    joining->gatherings = calloc(total + 1, sizeof *joining->gatherings);
    joining->plan->profile_comms = calloc(total + 1, sizeof *joining->plan->profile_comms);
    if (joining->views == NULL || joining->gatherings == NULL ||
        joining->plan->profile_comms == NULL)
        return SG_ERR_MEMORY;
    for (int i = 0; i < joining->summary_count; i++) {
        const struct sg_summary *summary = &joining->summaries[i];

        for (uint32_t c = 0; c < summary->calls.comm_count; c++) {
            const struct sg_profile_comm_entry *entry = &summary->calls.comms[c];

            if (entry->identity == 0)
                joining->out->dropped += entry->messages + sg_intervals_size(&entry->comm.recorded);
            else if (entry->used)
                joining->views[joining->view_count++] =
                    (struct sg_comm_view){summary, &entry->comm};
        }
    }
    qsort(joining->views, joining->view_count, sizeof *joining->views, by_identity);
    return SG_OK;
}

/* Returns the ref that the same communicator has from the library's collectives; SG_NO_COMM:
 * none. */
static uint32_t linked_ref(const struct sg_plan *plan, const struct sg_comm_view *view)
{
    uint32_t index = entry_of(view)->library_comm;
    const struct sg_comm_entry *comm = index != UINT32_MAX && view->comm->remote_size == 0
                                           ? sg_summary_comm(view->summary, index)
                                           : NULL;

    return comm != NULL ? sg_plan_comm_ref(plan, comm) : SG_NO_COMM;
}

static uint32_t known_ref(const struct sg_plan *plan, const struct sg_gathering *gathering)
{
    uint32_t ref = SG_NO_COMM;

    for (uint32_t i = 0; i < gathering->count && ref == SG_NO_COMM; i++)
        ref = linked_ref(plan, &gathering->views[i]);
    return ref;
}

static enum sg_status gather(struct joining *joining)
{
    struct sg_plan *plan = joining->plan;
    enum sg_status status = SG_OK;

    for (uint32_t i = 0; i < joining->view_count && status == SG_OK;) {
        struct sg_gathering *gathering = &joining->gatherings[plan->profile_comm_count];
        struct sg_plan_profile_comm *comm = &plan->profile_comms[plan->profile_comm_count++];

        gathering->views = &joining->views[i];
        while (i < joining->view_count && same_identity(gathering->views, &joining->views[i])) {
            gathering->count++;
            i++;
        }
        comm->identity = entry_of(gathering->views)->identity;
        comm->ordinal = entry_of(gathering->views)->ordinal;
        comm->ref = known_ref(plan, gathering);
        status = gathering->views->comm->remote_size > 0 ? find_groups(gathering)
                                                         : sg_gathering_find_members(gathering);
    }
    return status;
}

/* Returns the parent's position in plan->profile_comms; UINT32_MAX: not known, or no event uses
 * it. */
static uint32_t find_parent(const struct joining *joining, uint32_t at)
{
    const struct sg_comm_view *view = joining->gatherings[at].views;
    const struct sg_profile_comm_entry *parent =
        view->comm->parent != 0 ? sg_summary_profile_comm(&view->summary->calls, view->comm->parent)
                                : NULL;
    const struct sg_plan_profile_comm *found =
        parent != NULL ? sg_plan_find_profile_comm(joining->plan, parent) : NULL;

    return found != NULL ? (uint32_t)(found - joining->plan->profile_comms) : UINT32_MAX;
}

static void define(struct joining *joining, uint32_t at, uint32_t parent)
{
    struct sg_gathering *gathering = &joining->gatherings[at];
    struct sg_plan_profile_comm *comm = &joining->plan->profile_comms[at];
    struct sg_comm_definition *definition = &joining->out->definitions[joining->out->count];
    const char *name = gathering->views[0].comm->name;

    comm->ref = SG_COMM_SELF_REF + 1 + joining->out->count++;
    definition->name = name[0] != '\0' ? sg_strings_add(joining->strings, name)
                                       : sg_strings_addf(joining->strings, "comm %08x.%u",
                                                         (uint32_t)comm->identity, comm->ordinal);
    definition->parent = parent;
    definition->size =
        gathering->sizes[1] > 0 ? gathering->sizes[0] : gathering->views[0].comm->size;
    definition->remote_size = gathering->sizes[1];
    definition->grid = NULL;
    definition->dimensions = 0;
    definition->members = gathering->members;
    gathering->members = NULL;
}

/* Numbers the communicators without a ref, parents first: walks up to an ancestor seen before,
 * then numbers on the way down. */
static enum sg_status number(struct joining *joining)
{
    struct sg_plan *plan = joining->plan;
    uint32_t count = plan->profile_comm_count;
    uint32_t *walk = malloc(((size_t)count + 1) * sizeof *walk);
    bool *seen = calloc((size_t)count + 1, sizeof *seen);
    struct sg_comm_definition *definitions = realloc(
        joining->out->definitions, ((size_t)joining->out->count + count + 1) * sizeof *definitions);
    enum sg_status status = SG_ERR_MEMORY;

    if (definitions != NULL)
        joining->out->definitions = definitions;
    if (walk == NULL || seen == NULL || definitions == NULL)
        goto done;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t depth = 0, at = i, parent;

        while (at != UINT32_MAX && !seen[at]) {
            seen[at] = true;
            walk[depth++] = at;
            at = find_parent(joining, at);
        }
        parent = at != UINT32_MAX ? plan->profile_comms[at].ref : SG_NO_COMM;
        while (depth-- > 0) {
            at = walk[depth];
            if (plan->profile_comms[at].ref == SG_NO_COMM &&
                joining->gatherings[at].members != NULL)
                define(joining, at, parent);
            parent = plan->profile_comms[at].ref;
        }
    }
    status = SG_OK;
done:
    free(walk);
    free(seen);
    return status;
}

/* True if the grid has one position for each of size ranks; any other grid is damaged. */
static bool fits(const struct sg_profile_comm_entry *entry, uint32_t size)
{
    uint64_t places = 1;

    for (uint32_t i = 0; i < entry->dimensions && places <= size; i++)
        places *= entry->grid[i];
    return places == size;
}

static uint32_t ref_of(const struct joining *joining, const struct sg_comm_view *view)
{
    const struct sg_plan_profile_comm *found =
        sg_plan_find_profile_comm(joining->plan, entry_of(view));

    return found != NULL ? found->ref : linked_ref(joining->plan, view);
}

/* NULL: ref is SG_NO_COMM or a predefined communicator. */
static struct sg_comm_definition *definition_of(const struct joining *joining, uint32_t ref)
{
    return ref == SG_NO_COMM || ref <= SG_COMM_SELF_REF
               ? NULL
               : &joining->out->definitions[ref - SG_COMM_SELF_REF - 1];
}

/* Sets the parent of a communicator that has its ref from the library's collectives, or whose
 * parent has no events. A parent with a higher ref is omitted. */
static void tell_parent(struct joining *joining, const struct sg_comm_view *view)
{
    const struct sg_profile_comm_entry *parent =
        sg_summary_profile_comm(&view->summary->calls, view->comm->parent);
    uint32_t ref = ref_of(joining, view), above = SG_NO_COMM;
    struct sg_comm_definition *definition = definition_of(joining, ref);

    if (parent != NULL)
        above = ref_of(joining, &(struct sg_comm_view){view->summary, &parent->comm});
    if (definition != NULL && definition->parent == SG_NO_COMM && above != SG_NO_COMM &&
        above < ref)
        definition->parent = above;
}

/* All members record the same grid, so any member's serves. */
static void tell_grid(struct joining *joining, const struct sg_comm_view *view)
{
    const struct sg_profile_comm_entry *entry = entry_of(view);
    struct sg_comm_definition *definition = definition_of(joining, ref_of(joining, view));

    if (definition == NULL)
        return;
    if (definition->dimensions == 0 && definition->remote_size == 0 &&
        fits(entry, definition->size)) {
        definition->grid = entry->grid;
        definition->dimensions = entry->dimensions;
    }
}

/* Adds the parents and grids that any member recorded. */
static void tell(struct joining *joining)
{
    for (int i = 0; i < joining->summary_count; i++) {
        const struct sg_summary *summary = &joining->summaries[i];

        for (uint32_t c = 0; c < summary->calls.comm_count; c++) {
            const struct sg_comm_view view = {summary, &summary->calls.comms[c].comm};

            if (view.comm->parent != 0)
                tell_parent(joining, &view);
            if (summary->calls.comms[c].dimensions > 0)
                tell_grid(joining, &view);
        }
    }
}

/* Keeps the collectives that all members recorded. Messages on communicators without a ref are
 * counted as dropped. */
static enum sg_status keep(struct joining *joining)
{
    enum sg_status status = SG_OK;

    for (uint32_t i = 0; i < joining->plan->profile_comm_count && status == SG_OK; i++) {
        const struct sg_gathering *gathering = &joining->gatherings[i];
        struct sg_plan_profile_comm *comm = &joining->plan->profile_comms[i];
        bool is_defined = comm->ref != SG_NO_COMM;

        for (uint32_t v = 0; v < gathering->count && !is_defined; v++)
            joining->out->dropped += entry_of(&gathering->views[v])->messages;
        status =
            sg_views_keep(gathering->views, gathering->count, is_defined && gathering->complete,
                          &comm->kept, &joining->out->dropped);
    }
    return status;
}

enum sg_status sg_unify_profile_comms(const struct sg_summary *summaries, int summary_count,
                                      struct sg_strings *strings, struct sg_plan *plan,
                                      struct sg_unified_comms *out)
{
    struct joining joining = {.summaries = summaries,
                              .summary_count = summary_count,
                              .plan = plan,
                              .strings = strings,
                              .out = out};
    enum sg_status status = collect_views(&joining);

    if (status == SG_OK)
        status = gather(&joining);
    if (status == SG_OK)
        status = number(&joining);
    if (status == SG_OK)
        tell(&joining);
    if (status == SG_OK)
        status = keep(&joining);
    for (uint32_t i = 0; joining.gatherings != NULL && i < plan->profile_comm_count; i++)
        free(joining.gatherings[i].members);
    free(joining.gatherings);
    free(joining.views);
    return status;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Collects the names of functions that events use, each once and sorted; malloc'ed. */
static enum sg_status collect_names(const struct sg_summary *summaries, int summary_count,
                                    const char ***out, uint32_t *out_count)
{
    const char **names = NULL;
    size_t count = 0;
    uint32_t kept = 0;

    for (int i = 0; i < summary_count; i++) {
        for (uint32_t f = 0; f < summaries[i].calls.function_count; f++) {
            const struct sg_function_entry *function = &summaries[i].calls.functions[f];

            if (function->used && !SG_APPEND(names, count, function->name)) {
                free(names);
                return SG_ERR_MEMORY;
            }
        }
    }
    if (count > 1)
        qsort(names, count, sizeof *names, by_text);
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || strcmp(names[kept - 1], names[i]) != 0)
            names[kept++] = names[i];
    }
    *out = names;
    *out_count = kept;
    return SG_OK;
}

/* Returns the region that every archive has for the function; SG_REGION_REF_FUNCTIONS: none. */
static uint32_t fixed_region(const char *name)
{
    for (uint32_t operation = 0; operation < SG_OPERATION_COUNT; operation++) {
        if (strcmp(name, sg_operation_regions[operation]) == 0)
            return operation;
        if (strcmp(name, sg_operation_nonblocking_regions[operation]) == 0)
            return SG_REGION_REF_POSTS + operation;
    }
    return SG_REGION_REF_FUNCTIONS;
}

enum sg_status sg_unify_functions(const struct sg_summary *summaries, int summary_count,
                                  struct sg_plan *plan, const char ***names, uint32_t *name_count)
{
    uint32_t count = 0;
    enum sg_status status = collect_names(summaries, summary_count, names, &count);

    if (status != SG_OK)
        return status;
    plan->functions = calloc((size_t)count + 1, sizeof *plan->functions);
    if (plan->functions == NULL)
        return SG_ERR_MEMORY;
    for (uint32_t i = 0; i < count; i++) {
        struct sg_plan_function *function = &plan->functions[plan->function_count++];

        function->name_hash = sg_plan_name_hash((*names)[i]);
        function->region = fixed_region((*names)[i]);
        if (function->region == SG_REGION_REF_FUNCTIONS) {
            function->region += *name_count;
            (*names)[(*name_count)++] = (*names)[i];
        }
    }
    qsort(plan->functions, count, sizeof *plan->functions, sg_plan_by_name_hash);
    return SG_OK;
}
