#include "compare/call_sites.h"

#include "core/room.h"

#include <stdlib.h>
#include <string.h>

static bool is_same(const struct sg_report_site *a, const struct sg_report_site *b)
{
    return a->operation == b->operation && a->nonblocking == b->nonblocking;
}

/* ---- the call sites of one run --------------------------------------------------------------- */

static struct sg_entry *find_entry(struct sg_entries *entries, const struct sg_report_site *site)
{
    for (uint32_t i = 0; i < entries->count; i++) {
        struct sg_entry *entry = &entries->items[i];

        if (entry->site->site == site->site && is_same(entry->site, site))
            return entry;
    }
    return NULL;
}

static void add_row(struct sg_entry *entry, const struct sg_report_site *site)
{
    struct sg_side *side = &entry->side;

    side->present = true;
    side->calls += site->calls;
    side->event_calls += site->event_calls;
    side->instances += site->instances;
    side->bytes += site->bytes;
    side->ns[SG_MEASURED_BLOCKED] += site->blocked_ns;
    side->ns[SG_MEASURED_WAIT] += site->wait_ns;
    side->ns[SG_MEASURED_PROCESSOR] += site->blocked_ns + site->handler_ns;
    if (side->algorithm == NULL || site->blocked_ns > entry->longest_ns) {
        entry->longest_ns = site->blocked_ns;
        side->algorithm = site->algorithm;
    }
}

/* For calls in the events it is known which handling took place outside of calls. For the calls
 * that only the statistics contain, all handling is added. */
static void settle(struct sg_entry *entry, const struct sg_collection *collection)
{
    struct sg_side *side = &entry->side;

    entry->collected = sg_collection_find(collection, entry->site);
    if (entry->collected != NULL && side->event_calls == side->calls)
        side->ns[SG_MEASURED_PROCESSOR] = entry->collected->series.sum.ns[SG_MEASURED_PROCESSOR];
}

static enum sg_status list_entries(const struct sg_report *report,
                                   const struct sg_collection *collection,
                                   struct sg_entries *entries)
{
    for (uint32_t i = 0; i < report->site_count; i++) {
        const struct sg_report_site *site = &report->sites[i];
        struct sg_entry *entry = find_entry(entries, site);

        if (entry == NULL) {
            if (!SG_APPEND(entries->items, entries->count, (struct sg_entry){.site = site}))
                return SG_ERR_MEMORY;
            entry = &entries->items[entries->count - 1];
        }
        add_row(entry, site);
    }
    for (uint32_t i = 0; i < entries->count; i++)
        settle(&entries->items[i], collection);
    return SG_OK;
}

/* ---- the runs of a side ---------------------------------------------------------------------- */

bool sg_same_id(const struct sg_report_site *a, const struct sg_report_site *b)
{
    return is_same(a, b) && a->has_id == b->has_id && (!a->has_id || a->id == b->id);
}

static bool same_text(const char *a, const char *b)
{
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

bool sg_same_source_line(const struct sg_report_site *a, const struct sg_report_site *b)
{
    return is_same(a, b) && a->line > 0 && a->line == b->line && same_text(a->file, b->file) &&
           same_text(a->function, b->function);
}

struct sg_call_site *sg_call_sites_find(struct sg_call_sites *sites,
                                        const struct sg_report_site *of, sg_same_site *same)
{
    struct sg_call_site *found = NULL;

    for (uint32_t i = 0; i < sites->count; i++) {
        struct sg_call_site *site = &sites->items[i];

        if (site->matched || !same(of, site->site))
            continue;
        if (found != NULL)
            return NULL;
        found = site;
    }
    return found;
}

static void append(struct sg_call_site *site, struct sg_entry *entry)
{
    struct sg_entry **end = &site->first;

    while (*end != NULL)
        end = &(*end)->next;
    *end = entry;
    site->matched = true;
}

/* taken: by entry, whether it has been added to a call site. */
static void add_known(struct sg_call_sites *sites, struct sg_entries *entries, bool *taken,
                      sg_same_site *same)
{
    for (uint32_t i = 0; i < entries->count; i++) {
        struct sg_entry *entry = &entries->items[i];
        struct sg_call_site *site = taken[i] ? NULL : sg_call_sites_find(sites, entry->site, same);

        if (site == NULL)
            continue;
        append(site, entry);
        site->by_place = site->by_place || same == sg_same_source_line;
        taken[i] = true;
    }
}

static enum sg_status add_run(struct sg_call_sites *sites, struct sg_entries *entries)
{
    bool *taken = calloc((size_t)entries->count + 1, sizeof *taken);
    enum sg_status status = taken != NULL ? SG_OK : SG_ERR_MEMORY;

    if (status == SG_OK) {
        add_known(sites, entries, taken, sg_same_id);
        add_known(sites, entries, taken, sg_same_source_line);
    }
    for (uint32_t i = 0; i < entries->count && status == SG_OK; i++) {
        if (taken[i])
            continue;
        if (SG_APPEND(sites->items, sites->count,
                      (struct sg_call_site){.site = entries->items[i].site}))
            append(&sites->items[sites->count - 1], &entries->items[i]);
        else
            status = SG_ERR_MEMORY;
    }
    for (uint32_t i = 0; i < sites->count; i++)
        sites->items[i].matched = false;
    free(taken);
    return status;
}

enum sg_status sg_call_sites_list(struct sg_call_sites *sites, const struct sg_report *runs,
                                  uint32_t run_count)
{
    enum sg_status status = SG_OK;

    for (uint32_t run = 0; run < run_count && status == SG_OK; run++) {
        status = list_entries(&runs[run], &sites->collections[run], &sites->entries[run]);
        if (status == SG_OK)
            status = add_run(sites, &sites->entries[run]);
    }
    return status;
}

void sg_call_sites_clear(struct sg_call_sites *sites, uint32_t run_count)
{
    for (uint32_t run = 0; run < run_count; run++) {
        if (sites->collections != NULL)
            sg_collection_clear(&sites->collections[run]);
        if (sites->entries != NULL)
            free(sites->entries[run].items);
    }
    free(sites->collections);
    free(sites->entries);
    free(sites->items);
    *sites = (struct sg_call_sites){0};
}
