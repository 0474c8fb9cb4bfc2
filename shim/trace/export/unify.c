#include "trace/export/unify.h"

#include "core/room.h"
#include "core/text.h"
#include "trace/export/logread_all.h"
#include "trace/export/vocabulary.h"
#include "trace/site_text.h"

#include <stdlib.h>
#include <string.h>

/* ---- names of call sites --------------------------------------------------------------------- */

static int by_id(const void *a, const void *b)
{
    const struct sg_site_names *left = a;
    const struct sg_site_names *right = b;

    return (left->site->id > right->site->id) - (left->site->id < right->site->id);
}

static const char *known(const char *text)
{
    return text != NULL && text[0] != '\0' ? text : NULL;
}

static void take_recorded_names(const struct sg_summary *summaries, int count,
                                struct sg_site_names *sites, uint32_t site_count)
{
    for (int i = 0; i < count; i++) {
        for (uint32_t n = 0; n < summaries[i].name_count; n++) {
            const struct sg_name_entry *name = &summaries[i].names[n];
            struct sg_site_entry wanted = {.id = name->id};
            struct sg_site_names key = {.site = &wanted};
            struct sg_site_names *found = bsearch(&key, sites, site_count, sizeof key, by_id);

            if (found != NULL && !found->recorded) {
                found->function = known(name->function);
                found->file = known(name->file);
                found->line = name->line;
                found->recorded = true;
            }
        }
    }
}

enum sg_status sg_site_names_find(const struct sg_summary *summaries, int count,
                                  struct sg_symbols *symbols, struct sg_site_names **out,
                                  uint32_t *out_count)
{
    struct sg_site_names *sites;
    size_t total = 0;
    uint32_t kept = 0;

    for (int i = 0; i < count; i++)
        total += summaries[i].site_count;
    sites = calloc(total + 1, sizeof *sites);
    if (sites == NULL)
        return SG_ERR_MEMORY;
    total = 0;
    for (int i = 0; i < count; i++) {
        for (uint32_t s = 0; s < summaries[i].site_count; s++)
            sites[total++].site = &summaries[i].sites[s];
    }
    qsort(sites, total, sizeof *sites, by_id);
    for (size_t i = 0; i < total; i++) {
        if (kept == 0 || sites[kept - 1].site->id != sites[i].site->id)
            sites[kept++] = sites[i];
    }
    take_recorded_names(summaries, count, sites, kept);
    for (uint32_t i = 0; i < kept; i++) {
        struct sg_symbol symbol;

        if (sites[i].recorded)
            continue;
        sg_symbols_lookup(symbols, sites[i].site->module, sites[i].site->build_id,
                          sites[i].site->offset, &symbol);
        sites[i].function = sg_callers_name(symbols, sites[i].site->module, &symbol,
                                            sites[i].site->offset, sites[i].site->callers);
        sites[i].file = symbol.file;
        sites[i].line = symbol.line;
    }
    *out = sites;
    *out_count = kept;
    return SG_OK;
}

static int by_rank(const void *a, const void *b)
{
    const struct sg_summary *left = a;
    const struct sg_summary *right = b;

    return (left->rank > right->rank) - (left->rank < right->rank);
}

/* SG_ERR_ARGUMENT: there are no summaries, two of one rank, or one of a rank outside the world. */
static enum sg_status index_ranks(struct sg_unified *unified)
{
    if (unified->summary_count < 1)
        return SG_ERR_ARGUMENT;
    qsort(unified->summaries, (size_t)unified->summary_count, sizeof *unified->summaries, by_rank);
    unified->by_rank = malloc((size_t)unified->world_size * sizeof *unified->by_rank);
    if (unified->by_rank == NULL)
        return SG_ERR_MEMORY;
    for (int rank = 0; rank < unified->world_size; rank++)
        unified->by_rank[rank] = -1;
    for (int i = 0; i < unified->summary_count; i++) {
        int rank = unified->summaries[i].rank;

        if (rank < 0 || rank >= unified->world_size || unified->by_rank[rank] >= 0)
            return SG_ERR_ARGUMENT;
        unified->by_rank[rank] = i;
    }
    return SG_OK;
}

static enum sg_status add_algorithms(struct sg_unified *unified, const char *const *algorithms,
                                     int count, struct sg_plan *plan)
{
    plan->algorithms = calloc((size_t)count + 1, sizeof *plan->algorithms);
    if (plan->algorithms == NULL)
        return SG_ERR_MEMORY;
    for (int i = 0; i < count; i++)
        plan->algorithms[i] = sg_strings_add(&unified->strings, algorithms[i]);
    /* The last entry stands for an algorithm that only a later stagger knows. */
    plan->algorithms[count] = sg_strings_add(&unified->strings, "unknown");
    plan->algorithm_count = (uint32_t)count + 1;
    return SG_OK;
}

/* All ranks have the same candidates, so the first rank that recorded one decides. */
static void add_arms(struct sg_unified *unified, struct sg_plan *plan,
                     const struct sg_summary *summary)
{
    for (uint32_t i = 0; i < summary->arm_count; i++) {
        const struct sg_arm_entry *entry = &summary->arms[i];
        struct sg_plan_arm *arm = &plan->arms[entry->arm % SG_EXECUTED_LIMIT];

        if (arm->text != 0 || entry->block == 0)
            continue;
        arm->place = sg_strings_add(&unified->strings, entry->place);
        arm->text = sg_strings_add(&unified->strings, entry->text);
        if (unified->trial_block == 0)
            unified->trial_block = entry->block;
    }
}

/* ---- call sites ----------------------------------------------------------------------------- */

static uint32_t add_text(struct sg_strings *strings, const struct sg_site_names *names)
{
    struct sg_site_text parts = {
        .id = names->site->id,
        .line = names->line,
        .offset = names->site->offset,
        .function = names->function,
        .file = names->file,
        .module = sg_text_base_name(names->site->module),
    };
    int length = sg_site_format(&parts, NULL, 0);
    char *text = malloc((size_t)length + 1);
    uint32_t ref = 0;

    if (text == NULL) {
        strings->failed = true;
        return 0;
    }
    sg_site_format(&parts, text, (size_t)length + 1);
    ref = sg_strings_add(strings, text);
    free(text);
    return ref;
}

/* Finds or adds a function of a path; *number is its position in unified->frames, in order of
 * first use. False when out of memory. */
static bool find_frame(struct sg_unified *unified, const struct sg_callers_frame *frame,
                       uint32_t *number)
{
    uint32_t name = sg_strings_addf(&unified->strings, "%.*s", (int)frame->length, frame->function);
    size_t count = unified->frame_count;

    for (*number = 0; *number < count; (*number)++) {
        if (unified->frames[*number] == name)
            return true;
    }
    if (!SG_APPEND(unified->frames, count, name))
        return false;
    unified->frame_count = (uint32_t)count;
    return true;
}

static bool add_path(struct sg_unified *unified, struct sg_plan *plan, struct sg_plan_site *site,
                     const char *name)
{
    size_t count = plan->frame_count;
    struct sg_callers_frame frame;
    uint32_t number;

    site->first_frame = plan->frame_count;
    if (name == NULL)
        return true;
    while (sg_callers_next(&name, &frame)) {
        if (!find_frame(unified, &frame, &number) || !SG_APPEND(plan->frames, count, number))
            return false;
    }
    plan->frame_count = (uint32_t)count;
    site->frame_count = plan->frame_count - site->first_frame;
    return true;
}

/* Converts the positions in unified->frames to regions. Call when function_count is final. */
static void number_frames(const struct sg_unified *unified, struct sg_plan *plan)
{
    for (uint32_t i = 0; i < plan->frame_count; i++)
        plan->frames[i] += SG_REGION_REF_FUNCTIONS + unified->function_count;
}

static enum sg_status unify_sites(struct sg_unified *unified, struct sg_plan *plan)
{
    static const struct sg_site_entry unknown = {.module = "", .build_id = "", .callers = ""};
    const struct sg_site_names nowhere = {.site = &unknown};
    struct sg_site_names *names = NULL;
    struct sg_symbols *symbols = NULL;
    uint32_t count = 0;
    bool paths = false; /* sites have several frames; one in main has a single frame */
    enum sg_status status = sg_symbols_open(&symbols);

    if (status == SG_OK)
        status =
            sg_site_names_find(unified->summaries, unified->summary_count, symbols, &names, &count);
    if (status != SG_OK)
        goto done;
    unified->sites = calloc(count + 1, sizeof *unified->sites);
    plan->sites = calloc(count + 1, sizeof *plan->sites);
    if (unified->sites == NULL || plan->sites == NULL) {
        status = SG_ERR_MEMORY;
        goto done;
    }
    for (uint32_t i = 0; i < count; i++)
        paths |= names[i].function != NULL && sg_callers_are_named(names[i].function);
    /* Calls without a recorded site have id 0, which sorts first. */
    if (count == 0 || names[0].site->id != 0) {
        plan->sites[plan->site_count++] =
            (struct sg_plan_site){.id = 0, .text = add_text(&unified->strings, &nowhere)};
    }
    for (uint32_t i = 0; i < count; i++) {
        struct sg_plan_site *site = &plan->sites[plan->site_count++];
        struct sg_site_definition *definition = &unified->sites[unified->site_count++];

        site->id = definition->id = names[i].site->id;
        site->text = add_text(&unified->strings, &names[i]);
        if (paths && !add_path(unified, plan, site, names[i].function)) {
            status = SG_ERR_MEMORY;
            goto done;
        }
        if (names[i].file != NULL) {
            definition->file = sg_strings_add(&unified->strings, names[i].file);
            definition->line = names[i].line;
        }
    }
done:
    free(names);
    sg_symbols_close(symbols);
    return status;
}

/* ---- windows -------------------------------------------------------------------------------- */

/* A window as one rank recorded it. */
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

/* Collects the views of used windows whose communicator is in the archive, and counts the events
 * on the other used windows as dropped. */
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

/* True if there is one view from each member. */
static bool are_complete(const struct view *views, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (views[i].comm->comm.rank != i || views[i].comm->comm.size != count)
            return false;
    }
    return true;
}

/* Keeps the collectives that all members recorded, and counts the others as lost. */
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

/* Returns the first name that a rank recorded; otherwise, a name made from the communicator. */
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
    struct sg_plan_group key; /* first member, for sorting */
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

static void clear_windows(struct sg_unified_windows *windows)
{
    free(windows->windows);
    free(windows->groups);
}

/* ---- the merge ------------------------------------------------------------------------------ */

/* Counts the events missing from the archive and decides if it is partial. */
static void count_lost(struct sg_unified *unified)
{
    unified->partial |= unified->summary_count < unified->world_size;
    unified->dropped = unified->comms.dropped + unified->windows.dropped;
    for (int i = 0; i < unified->summary_count; i++) {
        unified->dropped += unified->summaries[i].dropped + unified->summaries[i].calls.dropped;
        unified->partial |= !unified->summaries[i].finished;
        for (uint32_t f = 0; f < unified->summaries[i].calls.function_count; f++)
            unified->partial |= unified->summaries[i].calls.functions[f].left_out > 0;
    }
    unified->partial |= unified->dropped > 0;
}

enum sg_status sg_unify(struct sg_unified *unified, const char *const *algorithms,
                        int algorithm_count, struct sg_plan *plan)
{
    enum sg_status status = index_ranks(unified);

    if (status != SG_OK)
        return status;
    sg_strings_add(&unified->strings, "");
    status = add_algorithms(unified, algorithms, algorithm_count, plan);
    for (int i = 0; i < unified->summary_count && status == SG_OK; i++)
        add_arms(unified, plan, &unified->summaries[i]);
    if (status == SG_OK)
        status = unify_sites(unified, plan);
    if (status == SG_OK)
        status = sg_unify_comms(unified->summaries, unified->summary_count, &unified->strings, plan,
                                &unified->comms);
    if (status == SG_OK)
        status = sg_unify_profile_comms(unified->summaries, unified->summary_count,
                                        &unified->strings, plan, &unified->comms);
    if (status == SG_OK)
        status = unify_windows(unified->summaries, unified->summary_count, &unified->strings, plan,
                               &unified->windows);
    if (status == SG_OK)
        status = unify_groups(unified->summaries, unified->summary_count, plan, &unified->windows);
    if (status == SG_OK)
        status = sg_unify_functions(unified->summaries, unified->summary_count, plan,
                                    &unified->functions, &unified->function_count);
    if (status == SG_OK)
        number_frames(unified, plan);
    if (status == SG_OK && unified->strings.failed)
        status = SG_ERR_MEMORY;
    count_lost(unified);
    return status;
}

uint64_t sg_unified_events(const struct sg_unified *unified)
{
    uint64_t events = 0;

    for (int i = 0; i < unified->summary_count; i++)
        events += unified->summaries[i].calls.events;
    return events;
}

const struct sg_summary *sg_unified_summary(const struct sg_unified *unified, uint32_t rank)
{
    int index = unified->by_rank[rank];

    return index >= 0 ? &unified->summaries[index] : NULL;
}

void sg_unified_clear(struct sg_unified *unified)
{
    for (int i = 0; i < unified->summary_count; i++)
        sg_summary_clear(&unified->summaries[i]);
    sg_unified_comms_clear(&unified->comms);
    clear_windows(&unified->windows);
    sg_strings_clear(&unified->strings);
    free(unified->summaries);
    free(unified->by_rank);
    free(unified->sites);
    free(unified->functions);
    free(unified->frames);
    *unified = (struct sg_unified){0};
}
