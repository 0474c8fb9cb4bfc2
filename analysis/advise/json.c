/* Advice as JSON: docs/advise-json.md. */
#include "advise/advise.h"
#include "report/json_values.h"

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
    return json_pack("{s:s, s:o, s:o, s:s, s:f, s:f}", "source",
                     machine->measured ? "measured"
                     : machine->asked  ? "asked"
                                       : "default",
                     "inside", network_of(&machine->inside), "between",
                     network_of(&machine->between), "not_measured", machine->borrowed, "turn_us",
                     sg_machine_turn_us(machine), "ranks_a_processor", machine->crowd);
}

static json_t *estimate_of(const struct sg_advice_item *item, int i)
{
    const struct sg_advise_estimate *one = &item->estimates[i];

    return json_pack("{s:s, s:b, s:f, s:f, s:f, s:f, s:f}", "algorithm",
                     sg_candidates[one->candidate].rule, "ran", i == item->ran, "blocked_ns",
                     one->blocked_ns, "processor_ns", one->processor_ns, "less_ns", one->gain_ns,
                     "low_ns", one->low_ns, "high_ns", one->high_ns);
}

static json_t *estimates_of(const struct sg_advice_item *item)
{
    json_t *list = json_array();

    for (int i = 0; i < item->estimate_count; i++)
        json_array_append_new(list, estimate_of(item, i));
    return list;
}

static json_t *not_simulated_of(const struct sg_advice_item *item)
{
    json_t *list = json_array();

    for (int i = 0; i < sg_candidate_count; i++) {
        if ((item->not_simulated & 1U << i) != 0)
            json_array_append_new(list, json_string(sg_candidates[i].rule));
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
               ? json_string(sg_candidates[item->estimates[item->best].candidate].rule)
               : json_null();
}

static json_t *site_of(const struct sg_report_site *site)
{
    char id[16];

    snprintf(id, sizeof id, "%08x", (unsigned)site->id);
    return json_pack("{s:o, s:o, s:o, s:i}", "id", site->has_id ? json_string(id) : json_null(),
                     "function", sg_json_text(site->function), "file", sg_json_text(site->file),
                     "line", (int)site->line);
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

    for (uint32_t i = 0; i < advice->item_count && list != NULL; i++) {
        if (json_array_append_new(list, item_of(&advice->items[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

enum sg_status sg_advice_print_json(const struct sg_advice *advice, FILE *out)
{
    json_t *root = json_pack("{s:i, s:o, s:o, s:i, s:b, s:o, s:o}", "version", JSON_VERSION, "path",
                             sg_json_text(advice->report.path), "program",
                             sg_json_text(advice->report.program), "ranks",
                             (int)advice->report.rank_count, "partial", advice->report.partial,
                             "costs", costs_of(&advice->machine), "groups", items_of(advice));

    if (root == NULL) {
        sg_log("advise: out of memory");
        return SG_ERR_MEMORY;
    }
    if (json_dumpf(root, out, JSON_INDENT(1) | JSON_REAL_PRECISION(12)) == 0)
        fputc('\n', out);
    json_decref(root);
    return SG_OK;
}
