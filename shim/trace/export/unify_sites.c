/* Call sites of all ranks, each once: names from the logs where a rank found them during the run,
 * from the modules' debug information otherwise. */
#include "trace/export/callers.h"
#include "trace/export/plan.h"
#include "trace/site_text.h"

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

enum sg_status sg_resolve_sites(const struct sg_summary *summaries, int count,
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

static uint32_t add_text(struct sg_strings *strings, const struct sg_site_names *names)
{
    const char *path = names->site->module;
    const char *slash = strrchr(path, '/');
    struct sg_site_text parts = {
        .id = names->site->id,
        .line = names->line,
        .offset = names->site->offset,
        .function = names->function,
        .file = names->file,
        .module = slash != NULL ? slash + 1 : path,
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

enum sg_status sg_unify_sites(struct sg_unified *unified, struct sg_plan *plan)
{
    static const struct sg_site_entry unknown = {.module = "", .build_id = "", .callers = ""};
    const struct sg_site_names nowhere = {.site = &unknown};
    struct sg_site_names *names = NULL;
    struct sg_symbols *symbols = NULL;
    uint32_t count = 0;
    enum sg_status status = sg_symbols_open(&symbols);

    if (status == SG_OK)
        status =
            sg_resolve_sites(unified->summaries, unified->summary_count, symbols, &names, &count);
    if (status != SG_OK)
        goto done;
    unified->sites = calloc(count + 1, sizeof *unified->sites);
    plan->sites = calloc(count + 1, sizeof *plan->sites);
    if (unified->sites == NULL || plan->sites == NULL) {
        status = SG_ERR_MEMORY;
        goto done;
    }
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
