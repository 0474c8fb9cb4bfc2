/* Advice as JSON: docs/advise-json.md. */
#include "output/json.h"
#include "advise/advise.h"
#include "advise/columns.h"
#include "advise/remedies_print.h"

#include <stdio.h>

#define JSON_VERSION 1

static json_t *network_of(const struct sg_network *network)
{
    json_t *object = json_pack("{s:s}", "name", network->name);
    const char *name;
    double value;

    for (int i = 0; (name = sg_network_value(network, i, &value)) != NULL; i++)
        json_object_set_new(object, name, json_real(value));
    return object;
}

static json_t *costs_of(const struct sg_machine *machine)
{
    return json_pack("{s:s, s:o, s:o, s:s, s:f, s:f, s:f, s:f, s:b}", "source",
                     machine->measured ? "measured"
                     : machine->asked  ? "asked"
                                       : "default",
                     "inside", network_of(&machine->inside), "between",
                     network_of(&machine->between), "not_measured", machine->borrowed, "turn_us",
                     sg_machine_turn_us(machine), "ranks_a_processor", machine->crowd, "spread",
                     machine->spread, "samples", machine->samples, "busy",
                     sg_machine_was_busy(machine));
}

static json_t *estimates_of(const struct sg_advice_item *item)
{
    json_t *list = json_array();

    for (int i = 0; i < item->estimate_count; i++) {
        const struct sg_estimate_row row = sg_estimate_row_of(item, i);
        json_t *estimate = json_object();

        sg_columns_set(&estimate, sg_estimate_columns, &row, NULL);
        sg_json_append(&list, estimate);
    }
    return list;
}

static json_t *not_simulated_of(const struct sg_advice_item *item)
{
    json_t *list = json_array();

    for (int i = 0; i < sg_candidate_count; i++) {
        if ((item->not_simulated & 1U << i) != 0)
            json_array_append_new(list, json_string(sg_candidates[i]));
    }
    return list;
}

static json_t *measured_of(const struct sg_advice_item *item)
{
    if (item->estimate_count == 0)
        return json_null();
    return json_pack("{s:f, s:f, s:f}", "blocked_ns", item->measured_blocked_ns, "processor_ns",
                     item->measured_processor_ns, "error_ns", item->error_ns);
}

static json_t *advice_of(const struct sg_advice_item *item)
{
    return item->verdict == SG_ADVICE_CHANGE
               ? json_string(sg_candidates[item->estimates[item->best].candidate])
               : json_null();
}

static json_t *site_of(const struct sg_report_site *site)
{
    return json_pack("{s:o, s:o, s:o, s:i}", "id", sg_json_id(site->has_id, site->id), "function",
                     sg_json_text(site->function), "file", sg_json_text(site->file), "line",
                     (int)site->line);
}

static json_t *item_of(const struct sg_advice_item *item)
{
    const struct sg_group *group = item->group;

    return json_pack(
        "{s:o, s:s, s:o, s:i, s:i, s:I, s:I, s:o, s:I, s:i, s:I, s:o, s:o, s:o, s:s, s:o, s:o}",
        "site", site_of(item->site), "operation", sg_site_operation(item->site), "communicator",
        sg_json_text(item->site->comm), "ranks", (int)group->size, "nodes", (int)group->nodes,
        "least_bytes", (json_int_t)group->least_bytes, "most_bytes", (json_int_t)group->most_bytes,
        "algorithm", sg_json_text(group->algorithm), "instances", (json_int_t)group->instances,
        "replayed", (int)item->replayed, "root_last", (json_int_t)group->root_last, "measured",
        measured_of(item), "estimates", estimates_of(item), "not_simulated", not_simulated_of(item),
        "verdict", sg_advice_verdict_names[item->verdict], "why", sg_json_text(item->why), "advice",
        advice_of(item));
}

static json_t *items_of(const struct sg_advice *advice)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < advice->item_count && list != NULL; i++)
        sg_json_append(&list, item_of(&advice->items[i]));
    return list;
}

enum sg_status sg_advice_print_json(const struct sg_advice *advice, FILE *out)
{
    json_t *root =
        json_pack("{s:i, s:o, s:o, s:i, s:b, s:o, s:o, s:o}", "version", JSON_VERSION, "path",
                  sg_json_text(advice->report.path), "program",
                  sg_json_text(advice->report.program), "ranks", (int)advice->report.rank_count,
                  "partial", advice->report.partial, "costs", costs_of(&advice->machine), "groups",
                  items_of(advice), "lateness", sg_remedies_json(&advice->remedies));

    return sg_json_print(root, 12, "advise", out);
}
