#include "advise/remedies_print.h"

#include "output/format.h"
#include "output/json.h"
#include "report/causes/causes.h"
#include "report/waitstates/columns.h"

#include <inttypes.h>
#include <math.h>

static double percent(const struct sg_remedies *found, double ns)
{
    return found->ns > 0 ? 100 * ns / found->ns : 0;
}

static void put_row(const struct sg_remedies *found, const struct sg_remedy_row *row, FILE *out)
{
    fprintf(out, "  %3.0f%%  %s on rank %" PRIu32 ", late for ", percent(found, row->ns),
            sg_cause_names[row->cause], row->rank);
    sg_waitstate_put_place(row->at, out);
    if (row->until->function != NULL) {
        fputs(sg_cause_is_in_calls(row->cause) ? ": in " : ": between ", out);
        if (!sg_cause_is_in_calls(row->cause)) {
            sg_waitstate_put_place(row->after, out);
            fputs(" and ", out);
        }
        sg_waitstate_put_place(row->until, out);
    }
    if (!isnan(row->times))
        fprintf(out, " it takes %.3g times the median of the others", row->times);
    fprintf(out, "\n        %s%s\n",
            row->remedy == SG_REMEDY_PROGRAM ? "no algorithm mends that: " : "", row->advice);
}

void sg_remedies_print(const struct sg_remedies *found, uint32_t top, FILE *out)
{
    uint32_t count = top == 0 || top > found->row_count ? found->row_count : top;

    if (found->row_count == 0) {
        fputs("\nwhy ranks come late is not known: no intervals between calls were sampled, or "
              "nobody was late\n",
              out);
        return;
    }
    if (found->has_events)
        fprintf(out,
                "\nwhy ranks come late: others waited %s for them in %" PRIu64
                " sampled instances\n",
                SG_UNSIGNED(found->ns), found->instances);
    else
        fprintf(out,
                "\nwhat ranks do longer than others before calls: %s in sampled intervals; whether "
                "others wait for it needs events\n",
                SG_UNSIGNED(found->ns));
    for (uint32_t i = 0; i < count; i++)
        put_row(found, &found->rows[i], out);
    fprintf(out,
            "  no algorithm mends %.0f%% of it, another one may mend %.0f%%, not told apart is "
            "%.0f%%\n",
            percent(found, found->of_ns[SG_REMEDY_PROGRAM]),
            percent(found, found->of_ns[SG_REMEDY_ALGORITHM]),
            percent(found, found->of_ns[SG_REMEDY_NONE]));
}

static json_t *row_of(const struct sg_remedies *found, const struct sg_remedy_row *row)
{
    json_t *object = json_object();

    sg_columns_set(&object, sg_waitstate_place_columns, row->at, NULL);
    sg_json_set(&object, "cause", json_string(sg_cause_names[row->cause]));
    sg_json_set(&object, "rank", json_integer(row->rank));
    sg_json_set(&object, "late_ns", json_real(row->ns));
    sg_json_set(&object, "share", json_real(row->ns / found->ns));
    sg_json_set(&object, "times_median", sg_json_real(!isnan(row->times), row->times));
    sg_json_set(&object, "after", sg_waitstate_place_json(row->after));
    sg_json_set(&object, "until", sg_waitstate_place_json(row->until));
    sg_json_set(&object, "mended_by", json_string(sg_remedy_names[row->remedy]));
    sg_json_set(&object, "advice", json_string(row->advice));
    return object;
}

json_t *sg_remedies_json(const struct sg_remedies *found)
{
    json_t *object, *rows;

    if (found->row_count == 0)
        return json_null();
    rows = json_array();
    for (uint32_t i = 0; i < found->row_count; i++)
        sg_json_append(&rows, row_of(found, &found->rows[i]));
    object = json_pack("{s:b, s:f, s:f, s:f, s:f}", "events", found->has_events, "late_ns",
                       found->ns, "program_ns", found->of_ns[SG_REMEDY_PROGRAM], "algorithm_ns",
                       found->of_ns[SG_REMEDY_ALGORITHM], "not_told_apart_ns",
                       found->of_ns[SG_REMEDY_NONE]);
    sg_json_set(&object, "causes", rows);
    return object;
}
