#include "trace/export/unify_windows.h"

#include "trace/export/vocabulary.h"

#include <stdlib.h>

/* One rank's knowledge of a window. */
struct view {
    const struct sg_window_entry *window;
    const struct sg_profile_comm_entry *comm;
};

static struct sg_plan_window key_of(const struct view *view)
{
    return (struct sg_plan_window){.identity = view->comm->identity,
                                   .comm_ordinal = view->comm->ordinal,
                                   .ordinal = view->window->ordinal};
}

static int compare_keys(const struct view *left, const struct view *right)
{
    const struct sg_plan_window a = key_of(left), b = key_of(right);

    return sg_plan_windows_compare(&a, &b);
}

static int compare(const void *a, const void *b)
{
    const struct view *left = a, *right = b;
    uint32_t left_rank = left->comm->comm.rank, right_rank = right->comm->comm.rank;
    int order = compare_keys(left, right);

    return order != 0 ? order : (left_rank > right_rank) - (left_rank < right_rank);
}

static uint32_t comm_ref(const struct sg_plan *plan, const struct sg_profile_comm_entry *comm)
{
    const struct sg_plan_profile_comm *found =
        comm != NULL ? sg_plan_find_profile_comm(plan, comm) : NULL;

    return found != NULL ? found->ref : SG_NO_COMM;
}

/* Of windows that events use and whose communicator the archive has. */
static enum sg_status collect(const struct sg_summary *summaries, int summary_count,
                              const struct sg_plan *plan, struct sg_unified_windows *out,
                              struct view **views, uint32_t *view_count)
{
    size_t total = 0;
    uint32_t count = 0;

    for (int i = 0; i < summary_count; i++)
        total += summaries[i].calls.windows.window_count;
    *views = calloc(total + 1, sizeof **views);
    if (*views == NULL)
        return SG_ERR_MEMORY;
    for (int i = 0; i < summary_count; i++) {
        const struct sg_summary_calls *calls = &summaries[i].calls;

        for (uint32_t w = 0; w < calls->windows.window_count; w++) {
            const struct sg_window_entry *window = &calls->windows.windows[w];
            const struct sg_profile_comm_entry *comm = sg_summary_profile_comm(calls, window->comm);

            if (window->is_used && comm_ref(plan, comm) == SG_NO_COMM)
                out->dropped += window->events + sg_intervals_size(&window->recorded);
            else if (window->is_used)
                (*views)[count++] = (struct view){window, comm};
        }
    }
    qsort(*views, count, sizeof **views, compare);
    *view_count = count;
    return SG_OK;
}

/* ---- windows -------------------------------------------------------------------------------- */

/* Whether the views are those of each member. */
static bool are_complete(const struct view *views, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (views[i].comm->comm.rank != i || views[i].comm->comm.size != count)
            return false;
    }
    return true;
}

/* The collectives that all members recorded. */
static enum sg_status keep(const struct view *views, uint32_t count, struct sg_intervals *kept,
                           uint64_t *lost)
{
    bool is_complete = are_complete(views, count);
    uint64_t recorded = 0;

    if (is_complete && !sg_intervals_fill(kept))
        return SG_ERR_MEMORY;
    for (uint32_t i = 0; i < count; i++) {
        recorded += sg_intervals_size(&views[i].window->recorded);
        if (is_complete && !sg_intervals_intersect(kept, &views[i].window->recorded))
            return SG_ERR_MEMORY;
    }
    *lost += recorded - count * sg_intervals_size(kept);
    return SG_OK;
}

/* The first name that a rank gave it; else by its communicator. */
static uint32_t name_of(const struct view *views, uint32_t count, struct sg_strings *strings)
{
    const struct sg_profile_comm_entry *comm = views->comm;
    uint32_t ordinal = views->window->ordinal;

    for (uint32_t i = 0; i < count; i++) {
        if (views[i].window->name[0] != '\0')
            return sg_strings_add(strings, views[i].window->name);
    }
    if (comm->comm.name[0] != '\0')
        return sg_strings_addf(strings, "window %u of %s", ordinal, comm->comm.name);
    return sg_strings_addf(strings, "window %u of comm %08x.%u", ordinal, (uint32_t)comm->identity,
                           comm->ordinal);
}

static enum sg_status define(const struct view *views, uint32_t count, struct sg_strings *strings,
                             struct sg_plan *plan, struct sg_unified_windows *out)
{
    struct sg_plan_window *window = &plan->windows.windows[plan->windows.window_count++];
    struct sg_window_definition *definition = &out->windows[out->window_count];
    enum sg_status status;

    *window = key_of(views);
    window->ref = out->window_count++;
    status = keep(views, count, &window->kept, &out->dropped);
    window->has_life = sg_intervals_contain(&window->kept, 0);
    definition->name = name_of(views, count, strings);
    definition->comm = comm_ref(plan, views->comm);
    definition->has_life = window->has_life;
    return status;
}

static enum sg_status unify_windows(const struct sg_summary *summaries, int summary_count,
                                    struct sg_strings *strings, struct sg_plan *plan,
                                    struct sg_unified_windows *out)
{
    struct view *views;
    uint32_t count = 0;
    enum sg_status status = collect(summaries, summary_count, plan, out, &views, &count);

    if (status != SG_OK)
        return status;
    plan->windows.windows = calloc((size_t)count + 1, sizeof *plan->windows.windows);
    out->windows = calloc((size_t)count + 1, sizeof *out->windows);
    if (plan->windows.windows == NULL || out->windows == NULL)
        status = SG_ERR_MEMORY;
    for (uint32_t i = 0, end; i < count && status == SG_OK; i = end) {
        for (end = i + 1; end < count && compare_keys(&views[i], &views[end]) == 0;)
            end++;
        status = define(&views[i], end - i, strings, plan, out);
    }
    free(views);
    return status;
}

/* ---- groups --------------------------------------------------------------------------------- */

struct group_view {
    struct sg_plan_group key; /* first: they are sorted by it */
    const uint32_t *members;
};

static struct group_view *collect_groups(const struct sg_summary *summaries, int summary_count,
                                         uint32_t *out_count)
{
    struct group_view *views;
    size_t total = 0;
    uint32_t count = 0;

    for (int i = 0; i < summary_count; i++)
        total += summaries[i].calls.windows.group_count;
    views = calloc(total + 1, sizeof *views);
    for (int i = 0; i < summary_count && views != NULL; i++) {
        const struct sg_summary_windows *windows = &summaries[i].calls.windows;

        for (uint32_t g = 0; g < windows->group_count; g++) {
            const struct sg_group_entry *group = &windows->groups[g];

            if (group->is_used && group->members != NULL)
                views[count++] = (struct group_view){
                    {sg_plan_group_hash(group->members, group->size), group->size, 0},
                    group->members};
        }
    }
    if (count > 1)
        qsort(views, count, sizeof *views, sg_plan_groups_compare);
    *out_count = count;
    return views;
}

static enum sg_status unify_groups(const struct sg_summary *summaries, int summary_count,
                                   struct sg_plan *plan, struct sg_unified_windows *out)
{
    uint32_t count = 0;
    struct group_view *views = collect_groups(summaries, summary_count, &count);

    plan->windows.groups = calloc((size_t)count + 1, sizeof *plan->windows.groups);
    out->groups = calloc((size_t)count + 1, sizeof *out->groups);
    if (views == NULL || plan->windows.groups == NULL || out->groups == NULL) {
        free(views);
        return SG_ERR_MEMORY;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0 && sg_plan_groups_compare(&views[i - 1], &views[i]) == 0)
            continue;
        out->groups[out->group_count] =
            (struct sg_group_definition){views[i].members, views[i].key.size};
        views[i].key.ref = SG_GROUP_REF_OTHERS + out->group_count++;
        plan->windows.groups[plan->windows.group_count++] = views[i].key;
    }
    free(views);
    return SG_OK;
}

enum sg_status sg_unify_windows(const struct sg_summary *summaries, int summary_count,
                                struct sg_strings *strings, struct sg_plan *plan,
                                struct sg_unified_windows *out)
{
    enum sg_status status = unify_windows(summaries, summary_count, strings, plan, out);

    return status == SG_OK ? unify_groups(summaries, summary_count, plan, out) : status;
}

void sg_unified_windows_clear(struct sg_unified_windows *windows)
{
    free(windows->windows);
    free(windows->groups);
}
