#include "compare/compare.h"

#include "compare/collect.h"
#include "report/room.h"

#include <stdlib.h>
#include <string.h>

const char *const sg_measured_names[SG_MEASURED_COUNT] = {
    [SG_MEASURED_BLOCKED] = "blocked",
    [SG_MEASURED_WAIT] = "wait",
    [SG_MEASURED_PROCESSOR] = "processor",
};

const char *const sg_verdict_names[SG_VERDICT_COUNT] = {
    [SG_VERDICT_UNKNOWN] = "unknown", [SG_VERDICT_FEW] = "few",   [SG_VERDICT_NOISE] = "noise",
    [SG_VERDICT_LESS] = "less",       [SG_VERDICT_MORE] = "more",
};

/* One call site and operation of one run. */
struct entry {
    const struct sg_report_site *site;
    const struct sg_collected *collected; /* NULL: nothing in the events */
    struct sg_side side;
    uint64_t longest_ns; /* blocked, of its rows */
    bool matched;
};

struct sg_comparison_series {
    struct sg_collection collection[2];
    struct entry *entries[2];
    uint32_t entry_count[2];
};

bool sg_side_knows(const struct sg_side *side, enum sg_measured measured)
{
    return side->present && (measured != SG_MEASURED_WAIT || side->event_calls > 0);
}

/* ---- the call sites of one run ----------------------------------------------------------------
 */

static bool is_same(const struct sg_report_site *a, const struct sg_report_site *b)
{
    return a->operation == b->operation && a->nonblocking == b->nonblocking;
}

static struct entry *find_entry(struct sg_comparison_series *series, int run,
                                const struct sg_report_site *site)
{
    for (uint32_t i = 0; i < series->entry_count[run]; i++) {
        struct entry *entry = &series->entries[run][i];

        if (entry->site->site == site->site && is_same(entry->site, site))
            return entry;
    }
    return NULL;
}

static void add_row(struct entry *entry, const struct sg_report_site *site)
{
    struct sg_side *side = &entry->side;

    side->present = true;
    side->calls += site->calls;
    side->event_calls += site->event_calls;
    side->instances += site->instances;
    side->ns[SG_MEASURED_BLOCKED] += site->blocked_ns;
    side->ns[SG_MEASURED_WAIT] += site->wait_ns;
    side->ns[SG_MEASURED_PROCESSOR] += site->blocked_ns + site->handler_ns;
    if (side->algorithm == NULL || site->blocked_ns > entry->longest_ns) {
        entry->longest_ns = site->blocked_ns;
        side->algorithm = site->algorithm;
    }
}

/* Of what stands in the events, the events tell which handling lay outside of calls. Statistics
 * of calls beyond them count it whole. */
static void settle(struct entry *entry, const struct sg_collection *collection)
{
    struct sg_side *side = &entry->side;

    entry->collected = sg_collection_find(collection, entry->site);
    if (entry->collected != NULL && side->event_calls == side->calls)
        side->ns[SG_MEASURED_PROCESSOR] = entry->collected->series.sum.ns[SG_MEASURED_PROCESSOR];
}

static enum sg_status list_entries(const struct sg_report *report, int run,
                                   struct sg_comparison_series *series)
{
    for (uint32_t i = 0; i < report->site_count; i++) {
        const struct sg_report_site *site = &report->sites[i];
        struct entry *entry = find_entry(series, run, site);

        if (entry == NULL) {
            if (!sg_make_room((void **)&series->entries[run], series->entry_count[run],
                              sizeof *entry))
                return SG_ERR_MEMORY;
            entry = &series->entries[run][series->entry_count[run]++];
            *entry = (struct entry){.site = site};
        }
        add_row(entry, site);
    }
    for (uint32_t i = 0; i < series->entry_count[run]; i++)
        settle(&series->entries[run][i], &series->collection[run]);
    return SG_OK;
}

/* ---- matching ---------------------------------------------------------------------------------
 */

static bool same_id(const struct sg_report_site *a, const struct sg_report_site *b)
{
    return is_same(a, b) && a->has_id == b->has_id && (!a->has_id || a->id == b->id);
}

static bool same_text(const char *a, const char *b)
{
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

static bool same_place(const struct sg_report_site *a, const struct sg_report_site *b)
{
    return is_same(a, b) && a->line > 0 && a->line == b->line && same_text(a->file, b->file) &&
           same_text(a->function, b->function);
}

/* What is left of run b that is the same; only one of them may be, or there is no telling which. */
static struct entry *find_match(struct sg_comparison_series *series, const struct entry *of,
                                bool (*same)(const struct sg_report_site *,
                                             const struct sg_report_site *))
{
    struct entry *found = NULL;

    for (uint32_t i = 0; i < series->entry_count[1]; i++) {
        struct entry *entry = &series->entries[1][i];

        if (entry->matched || !same(of->site, entry->site))
            continue;
        if (found != NULL)
            return NULL;
        found = entry;
    }
    return found;
}

/* What the intervals are of, or else all calls. */
static void take_means(struct sg_side *side, const struct sg_series *events)
{
    for (int measured = 0; measured < SG_MEASURED_COUNT; measured++) {
        if (events != NULL)
            side->mean_ns[measured] = sg_series_mean(events, (enum sg_measured)measured);
        else if (side->calls > 0)
            side->mean_ns[measured] = (double)side->ns[measured] / (double)side->calls;
    }
}

static enum sg_status measure(struct sg_compared *row, const struct entry *a, const struct entry *b)
{
    /* A call site's draws are its own: they do not change with what else is compared. */
    uint64_t seed = row->site->has_id ? row->site->id : 0;

    if (a == NULL || b == NULL || a->collected == NULL || b->collected == NULL) {
        take_means(&row->side[0], NULL);
        take_means(&row->side[1], NULL);
        return SG_OK;
    }
    take_means(&row->side[0], &a->collected->series);
    take_means(&row->side[1], &b->collected->series);
    return sg_bootstrap(&a->collected->series, &b->collected->series, seed, row->difference);
}

/* found: of each run, NULL where it has none. */
static enum sg_status add_compared(struct sg_comparison *out, struct entry *const found[2],
                                   bool by_place)
{
    struct sg_compared *row;

    if (!sg_make_room((void **)&out->rows, out->row_count, sizeof *out->rows))
        return SG_ERR_MEMORY;
    row = &out->rows[out->row_count++];
    *row = (struct sg_compared){.by_place = by_place};
    for (int run = 1; run >= 0; run--) {
        if (found[run] == NULL)
            continue;
        row->site = found[run]->site;
        row->side[run] = found[run]->side;
        found[run]->matched = true;
    }
    if (found[0] != NULL && found[1] != NULL)
        out->both_count++;
    else
        out->only_count[found[0] == NULL]++;
    return measure(row, found[0], found[1]);
}

static enum sg_status match_by(struct sg_comparison *out,
                               bool (*same)(const struct sg_report_site *,
                                            const struct sg_report_site *))
{
    struct sg_comparison_series *series = out->series;
    enum sg_status status = SG_OK;

    for (uint32_t i = 0; i < series->entry_count[0] && status == SG_OK; i++) {
        struct entry *a = &series->entries[0][i];
        struct entry *b = a->matched ? NULL : find_match(series, a, same);

        if (b != NULL)
            status = add_compared(out, (struct entry *[2]){a, b}, same == same_place);
    }
    return status;
}

static enum sg_status add_rest(struct sg_comparison *out)
{
    struct sg_comparison_series *series = out->series;
    enum sg_status status = SG_OK;

    for (int run = 0; run < 2; run++) {
        for (uint32_t i = 0; i < series->entry_count[run] && status == SG_OK; i++) {
            struct entry *found[2] = {NULL, NULL};

            found[run] = &series->entries[run][i];
            if (!found[run]->matched)
                status = add_compared(out, found, false);
        }
    }
    return status;
}

/* ---- the whole --------------------------------------------------------------------------------
 */

static uint64_t more_blocked_ns(const struct sg_compared *row)
{
    uint64_t a = row->side[0].ns[SG_MEASURED_BLOCKED], b = row->side[1].ns[SG_MEASURED_BLOCKED];

    return a > b ? a : b;
}

static int compare_rows(const void *left, const void *right)
{
    const struct sg_compared *a = left, *b = right;
    bool a_both = a->side[0].present && a->side[1].present;
    bool b_both = b->side[0].present && b->side[1].present;
    uint64_t a_ns = more_blocked_ns(a), b_ns = more_blocked_ns(b);
    int order = b_both - a_both;

    if (order == 0)
        order = b->side[0].present - a->side[0].present;
    if (order == 0)
        order = (a_ns < b_ns) - (a_ns > b_ns);
    if (order == 0)
        order = (a->site->id > b->site->id) - (a->site->id < b->site->id);
    if (order == 0)
        order = (int)a->site->operation - (int)b->site->operation;
    return order != 0 ? order : (int)a->site->nonblocking - (int)b->site->nonblocking;
}

static enum sg_status compare(struct sg_comparison *out)
{
    enum sg_status status = SG_OK;

    for (int run = 0; run < 2 && status == SG_OK; run++)
        status = list_entries(&out->run[run], run, out->series);
    if (status == SG_OK)
        status = match_by(out, same_id);
    if (status == SG_OK)
        status = match_by(out, same_place);
    if (status == SG_OK)
        status = add_rest(out);
    if (status != SG_OK)
        return status;
    if (out->row_count > 0)
        qsort(out->rows, out->row_count, sizeof *out->rows, compare_rows);
    for (uint32_t i = 0; i < out->both_count; i++)
        out->verdict_count[out->rows[i].difference[SG_MEASURED_BLOCKED].verdict]++;
    return SG_OK;
}

enum sg_status sg_compare(const char *const paths[2], bool progress, struct sg_comparison *out)
{
    struct sg_comparison comparison = {.series = calloc(1, sizeof *comparison.series)};
    enum sg_status status = SG_OK;

    for (int run = 0; run < 2 && status == SG_OK && comparison.series != NULL; run++)
        status = sg_collect(paths[run], progress, &comparison.run[run],
                            &comparison.series->collection[run]);
    if (status == SG_OK) {
        status = comparison.series != NULL ? compare(&comparison) : SG_ERR_MEMORY;
        if (status != SG_OK)
            sg_log("compare: %s", sg_status_text(status));
    }
    if (status == SG_OK)
        *out = comparison;
    else
        sg_comparison_clear(&comparison);
    return status;
}

void sg_comparison_clear(struct sg_comparison *comparison)
{
    for (int run = 0; run < 2; run++) {
        sg_report_clear(&comparison->run[run]);
        if (comparison->series == NULL)
            continue;
        sg_collection_clear(&comparison->series->collection[run]);
        free(comparison->series->entries[run]);
    }
    free(comparison->series);
    free(comparison->rows);
    *comparison = (struct sg_comparison){0};
}
