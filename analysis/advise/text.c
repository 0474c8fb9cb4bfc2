/* Advice for people at a terminal. */
#include "advise/advise.h"
#include "advise/columns.h"
#include "advise/remedies_print.h"
#include "output/format.h"
#include "output/table.h"
#include "report/columns.h"

#include <inttypes.h>
#include <stdlib.h>

/* The share of a reduce's instances with the root last from which the text mentions it. */
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
        fputs("costs: measured on its machine when the run began\n", out);
    else if (machine->asked)
        fprintf(out, "costs: of the network %s\n", machine->between.name);
    else
        fprintf(out,
                "costs: of the network %s, not of the machine of the run: its archive has no "
                "calibration\n",
                machine->between.name);
    if (sg_machine_was_busy(machine))
        fprintf(
            out,
            "       the machine was busy meanwhile: samples of a cost differ up to %.3g times, the "
            "fewest are %.0f;\n       the costs may be far off: run again, or name a network\n",
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
        fputs("       not measured, of the network " SG_MACHINE_DEFAULT ": what is between nodes\n",
              out);
    if (machine->borrowed[0] != '\0')
        fprintf(out, "       not measured, of the network " SG_MACHINE_DEFAULT ": %s\n",
                machine->borrowed);
    if (machine->crowd > 1)
        fprintf(out,
                "       %.3g ranks a processor: MPICH, which does not give it away, is taken to "
                "lose %.3gms a message\n",
                machine->crowd, sg_machine_turn_us(machine) * 1e-3);
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
        fputs("\nThere are statistics alone: no arrivals to replay.\n", out);
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
    struct sg_table table = {0};
    struct sg_estimate_row row = sg_estimate_row_of(item, item->executed);

    sg_table_show(&table, sg_estimate_columns, NULL);
    row.what = "  measured";
    row.blocked_ns = item->measured_blocked_ns;
    row.processor_ns = item->measured_processor_ns;
    sg_table_row(&table, &row, NULL);
    for (int i = 0; i < item->estimate_count; i++) {
        row = sg_estimate_row_of(item, i);
        sg_table_row(&table, &row, NULL);
    }
    return sg_table_finish(&table, "advise", out);
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
    double calls = (double)item->group->instances * item->group->size;

    fprintf(out, "  advice: %s, %s less a call", sg_candidates[best->candidate],
            SG_UNSIGNED(best->gain_ns));
    if (item->estimates[item->executed].processor_ns > 0)
        fprintf(out, " (%.0f%%)",
                100 * best->gain_ns / item->estimates[item->executed].processor_ns);
    fprintf(out, ", %s in this run\n", SG_UNSIGNED(best->gain_ns * calls));
}

/* With a late root nothing can be bypassed: its children have arrived before it. */
static void put_root(const struct sg_advice_item *item, FILE *out)
{
    const struct sg_group *group = item->group;
    double share = (double)group->root_last / (double)group->instances;

    if (group->operation == SG_OPERATION_REDUCE && group->size > 1 && share >= OFTEN)
        fprintf(out,
                "  the root is the last to come in %.0f%% of the instances: it waits for nobody, "
                "and there is no late\n  contribution that bypass could spare a wait for\n",
                100 * share);
}

static void put_verdict(const struct sg_advice_item *item, FILE *out)
{
    switch (item->verdict) {
    case SG_ADVICE_CHANGE:
        put_change(item, out);
        break;
    case SG_ADVICE_BEST:
        fputs("  no advice: nothing else is estimated to cost less\n", out);
        break;
    case SG_ADVICE_WITHIN_ERROR:
        fprintf(out, "  no advice: what %s would save (at least %s) is within the error\n",
                sg_candidates[item->estimates[item->best].candidate],
                SG_UNSIGNED(item->estimates[item->best].low_ns));
        break;
    case SG_ADVICE_FEW:
        fprintf(out, "  no advice: fewer than %u instances\n", SG_SAMPLE_MIN);
        break;
    case SG_ADVICE_SITES:
        fputs("  no advice: ranks reach one instance from call sites with different rules\n", out);
        break;
    case SG_ADVICE_CONFLICT:
        fputs("  no advice: the rule would hold for other instances too, for which it is wrong\n",
              out);
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

static enum sg_status put_item(const struct sg_advice_item *item, FILE *out)
{
    enum sg_status status = SG_OK;

    put_title(item, out);
    if (item->estimate_count > 0) {
        status = put_estimates(item, out);
        put_not_simulated(item, out);
        put_error(item, out);
    }
    put_verdict(item, out);
    return status;
}

/* ---- the whole */

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
        fprintf(out, "the %" PRIu32 " with most time blocked are shown; --top 0 shows all\n",
                shown);
}

enum sg_status sg_advice_print_text(const struct sg_advice *advice, uint32_t top, FILE *out)
{
    uint32_t shown = top == 0 || top > advice->item_count ? advice->item_count : top;
    enum sg_status status = SG_OK;

    put_run(advice, out);
    for (uint32_t i = 0; i < shown && status == SG_OK; i++)
        status = put_item(&advice->items[i], out);
    if (status != SG_OK)
        return status;
    sg_remedies_print(&advice->remedies, top, out);
    if (advice->item_count == 0)
        return SG_OK;
    put_counts(advice, shown, out);
    fputs("estimates: recorded arrivals, each instance by itself; they do not include what the "
          "program does with the time won\n",
          out);
    return SG_OK;
}
