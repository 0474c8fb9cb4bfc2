/* Matches and sums all MPI calls, wait states and call sites of the two sides. compare_calls.h
 * describes the parts.
 */
#include "compare/compare_calls.h"

#include "core/room.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef bool same_row(const struct sg_call_row *a, const struct sg_call_row *b);

static bool is_same_function(const struct sg_call_row *a, const struct sg_call_row *b)
{
    return strcmp(a->function, b->function) == 0;
}

static bool is_same_id(const struct sg_call_row *a, const struct sg_call_row *b)
{
    return is_same_function(a, b) && a->place.has_id == b->place.has_id &&
           (!a->place.has_id || a->place.id == b->place.id);
}

static bool is_same_text(const char *a, const char *b)
{
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

static bool is_same_line(const struct sg_call_row *a, const struct sg_call_row *b)
{
    return is_same_function(a, b) && a->place.line > 0 && a->place.line == b->place.line &&
           is_same_text(a->place.file, b->place.file) &&
           is_same_text(a->place.function, b->place.function);
}

/* The matching row that has nothing from this run yet; NULL if several match. */
static struct sg_compared_call *find(const struct sg_compared_call_list *list,
                                     const struct sg_call_row *row, same_row *same, uint32_t run)
{
    struct sg_compared_call *found = NULL;

    for (uint32_t i = 0; i < list->count; i++) {
        if (list->of[i].run == run || !same(&list->of[i].row, row))
            continue;
        if (found != NULL)
            return NULL;
        found = &list->of[i];
    }
    return found;
}

static void add_row(struct sg_compared_call *to, int side, const struct sg_call_row *row,
                    uint32_t run)
{
    struct sg_call_side *of = &to->side[side];

    to->run = run;
    of->run_count++;
    of->calls += row->of.calls;
    of->time_ns += row->of.time_ns;
    of->sent_bytes += row->of.sent_bytes;
    of->received_bytes += row->of.received_bytes;
    sg_run_means_add(&to->times[side], (double)row->of.time_ns);
}

/* taken: by row, true if it has been added. */
static void add_known(struct sg_compared_call_list *list, int side, const struct sg_call_row *rows,
                      uint32_t count, uint32_t run, same_row *same, bool *taken)
{
    for (uint32_t i = 0; i < count; i++) {
        struct sg_compared_call *to = taken[i] ? NULL : find(list, &rows[i], same, run);

        if (to == NULL)
            continue;
        add_row(to, side, &rows[i], run);
        to->by_place = to->by_place || same == is_same_line;
        taken[i] = true;
    }
}

/* same: predicates in order of preference; ends with NULL. */
static enum sg_status add_rows(struct sg_compared_call_list *list, int side,
                               const struct sg_call_row *rows, uint32_t count, uint32_t run,
                               same_row *const same[])
{
    bool *taken = calloc((size_t)count + 1, sizeof *taken);
    enum sg_status status = taken != NULL ? SG_OK : SG_ERR_MEMORY;

    for (int i = 0; status == SG_OK && same[i] != NULL; i++)
        add_known(list, side, rows, count, run, same[i], taken);
    for (uint32_t i = 0; i < count && status == SG_OK; i++) {
        if (taken[i])
            continue;
        if (SG_APPEND(list->of, list->count, (struct sg_compared_call){.row = rows[i]}))
            add_row(&list->of[list->count - 1], side, &rows[i], run);
        else
            status = SG_ERR_MEMORY;
    }
    free(taken);
    return status;
}

/* Adds the rows of a run, matched by call site or else by file and line. run: a number unique to
 * each run of each side. SG_ERR_MEMORY only (not logged). */
static enum sg_status sg_compared_call_list_add(struct sg_compared_call_list *list, int side,
                                                const struct sg_call_row *rows, uint32_t count,
                                                uint32_t run)
{
    static same_row *const by_site[] = {is_same_id, is_same_line, NULL};

    return add_rows(list, side, rows, count, run, by_site);
}

enum sg_status sg_compared_calls_add(struct sg_compared_calls *calls, int side,
                                     const struct sg_report *runs, uint32_t run_count)
{
    static same_row *const by_name[] = {is_same_function, NULL};
    enum sg_status status = SG_OK;

    if (side == 0)
        calls->is_known = true;
    for (uint32_t i = 0; i < run_count && status == SG_OK; i++) {
        const struct sg_calls *of = runs[i].calls;
        uint32_t run = 1 + 2 * i + (uint32_t)side;

        if (of == NULL) {
            calls->is_known = false;
            continue;
        }
        calls->time_ns[side] += of->time_ns;
        calls->processor_ns[side] += of->processor_ns;
        status = add_rows(&calls->functions, side, of->functions, of->function_count, run, by_name);
        if (status == SG_OK)
            status = sg_compared_call_list_add(&calls->sites, side, of->sites, of->site_count, run);
    }
    return status;
}

/* ---- means and order ------------------------------------------------------------------------- */

static uint64_t most_ns(const struct sg_compared_call *call)
{
    return call->side[0].time_ns > call->side[1].time_ns ? call->side[0].time_ns
                                                         : call->side[1].time_ns;
}

static int compare_calls(const void *left, const void *right)
{
    const struct sg_compared_call *a = left, *b = right;
    int order = (most_ns(a) < most_ns(b)) - (most_ns(a) > most_ns(b));

    if (order == 0)
        order = strcmp(a->row.function, b->row.function);
    return order != 0 ? order
                      : (a->row.place.id > b->row.place.id) - (a->row.place.id < b->row.place.id);
}

static void sg_compared_call_list_finish(struct sg_compared_call_list *list, bool several)
{
    for (uint32_t i = 0; i < list->count; i++) {
        struct sg_compared_call *call = &list->of[i];
        bool in[2] = {call->side[0].run_count > 0, call->side[1].run_count > 0};
        struct sg_difference difference = {0};

        for (int side = 0; side < 2; side++) {
            struct sg_call_side *of = &call->side[side];
            uint32_t runs = of->run_count > 0 ? of->run_count : 1;

            of->calls = sg_mean_of(of->calls, runs);
            of->time_ns = sg_mean_of(of->time_ns, runs);
            of->sent_bytes = sg_mean_of(of->sent_bytes, runs);
            of->received_bytes = sg_mean_of(of->received_bytes, runs);
        }
        if (in[0] && in[1])
            call->matched_by = call->by_place ? "place" : "id";
        if (several && in[0] && in[1])
            difference = sg_run_spread(&call->times[0], &call->times[1], SG_CONFIDENCE_95);
        call->time = sg_measured_row_of("time", in[0] ? call->times[0].mean : NAN,
                                        in[1] ? call->times[1].mean : NAN, &difference);
    }
    if (list->count > 0)
        qsort(list->of, list->count, sizeof *list->of, compare_calls);
}

void sg_compared_calls_finish(struct sg_compared_calls *calls, bool several)
{
    sg_compared_call_list_finish(&calls->functions, several);
    sg_compared_call_list_finish(&calls->sites, several);
}

void sg_compared_calls_clear(struct sg_compared_calls *calls)
{
    free(calls->functions.of);
    free(calls->sites.of);
    *calls = (struct sg_compared_calls){0};
}

/* ---- wait states ----------------------------------------------------------------------------- */

static uint32_t rows_of_kind(const struct sg_waitstates *states, enum sg_waitstate_kind kind,
                             struct sg_call_row *out)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < states->row_count; i++) {
        const struct sg_waitstate_row *row = &states->rows[i];

        if (row->kind == kind)
            out[count++] =
                (struct sg_call_row){.place = row->at.site,
                                     .function = row->at.function,
                                     .of = {.calls = row->of.waits, .time_ns = row->of.wait_ns}};
    }
    return count;
}

static enum sg_status add_run(struct sg_compared_waits *waits, int side,
                              const struct sg_waitstates *states, uint32_t run)
{
    struct sg_call_row *rows = calloc((size_t)states->row_count + 1, sizeof *rows);
    enum sg_status status = SG_OK;

    if (rows == NULL)
        return SG_ERR_MEMORY;
    for (int kind = 0; kind < SG_WAITSTATE_KINDS && status == SG_OK; kind++) {
        uint32_t count = rows_of_kind(states, (enum sg_waitstate_kind)kind, rows);

        status = sg_compared_call_list_add(&waits->of[kind], side, rows, count, run);
    }
    free(rows);
    return status;
}

enum sg_status sg_compared_waits_add(struct sg_compared_waits *waits, int side,
                                     const struct sg_report *runs, uint32_t run_count)
{
    enum sg_status status = SG_OK;

    if (side == 0)
        waits->is_known = true;
    for (uint32_t i = 0; i < run_count && status == SG_OK; i++) {
        if (runs[i].waitstates == NULL)
            waits->is_known = false;
        else
            status = add_run(waits, side, runs[i].waitstates, 1 + 2 * i + (uint32_t)side);
    }
    return status;
}

void sg_compared_waits_finish(struct sg_compared_waits *waits, bool several)
{
    for (int kind = 0; kind < SG_WAITSTATE_KINDS; kind++) {
        for (uint32_t i = 0; i < waits->of[kind].count; i++)
            waits->of[kind].of[i].state = sg_waitstate_names[kind];
        sg_compared_call_list_finish(&waits->of[kind], several);
    }
}

void sg_compared_waits_clear(struct sg_compared_waits *waits)
{
    for (int kind = 0; kind < SG_WAITSTATE_KINDS; kind++)
        free(waits->of[kind].of);
    *waits = (struct sg_compared_waits){0};
}

/* ---- figures --------------------------------------------------------------------------------- */

const char *const sg_measured_names[SG_MEASURED_COUNT] = {
    [SG_MEASURED_BLOCKED] = "blocked",
    [SG_MEASURED_WAIT] = "wait",
    [SG_MEASURED_PROCESSOR] = "processor",
};

const char *const sg_verdict_names[SG_VERDICT_COUNT] = {
    [SG_VERDICT_UNKNOWN] = "unknown", [SG_VERDICT_FEW] = "few",   [SG_VERDICT_NOISE] = "noise",
    [SG_VERDICT_DIFFERS] = "differs", [SG_VERDICT_LESS] = "less", [SG_VERDICT_MORE] = "more",
};

const char *sg_verdict_words(enum sg_verdict verdict, bool several)
{
    static const char *const words[SG_VERDICT_COUNT] = {
        [SG_VERDICT_UNKNOWN] = "not known",      [SG_VERDICT_FEW] = "too few instances",
        [SG_VERDICT_NOISE] = "within the noise", [SG_VERDICT_DIFFERS] = "differs",
        [SG_VERDICT_LESS] = "less in B",         [SG_VERDICT_MORE] = "more in B",
    };

    return several && verdict == SG_VERDICT_FEW ? "too few runs" : words[verdict];
}

bool sg_side_knows(const struct sg_side *side, enum sg_measured measured)
{
    return side->present && (measured != SG_MEASURED_WAIT || side->has_wait);
}

struct sg_run_figures sg_comparison_figures(const struct sg_comparison *comparison, int side)
{
    uint32_t count = comparison->run_count[side];
    struct sg_run_figures figures = {.has_events = true};

    for (uint32_t i = 0; i < count; i++) {
        const struct sg_report *run = &comparison->runs[side][i];

        figures.run_ns += run->run_ns;
        figures.ranks_run_ns += run->ranks_run_ns;
        figures.blocked_ns += run->total.blocked_ns;
        figures.wait_ns += run->total.wait_ns;
        figures.has_events = figures.has_events && run->has_events;
        figures.partial = figures.partial || run->partial;
    }
    figures.run_ns = sg_mean_of(figures.run_ns, count);
    figures.ranks_run_ns = sg_mean_of(figures.ranks_run_ns, count);
    figures.blocked_ns = sg_mean_of(figures.blocked_ns, count);
    figures.wait_ns = sg_mean_of(figures.wait_ns, count);
    return figures;
}

/* ---- call sites ------------------------------------------------------------------------------ */

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

static void call_sites_add_row(struct sg_entry *entry, const struct sg_report_site *site)
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

/* For calls in the events, the handling outside of calls is known. For calls that only the
 * statistics contain, all handling counts. */
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
        call_sites_add_row(entry, site);
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

/* taken: by entry, true if it has been added to a call site. */
static void call_sites_add_known(struct sg_call_sites *sites, struct sg_entries *entries,
                                 bool *taken, sg_same_site *same)
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

static enum sg_status call_sites_add_run(struct sg_call_sites *sites, struct sg_entries *entries)
{
    bool *taken = calloc((size_t)entries->count + 1, sizeof *taken);
    enum sg_status status = taken != NULL ? SG_OK : SG_ERR_MEMORY;

    if (status == SG_OK) {
        call_sites_add_known(sites, entries, taken, sg_same_id);
        call_sites_add_known(sites, entries, taken, sg_same_source_line);
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
            status = call_sites_add_run(sites, &sites->entries[run]);
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
