/* Reads both sides, matches their call sites by id and then by source line, and measures each pair
 * of call sites. compare.h describes the method.
 */
#include "compare/compare.h"

#include "compare/compare_calls.h"
#include "core/room.h"

#include <math.h>
#include <stdlib.h>

struct sg_comparison_series {
    struct sg_call_sites of[2];
};

/* ---- one row --------------------------------------------------------------------------------- */

static bool has_events(const struct sg_call_site *site)
{
    for (const struct sg_entry *entry = site->first; entry != NULL; entry = entry->next) {
        if (entry->collected == NULL)
            return false;
    }
    return true;
}

/* Mean per call in one run: over the calls in the events if there are any, else over all calls. */
static double mean_of(const struct sg_entry *entry, bool events, enum sg_measured measured)
{
    const struct sg_side *side = &entry->side;

    if (events)
        return sg_series_mean(&entry->collected->series, measured);
    return side->calls > 0 ? (double)side->ns[measured] / (double)side->calls : 0;
}

/* Means over the runs that have the call site. */
static struct sg_side side_of(const struct sg_call_site *site)
{
    struct sg_side side = {.present = true, .has_wait = true};
    uint64_t longest_ns = 0;

    for (const struct sg_entry *entry = site->first; entry != NULL; entry = entry->next) {
        side.run_count++;
        side.calls += entry->side.calls;
        side.event_calls += entry->side.event_calls;
        side.instances += entry->side.instances;
        side.bytes += entry->side.bytes;
        side.has_wait = side.has_wait && entry->side.event_calls > 0;
        for (int measured = 0; measured < SG_MEASURED_COUNT; measured++)
            side.ns[measured] += entry->side.ns[measured];
        if (side.algorithm == NULL || entry->longest_ns > longest_ns) {
            longest_ns = entry->longest_ns;
            side.algorithm = entry->side.algorithm;
        }
    }
    side.calls = sg_mean_of(side.calls, side.run_count);
    side.event_calls = sg_mean_of(side.event_calls, side.run_count);
    side.instances = sg_mean_of(side.instances, side.run_count);
    side.bytes = sg_mean_of(side.bytes, side.run_count);
    for (int measured = 0; measured < SG_MEASURED_COUNT; measured++)
        side.ns[measured] = sg_mean_of(side.ns[measured], side.run_count);
    return side;
}

/* NAN: not known. */
static double mean_ns(const struct sg_side *side, enum sg_measured measured)
{
    return sg_side_knows(side, measured) ? side->mean_ns[measured] : NAN;
}

static struct sg_run_means take_means(const struct sg_call_site *site, bool events,
                                      enum sg_measured measured, struct sg_side *side)
{
    struct sg_run_means means = {0};

    for (const struct sg_entry *entry = site->first; entry != NULL; entry = entry->next)
        sg_run_means_add(&means, mean_of(entry, events, measured));
    side->mean_ns[measured] = means.mean;
    return means;
}

/* sites: NULL if a side does not have it. */
static enum sg_status measure(struct sg_compared *row, struct sg_call_site *const sites[2],
                              bool several)
{
    /* Each call site has its own random numbers, so its interval does not depend on the other
     * sites. */
    uint64_t seed = row->site.has_id ? row->site.id : 0;
    bool both = sites[0] != NULL && sites[1] != NULL;
    bool events = both && has_events(sites[0]) && has_events(sites[1]);

    for (int i = 0; i < SG_MEASURED_COUNT; i++) {
        enum sg_measured measured = (enum sg_measured)i;
        struct sg_run_means means[2];

        for (int side = 0; side < 2; side++) {
            if (sites[side] != NULL)
                means[side] = take_means(sites[side], events, measured, &row->side[side]);
        }
        if (both && several && sg_side_knows(&row->side[0], measured) &&
            sg_side_knows(&row->side[1], measured))
            row->difference[measured] = sg_run_spread(&means[0], &means[1], SG_CONFIDENCE_95);
    }
    if (!events || several)
        return SG_OK;
    return sg_bootstrap(&sites[0]->first->collected->series, &sites[1]->first->collected->series,
                        seed, row->difference);
}

/* ---- matching -------------------------------------------------------------------------------- */

static enum sg_status add_compared(struct sg_comparison *out, struct sg_call_site *const sites[2],
                                   bool by_place)
{
    struct sg_compared *row;

    if (!SG_APPEND(out->rows, out->row_count, (struct sg_compared){.by_place = by_place}))
        return SG_ERR_MEMORY;
    row = &out->rows[out->row_count - 1];
    for (int side = 1; side >= 0; side--) {
        if (sites[side] == NULL)
            continue;
        row->site = *sites[side]->site;
        row->side[side] = side_of(sites[side]);
        row->by_place = row->by_place || sites[side]->by_place;
        sites[side]->matched = true;
    }
    if (sg_compared_in_both(row))
        out->both_count++;
    else
        out->only_count[sites[0] == NULL]++;
    return measure(row, sites, sg_comparison_has_several(out));
}

static enum sg_status match_by(struct sg_comparison *out, sg_same_site *same)
{
    struct sg_call_sites *of = out->series->of;
    enum sg_status status = SG_OK;

    for (uint32_t i = 0; i < of[0].count && status == SG_OK; i++) {
        struct sg_call_site *a = &of[0].items[i];
        struct sg_call_site *b = a->matched ? NULL : sg_call_sites_find(&of[1], a->site, same);

        if (b != NULL)
            status =
                add_compared(out, (struct sg_call_site *[2]){a, b}, same == sg_same_source_line);
    }
    return status;
}

static enum sg_status add_rest(struct sg_comparison *out)
{
    enum sg_status status = SG_OK;

    for (int side = 0; side < 2; side++) {
        struct sg_call_sites *of = &out->series->of[side];

        for (uint32_t i = 0; i < of->count && status == SG_OK; i++) {
            struct sg_call_site *sites[2] = {NULL, NULL};

            sites[side] = &of->items[i];
            if (!sites[side]->matched)
                status = add_compared(out, sites, false);
        }
    }
    return status;
}

/* ---- all runs -------------------------------------------------------------------------------- */

static enum sg_status compare(struct sg_comparison *out)
{
    const struct sg_side_runs sides[] = {{out->runs[0], out->run_count[0]},
                                         {out->runs[1], out->run_count[1]}};
    enum sg_status status = SG_OK;

    sg_whole_compare(sides, out->whole);
    if (out->gate.limit >= 0)
        sg_gate_judge(&out->gate, sides);
    for (int side = 0; side < 2 && status == SG_OK; side++)
        status = sg_compared_calls_add(&out->calls, side, out->runs[side], out->run_count[side]);
    for (int side = 0; side < 2 && status == SG_OK; side++)
        status = sg_compared_waits_add(&out->waits, side, out->runs[side], out->run_count[side]);
    sg_compared_calls_finish(&out->calls, sg_comparison_has_several(out));
    sg_compared_waits_finish(&out->waits, sg_comparison_has_several(out));
    for (int side = 0; side < 2 && status == SG_OK; side++)
        status = sg_call_sites_list(&out->series->of[side], out->runs[side], out->run_count[side]);
    if (status == SG_OK)
        status = match_by(out, sg_same_id);
    if (status == SG_OK)
        status = match_by(out, sg_same_source_line);
    if (status == SG_OK)
        status = add_rest(out);
    if (status == SG_OK)
        status = sg_comparison_sort(
            out, sg_column_find(sg_compared_columns, SG_COMPARED_COLUMN_DEFAULT));
    if (status != SG_OK)
        return status;
    out->both_shown = out->both_count;
    for (uint32_t i = 0; i < out->both_count; i++) {
        struct sg_compared *row = &out->rows[i];

        out->verdict_count[row->difference[SG_MEASURED_BLOCKED].verdict]++;
        out->by_place_count += row->by_place;
        row->matched_by = row->by_place ? "place" : "id";
        for (int measured = 0; measured < SG_MEASURED_COUNT; measured++)
            row->per_call[measured] = sg_measured_row_of(
                sg_measured_names[measured], mean_ns(&row->side[0], (enum sg_measured)measured),
                mean_ns(&row->side[1], (enum sg_measured)measured), &row->difference[measured]);
    }
    return SG_OK;
}

static enum sg_status make_room(struct sg_comparison *out)
{
    out->series = calloc(1, sizeof *out->series);
    if (out->series == NULL)
        return SG_ERR_MEMORY;
    for (int side = 0; side < 2; side++) {
        struct sg_call_sites *of = &out->series->of[side];

        out->runs[side] = calloc(out->run_count[side], sizeof *out->runs[side]);
        of->collections = calloc(out->run_count[side], sizeof *of->collections);
        of->entries = calloc(out->run_count[side], sizeof *of->entries);
        if (out->runs[side] == NULL || of->collections == NULL || of->entries == NULL)
            return SG_ERR_MEMORY;
    }
    return SG_OK;
}

enum sg_status sg_compare(const struct sg_run_paths sides[2], const struct sg_gate *gate,
                          bool progress, struct sg_comparison *out)
{
    struct sg_comparison comparison = {.run_count = {sides[0].count, sides[1].count},
                                       .gate = {.limit = -1}};

    enum sg_status status = make_room(&comparison), read = SG_OK;

    if (gate != NULL)
        comparison.gate = *gate;

    for (int side = 0; side < 2; side++) {
        for (uint32_t i = 0; i < sides[side].count && status == SG_OK && read == SG_OK; i++)
            read = sg_collect(sides[side].paths[i], progress, &comparison.runs[side][i],
                              &comparison.series->of[side].collections[i]);
    }
    if (status == SG_OK && read == SG_OK)
        status = compare(&comparison);
    if (status != SG_OK)
        sg_log("compare: %s", sg_status_text(status));
    if (status == SG_OK && read == SG_OK)
        *out = comparison;
    else
        sg_comparison_clear(&comparison);
    return status != SG_OK ? status : read;
}

void sg_comparison_clear(struct sg_comparison *comparison)
{
    for (int side = 0; side < 2; side++) {
        for (uint32_t i = 0; i < comparison->run_count[side] && comparison->runs[side] != NULL; i++)
            sg_report_clear(&comparison->runs[side][i]);
        free(comparison->runs[side]);
        if (comparison->series != NULL)
            sg_call_sites_clear(&comparison->series->of[side], comparison->run_count[side]);
    }
    free(comparison->series);
    free(comparison->rows);
    sg_compared_calls_clear(&comparison->calls);
    sg_compared_waits_clear(&comparison->waits);
    *comparison = (struct sg_comparison){0};
}
