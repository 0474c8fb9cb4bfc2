#include "trace/export/site_names.h"

#include "trace/export/callers.h"

#include <stdlib.h>

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
