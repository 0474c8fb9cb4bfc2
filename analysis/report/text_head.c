/* The head of the report's text: what the run lost and where, a line each, and the three lines of
 * them that are worth reading when a run has just ended.
 */
#include "output/format.h"
#include "output/style.h"
#include "report/causes/print.h"
#include "report/columns.h"
#include "report/print.h"
#include "report/profile/print.h"
#include "report/waiting.h"
#include "report/waitstates/columns.h"
#include "report/waitstates/waitstates.h"

#include <inttypes.h>
#include <stdlib.h>

static void put_column(const char *name, const struct sg_report *report,
                       const struct sg_report_site *site, FILE *out)
{
    char *text = sg_site_text(name, report, site);

    fputs(text != NULL ? text : "?", out);
    free(text);
}

static void put_oversubscribed(const struct sg_report *report, FILE *out)
{
    sg_style_put_label("oversubscribed", out);
    sg_report_put_oversubscribed(report, sg_format_put, out);
    fputc('\n', out);
}

void sg_report_print_waiting(const struct sg_report *report, FILE *out)
{
    if (sg_report_is_oversubscribed(report))
        put_oversubscribed(report, out);
    if (report->waiting.told > 0) {
        sg_style_put_label("waiting", out);
        sg_report_put_waited(report, out);
        fputc('\n', out);
    }
}

static const struct sg_report_site *most_waited(const struct sg_report *report)
{
    const struct sg_report_site *worst = NULL;

    for (uint32_t i = 0; i < report->sum_count; i++) {
        const struct sg_report_site *site = &report->sums[i];

        if (site->wait_ns > 0 && (worst == NULL || site->wait_ns > worst->wait_ns))
            worst = site;
    }
    return worst;
}

/* On one communicator. */
static const struct sg_report_site *most_skewed(const struct sg_report *report)
{
    const struct sg_report_site *worst = NULL;

    for (uint32_t i = 0; i < report->site_count; i++) {
        const struct sg_report_site *site = &report->sites[i];

        if (site->skew_max_ns > 0 && (worst == NULL || site->skew_max_ns > worst->skew_max_ns))
            worst = site;
    }
    return worst;
}

static void put_place(const struct sg_report *report, const struct sg_report_site *site, FILE *out)
{
    put_column("op", report, site, out);
    if (site->has_id) {
        fputs(" at ", out);
        put_column("site", report, site, out);
    }
    fputs(" on ", out);
    put_column("comm", report, site, out);
}

static void put_worst_site(const struct sg_report *report, FILE *out)
{
    const struct sg_report_site *site = most_waited(report);

    sg_style_put_label("most of it", out);
    if (site == NULL) {
        fputs("nowhere: no rank waited\n", out);
        return;
    }
    fprintf(out, "%s in ", SG_SHARE(site->wait_ns, report->total.wait_ns));
    put_place(report, site, out);
    if (site->last_rank >= 0)
        fprintf(out, ", rank %" PRId64 " last in %s of %" PRIu64, site->last_rank,
                SG_SHARE(site->last_count, site->instances), site->instances);
    fputc('\n', out);
}

static void put_worst_instance(const struct sg_report *report, FILE *out)
{
    const struct sg_report_site *site = most_skewed(report);

    sg_style_put_label("worst instance", out);
    if (site == NULL) {
        fputs("none: all members arrived together\n", out);
        return;
    }
    fprintf(out, "%s of skew: ", SG_NS(site->skew_max_ns));
    put_place(report, site, out);
    fprintf(out, ", #%" PRIu64 ", at ", site->worst_seq);
    put_column("at", report, site, out);
    fputc('\n', out);
}

static void put_lost(const struct sg_report *report, FILE *out)
{
    const struct sg_report_site *total = &report->total;
    uint64_t cost_ns = report->has_events ? total->wait_ns : total->blocked_ns;

    /* Calls that are not in the events have waited, too. */
    sg_style_put_label(report->has_events ? "lost waiting" : "in collectives", out);
    fprintf(out, "%s%s of processor time (%s of %s)\n",
            report->has_events && sg_report_unseen_calls(report) > 0 ? "at least " : "",
            SG_SHARE(cost_ns, report->ranks_run_ns), SG_NS(cost_ns), SG_NS(report->ranks_run_ns));
}

void sg_report_print_summary(const struct sg_report *report, FILE *out)
{
    if (report->has_events && report->total.instances == 0) {
        sg_style_put_label("lost waiting", out);
        fputs("not known: no instance is complete\n\n", out);
        return;
    }
    put_lost(report, out);
    if (report->has_events) {
        put_worst_site(report, out);
        put_worst_instance(report, out);
        sg_causes_print_summary(report, out);
    } else {
        sg_style_put_label("lost waiting", out);
        fputs("not known: no events were recorded (STAGGER_TRACE=otf2)\n", out);
    }
    fputc('\n', out);
}

/* ---- when a run has just ended --------------------------------------------------------------- */

/* Where ranks waited longest for others, in any call; NULL: not known, or in no call longer than
 * at the summary's worst site. */
static const struct sg_waitstate_pair *longest_wait(const struct sg_report *report)
{
    const struct sg_report_site *site = most_waited(report);
    const struct sg_waitstate_pair *pair = NULL;

    if (report->waitstates != NULL && report->waitstates->pair_count > 0)
        pair = &report->waitstates->pairs[0];
    return pair != NULL && (site == NULL || pair->of.wait_ns > site->wait_ns) ? pair : NULL;
}

static void put_longest_wait(const struct sg_waitstate_pair *pair, FILE *out)
{
    sg_style_put_label("longest waits", out);
    fprintf(out, "%s in ", SG_NS(pair->of.wait_ns));
    sg_waitstate_put_place(&pair->at, out);
    fprintf(out, " (%s), for rank %" PRIu32 " in ", sg_waitstate_names[pair->kind], pair->rank);
    sg_waitstate_put_place(&pair->other, out);
    fputc('\n', out);
}

void sg_report_print_brief(const struct sg_report *report, FILE *out)
{
    const struct sg_waitstate_pair *pair = longest_wait(report);
    bool has_lost = report->site_count > 0 && (!report->has_events || report->total.instances > 0);

    if (sg_report_is_oversubscribed(report))
        put_oversubscribed(report, out);
    if (!sg_report_is_oversubscribed(report) || !has_lost)
        sg_calls_print_share(report, out);
    if (has_lost)
        put_lost(report, out);
    if (pair != NULL)
        put_longest_wait(pair, out);
    else if (has_lost && report->has_events)
        put_worst_site(report, out);
}
