/* Trials on the report's page: for each one a table, with the verdict in words above it, in HTML
 * without scripts.
 */
#include "core/text.h"
#include "page/html.h"
#include "page/page.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* "a, b and c": the cheapest, and those that show no difference to it. */
static void put_alike(const struct sg_report_trial *trial, enum sg_tried tried, FILE *out)
{
    uint32_t count = 0, seen = 0;

    for (uint32_t i = 0; i < trial->arm_count; i++)
        count += i == trial->least[tried] || trial->arms[i].like_least[tried];
    for (uint32_t i = 0; i < trial->arm_count; i++) {
        if (i != trial->least[tried] && !trial->arms[i].like_least[tried])
            continue;
        fputs(seen == 0 ? "" : seen == count - 1 ? " and " : ", ", out);
        fputs("<b>", out);
        sg_html_text(trial->arms[i].text, out);
        fputs("</b>", out);
        seen++;
    }
}

static void put_verdict(const struct sg_report_trial *trial, enum sg_tried tried, const char *what,
                        FILE *out)
{
    fprintf(out, "By %s ", what);
    if (trial->verdict[tried] == SG_TRIED_WINNER) {
        fputs("<b>", out);
        sg_html_text(trial->arms[trial->least[tried]].text, out);
        fputs("</b> wins. ", out);
        return;
    }
    fputs("no difference is seen between ", out);
    put_alike(trial, tried, out);
    fputs(". ", out);
}

static void put_words(const struct sg_report_trial *trial, FILE *out)
{
    fputs("<p>", out);
    fputs(sg_trial_operation(trial), out);
    if (trial->function != NULL || trial->file != NULL) {
        fputs(" at <code>", out);
        sg_html_text(trial->function, out);
        if (trial->file != NULL) {
            fputs(trial->function != NULL ? " " : "", out);
            sg_html_text(sg_text_base_name(trial->file), out);
            fprintf(out, ":%" PRIu32, trial->line);
        }
        fputs("</code>", out);
    }
    fprintf(out, ": %" PRIu32 " algorithms took turns, in blocks of %" PRIu64 " collectives. ",
            trial->arm_count, trial->block);
    switch (trial->verdict[SG_TRIED_BLOCKED]) {
    case SG_TRIED_UNKNOWN:
        fputs("No events were recorded: there are means, no intervals and no winner.", out);
        break;
    case SG_TRIED_FEW:
        fprintf(out,
                "There is no winner: %" PRIu64 " rounds in which every algorithm had a turn are "
                "too few.",
                trial->rounds);
        break;
    case SG_TRIED_NONE:
    case SG_TRIED_WINNER:
    case SG_TRIED_VERDICTS:
        put_verdict(trial, SG_TRIED_BLOCKED, "time blocked", out);
        put_verdict(trial, SG_TRIED_PROCESSOR, "processor time", out);
        break;
    }
    fputs("</p>\n", out);
}

/* ---- the table ------------------------------------------------------------------------------- */

/* A figure with its interval; plus: what precedes a positive figure. */
static void put_estimate(const struct sg_report_trial *trial, const struct sg_estimate *estimate,
                         const char *plus, FILE *out)
{
    fputs(sg_html_signed(estimate->mean, plus, SG_ROOM), out);
    if (sg_trial_has_intervals(trial))
        fprintf(out, " <small>%s to %s</small>", sg_html_signed(estimate->low, plus, SG_ROOM),
                sg_html_signed(estimate->high, plus, SG_ROOM));
}

static void put_cost(const struct sg_report_trial *trial, const struct sg_report_arm *arm,
                     enum sg_tried tried, FILE *out)
{
    bool totals = trial->verdict[SG_TRIED_BLOCKED] == SG_TRIED_UNKNOWN;

    fputs("<td>", out);
    if (totals ? tried != SG_TRIED_BLOCKED : trial->rounds == 0)
        fputs("-", out);
    else
        put_estimate(trial, &arm->cost[tried], "", out);
    fputs("</td>", out);
}

static void put_above(const struct sg_report_trial *trial, const struct sg_report_arm *arm,
                      enum sg_tried tried, FILE *out)
{
    fputs("<td>", out);
    if (trial->rounds == 0)
        fputs("-", out);
    else if (arm == &trial->arms[trial->least[tried]])
        fputs("least", out);
    else
        put_estimate(trial, &arm->above[tried], "+", out);
    fputs("</td>", out);
}

static void put_arm(const struct sg_report_trial *trial, const struct sg_report_arm *arm, FILE *out)
{
    fputs("<tr><th scope=\"row\">", out);
    sg_html_text(arm->text, out);
    fprintf(out, "</th><td>%" PRIu64 "</td><td>%" PRIu64 "</td>", arm->calls, arm->declined_calls);
    for (int tried = SG_TRIED_BLOCKED; tried <= SG_TRIED_PROCESSOR; tried++) {
        put_cost(trial, arm, (enum sg_tried)tried, out);
        put_above(trial, arm, (enum sg_tried)tried, out);
    }
    put_cost(trial, arm, SG_TRIED_SKEW, out);
    fputs("</tr>\n", out);
}

static void put_trial(const struct sg_report_trial *trial, uint32_t number, FILE *out)
{
    static const char *const headers[] = {
        "algorithm",       "calls",          "declined",    "blocked per call",
        "above the least", "processor time", "above least", "skew",
    };

    fprintf(out, "<h3 id=\"trial-%" PRIu32 "\"><code>", number);
    sg_html_text(trial->place, out);
    fputs("</code></h3>\n", out);
    put_words(trial, out);
    fprintf(out,
            "<div class=\"scroll\" role=\"region\" aria-labelledby=\"trial-%" PRIu32
            "\" tabindex=\"0\">\n<table class=\"trial\">\n<thead><tr>",
            number);
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        fprintf(out, "<th scope=\"col\">%s</th>", headers[i]);
    fputs("</tr></thead>\n<tbody>\n", out);
    for (uint32_t i = 0; i < trial->arm_count; i++)
        put_arm(trial, &trial->arms[i], out);
    fputs("</tbody>\n</table>\n</div>\n", out);
    if (trial->verdict[SG_TRIED_BLOCKED] == SG_TRIED_UNKNOWN)
        return;
    fprintf(out,
            "<p class=\"quiet\">By %" PRIu64 " rounds; left out: %" PRIu64
            " calls that were a block's first, %" PRIu64 " beyond whole rounds",
            trial->rounds, trial->first_calls, trial->loose_calls);
    if (trial->mixed_calls > 0)
        fprintf(out, ", %" PRIu64 " whose ranks ran different algorithms", trial->mixed_calls);
    fputs(".</p>\n", out);
}

void sg_page_write_trials(const struct sg_report *report, FILE *out)
{
    if (report->trial_count == 0)
        return;
    fputs("<section aria-labelledby=\"trials-title\">\n<h2 id=\"trials-title\">Trials</h2>\n", out);
    for (uint32_t i = 0; i < report->trial_count; i++)
        put_trial(&report->trials[i], i, out);
    fputs("</section>\n", out);
}
