#include "trace/export/unify.h"

#include "core/room.h"
#include "core/text.h"
#include "trace/export/callers.h"
#include "trace/export/site_names.h"
#include "trace/export/unify_calls.h"
#include "trace/export/vocabulary.h"
#include "trace/site_text.h"

#include <stdlib.h>
#include <string.h>

static int by_rank(const void *a, const void *b)
{
    const struct sg_summary *left = a;
    const struct sg_summary *right = b;

    return (left->rank > right->rank) - (left->rank < right->rank);
}

/* SG_ERR_ARGUMENT: two summaries are one rank's, or one is no rank's. */
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
    /* Behind the known ones, what a log of a later stagger may name. */
    plan->algorithms[count] = sg_strings_add(&unified->strings, "unknown");
    plan->algorithm_count = (uint32_t)count + 1;
    return SG_OK;
}

/* All ranks have the same: the first that tells of an arm is heard. */
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

/* The number of a function among those of paths: in the order of their first use. */
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

/* From numbers among the functions of paths to regions. */
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
    bool paths = false; /* sites are of several frames: of one where main calls MPI */
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
    /* Calls whose site could not be recorded have id 0, which sorts first. */
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

/* ---- the whole ------------------------------------------------------------------------------ */

/* What is missing from the archive. */
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
        status = sg_unify_windows(unified->summaries, unified->summary_count, &unified->strings,
                                  plan, &unified->windows);
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
    sg_unified_windows_clear(&unified->windows);
    sg_strings_clear(&unified->strings);
    free(unified->summaries);
    free(unified->by_rank);
    free(unified->sites);
    free(unified->functions);
    free(unified->frames);
    *unified = (struct sg_unified){0};
}
