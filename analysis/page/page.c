/* Writes the report as a page: the summary, the table of call sites, and the last sections on
 * clocks, configuration, overhead and terms. Other files write the sections in between.
 */
#include "page/page.h"
#include "page/page_table.h"

#include "core/text.h"
#include "output/format.h"
#include "page/html.h"
#include "report/report_columns.h"
#include "trace/record.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void sg_page_write_about(const struct sg_page *page, FILE *out);

/* ---- the top --------------------------------------------------------------------------------- */

/* Rows are ranked by time waiting, or by time blocked if there are no events. */
static uint64_t cost_of(const struct sg_report *report, const struct sg_report_site *site)
{
    return report->has_events ? site->wait_ns : site->blocked_ns;
}

static void put_title(const struct sg_report *report, FILE *out)
{
    fputs("<header>\n<p class=\"kind\">stagger report</p>\n<h1>", out);
    sg_html_text(report->program != NULL ? report->program : "program not known", out);
    fputs("</h1>\n<p class=\"path\">", out);
    sg_page_write_run(report, out);
    fputs("<br>", out);
    sg_html_text(report->path, out);
    fputs("</p>\n", out);
}

/* ---- the table ------------------------------------------------------------------------------- */

static const struct sg_page_shown shown[] = {
    {"op", "operation", "the collective", NULL, false},
    {"site", "call site", "function, file and line", NULL, false},
    {"comm", "comm", "the communicator, with its number of ranks, or how many there are", NULL,
     false},
    {"algorithm", "algorithm", "what ran", NULL, false},
    {"calls", "calls", "over all ranks", NULL, false},
    {"instances", "instances", "complete collectives; skew and last rank refer to them", NULL,
     false},
    {"bytes", "bytes", "count times type size, over all calls", NULL, false},
    {"p50", "skew median", "last arrival minus first", NULL, false},
    {"p95", "skew 95%", "95% of the instances have at most this", NULL, false},
    {"max", "skew max", "of the worst instance", NULL, false},
    {"wait", "wait", "time lost waiting for ranks that came later", NULL, false},
    {"blocked", "blocked", "time in the calls", NULL, false},
    {"run", "of run", "time blocked by all ranks' run time", NULL, false},
    {"last", "last rank", "the rank most often last, and how often", NULL, false},
    {0},
};

/* id: of the table. */
static void put_rows(const struct sg_page *page, const char *id, const struct sg_report_site *sites,
                     uint32_t count, FILE *out)
{
    const struct sg_page_section section = {
        .id = id, .section = &sg_rows_section, .shown = shown, .key = "op", .is_of_sites = true};

    sg_page_put_table(&section, &SG_ROWS(sites, count, page->report), out);
}

/* A line below the table about the rows that are left out. */
static void put_left_out(const struct sg_report *report, const struct sg_report_site *sites,
                         uint32_t shown_count, uint32_t count, FILE *out)
{
    uint64_t left_ns = 0;

    if (shown_count == count)
        return;
    for (uint32_t row = shown_count; row < count; row++)
        left_ns += cost_of(report, &sites[row]);
    fprintf(out,
            "<p class=\"quiet\">%" PRIu32 " more rows, with %s of the time %s, are omitted: "
            "<code>--top</code> sets how many to show, "
            "<code>stagger report --csv</code> has all.</p>\n",
            count - shown_count, SG_NS(left_ns), report->has_events ? "waited" : "blocked");
}

/* The rows by communicator start closed. They are omitted if each sum has only one row. */
static void put_table(const struct sg_page *page, FILE *out)
{
    const struct sg_report *report = page->report;
    uint32_t sum_count = sg_page_rows(report->sum_count, page->row_limit);
    uint32_t row_count = sg_page_rows(report->site_count, page->row_limit);

    sg_html_section("sites", "Call sites of barrier, reduce, allreduce and bcast", out);
    put_rows(page, "sites", report->sums, sum_count, out);
    put_left_out(report, report->sums, sum_count, report->sum_count, out);
    if (report->site_count > report->sum_count) {
        fprintf(out,
                "<details id=\"comms-part\">\n<summary id=\"comms-title\">By communicator: %" PRIu32
                " rows</summary>\n",
                report->site_count);
        put_rows(page, "comms", report->sites, row_count, out);
        put_left_out(report, report->sites, row_count, report->site_count, out);
        fputs("</details>\n", out);
    }
    fputs("</section>\n", out);
}

/* ---- the charts ------------------------------------------------------------------------------ */

static void put_charts(const struct sg_page *page, FILE *out)
{
    if (page->report->site_count == 0 || !page->report->has_events)
        return;
    fputs("<noscript><p class=\"quiet\">Charts, sorting and filtering need JavaScript.</p>"
          "</noscript>\n"
          "<section id=\"one\" aria-labelledby=\"one-title\" hidden>\n"
          "<h2 id=\"one-title\">One call site</h2>\n<div class=\"controls\" id=\"one-controls\">"
          "</div>\n<div id=\"one-charts\" class=\"charts\"></div>\n</section>\n"
          "<section id=\"heat\" aria-labelledby=\"heat-title\" hidden>\n"
          "<h2 id=\"heat-title\">Late and waiting ranks</h2>\n"
          "<div class=\"controls\" id=\"heat-controls\"></div>\n<div id=\"heat-chart\"></div>\n"
          "</section>\n"
          "<section id=\"worst\" aria-labelledby=\"worst-title\" hidden>\n"
          "<h2 id=\"worst-title\">Worst instances</h2>\n"
          "<div class=\"controls\" id=\"worst-controls\"></div>\n<div id=\"worst-chart\"></div>\n"
          "</section>\n"
          "<section id=\"ranks\" aria-labelledby=\"ranks-title\" hidden>\n"
          "<h2 id=\"ranks-title\">Ranks</h2>\n<div id=\"ranks-chart\"></div>\n</section>\n",
          out);
}

enum sg_status sg_page_write(const struct sg_page *page, FILE *out)
{
    static const char *const scripts[] = {sg_charts_js,  sg_table_js,  sg_report_js, sg_messages_js,
                                          sg_stretch_js, sg_causes_js, sg_slices_js, NULL};
    const struct sg_report *report = page->report;
    char nonce[33];
    enum sg_status status =
        sg_html_begin(report->program != NULL ? report->program : "stagger report", nonce, out);

    if (status != SG_OK)
        return status;
    put_title(report, out);
    sg_page_write_open_calls(report, out);
    sg_page_write_tiles(report, out);
    fputs("</header>\n<main>\n", out);
    sg_page_write_screen(report, out);
    sg_page_write_functions(page, out);
    if (report->site_count > 0)
        put_table(page, out);
    sg_page_write_skews(page, out);
    sg_page_write_waits(page, out);
    sg_page_write_stretch(page, out);
    sg_page_write_causes(page, out);
    sg_page_write_slices(page, out);
    sg_page_write_path(page, out);
    sg_page_write_before(page, out);
    sg_page_write_trials(report, out);
    put_charts(page, out);
    sg_page_write_calls(page, out);
    sg_page_write_about(page, out);
    fputs("</main>\n", out);
    status = sg_page_write_data(page, out);
    sg_html_end(scripts, nonce, out);
    return status;
}

/* ---- clocks ---------------------------------------------------------------------------------- */

static void put_heading(const char *id, const char *title, FILE *out)
{
    fprintf(out, "<section aria-labelledby=\"%s-title\" id=\"%s\">\n<h2 id=\"%s-title\">%s</h2>\n",
            id, id, id, title);
}

/* The largest drift over all ranks, in parts per million. */
static double drift_ppm(const struct sg_detail *detail)
{
    double largest = 0;

    for (uint32_t rank = 0; rank < detail->clock_room; rank++) {
        const struct sg_seen_clock *clock = &detail->clocks[rank].seen;

        if (detail->clocks[rank].known && clock->between_ns > 0)
            largest = fmax(largest, fabs((double)(clock->last_offset_ns - clock->first_offset_ns) /
                                         (double)clock->between_ns));
    }
    return largest * 1e6;
}

static bool is_one_clock(const struct sg_report *report, const struct sg_detail *detail)
{
    bool one = report->offset_error_ns == 0 && report->locations_without_offset == 0;

    for (uint32_t rank = 0; rank < detail->clock_room && one; rank++)
        one = !detail->clocks[rank].known || (detail->clocks[rank].seen.first_offset_ns == 0 &&
                                              detail->clocks[rank].seen.last_offset_ns == 0);
    return one;
}

static void put_offsets(const struct sg_page *page, FILE *out)
{
    const struct sg_report *report = page->report;
    const struct sg_detail *detail = page->detail;
    uint32_t worst = 0;

    if (!report->has_offset_error) {
        fputs("<p>The archive has no clock offsets: skews are as accurate as its machines' clocks "
              "are synchronized.</p>\n",
              out);
        return;
    }
    if (is_one_clock(report, detail)) {
        fputs("<p>All ranks share one clock.</p>\n", out);
        return;
    }
    for (uint32_t rank = 0; rank < detail->clock_room; rank++) {
        if (detail->clocks[rank].known &&
            detail->clocks[rank].seen.error_ns > detail->clocks[worst].seen.error_ns)
            worst = rank;
    }
    fprintf(out, "<p>Offsets between the ranks' clocks are known to within <b>%s</b>",
            SG_NS(report->offset_error_ns));
    if (report->offset_error_ns > 0 && worst < detail->clock_room)
        fprintf(out, " (rank %" PRIu32 " worst)", worst);
    fprintf(out, "; the clocks drift by up to %.3g parts per million, which is corrected.",
            drift_ppm(detail));
    if (report->locations_without_offset > 0)
        fprintf(out, " %" PRIu64 " locations have no offsets.", report->locations_without_offset);
    fputs("</p>\n", out);
}

static void put_clocks(const struct sg_page *page, FILE *out)
{
    const struct sg_report *report = page->report;

    if (!report->has_events)
        return;
    put_heading("clocks", "Clocks", out);
    put_offsets(page, out);
    if (report->clock_violations == 0)
        fprintf(out,
                "<p>No instance of %" PRIu64 " contradicts them: no rank leaves a barrier or "
                "allreduce before another has entered it.</p>\n",
                report->total.instances);
    else
        fprintf(out,
                "<p>In %" PRIu64 " of %" PRIu64 " instances a rank leaves before another has "
                "entered, by their clocks: by up to <b>%s</b>. Smaller skews and waits are "
                "meaningless.</p>\n",
                report->clock_violations, report->total.instances,
                SG_NS(report->largest_violation_ns));
    fputs("</section>\n", out);
}

/* ---- configuration --------------------------------------------------------------------------- */

/* True for a variable of stagger, or a rule's left side. A page may be published and stagger.conf
 * may be another user's, so other lines are not repeated. */
static bool is_setting(const char *name)
{
    size_t length = strcspn(name, "@~[ ");
    bool known = length == 1 && name[0] == '*';

    if (strncmp(name, "STAGGER_", strlen("STAGGER_")) == 0)
        return sg_config_find(name) != NULL;
    for (int i = 0; i < SG_OPERATION_COUNT && !known; i++)
        known = strlen(sg_operation_names[i]) == length &&
                strncmp(name, sg_operation_names[i], length) == 0;
    return known;
}

/* A line of stagger.conf as a row: NAME=VALUE. */
static void put_setting(const char *line, size_t length, FILE *out)
{
    const char *equals = memchr(line, '=', length);
    char text[1024];

    if (equals == NULL)
        return;
    snprintf(text, sizeof text, "%.*s", (int)(equals - line), line);
    if (!is_setting(text))
        return;
    fputs("<tr><th scope=\"row\"><code>", out);
    sg_html_text(text, out);
    fputs("</code></th><td><code>", out);
    snprintf(text, sizeof text, "%.*s", (int)(length - (size_t)(equals + 1 - line)), equals + 1);
    sg_html_text(text, out);
    fputs("</code></td></tr>\n", out);
}

static void put_configuration(const struct sg_page *page, FILE *out)
{
    put_heading("conf", "Configuration and rules", out);
    if (page->configuration == NULL) {
        fputs("<p>Unknown: there is no <code>stagger.conf</code> beside the archive.</p>\n"
              "</section>\n",
              out);
        return;
    }
    fputs("<details open>\n<summary>Settings in force</summary>\n"
          "<table class=\"plain\">\n<tbody>\n",
          out);
    for (const char *line = page->configuration; *line != '\0';) {
        size_t length = strcspn(line, "\n");

        put_setting(line, length, out);
        line += length + (line[length] == '\n');
    }
    fputs("</tbody>\n</table>\n</details>\n</section>\n", out);
}

static void put_overhead(const struct sg_report *report, FILE *out)
{
    put_heading("cost", "Cost of stagger itself", out);
    if (report->overhead_calls == 0) {
        fputs("<p>Unknown: no call was timed (one in 128 per thread is).</p>\n</section>\n", out);
        return;
    }
    fprintf(
        out,
        "<p>In addition to the time in the call, stagger itself took <b>%s</b> a call to find the "
        "call site and the rule and to record the call: <b>%s</b> of rank time. This was "
        "measured in this run, as the mean of %" PRIu64 " calls",
        SG_NS(report->overhead_ns / report->overhead_calls),
        SG_SHARE(sg_report_overhead_ns(report), report->ranks_run_ns), report->overhead_calls);
    if (report->overhead_long_calls > 0)
        fprintf(out,
                "; %" PRIu64 " more took over %s, because names were looked up or the process was "
                "interrupted, and are excluded",
                report->overhead_long_calls, SG_NS(SG_OVERHEAD_LONG_NS));
    fputs(".</p>\n</section>\n", out);
}

static void put_words(FILE *out)
{
    put_heading("words", "Terms", out);
    fputs(
        "<dl class=\"words\">\n"
        "<div><dt>instance</dt><dd>one collective operation, in which all ranks of a communicator "
        "take part</dd></div>\n"
        "<div><dt>skew</dt><dd>of an instance: the time from the first rank's arrival to the last "
        "rank's</dd></div>\n"
        "<div><dt>wait</dt><dd>in a barrier or allreduce, each rank's time from its arrival to the "
        "last rank's; in a reduce, the root's time from its arrival to the last "
        "sender's</dd></div>\n"
        "<div><dt>blocked</dt><dd>the time in the call: the wait and the operation itself; for a "
        "nonblocking call, the time in the call that starts it and in the waits and tests for "
        "it</dd></div>\n"
        "<div><dt>early, late</dt><dd>messages that arrived before the call, and messages handled "
        "after it had returned</dd></div>\n"
        "</dl>\n</section>\n",
        out);
}

/* Clocks, configuration, overhead, and the definitions of the figures. */
static void sg_page_write_about(const struct sg_page *page, FILE *out)
{
    put_clocks(page, out);
    put_configuration(page, out);
    put_overhead(page->report, out);
    put_words(out);
}
