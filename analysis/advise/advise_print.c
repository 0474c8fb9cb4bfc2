/* Prints advice (advise.h): as text for a terminal, and as JSON (docs/advise-json.md). Both take
 * their columns of estimates from one table. */
#include "advise/advise.h"
#include "advise/remedies.h"
#include "output/format.h"
#include "output/json_output.h"
#include "output/section.h"
#include "report/report_columns.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- columns of an estimate, for text and JSON */

/* Times are in ns per call. */
struct sg_estimate_row {
    const char *what, *algorithm;
    bool executed;
    double blocked_ns, processor_ns, outside_ns; /* the second is the sum of the others */
    double less_ns, low_ns, high_ns;             /* 0 for the algorithm that ran */
};

static void print_less(const void *estimate, const void *context, FILE *out)
{
    const struct sg_estimate_row *row = estimate;

    fputs(row->executed ? "-" : SG_UNSIGNED(row->less_ns), out);
}

static void print_interval(const void *estimate, const void *context, FILE *out)
{
    const struct sg_estimate_row *row = estimate;

    if (row->executed)
        fputs("-", out);
    else
        fprintf(out, "%s .. %s", SG_UNSIGNED(row->low_ns), SG_UNSIGNED(row->high_ns));
}

#define IS(which, member)                                                                          \
    .kind = SG_COLUMN_##which, .offset = offsetof(struct sg_estimate_row, member)

static const struct sg_column columns[] = {
    {NULL, "what", "", .left = true, IS(TEXT, what)},
    {"algorithm", "algorithm", "algorithm", .left = true, IS(TEXT, algorithm)},
    {"ran", IS(FLAG, executed)},
    {"blocked_ns", "blocked", "blocked", IS(REAL_NS, blocked_ns)},
    {"processor_ns", IS(REAL_NS, processor_ns)},
    {NULL, "outside", "outside", IS(REAL_NS, outside_ns)},
    {"less_ns", "less", "less by", IS(REAL_NS, less_ns), .print = print_less},
    {"low_ns", IS(REAL_NS, low_ns)},
    {"high_ns", IS(REAL_NS, high_ns)},
    {NULL, "interval", "95% interval", .print = print_interval},
};
static const struct sg_columns estimate_columns = SG_COLUMNS(columns);
static const struct sg_section section = {.json = {&estimate_columns},
                                          .text = {&estimate_columns},
                                          .shown = "what algorithm blocked outside? less interval"};

/* Makes the rows of a call site: measured, which only the text has, then an estimate each. */
static void make_rows(const struct sg_advice_item *item,
                      struct sg_estimate_row rows[1 + SG_CANDIDATES_MAX])
{
    rows[0] = (struct sg_estimate_row){.what = "  measured",
                                       .executed = true,
                                       .blocked_ns = item->measured_blocked_ns,
                                       .processor_ns = item->measured_processor_ns};
    for (int i = 0; i < item->estimate_count; i++) {
        const struct sg_advise_estimate *one = &item->estimates[i];
        bool executed = i == item->executed;

        rows[1 + i] =
            (struct sg_estimate_row){.what = executed ? "  this one, estimated" : "  estimated",
                                     .algorithm = sg_candidates[one->candidate],
                                     .executed = executed,
                                     .blocked_ns = one->blocked_ns,
                                     .processor_ns = one->processor_ns,
                                     .less_ns = one->gain_ns,
                                     .low_ns = one->low_ns,
                                     .high_ns = one->high_ns};
        if (executed)
            rows[0].algorithm = rows[1 + i].algorithm;
    }
    for (int i = 0; i <= item->estimate_count; i++)
        rows[i].outside_ns = rows[i].processor_ns - rows[i].blocked_ns;
}

/* The text mentions a late root if it comes last in at least this share of a reduce's instances. */
#define OFTEN 0.5

/* ---- the run */

#define SHOW_US(us) SG_UNSIGNED((us)*1e3)

static void put_network(const char *where, const struct sg_network *network, FILE *out)
{
    fprintf(out, "       %s: latency %s, overhead %s, %.3gns a byte\n", where,
            SHOW_US(network->latency_us), SHOW_US(network->overhead_us), network->gap_ns_per_byte);
}

static bool spans_nodes(const struct sg_advice *advice)
{
    bool spans = false;

    for (uint32_t i = 0; i < advice->item_count; i++)
        spans |= advice->items[i].group->nodes > 1;
    return spans;
}

static void put_machine(const struct sg_advice *advice, FILE *out)
{
    const struct sg_machine *machine = &advice->machine;

    if (machine->measured)
        fputs("costs: measured on the run's machine when it began\n", out);
    else if (machine->asked)
        fprintf(out, "costs: of the network %s\n", machine->between.name);
    else
        fprintf(
            out,
            "costs: of the network %s, not of the run's machine: its archive has no calibration\n",
            machine->between.name);
    if (sg_machine_was_busy(machine))
        fprintf(out,
                "       the machine was busy meanwhile: samples of a cost differ by up to a factor "
                "of %.3g, the fewest are %.0f;\n       the costs may be far off: run again, or "
                "name a network\n",
                machine->spread, machine->samples);
    put_network("inside a node", &machine->inside, out);
    if (machine->knows_between || spans_nodes(advice))
        put_network("between nodes", &machine->between, out);
    fprintf(out, "       a step in shared memory %s, a wake-up %s%s%s, a copy %.3gns a byte\n",
            SHOW_US(machine->between.local_us), SHOW_US(machine->between.wake_us),
            machine->knows_signal ? ", a signal " : "",
            machine->knows_signal ? SHOW_US(machine->between.signal_us) : "",
            machine->between.copy_ns_per_byte);
    if (!machine->knows_between && spans_nodes(advice))
        fputs("       not measured, taken from the network " SG_MACHINE_DEFAULT
              ": all costs between nodes\n",
              out);
    if (machine->borrowed[0] != '\0')
        fprintf(out, "       not measured, taken from the network " SG_MACHINE_DEFAULT ": %s\n",
                machine->borrowed);
    if (machine->crowd > 1)
        fprintf(out, "       %.3g ranks a processor: %s %s\n", machine->crowd,
                isnan(machine->yield_us)
                    ? "MPICH does not yield; each of its messages is assumed to lose"
                    : "each message of MPICH waits for as long as the run's mean yield,",
                SHOW_US(sg_machine_turn_us(machine)));
}

static void put_run(const struct sg_advice *advice, FILE *out)
{
    const struct sg_report *report = &advice->report;

    sg_format_put(report->program != NULL ? report->program : "program not known", out);
    fprintf(out, ", %" PRIu32 " rank%s, run time %s%s\n", report->rank_count,
            report->rank_count == 1 ? "" : "s", SG_NS(report->run_ns),
            report->partial ? ", PARTIAL" : "");
    put_machine(advice, out);
    if (!report->has_events)
        fputs("\nThe run recorded only statistics: no arrivals to replay.\n", out);
    else if (advice->item_count == 0)
        fputs("\nThere are no barriers, reduces, allreduces or broadcasts to replay.\n", out);
}

/* ---- one call site */

static void put_title(const struct sg_advice_item *item, FILE *out)
{
    const struct sg_group *group = item->group;
    const struct sg_report_site *site = item->site;
    char *where = sg_site_text("site", NULL, site);
    bool range = group->most_bytes > group->least_bytes;

    fprintf(out, "\n%s at %s on ", sg_site_operation(site), where != NULL ? where : "?");
    sg_format_put(site->comm, out);
    fprintf(out, ", %" PRIu32 " rank%s", group->size, group->size == 1 ? "" : "s");
    if (group->nodes > 1)
        fprintf(out, " on %" PRIu32 " nodes", group->nodes);
    if (group->operation != SG_OPERATION_BARRIER)
        fprintf(out, ", %s%s%s", SG_BYTES(group->least_bytes), range ? " to " : "",
                range ? SG_BYTES(group->most_bytes) : "");
    fprintf(out, ", %" PRIu64 " instance%s", group->instances, group->instances == 1 ? "" : "s");
    if (item->replayed > 0 && item->replayed < group->instances)
        fprintf(out, ", %" PRIu32 " of them, drawn at random, replayed", item->replayed);
    fputc('\n', out);
    free(where);
}

static enum sg_status put_estimates(const struct sg_advice_item *item, FILE *out)
{
    struct sg_estimate_row rows[1 + SG_CANDIDATES_MAX];

    make_rows(item, rows);
    return sg_section_print_rows(
        &section, &SG_ROWS(&rows[0], 1 + (uint32_t)item->estimate_count, NULL), "advise", out);
}

static void put_error(const struct sg_advice_item *item, FILE *out)
{
    double estimated_ns = item->estimates[item->executed].processor_ns;

    fprintf(out, "  error of the estimates: %s", SG_UNSIGNED(item->error_ns));
    if (estimated_ns > 0)
        fprintf(out, ", measured is %.3g times estimated",
                item->measured_processor_ns / estimated_ns);
    fputc('\n', out);
}

static void put_not_simulated(const struct sg_advice_item *item, FILE *out)
{
    bool first = true;

    for (int i = 0; i < sg_candidate_count; i++) {
        if ((item->not_simulated & 1U << i) == 0)
            continue;
        fprintf(out, "%s%s", first ? "  not simulated for so many ranks or bytes: " : ", ",
                sg_candidates[i]);
        first = false;
    }
    if (!first)
        fputc('\n', out);
}

static void put_change(const struct sg_advice_item *item, FILE *out)
{
    const struct sg_advise_estimate *best = &item->estimates[item->best];

    fprintf(out, "  advice: %s, %s less a call", sg_candidates[best->candidate],
            SG_UNSIGNED(best->gain_ns));
    if (item->estimates[item->executed].processor_ns > 0)
        fprintf(out, " (%.0f%%)",
                100 * best->gain_ns / item->estimates[item->executed].processor_ns);
    fprintf(out, ", %s in this run\n", SG_UNSIGNED(sg_advice_saved_ns(item)));
}

static void put_missed(const struct sg_advice *advice, const struct sg_advice_item *item, FILE *out)
{
    double miss = sg_advice_miss(item);
    char *trial = sg_advice_trial(advice, item);

    fputs("  no advice: the model misses this site", out);
    if (isnormal(miss))
        fprintf(out, " by %.2gx", miss > 1 ? miss : 1 / miss);
    if (trial != NULL)
        fprintf(out, "; measure it: STAGGER_TRIAL='%s'", trial);
    fputc('\n', out);
    free(trial);
}

/* If the root is late, bypass cannot help: its children have arrived before it. */
static void put_root(const struct sg_advice_item *item, FILE *out)
{
    const struct sg_group *group = item->group;
    double share = (double)group->root_last / (double)group->instances;

    if (group->operation == SG_OPERATION_REDUCE && group->size > 1 && share >= OFTEN)
        fprintf(out,
                "  the root arrives last in %.0f%% of the instances: it waits for no one, so "
                "bypass saves nothing\n",
                100 * share);
}

static void put_verdict(const struct sg_advice *advice, const struct sg_advice_item *item,
                        FILE *out)
{
    switch (item->verdict) {
    case SG_ADVICE_CHANGE:
        put_change(item, out);
        break;
    case SG_ADVICE_BEST:
        fputs("  no advice: no other algorithm is estimated to cost less\n", out);
        break;
    case SG_ADVICE_WITHIN_ERROR:
        fprintf(out, "  no advice: the saving of %s (at least %s) is within the error\n",
                sg_candidates[item->estimates[item->best].candidate],
                SG_UNSIGNED(item->estimates[item->best].low_ns));
        break;
    case SG_ADVICE_MISSED:
        put_missed(advice, item, out);
        break;
    case SG_ADVICE_FEW:
        fprintf(out, "  no advice: fewer than %u instances\n", SG_SAMPLE_MIN);
        break;
    case SG_ADVICE_SITES:
        fputs("  no advice: ranks reach one instance from call sites with different rules\n", out);
        break;
    case SG_ADVICE_CONFLICT:
        fputs("  no advice: the rule would also apply to instances for which it is wrong\n", out);
        break;
    case SG_ADVICE_OBSTACLE:
        fprintf(out, "  no advice: %s\n", item->why);
        break;
    default:
        break;
    }
    if (item->estimate_count > 0)
        put_root(item, out);
}

static enum sg_status put_item(const struct sg_advice *advice, const struct sg_advice_item *item,
                               FILE *out)
{
    enum sg_status status = SG_OK;

    put_title(item, out);
    if (item->estimate_count > 0) {
        status = put_estimates(item, out);
        put_not_simulated(item, out);
        put_error(item, out);
    }
    put_verdict(advice, item, out);
    return status;
}

/* ---- the text */

static void put_counts(const struct sg_advice *advice, uint32_t shown, FILE *out)
{
    bool first = true;

    fprintf(out,
            "\n%" PRIu32 " group%s of instances (a call site, communicator, size and algorithm)",
            advice->item_count, advice->item_count == 1 ? "" : "s");
    for (int i = 0; i < SG_ADVICE_VERDICTS; i++) {
        if (advice->counts[i] > 0)
            fprintf(out, "%s %s %" PRIu32, first ? ":" : ",", sg_advice_verdict_names[i],
                    advice->counts[i]);
        first = first && advice->counts[i] == 0;
    }
    fputc('\n', out);
    if (shown < advice->item_count)
        fprintf(out,
                "only the %" PRIu32 " with the most blocked time are shown; --top 0 shows all\n",
                shown);
}

enum sg_status sg_advice_print_text(const struct sg_advice *advice, uint32_t top, FILE *out)
{
    uint32_t shown = top == 0 || top > advice->item_count ? advice->item_count : top;
    enum sg_status status = SG_OK;

    put_run(advice, out);
    for (uint32_t i = 0; i < shown && status == SG_OK; i++)
        status = put_item(advice, &advice->items[i], out);
    if (status != SG_OK)
        return status;
    sg_remedies_print(&advice->remedies, top, out);
    if (advice->item_count == 0)
        return SG_OK;
    put_counts(advice, shown, out);
    fputs("estimates replay recorded arrivals, each instance alone; they ignore how the program "
          "uses the saved time\n",
          out);
    return SG_OK;
}

/* ---- JSON: docs/advise-json.md */

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
    struct sg_estimate_row rows[1 + SG_CANDIDATES_MAX];

    make_rows(item, rows);
    return sg_section_list(&section, &SG_ROWS(&rows[1], (uint32_t)item->estimate_count, NULL));
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

static json_t *saved_of(const struct sg_advice_item *item)
{
    bool is_advised = item->verdict == SG_ADVICE_CHANGE;

    return sg_json_real(is_advised, is_advised ? sg_advice_saved_ns(item) : 0);
}

static json_t *trial_of(const struct sg_advice *advice, const struct sg_advice_item *item)
{
    char *trial = sg_advice_trial(advice, item);
    json_t *text = sg_json_text(trial);

    free(trial);
    return text;
}

static json_t *site_of(const struct sg_report_site *site)
{
    return json_pack("{s:o, s:o, s:o, s:i}", "id", sg_json_id(site->has_id, site->id), "function",
                     sg_json_text(site->function), "file", sg_json_text(site->file), "line",
                     (int)site->line);
}

static json_t *item_of(const struct sg_advice *advice, const struct sg_advice_item *item)
{
    const struct sg_group *group = item->group;

    return json_pack(
        "{s:o, s:s, s:o, s:i, s:i, s:I, s:I, s:o, s:I, s:i, s:I, s:o, s:o, s:o, s:s, s:o, s:o, "
        "s:o, s:o}",
        "site", site_of(item->site), "operation", sg_site_operation(item->site), "communicator",
        sg_json_text(item->site->comm), "ranks", (int)group->size, "nodes", (int)group->nodes,
        "least_bytes", (json_int_t)group->least_bytes, "most_bytes", (json_int_t)group->most_bytes,
        "algorithm", sg_json_text(group->algorithm), "instances", (json_int_t)group->instances,
        "replayed", (int)item->replayed, "root_last", (json_int_t)group->root_last, "measured",
        measured_of(item), "estimates", estimates_of(item), "not_simulated", not_simulated_of(item),
        "verdict", sg_advice_verdict_names[item->verdict], "why", sg_json_text(item->why), "advice",
        advice_of(item), "saved_ns", saved_of(item), "trial", trial_of(advice, item));
}

static json_t *items_of(const struct sg_advice *advice)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < advice->item_count && list != NULL; i++)
        sg_json_append(&list, item_of(advice, &advice->items[i]));
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
