/* Trials and coscheduling slices on the report's page. Each trial is a table with the verdict in
 * words above it, in HTML without scripts. Slices are a table of metrics, and the data of charts.
 */
#include "core/text.h"
#include "output/json_output.h"
#include "page/html.h"
#include "page/page.h"
#include "page/page_table.h"
#include "report/profile_calls.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* "a, b and c": the cheapest candidate, and those with no visible difference to it. */
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
    fputs("no difference between ", out);
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
    fprintf(out, ": %" PRIu32 " algorithms alternated, in blocks of %" PRIu64 " collectives. ",
            trial->arm_count, trial->block);
    switch (trial->verdict[SG_TRIED_BLOCKED]) {
    case SG_TRIED_UNKNOWN:
        fputs("No events were recorded: only means are known, no intervals and no winner.", out);
        break;
    case SG_TRIED_FEW:
        fprintf(out, "No winner: %" PRIu64 " complete rounds are too few.", trial->rounds);
        break;
    case SG_TRIED_NONE:
    case SG_TRIED_WINNER:
    case SG_TRIED_VERDICTS:
        put_verdict(trial, SG_TRIED_BLOCKED, "time blocked", out);
        put_verdict(trial, SG_TRIED_PROCESSOR, "time in and outside of calls", out);
        break;
    }
    fputs("</p>\n", out);
}

/* ---- the table ------------------------------------------------------------------------------- */

/* A figure with its interval; plus: prefix of a positive figure. */
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
        "algorithm",         "calls",       "declined", "blocked per call", "above the least",
        "with time outside", "above least", "skew",
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
            "<p class=\"quiet\">By %" PRIu64 " rounds; excluded: %" PRIu64
            " first calls of blocks, %" PRIu64 " beyond whole rounds",
            trial->rounds, trial->first_calls, trial->loose_calls);
    if (trial->mixed_calls > 0)
        fprintf(out, ", %" PRIu64 " whose ranks ran different algorithms", trial->mixed_calls);
    fputs(".</p>\n", out);
}

void sg_page_write_trials(const struct sg_report *report, FILE *out)
{
    if (report->trial_count == 0)
        return;
    sg_html_section("trials", "Trials", out);
    for (uint32_t i = 0; i < report->trial_count; i++)
        put_trial(&report->trials[i], i, out);
    fputs("</section>\n", out);
}

/* Slices of buffered coscheduling: the table of metrics, and the data of charts for the
 * communicator with the most slices, as its endpoint 0 recorded them. Times in the data are ns.
 */

#define COLUMNS 300u /* columns over the run; in a longer run several slices share one */
#define BINS 40u     /* of intervals between strobes */

static const struct sg_page_shown shown[] = {
    {"metric", "metric", "of BCS-MPI's EMDS", NULL, false},
    {"meaning", "meaning", "definition; times count from the slice's strobe", NULL, false},
    {"node", "node", "among the job's", NULL, false},
    {"slices", "slices", "with a value", NULL, false},
    {"min", "min", "least", NULL, false},
    {"mean", "mean", "over these slices", NULL, false},
    {"p95", "95%", "95% of the slices have at most this", NULL, false},
    {"max", "max", "greatest", NULL, false},
    {0},
};

static const struct sg_slice_set *slices_of(const struct sg_page *page)
{
    const struct sg_calls *calls = page->report->calls;

    return calls != NULL && calls->slices.place_count > 0 ? &calls->slices : NULL;
}

void sg_page_write_slices(const struct sg_page *page, FILE *out)
{
    static const struct sg_slices_filter all;
    static const struct sg_page_section section = {
        .id = "slices", .section = &sg_slices_section, .shown = shown, .rows_are = "metrics"};
    const struct sg_slice_set *slices = slices_of(page);
    struct sg_slices_line *lines;
    uint32_t count;

    if (slices == NULL || sg_slices_lines(slices, &all, &lines, &count) != SG_OK)
        return;
    sg_html_section("slices", "Slices", out);
    fprintf(out,
            "<p>Time is divided into slices. A strobe starts each slice, which runs the operations "
            "that all ranks have called before. <strong>%" PRIu32
            "</strong> were recorded, over all nodes.</p>\n"
            "<noscript><p class=\"quiet\">Charts need JavaScript.</p></noscript>\n"
            "<div id=\"slice-charts\" class=\"charts\"></div>\n",
            slices->row_count);
    sg_page_put_section(page->report, page->state_limit, &section, &SG_ROWS(lines, count, NULL),
                        out);
    fputs("</section>\n", out);
    free(lines);
}

/* ---- data ------------------------------------------------------------------------------------ */

/* The endpoint that sends the strobes, on the communicator with the most slices; NULL: no slice
 * knows the time between strobes. */
static const struct sg_slices_place *find_sender(const struct sg_slice_set *slices)
{
    const struct sg_slices_place *found = NULL;

    for (uint32_t i = 0; i < slices->place_count; i++) {
        const struct sg_slices_place *place = &slices->places[i];

        if (place->row_count > 1 && (found == NULL || place->row_count > found->row_count) &&
            sg_slice_knows(&slices->rows[place->row + 1].slice, SG_SLICE_GETTS))
            found = place;
    }
    return found;
}

struct sum {
    uint64_t count, min, max, sum;
};

static void add(struct sum *sum, const struct sg_slice *slice, enum sg_slice_metric metric)
{
    uint64_t value = sg_slice_value(slice, metric);

    if (!sg_slice_knows(slice, metric))
        return;
    if (sum->count == 0 || value < sum->min)
        sum->min = value;
    if (value > sum->max)
        sum->max = value;
    sum->sum += value;
    sum->count++;
}

static json_int_t mean(const struct sum *sum)
{
    return sum->count > 0 ? (json_int_t)(sum->sum / sum->count) : 0;
}

/* [first slice, slices, intervals' min, mean, max, mean of GTDEM, GTMSM, GTTS, collectives] */
static json_t *column_of(const struct sg_slices_row *rows, uint32_t count)
{
    struct sum since = {0}, dem = {0}, msm = {0}, all = {0}, run = {0};

    for (uint32_t i = 0; i < count; i++) {
        add(&since, &rows[i].slice, SG_SLICE_GETTS);
        add(&dem, &rows[i].slice, SG_SLICE_GTDEM);
        add(&msm, &rows[i].slice, SG_SLICE_GTMSM);
        add(&all, &rows[i].slice, SG_SLICE_GTTS);
        add(&run, &rows[i].slice, SG_SLICE_NCOLLMSM);
    }
    return json_pack("[I, I, I, I, I, I, I, I, I]", (json_int_t)rows[0].slice.number,
                     (json_int_t)count, (json_int_t)since.min, mean(&since), (json_int_t)since.max,
                     mean(&dem), mean(&msm), mean(&all), (json_int_t)run.sum);
}

/* The bins reach a quarter beyond the 95th percentile; the last bin also counts all larger
 * values. */
static json_t *bins_of(const struct sg_slice_set *slices, const struct sg_slices_place *place,
                       const struct sg_slices_figures *figures)
{
    double from_ns = (double)figures->min;
    double bin_ns = ((double)figures->p95 - from_ns) * 1.25 / BINS + 1;
    uint64_t counts[BINS] = {0};
    json_t *bins = json_array();

    for (uint32_t i = place->row; i < place->row + place->row_count; i++) {
        const struct sg_slice *slice = &slices->rows[i].slice;
        double bin = ((double)sg_slice_value(slice, SG_SLICE_GETTS) - from_ns) / bin_ns;

        if (sg_slice_knows(slice, SG_SLICE_GETTS))
            counts[bin < BINS ? (uint32_t)bin : BINS - 1]++;
    }
    for (uint32_t bin = 0; bin < BINS; bin++)
        sg_json_append(&bins, json_integer((json_int_t)counts[bin]));
    return json_pack("{s:f, s:f, s:o}", "from", from_ns, "to", from_ns + BINS * bin_ns, "counts",
                     bins);
}

static json_t *data_of(const struct sg_slice_set *slices, const struct sg_slices_place *place)
{
    const struct sg_slices_filter filter = {.metrics = UINT32_C(1) << SG_SLICE_GETTS};
    uint32_t group = (place->row_count + COLUMNS - 1) / COLUMNS, count;
    json_t *columns = json_array(), *bins = NULL;
    struct sg_slices_line *lines;

    for (uint32_t i = 0; i < place->row_count; i += group)
        sg_json_append(&columns,
                       column_of(&slices->rows[place->row + i],
                                 place->row_count - i < group ? place->row_count - i : group));
    if (sg_slices_lines(slices, &filter, &lines, &count) == SG_OK) {
        for (uint32_t i = 0; i < count; i++) {
            if (lines[i].comm == &slices->comms[place->comm] && lines[i].node == place->node)
                bins = bins_of(slices, place, &lines[i].figures);
        }
        free(lines);
    }
    return json_pack("{s:o, s:I, s:o, s:o}", "comm", sg_json_text(slices->comms[place->comm].name),
                     "group", (json_int_t)group, "columns", columns, "bins", bins);
}

void sg_page_set_slices(json_t **data, const struct sg_page *page)
{
    const struct sg_slice_set *slices = slices_of(page);
    const struct sg_slices_place *place = slices != NULL ? find_sender(slices) : NULL;

    sg_json_set(data, "slices", place != NULL ? data_of(slices, place) : json_null());
}
