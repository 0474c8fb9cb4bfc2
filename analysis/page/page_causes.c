/* Causes of lateness and the critical path on the report's page, then the window of calls with the
 * most waiting: tables, text, and the data of charts. Times in the data are ns.
 */
#include "output/format.h"
#include "output/json_output.h"
#include "page/html.h"
#include "page/page.h"
#include "page/page_table.h"
#include "report/between_calls.h"
#include "report/between_calls_tables.h"
#include "report/cause_table.h"
#include "report/critical_path.h"
#include "report/profile_calls.h"
#include "report/wait_print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SITES 12u /* call sites with bars of their own */
#define STEPS 16u /* steps of the critical path with bars of their own */

/* ---- tables ---------------------------------------------------------------------------------- */

static const struct sg_page_shown cause_columns[] = {
    {"at", "late at", "the collective, and the call site of the last rank", NULL, false},
    {"cause", "because", "what the rank spends more time on", NULL, false},
    {"rank", "rank", "the rank that spends it: the last one, or one that it waited for before",
     NULL, false},
    {"caused", "caused", "waiting time of the others, over all sampled instances", NULL, false},
    {"part", "share", "of all waiting time at the site", NULL, false},
    {"interval", "95% interval", "of the share, over instances", NULL, false},
    {"steps", "steps", "from the last rank back to this one", NULL, false},
    {"instances", "times", "instances in which it contributed", NULL, false},
    {"where", "longest between", "the calls at the ends of the longest interval", NULL, false},
    {0},
};

static const struct sg_page_shown path_columns[] = {
    {"where", "interval", "the two calls around it, or the call", NULL, false},
    {"path", "on the path", "time, over all ranks", NULL, false},
    {"share", "share", "of the critical path", "path", false},
    {"times", "times", "on the path", NULL, false},
    {"mean", "mean of all", "of such intervals, on the path or not", NULL, false},
    {"saving", "balance saves", "if it took the mean time each time", "saved", false},
    {"rank", "rank", "the rank with the longest time, and its share", NULL, false},
    {0},
};

static const struct sg_page_shown before_columns[] = {
    {"where", "between", "the two calls around the intervals", NULL, false},
    {"rank", "rank", "the rank of the intervals", NULL, false},
    {"longer", "longer", "than as many of the other ranks", NULL, false},
    {"cause", "because", "the largest part of it", NULL, false},
    {"intervals", "times", "sampled intervals", NULL, false},
    {"mean", "mean", "of them", NULL, false},
    {"others", "of others", "mean of the other ranks' intervals", NULL, false},
    {"cpu", "on cpu", "share of their time", NULL, false},
    {"runnable", "runnable", "share of their time, while others had the processor", NULL, false},
    {"off", "off", "share of their time: asleep, or for I/O", NULL, false},
    {"faults", "faults", "page faults", NULL, true},
    {"switches", "switches", "of its processor to others", NULL, true},
    {0},
};

/* All sites' rows; NULL: out of memory. */
static struct sg_cause_row *gather(const struct sg_causes_found *found, uint32_t *count)
{
    struct sg_cause_row *rows;
    uint32_t room = 0;

    for (uint32_t i = 0; i < found->site_count; i++)
        room += found->sites[i].row_count;
    rows = malloc(((size_t)room + 1) * sizeof *rows);
    *count = 0;
    for (uint32_t i = 0; i < found->site_count && rows != NULL; i++) {
        const struct sg_cause_site *site = &found->sites[i];

        memcpy(&rows[*count], site->rows, site->row_count * sizeof *rows);
        *count += site->row_count;
    }
    return rows;
}

static int compare_rows(const void *left, const void *right)
{
    const struct sg_cause_row *a = left, *b = right;

    return (a->ns < b->ns) - (a->ns > b->ns);
}

static void put_cause_table(const struct sg_page *page, const struct sg_causes_found *found,
                            FILE *out)
{
    static const struct sg_page_section section = {.id = "causes",
                                                   .section = &sg_causes_section,
                                                   .shown = cause_columns,
                                                   .rows_are = "causes",
                                                   .key = "cause"};
    uint32_t count;
    struct sg_cause_row *rows = gather(found, &count);

    if (rows == NULL)
        return;
    qsort(rows, count, sizeof *rows, compare_rows);
    sg_page_put_section(page->report, page->state_limit, &section, &SG_ROWS(rows, count, NULL),
                        out);
    free(rows);
}

static void put_words(const struct sg_causes_found *found, FILE *out)
{
    bool is_named[SG_CAUSES] = {false};

    for (uint32_t i = 0; i < found->site_count; i++) {
        for (uint32_t r = 0; r < found->sites[i].row_count; r++)
            is_named[found->sites[i].rows[r].cause] = true;
    }
    fputs("<dl class=\"words\">\n", out);
    for (int i = 0; i < SG_CAUSES; i++) {
        if (is_named[i])
            fprintf(out, "<div><dt>%s</dt><dd>%s</dd></div>\n", sg_cause_names[i],
                    sg_cause_texts[i]);
    }
    fputs("</dl>\n", out);
}

void sg_page_write_causes(const struct sg_page *page, FILE *out)
{
    const struct sg_causes_found *found = page->report->causes;

    if (found == NULL || found->late_ns == 0)
        return;
    sg_html_section("causes", "Why ranks are late", out);
    fprintf(out,
            "<p>In %" PRIu64 " sampled instances others waited <strong>%s</strong> for the last "
            "rank. Its path, back through all ranks that it waited for itself, is compared with "
            "the paths of the others: the others wait because of the difference.",
            found->instances, SG_NS(found->late_ns));
    if (found->unsampled > 0)
        fprintf(out, " Of %" PRIu64 " more instances the causes are unknown.", found->unsampled);
    fputs("</p>\n<noscript><p class=\"quiet\">Charts need JavaScript.</p></noscript>\n"
          "<div id=\"cause-charts\" class=\"charts\"></div>\n"
          "<div class=\"controls\" id=\"chain-controls\"></div>\n"
          "<div id=\"chain-chart\"></div>\n<h3>By site, cause and rank</h3>\n",
          out);
    put_cause_table(page, found, out);
    put_words(found, out);
    fputs("</section>\n", out);
}

void sg_page_write_path(const struct sg_page *page, FILE *out)
{
    const struct sg_path *path = page->report->critical_path;
    static const struct sg_page_section section = {
        .id = "path", .section = &sg_path_section, .shown = path_columns, .rows_are = "rows"};

    if (path == NULL || path->row_count == 0)
        return;
    sg_html_section("path", "Critical path", out);
    fprintf(out,
            "<p>The chain of intervals and calls, across ranks, that determined the end of the "
            "run: <strong>%s</strong>, %s of it between recorded calls. Anything outside it could "
            "be slower without lengthening the run.",
            SG_NS(path->ns), SG_SHARE(path->intervals_ns, path->ns));
    if (path->saving_ns > 0)
        fprintf(out, " Balance between the ranks would save %s +-%s.", SG_NS(path->saving_ns),
                SG_NS(path->saving_error_ns));
    fputs("</p>\n<div id=\"path-chart\"></div>\n", out);
    sg_page_put_section(page->report, page->state_limit, &section, NULL, out);
    fputs("</section>\n", out);
}

void sg_page_write_before(const struct sg_page *page, FILE *out)
{
    const struct sg_calls *calls = page->report->calls;
    const struct sg_before *before = calls != NULL ? calls->before : NULL;
    static const struct sg_page_section section = {.id = "before",
                                                   .section = &sg_intervals_section,
                                                   .shown = before_columns,
                                                   .rows_are = "rows"};

    if (page->report->has_events || before == NULL || before->row_count == 0)
        return;
    sg_html_section("before", "Activity between calls", out);
    fprintf(out,
            "<p>%" PRIu64
            " intervals were sampled, <strong>%s</strong> in total. Whether others wait for a "
            "slower rank is unknown, because no events were recorded.</p>\n",
            before->intervals, SG_NS(before->time_ns));
    sg_page_put_section(page->report, page->state_limit, &section, NULL, out);
    fputs("</section>\n", out);
}

/* ---- data ------------------------------------------------------------------------------------ */

/* "MPI_Send halo cg.c:40", or "start". */
static json_t *text_of(const struct sg_waitstate_place *place)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    json_t *value;

    if (out == NULL)
        return NULL;
    sg_waitstate_put_place(place, out);
    value = fclose(out) == 0 ? sg_json_text(text) : NULL;
    free(text);
    return value;
}

/* [cause, ns] for each cause, over all ranks. */
static json_t *parts_of(const struct sg_cause_site *site)
{
    double ns[SG_CAUSES] = {0};
    json_t *parts = json_array();

    for (uint32_t i = 0; i < site->row_count; i++)
        ns[site->rows[i].cause] += (double)site->rows[i].ns;
    for (int i = 0; i < SG_CAUSES; i++) {
        if (ns[i] > 0)
            sg_json_append(&parts, json_pack("[i, I]", i, (json_int_t)ns[i]));
    }
    return parts;
}

static json_t *sites_of(const struct sg_causes_found *found)
{
    json_t *sites = json_array();

    for (uint32_t i = 0; i < found->site_count && i < SITES; i++) {
        const struct sg_cause_site *site = &found->sites[i];

        sg_json_append(&sites, json_pack("{s:o, s:I, s:I, s:o}", "name", text_of(&site->at), "late",
                                         (json_int_t)site->late_ns, "instances",
                                         (json_int_t)site->instances, "parts", parts_of(site)));
    }
    return sites;
}

/* [column, cause, ns], over all sites. */
static json_t *by_rank_of(const struct sg_causes_found *found, uint32_t group)
{
    double(*sums)[SG_CAUSES] = calloc(SG_PAGE_COLUMNS, sizeof *sums);
    json_t *cells = sums != NULL ? json_array() : NULL;

    for (uint32_t i = 0; i < found->site_count && sums != NULL; i++) {
        for (uint32_t r = 0; r < found->sites[i].row_count; r++) {
            const struct sg_cause_row *row = &found->sites[i].rows[r];

            if (row->rank / group < SG_PAGE_COLUMNS)
                sums[row->rank / group][row->cause] += (double)row->ns;
        }
    }
    for (uint32_t column = 0; column < SG_PAGE_COLUMNS && sums != NULL; column++) {
        for (int cause = 0; cause < SG_CAUSES; cause++) {
            if (sums[column][cause] > 0)
                sg_json_append(&cells, json_pack("[i, i, I]", (int)column, cause,
                                                 (json_int_t)sums[column][cause]));
        }
    }
    free(sums);
    return cells;
}

static json_t *link_of(const struct sg_cause_link *link, int64_t from_ns)
{
    json_t *parts = json_array();

    for (int i = 0; i < SG_CAUSES; i++) {
        if (link->ns[i] > 0)
            sg_json_append(&parts, json_pack("[i, I]", i, (json_int_t)link->ns[i]));
    }
    return json_pack("{s:i, s:I, s:I, s:o, s:o, s:o, s:o}", "rank", (int)link->rank, "from",
                     (json_int_t)(link->from_ns - from_ns), "to",
                     (json_int_t)(link->to_ns - from_ns), "after", text_of(&link->after), "until",
                     link->until.function != NULL ? text_of(&link->until) : json_null(), "waited",
                     link->waited.function != NULL ? text_of(&link->waited) : json_null(), "parts",
                     parts);
}

/* Times are relative to the earliest time in the chain. */
static json_t *chain_of(const struct sg_cause_chain *chain)
{
    int64_t from_ns = chain->first_ns;
    json_t *links = json_array();

    for (uint32_t i = 0; i < chain->link_count; i++) {
        if (chain->links[i].from_ns < from_ns)
            from_ns = chain->links[i].from_ns;
    }
    for (uint32_t i = 0; i < chain->link_count; i++)
        sg_json_append(&links, link_of(&chain->links[i], from_ns));
    return json_pack("{s:o, s:I, s:i, s:I, s:I, s:i, s:i, s:I, s:o}", "name", text_of(&chain->at),
                     "late", (json_int_t)chain->late_ns, "first_rank", (int)chain->first_rank,
                     "first", (json_int_t)(chain->first_ns - from_ns), "at", (json_int_t)from_ns,
                     "cause", (int)chain->cause, "rank", (int)chain->cause_rank, "because",
                     (json_int_t)chain->cause_ns, "links", links);
}

static json_t *causes_of(const struct sg_page *page, const struct sg_causes_found *found)
{
    uint32_t group = sg_page_group(page->report);
    json_t *names = json_array(), *chains = json_array();

    for (int i = 0; i < SG_CAUSES; i++)
        sg_json_append(&names, json_string(sg_cause_names[i]));
    for (uint32_t i = 0; i < found->chain_count; i++)
        sg_json_append(&chains, chain_of(&found->chains[i]));
    return json_pack("{s:o, s:i, s:i, s:o, s:o, s:o}", "names", names, "ranks",
                     (int)page->report->rank_count, "group", (int)group, "sites", sites_of(found),
                     "by_rank", by_rank_of(found, group), "chains", chains);
}

/* [name, ns, ns that balance saves] of the longest intervals and calls. */
static json_t *steps_of(const struct sg_path *path)
{
    const struct sg_column *where = sg_column_find(sg_path_columns, "where");
    json_t *steps = json_array();

    for (uint32_t i = 0; i < path->row_count && i < STEPS; i++) {
        const struct sg_path_row *row = &path->rows[i];
        char *name = sg_column_text(where, row, path);

        sg_json_append(&steps, json_pack("[o, I, I]", sg_json_text(name), (json_int_t)row->ns,
                                         (json_int_t)row->saving_ns));
        free(name);
    }
    return json_pack("{s:I, s:o}", "ns", (json_int_t)path->ns, "steps", steps);
}

void sg_page_set_causes(json_t **data, const struct sg_page *page)
{
    const struct sg_causes_found *found = page->report->causes;
    const struct sg_path *path = page->report->critical_path;

    if (found != NULL && found->late_ns > 0)
        sg_json_set(data, "causes", causes_of(page, found));
    if (path != NULL && path->row_count > 0)
        sg_json_set(data, "path", steps_of(path));
}

/* The window of calls with the most waiting: calls as bars, a lane for each rank, and messages as
 * lines from sender to receiver. Times are ns, relative to the first bar's begin.
 */

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
            "<p>The %" PRIu32 " consecutive calls that waited longest: <strong>%s</strong>, in",
            stretch->bar_count + stretch->bars_left_out, SG_NS(stretch->wait_ns));
    fprintf(out, " %s of the run from %s on. ",
            SG_NS((uint64_t)(interval.to_ns - interval.from_ns)),
            SG_NS(interval.from_ns > 0 ? (uint64_t)interval.from_ns : 0));
    fputs("Earlier and later calls, MPI_Init and MPI_Finalize are omitted", out);
    if (stretch->bars_left_out > 0)
        fprintf(out, ", as are %" PRIu32 " more calls of a collective", stretch->bars_left_out);
    if (lines > 0)
        fprintf(out, ", as %s %" PRIu32 " more message%s", lines == 1 ? "is" : "are", lines,
                lines == 1 ? "" : "s");
    fputs(".</p>\n<noscript><p class=\"quiet\">The timeline needs JavaScript.</p></noscript>\n"
          "<div id=\"stretch-chart\"></div>\n</section>\n",
          out);
}

/* ---- chart data of the window ---------------------------------------------------------------- */

/* The labels in use. Sets number[label] to 1 + its index among them. */
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
