/* The last sections of a page: clocks, configuration, stagger's own overhead, and the definitions
 * of terms.
 */
#include "core/config_table.h"
#include "core/operation.h"
#include "page/html.h"
#include "page/page.h"
#include "trace/record.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

static void put_heading(const char *id, const char *title, FILE *out)
{
    fprintf(out, "<section aria-labelledby=\"%s-title\" id=\"%s\">\n<h2 id=\"%s-title\">%s</h2>\n",
            id, id, id, title);
}

/* Parts in a million of time; the largest over all ranks. */
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
        fputs("<p>The archive has no clock offsets: skews are as good as the clocks of its "
              "machines agree.</p>\n",
              out);
        return;
    }
    if (is_one_clock(report, detail)) {
        fputs("<p>All ranks have one clock.</p>\n", out);
        return;
    }
    for (uint32_t rank = 0; rank < detail->clock_room; rank++) {
        if (detail->clocks[rank].known &&
            detail->clocks[rank].seen.error_ns > detail->clocks[worst].seen.error_ns)
            worst = rank;
    }
    fprintf(out, "<p>Offsets between the ranks' clocks are known within <b>%s</b>",
            SG_NS(report->offset_error_ns));
    if (report->offset_error_ns > 0 && worst < detail->clock_room)
        fprintf(out, " (rank %" PRIu32 " worst)", worst);
    fprintf(out,
            "; the clocks drift by up to %.3g parts in a million, which is taken into account.",
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
                "entered, by their clocks: by up to <b>%s</b>. Smaller skews and waits mean "
                "nothing.</p>\n",
                report->clock_violations, report->total.instances,
                SG_NS(report->largest_violation_ns));
    fputs("</section>\n", out);
}

/* ---- configuration --------------------------------------------------------------------------- */

/* A variable of stagger's, or a rule's left side. The file is another user's, perhaps: a page is
 * published, and repeats no lines of another kind. */
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
        fputs("<p>Not known: there is no <code>stagger.conf</code> next to the archive.</p>\n"
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
    put_heading("cost", "What stagger itself cost", out);
    if (report->overhead_calls == 0) {
        fputs("<p>Not known: no call was timed (one in 128 of each thread is).</p>\n</section>\n",
              out);
        return;
    }
    fprintf(
        out,
        "<p>In addition to the time in the call, stagger itself took <b>%s</b> a call to find the "
        "call site and the rule and to record the call: <b>%s</b> of processor time. This was "
        "measured in this run, as the mean of %" PRIu64 " calls",
        SG_NS(report->overhead_ns / report->overhead_calls),
        SG_SHARE(sg_report_overhead_ns(report), report->ranks_run_ns), report->overhead_calls);
    if (report->overhead_long_calls > 0)
        fprintf(out,
                "; %" PRIu64 " more took over %s, as names were looked up or the process was "
                "interrupted, and are left out",
                report->overhead_long_calls, SG_NS(SG_OVERHEAD_LONG_NS));
    fputs(".</p>\n</section>\n", out);
}

static void put_words(FILE *out)
{
    put_heading("words", "What the words mean", out);
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

void sg_page_write_about(const struct sg_page *page, FILE *out)
{
    put_clocks(page, out);
    put_configuration(page, out);
    put_overhead(page->report, out);
    put_words(out);
}
