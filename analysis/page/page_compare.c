/* The comparison as a page: the summary with both sides; the table of call sites, which is also the
 * data of the chart that the page's script draws; and the tables of all MPI calls and of waits.
 */
#include "compare/compare_calls.h"
#include "page/html.h"
#include "page/page.h"
#include "page/page_table.h"
#include "report/wait_sums.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* ---- cells ----------------------------------------------------------------------------------- */

#define SIGNED(ns) sg_html_signed(ns, "+", SG_ROOM)

/* The change from a to b: "+12.3%". */
static void sg_page_put_change(double a, double b, FILE *out)
{
    if (a > 0)
        fprintf(out, "%s%.1f%%", b > a ? "+" : b < a ? SG_HTML_MINUS : "", 100 * fabs(b - a) / a);
    else
        fputs(b > 0 ? "from none" : "none", out);
}

/* A cell; NAN: not known. */
static void sg_page_put_time(double ns, FILE *out)
{
    if (isnan(ns))
        fputs("<td>-</td>", out);
    else
        fprintf(out, "<td data-v=\"%.15g\">%s</td>", ns, SG_UNSIGNED(ns));
}

/* Two cells: difference and change. */
static void sg_page_put_difference(const struct sg_measured_row *row, FILE *out)
{
    if (isnan(row->difference_ns))
        fputs("<td>-</td>", out);
    else
        fprintf(out, "<td data-v=\"%.15g\">%s</td>", row->difference_ns,
                SIGNED(row->difference_ns));
    if (isnan(row->change)) {
        fputs("<td>-</td>", out);
    } else {
        fprintf(out, "<td data-v=\"%.10g\">", row->change);
        sg_page_put_change(row->a_ns, row->b_ns, out);
        fputs("</td>", out);
    }
}

/* Two cells: interval and verdict. */
static void sg_page_put_verdict(const struct sg_measured_row *row, bool several, FILE *out)
{
    if (isnan(row->low_ns))
        fputs("<td>-</td>", out);
    else
        fprintf(out, "<td data-v=\"%.15g\" data-low=\"%.15g\" data-high=\"%.15g\">%s to %s</td>",
                row->high_ns - row->low_ns, row->low_ns, row->high_ns, SIGNED(row->low_ns),
                SIGNED(row->high_ns));
    fprintf(out, "<td class=\"text %s\">%s</td>", sg_verdict_names[row->verdict],
            sg_verdict_words(row->verdict, several));
}

/* ---- the top --------------------------------------------------------------------------------- */

static const char *program_of(const struct sg_report *run)
{
    return run->program != NULL ? run->program : "program not known";
}

static void put_title(const struct sg_comparison *comparison, FILE *out)
{
    const struct sg_report *a = &comparison->runs[0][0], *b = &comparison->runs[1][0];

    fputs("<header>\n<p class=\"kind\">stagger compare</p>\n<h1>", out);
    sg_html_text(program_of(a), out);
    if (strcmp(program_of(a), program_of(b)) != 0) {
        fputs(" and ", out);
        sg_html_text(program_of(b), out);
    }
    fputs("</h1>\n", out);
    for (int side = 0; side < 2; side++) {
        for (uint32_t run = 0; run < comparison->run_count[side]; run++) {
            fprintf(out, "<p class=\"path\">%c", 'A' + side);
            if (comparison->run_count[side] > 1)
                fprintf(out, "%" PRIu32, run + 1);
            fputs(": ", out);
            sg_html_text(comparison->runs[side][run].path, out);
            fputs("</p>\n", out);
        }
    }
}

static void put_lead(const struct sg_comparison *comparison, FILE *out)
{
    static const char *const told[SG_VERDICT_COUNT] = {
        [SG_VERDICT_UNKNOWN] = "cannot be compared without events",
        [SG_VERDICT_FEW] = "have too few instances",
        [SG_VERDICT_NOISE] = "differ within the noise",
        [SG_VERDICT_DIFFERS] = "differ between these two runs",
        [SG_VERDICT_LESS] = "block for less time in B",
        [SG_VERDICT_MORE] = "block for more time in B",
    };
    const uint32_t *count = comparison->verdict_count;
    bool first = true;

    fputs("<p class=\"lead\">", out);
    if (comparison->both_count == 0) {
        fputs("The runs have no call site in common.</p>\n", out);
        return;
    }
    fprintf(out, "Of %" PRIu32 " call site%s in both runs, ", comparison->both_count,
            comparison->both_count == 1 ? "" : "s");
    for (int verdict = SG_VERDICT_COUNT - 1; verdict >= 0; verdict--) {
        if (count[verdict] == 0)
            continue;
        fprintf(out, "%s%s%" PRIu32 " %s%s", first ? "" : ", ",
                verdict >= SG_VERDICT_LESS ? "<strong>" : "", count[verdict],
                verdict == SG_VERDICT_FEW && sg_comparison_has_several(comparison)
                    ? "have too few runs"
                    : told[verdict],
                verdict >= SG_VERDICT_LESS ? "</strong>" : "");
        first = false;
    }
    fputs(".", out);
    if (!sg_comparison_has_several(comparison))
        fputs(" Repeated runs show which side is better: <code>stagger compare A1 A2 -- B1 "
              "B2</code>.",
              out);
    fputs("</p>\n", out);
}

/* A figure of whole runs at the top, without the closing tags. Its class says that B is better or
 * worse, which takes several runs. */
static void put_times(const struct sg_measured_row *row, FILE *out)
{
    fprintf(out, "<div%s><dt>%s, A and B</dt><dd>%s &rarr; %s<small>",
            row->verdict == SG_VERDICT_LESS   ? " class=\"good\""
            : row->verdict == SG_VERDICT_MORE ? " class=\"main\""
                                              : "",
            row->measured, SG_UNSIGNED(row->a_ns), SG_UNSIGNED(row->b_ns));
    sg_page_put_change(row->a_ns, row->b_ns, out);
    if (!isnan(row->low_ns))
        fprintf(out, ", %s", sg_verdict_words(row->verdict, true));
}

static void put_figures(const struct sg_comparison *comparison, FILE *out)
{
    const struct sg_run_figures a = sg_comparison_figures(comparison, 0),
                                b = sg_comparison_figures(comparison, 1);
    uint32_t ranks[2] = {comparison->runs[0][0].rank_count, comparison->runs[1][0].rank_count};

    fputs("<dl class=\"figures\">\n", out);
    for (int i = 0; i < SG_WHOLE_COUNT; i++) {
        const struct sg_measured_row *row = &comparison->whole[i].time;

        if (isnan(row->a_ns) || isnan(row->b_ns))
            continue;
        put_times(row, out);
        if (i != SG_WHOLE_RUN)
            fprintf(out, "; of all rank time %s &rarr; %s",
                    SG_SHARE((uint64_t)row->a_ns, a.ranks_run_ns),
                    SG_SHARE((uint64_t)row->b_ns, b.ranks_run_ns));
        fputs("</small></dd></div>\n", out);
    }
    fprintf(out, "<div><dt>ranks</dt><dd>%" PRIu32, ranks[0]);
    if (ranks[0] != ranks[1])
        fprintf(out, " &rarr; %" PRIu32, ranks[1]);
    fputs("</dd></div>\n</dl>\n", out);
}

static void put_side_notes(const struct sg_comparison *comparison, int side, FILE *out)
{
    const struct sg_run_figures figures = sg_comparison_figures(comparison, side);
    bool several = sg_comparison_has_several(comparison), unseen = false;

    for (uint32_t run = 0; run < comparison->run_count[side]; run++)
        unseen = unseen || sg_report_unseen_calls(&comparison->runs[side][run]) > 0;
    if (several && comparison->run_count[side] > 1)
        fprintf(out, "<li>Figures of %c are means over its %" PRIu32 " runs.</li>\n", 'A' + side,
                comparison->run_count[side]);
    else if (several)
        fprintf(out, "<li>%c is a single run: the spread of %c is assumed for it.</li>\n",
                'A' + side, 'A' + 1 - side);
    if (figures.partial)
        fprintf(out, "<li><b>%c is partial.</b> It does not hold the whole run.</li>\n",
                'A' + side);
    if (!figures.has_events)
        fprintf(out, "<li>%c has no events: %s.</li>\n", 'A' + side,
                several ? "waiting times are unknown" : "there are no intervals");
    else if (unseen)
        fprintf(out,
                "<li>%c has calls that are not in the events: costs per call cover only the "
                "others.</li>\n",
                'A' + side);
}

static void put_notes(const struct sg_comparison *comparison, FILE *out)
{
    uint32_t by_place = comparison->by_place_count;

    fputs("<ul class=\"notes\">\n", out);
    for (int side = 0; side < 2; side++)
        put_side_notes(comparison, side, out);
    if (by_place > 0)
        fprintf(out,
                "<li>%" PRIu32
                " call site%s found by function, file and line: the program was rebuilt.</li>\n",
                by_place, by_place == 1 ? " was" : "s were");
    fputs("</ul>\n</header>\n", out);
}

/* ---- call sites in both ---------------------------------------------------------------------- */

static void put_algorithms(const struct sg_compared *row, FILE *out)
{
    sg_html_text(row->side[0].algorithm, out);
    if (strcmp(row->side[0].algorithm, row->side[1].algorithm) != 0) {
        fputs(" &rarr; ", out);
        sg_html_text(row->side[1].algorithm, out);
    }
}

static void put_row(const struct sg_compared *row, const struct sg_measured_row *of, bool several,
                    FILE *out)
{
    uint64_t a = row->side[0].calls, b = row->side[1].calls;

    fprintf(out,
            "<tr data-op=\"%s\" data-measure=\"%s\"><td class=\"text\">%s</td><th scope=\"row\" "
            "class=\"text\" title=\"",
            sg_site_operation(&row->site), of->measured, sg_site_operation(&row->site));
    sg_html_column("where", NULL, &row->site, out);
    fputs("\">", out);
    sg_html_column("site", NULL, &row->site, out);
    fputs("</th><td class=\"text\">", out);
    put_algorithms(row, out);
    fprintf(out, "</td><td data-v=\"%" PRIu64 "\">%" PRIu64, b, a);
    if (a != b)
        fprintf(out, " &rarr; %" PRIu64, b);
    fprintf(out, "</td><td class=\"text\">%s</td>", of->measured);
    sg_page_put_time(of->a_ns, out);
    sg_page_put_time(of->b_ns, out);
    sg_page_put_difference(of, out);
    sg_page_put_verdict(of, several, out);
    fputs("</tr>\n", out);
}

static void put_both(const struct sg_comparison *comparison, uint32_t row_limit, FILE *out)
{
    uint32_t count = sg_page_rows(comparison->both_shown, row_limit);
    bool several = sg_comparison_has_several(comparison);

    if (count == 0)
        return;
    sg_html_section("both", "Call sites in both runs", out);
    fputs("<p class=\"quiet\">Means per call, over all ranks. ", out);
    fputs(several ? "The interval is Student's t of the means of the runs; it includes the "
                    "variation between runs."
                  : "The interval is a bootstrap over the instances of these two runs, at 95%; it "
                    "excludes the variation between runs.",
          out);
    fputs("</p>\n<div id=\"measures\" class=\"controls\"></div>\n"
          "<div id=\"changes\"></div>\n<div id=\"sites-filters\" class=\"controls\"></div>\n"
          "<div class=\"scroll\" role=\"region\" aria-labelledby=\"both-title\" tabindex=\"0\">\n"
          "<table id=\"sites\" class=\"sites\"",
          out);
    fputs(several ? " data-several" : "", out);
    fputs(
        ">\n<thead><tr><th scope=\"col\" class=\"text\">operation</th>"
        "<th scope=\"col\" class=\"text\">call site</th><th scope=\"col\" class=\"text\">algorithm"
        "</th><th scope=\"col\">calls</th><th scope=\"col\" class=\"text\">per call</th>"
        "<th scope=\"col\">A</th><th scope=\"col\">B</th><th scope=\"col\">B " SG_HTML_MINUS
        " A</th>"
        "<th scope=\"col\">change</th><th scope=\"col\">95% interval</th>"
        "<th scope=\"col\" class=\"text\">verdict</th></tr></thead>\n<tbody>\n",
        out);
    for (uint32_t i = 0; i < count; i++) {
        for (int measured = 0; measured < SG_MEASURED_COUNT; measured++)
            put_row(&comparison->rows[i], &comparison->rows[i].per_call[measured], several, out);
    }
    fputs(
        "</tbody>\n</table>\n</div>\n<p id=\"sites-shown\" class=\"quiet\" role=\"status\"></p>\n",
        out);
    if (count < comparison->both_count)
        fprintf(out,
                "<p class=\"quiet\">%" PRIu32
                " more call site%s omitted: <code>stagger compare --json</code> has all.</p>\n",
                comparison->both_count - count,
                comparison->both_count - count == 1 ? " is" : "s are");
    fputs("</section>\n", out);
}

/* ---- call sites in one side only ------------------------------------------------------------- */

static void put_only(const struct sg_comparison *comparison, int run, uint32_t row_limit, FILE *out)
{
    const struct sg_rows rows = sg_comparison_only(comparison, run);
    uint32_t count = sg_page_rows(rows.count, row_limit);

    if (comparison->only_count[run] == 0)
        return;
    fprintf(out,
            "<section aria-labelledby=\"only-%c\">\n<h2 id=\"only-%c\">Only in %c</h2>\n"
            "<div class=\"scroll\" role=\"region\" aria-labelledby=\"only-%c\" tabindex=\"0\">\n"
            "<table class=\"only\">\n<thead><tr><th scope=\"col\" class=\"text\">operation</th>"
            "<th scope=\"col\" class=\"text\">call site</th><th scope=\"col\">calls</th>"
            "<th scope=\"col\">blocked</th></tr></thead>\n<tbody>\n",
            'a' + run, 'a' + run, 'A' + run, 'a' + run);
    for (uint32_t i = 0; i < count; i++) {
        const struct sg_compared *row = sg_rows_at(&rows, i);

        fprintf(out, "<tr><td class=\"text\">%s</td><th scope=\"row\" class=\"text\">",
                sg_site_operation(&row->site));
        sg_html_column("where", NULL, &row->site, out);
        fprintf(out, "</th><td>%" PRIu64 "</td><td>%s</td></tr>\n", row->side[run].calls,
                SG_NS(row->side[run].ns[SG_MEASURED_BLOCKED]));
    }
    fputs("</tbody>\n</table>\n</div>\n", out);
    if (count < comparison->only_count[run])
        fprintf(out, "<p class=\"quiet\">%" PRIu32 " more are omitted.</p>\n",
                comparison->only_count[run] - count);
    fputs("</section>\n", out);
}

enum sg_status sg_page_write_comparison(const struct sg_comparison *comparison, uint32_t row_limit,
                                        FILE *out)
{
    static const char *const scripts[] = {sg_charts_js, sg_table_js, sg_compare_js, NULL};
    char nonce[33];
    enum sg_status status = sg_html_begin("stagger compare", nonce, out);

    if (status != SG_OK)
        return status;
    put_title(comparison, out);
    put_lead(comparison, out);
    put_figures(comparison, out);
    put_notes(comparison, out);
    fputs("<main>\n<noscript><p class=\"quiet\">The chart, sorting and filtering need JavaScript."
          "</p></noscript>\n",
          out);
    put_both(comparison, row_limit, out);
    sg_page_write_compared_calls(comparison, row_limit, out);
    put_only(comparison, 0, row_limit, out);
    put_only(comparison, 1, row_limit, out);
    fputs("</main>\n", out);
    sg_html_end(scripts, nonce, out);
    return SG_OK;
}

/* All MPI calls: functions, call sites, and waits by kind and call site, per run. There are
 * intervals only if a side has several runs.
 */

struct table {
    const char *id, *title, *about;
    bool has_sites, has_states, several;
};

static void put_head(const struct table *table, FILE *out)
{
    sg_html_section(table->id, table->title, out);
    fprintf(out, "<p class=\"quiet\">%s</p>\n", table->about);
    sg_page_begin_table(table->id, "calls", true, out);
    if (table->has_states)
        fputs("<th scope=\"col\" class=\"text\">wait state</th>", out);
    fputs("<th scope=\"col\" class=\"text\">function</th>", out);
    if (table->has_sites)
        fputs("<th scope=\"col\" class=\"text\">call site</th>", out);
    fprintf(out,
            "<th scope=\"col\">%s</th><th scope=\"col\">A</th><th scope=\"col\">B</th>"
            "<th scope=\"col\">B " SG_HTML_MINUS " A</th><th scope=\"col\">change</th>",
            table->has_states ? "waits" : "calls");
    if (table->several)
        fputs("<th scope=\"col\">95% interval</th><th scope=\"col\" class=\"text\">verdict</th>",
              out);
    fputs("</tr></thead>\n<tbody>\n", out);
}

static void put_count(const struct sg_call_side *side, FILE *out)
{
    if (side->run_count > 0)
        fprintf(out, "%" PRIu64, side->calls);
    else
        fputc('-', out);
}

static void put_calls(const struct sg_compared_call *call, FILE *out)
{
    const struct sg_call_side *a = &call->side[0], *b = &call->side[1];

    fprintf(out, "<td data-v=\"%" PRIu64 "\">", b->run_count > 0 ? b->calls : a->calls);
    put_count(a, out);
    if (a->run_count == 0 || b->run_count == 0 || a->calls != b->calls) {
        fputs(" &rarr; ", out);
        put_count(b, out);
    }
    fputs("</td>", out);
}

/* The first cell is the table's filter key. */
static void page_compare_calls_put_row(const struct table *table,
                                       const struct sg_compared_call *call, FILE *out)
{
    const char *state = call->state;

    fprintf(out, "<tr data-op=\"%s\">", state != NULL ? state : call->row.function);
    if (state != NULL)
        fprintf(out, "<th scope=\"row\" class=\"text\">%s</th>", state);
    fprintf(out, state != NULL ? "<td class=\"text\">" : "<th scope=\"row\" class=\"text\">");
    sg_html_text(call->row.function, out);
    fputs(state != NULL ? "</td>" : "</th>", out);
    if (table->has_sites) {
        fputs("<td class=\"text\">", out);
        sg_html_column("site", NULL, &call->row.place, out);
        fputs("</td>", out);
    }
    put_calls(call, out);
    sg_page_put_time(call->time.a_ns, out);
    sg_page_put_time(call->time.b_ns, out);
    sg_page_put_difference(&call->time, out);
    if (table->several)
        sg_page_put_verdict(&call->time, true, out);
    fputs("</tr>\n", out);
}

static void put_end(const struct table *table, uint32_t left_out, FILE *out)
{
    sg_page_end_table(table->id, true, out);
    if (left_out > 0)
        fprintf(out,
                "<p class=\"quiet\">%" PRIu32
                " more rows are omitted: <code>--top</code> sets how many to show, "
                "<code>stagger compare --csv=%s</code> has all.</p>\n",
                left_out, table->id);
    fputs("</section>\n", out);
}

static void put_lists(const struct table *table, const struct sg_compared_call_list *lists,
                      int list_count, uint32_t row_limit, FILE *out)
{
    uint32_t all = 0, shown = 0;

    for (int list = 0; list < list_count; list++)
        all += lists[list].count;
    if (all == 0 || row_limit == 0)
        return;
    put_head(table, out);
    for (int list = 0; list < list_count; list++) {
        uint32_t count = sg_page_rows(lists[list].count, row_limit);

        for (uint32_t i = 0; i < count; i++)
            page_compare_calls_put_row(table, &lists[list].of[i], out);
        shown += count;
    }
    put_end(table, all - shown, out);
}

void sg_page_write_compared_calls(const struct sg_comparison *comparison, uint32_t row_limit,
                                  FILE *out)
{
    bool several = sg_comparison_has_several(comparison);
    const struct table functions = {"functions", "MPI functions", "Time per run, over all ranks.",
                                    false,       false,           several};
    const struct table calls = {
        "calls", "Call sites of all MPI functions", "Time per run, over all ranks.", true, false,
        several};
    const struct table waits = {
        "waits", "Wait states", "Time per run that ranks waited for others.", true, true, several};

    if (comparison->calls.is_known) {
        put_lists(&functions, &comparison->calls.functions, 1, row_limit, out);
        put_lists(&calls, &comparison->calls.sites, 1, row_limit, out);
    }
    if (comparison->waits.is_known)
        put_lists(&waits, comparison->waits.of, SG_WAITSTATE_KINDS, row_limit, out);
}
