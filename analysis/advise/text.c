/* Advice for people at a terminal. */
#include "advise/advise.h"
#include "compare/bootstrap.h"
#include "output/format.h"
#include "output/table.h"
#include "report/columns.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Share of a reduce's instances in which the root comes last, from which on this is said. */
#define OFTEN 0.5

static void put_clean(const char *text, FILE *out)
{
    char *clean = sg_format_clean(text, true);

    fputs(clean != NULL ? clean : "?", out);
    free(clean);
}

#define SIGNED_BYTES (SG_FORMAT_BYTES + 1)

static const char *format_ns(double ns, char text[SIGNED_BYTES])
{
    bool negative = llround(ns) < 0;

    text[0] = '-';
    sg_format_ns((uint64_t)llround(fabs(ns)), text + negative);
    return text;
}

/* ---- the run */

static void put_us(const char *name, double us, FILE *out)
{
    char text[SG_FORMAT_BYTES];

    sg_format_ns((uint64_t)llround(us * 1e3), text);
    fprintf(out, "%s%s", name, text);
}

static void put_network(const char *where, const struct sg_network *network, FILE *out)
{
    fprintf(out, "       %s", where);
    put_us(": latency ", network->latency_us, out);
    put_us(", overhead ", network->overhead_us, out);
    fprintf(out, ", %.3gns a byte\n", network->gap_ns_per_byte);
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
    put_us("       a step in shared memory ", machine->between.local_us, out);
    put_us(", a wake-up ", machine->between.wake_us, out);
    if (machine->knows_signal)
        put_us(", a signal ", machine->between.signal_us, out);
    fprintf(out, ", a copy %.3gns a byte", machine->between.copy_ns_per_byte);
    fputc('\n', out);
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
    char time[SG_FORMAT_BYTES];

    sg_format_ns(report->run_ns, time);
    put_clean(report->program != NULL ? report->program : "program not known", out);
    fprintf(out, ", %" PRIu32 " rank%s, run time %s%s\n", report->rank_count,
            report->rank_count == 1 ? "" : "s", time, report->partial ? ", PARTIAL" : "");
    put_machine(advice, out);
    if (!report->has_events)
        fputs("\nThere are statistics alone: no arrivals to replay.\n", out);
    else if (advice->item_count == 0)
        fputs("\nThere are no barriers, reduces or allreduces to replay.\n", out);
}

/* ---- one call site */

static void put_title(const struct sg_advice_item *item, FILE *out)
{
    const struct sg_group *group = item->group;
    const struct sg_report_site *site = item->site;
    char *where = sg_column_text(sg_column_find("site"), NULL, site);
    char least[SG_FORMAT_BYTES], most[SG_FORMAT_BYTES];

    sg_format_bytes(group->least_bytes, least);
    sg_format_bytes(group->most_bytes, most);
    fprintf(out, "\n%s at %s on ", sg_site_operation(site), where != NULL ? where : "?");
    put_clean(site->comm, out);
    fprintf(out, ", %" PRIu32 " rank%s", group->size, group->size == 1 ? "" : "s");
    if (group->nodes > 1)
        fprintf(out, " on %" PRIu32 " nodes", group->nodes);
    if (group->operation != SG_OPERATION_BARRIER)
        fprintf(out, ", %s%s%s", least, group->most_bytes > group->least_bytes ? " to " : "",
                group->most_bytes > group->least_bytes ? most : "");
    fprintf(out, ", %" PRIu64 " instance%s", group->instances, group->instances == 1 ? "" : "s");
    if (item->replayed > 0 && item->replayed < group->instances)
        fprintf(out, ", %" PRIu32 " of them, drawn at random, replayed", item->replayed);
    fputc('\n', out);
    free(where);
}

static void add_row(struct sg_table *table, const char *what, const char *algorithm,
                    double blocked_ns, double processor_ns)
{
    char text[SIGNED_BYTES];

    sg_table_addf(table, "  %s", what);
    sg_table_addf(table, "%s", algorithm);
    sg_table_addf(table, "%s", format_ns(blocked_ns, text));
    sg_table_addf(table, "%s", format_ns(processor_ns, text));
}

static void add_estimate(struct sg_table *table, const struct sg_advice_item *item, int i)
{
    const struct sg_advise_estimate *one = &item->estimates[i];
    char gain[SIGNED_BYTES], low[SIGNED_BYTES], high[SIGNED_BYTES];

    add_row(table, i == item->ran ? "this one, estimated" : "estimated",
            sg_candidates[one->candidate], one->blocked_ns, one->processor_ns);
    if (i == item->ran) {
        sg_table_addf(table, "-");
        sg_table_addf(table, "-");
        return;
    }
    sg_table_addf(table, "%s", format_ns(one->gain_ns, gain));
    sg_table_addf(table, "%s .. %s", format_ns(one->low_ns, low), format_ns(one->high_ns, high));
}

static enum sg_status put_estimates(const struct sg_advice_item *item, FILE *out)
{
    static const struct sg_table_column columns[] = {
        {.header = "", .left = true}, {.header = "algorithm", .left = true},
        {.header = "blocked"},        {.header = "processor"},
        {.header = "less by"},        {.header = "95% interval"},
    };
    struct sg_table table = {.columns = columns,
                             .column_count = sizeof columns / sizeof columns[0]};
    enum sg_status status;

    add_row(&table, "measured", sg_candidates[item->estimates[item->ran].candidate],
            item->measured_blocked_ns, item->measured_processor_ns);
    sg_table_addf(&table, "-");
    sg_table_addf(&table, "-");
    for (int i = 0; i < item->estimate_count; i++)
        add_estimate(&table, item, i);
    status = sg_table_print(&table, sg_table_width(out), out);
    sg_table_clear(&table);
    return status;
}

static void put_error(const struct sg_advice_item *item, FILE *out)
{
    double estimated_ns = item->estimates[item->ran].processor_ns;
    char error[SIGNED_BYTES];

    fprintf(out, "  error of the estimates: %s", format_ns(item->error_ns, error));
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
    char gain[SIGNED_BYTES], run[SIGNED_BYTES];

    fprintf(out, "  advice: %s, %s less a call", sg_candidates[best->candidate],
            format_ns(best->gain_ns, gain));
    if (item->estimates[item->ran].processor_ns > 0)
        fprintf(out, " (%.0f%%)", 100 * best->gain_ns / item->estimates[item->ran].processor_ns);
    fprintf(out, ", %s in this run\n", format_ns(best->gain_ns * calls, run));
}

/* A root that is late leaves nothing to bypass: its children are there before it. */
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
    char low[SIGNED_BYTES];

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
                format_ns(item->estimates[item->best].low_ns, low));
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
    if (status != SG_OK || advice->item_count == 0)
        return status;
    put_counts(advice, shown, out);
    fputs("estimates: recorded arrivals, each instance by itself; what the program does with the "
          "time won is not in them\n",
          out);
    return SG_OK;
}
