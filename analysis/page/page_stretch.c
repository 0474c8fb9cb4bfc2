/* The stretch with the most waiting on the report's page: calls as bars, a lane for each rank, and
 * messages as lines from sender to receiver. Times are ns, since the first bar's begin.
 */
#include "output/format.h"
#include "output/json.h"
#include "page/html.h"
#include "page/page.h"

#include <inttypes.h>
#include <stdlib.h>

struct interval {
    int64_t from_ns, to_ns;
};

static struct interval interval_of(const struct sg_worst_stretch *stretch)
{
    struct interval interval = {stretch->bars[0].begin_ns, stretch->bars[0].end_ns};

    for (uint32_t i = 1; i < stretch->bar_count; i++) {
        if (stretch->bars[i].begin_ns < interval.from_ns)
            interval.from_ns = stretch->bars[i].begin_ns;
        if (stretch->bars[i].end_ns > interval.to_ns)
            interval.to_ns = stretch->bars[i].end_ns;
    }
    return interval;
}

static bool is_inside(const struct interval *interval, const struct sg_stretch_line *line)
{
    return line->sent_ns >= interval->from_ns && line->received_ns <= interval->to_ns;
}

static uint32_t left_out(const struct sg_worst_stretch *stretch, const struct interval *interval)
{
    uint32_t count = stretch->lines_left_out;

    for (uint32_t i = 0; i < stretch->line_count; i++)
        count += !is_inside(interval, &stretch->lines[i]);
    return count;
}

void sg_page_write_stretch(const struct sg_page *page, FILE *out)
{
    const struct sg_worst_stretch *stretch = sg_stretches_most(page->detail->stretches);
    struct interval interval;
    uint32_t lines;

    if (!page->report->has_events || stretch == NULL)
        return;
    interval = interval_of(stretch);
    lines = left_out(stretch, &interval);
    fprintf(out,
            "<section id=\"stretch\" aria-labelledby=\"stretch-title\">\n"
            "<h2 id=\"stretch-title\">Where ranks wait most</h2>\n"
            "<p>Of all %" PRIu32
            " calls in a row those that waited longest: <strong>%s</strong>, in",
            stretch->bar_count + stretch->bars_left_out, SG_NS(stretch->wait_ns));
    fprintf(out, " %s of the run from %s on. ",
            SG_NS((uint64_t)(interval.to_ns - interval.from_ns)),
            SG_NS(interval.from_ns > 0 ? (uint64_t)interval.from_ns : 0));
    fputs("Calls that ended before or after these, MPI_Init and MPI_Finalize are left out", out);
    if (stretch->bars_left_out > 0)
        fprintf(out, ", as are %" PRIu32 " further calls of a collective", stretch->bars_left_out);
    if (lines > 0)
        fprintf(out, ", as %s %" PRIu32 " further message%s", lines == 1 ? "is" : "are", lines,
                lines == 1 ? "" : "s");
    fputs(".</p>\n<noscript><p class=\"quiet\">The timeline needs JavaScript.</p></noscript>\n"
          "<div id=\"stretch-chart\"></div>\n</section>\n",
          out);
}

/* ---- data ------------------------------------------------------------------------------------ */

/* The labels in use, and *number: of each of all labels its place among these. */
static json_t *labels_of(const struct sg_page *page, const struct sg_worst_stretch *stretch,
                         uint32_t *number)
{
    json_t *labels = json_array();
    int count = 0;

    for (uint32_t i = 0; i < stretch->bar_count && labels != NULL; i++) {
        uint32_t label = stretch->bars[i].label;

        if (number[label] != 0)
            continue;
        number[label] = (uint32_t)++count;
        sg_json_append(&labels, sg_json_text(sg_stretches_label(page->detail->stretches, label)));
    }
    return labels;
}

/* [rank, label, begin, length, wait] */
static json_t *bars_of(const struct sg_worst_stretch *stretch, const uint32_t *number,
                       int64_t from_ns)
{
    json_t *bars = json_array();

    for (uint32_t i = 0; i < stretch->bar_count && bars != NULL; i++) {
        const struct sg_stretch_bar *bar = &stretch->bars[i];

        sg_json_append(
            &bars, json_pack("[i, i, I, I, I]", (int)bar->rank, (int)number[bar->label] - 1,
                             (json_int_t)(bar->begin_ns - from_ns),
                             (json_int_t)(bar->end_ns - bar->begin_ns), (json_int_t)bar->wait_ns));
    }
    return bars;
}

/* [sender, sent, receiver, received] */
static json_t *lines_of(const struct sg_worst_stretch *stretch, const struct interval *interval)
{
    json_t *lines = json_array();

    for (uint32_t i = 0; i < stretch->line_count && lines != NULL; i++) {
        const struct sg_stretch_line *line = &stretch->lines[i];

        if (is_inside(interval, line))
            sg_json_append(&lines,
                           json_pack("[i, I, i, I]", (int)line->from,
                                     (json_int_t)(line->sent_ns - interval->from_ns), (int)line->to,
                                     (json_int_t)(line->received_ns - interval->from_ns)));
    }
    return lines;
}

void sg_page_set_stretch(json_t **data, const struct sg_page *page)
{
    const struct sg_worst_stretch *stretch = sg_stretches_most(page->detail->stretches);
    struct interval interval;
    uint32_t *number, labels = 0;
    json_t *value = NULL;

    if (stretch == NULL)
        return;
    interval = interval_of(stretch);
    for (uint32_t i = 0; i < stretch->bar_count; i++) {
        if (stretch->bars[i].label >= labels)
            labels = stretch->bars[i].label + 1;
    }
    number = calloc(labels, sizeof *number);
    if (number != NULL) {
        json_t *names = labels_of(page, stretch, number);

        value = json_pack("{s:I, s:I, s:o, s:o, s:o}", "from_ns", (json_int_t)interval.from_ns,
                          "length_ns", (json_int_t)(interval.to_ns - interval.from_ns), "labels",
                          names, "bars", bars_of(stretch, number, interval.from_ns), "lines",
                          lines_of(stretch, &interval));
    }
    free(number);
    sg_json_set(data, "stretch", value);
}
