#include "core/room.h"
#include "trace/export/unify_calls.h"
#include "trace/export/vocabulary.h"

#include <stdlib.h>
#include <string.h>

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names that events are of, each once and sorted; malloc'ed. */
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

/* The region that every archive has for a function; SG_REGION_REF_FUNCTIONS: none. */
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
