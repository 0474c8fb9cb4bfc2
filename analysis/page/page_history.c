/* The history of a program as a page and as a badge: the run time, waiting and MPI's share of each
 * run beside the noise of those before it, and where a level changed.
 */
#include "compare/run_history.h"
#include "output/json_output.h"
#include "page/html.h"
#include "page/page.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

static const char *const titles[SG_WHOLE_COUNT] = {
    [SG_WHOLE_RUN] = "run time",
    [SG_WHOLE_WAITING] = "waiting for others",
    [SG_WHOLE_MPI] = "in MPI",
};

/* "1.23s" or "12.3%"; "-": unknown. */
static const char *format(double value, int figure, char text[SG_FORMAT_BYTES])
{
    if (isnan(value))
        return "-";
    if (figure == SG_WHOLE_RUN)
        return sg_format_signed(value, "", text);
    snprintf(text, SG_FORMAT_BYTES, "%.1f%%", 100 * value);
    return text;
}

#define SHOW(value, figure) format((value), (figure), SG_ROOM)

/* "+15.0%", of a run time; of a share its points. */
static const char *format_change(const struct sg_run_history_mark *mark, int figure,
                                 char text[SG_FORMAT_BYTES])
{
    if (figure == SG_WHOLE_RUN)
        snprintf(text, SG_FORMAT_BYTES, "%+.1f%%", 100 * (mark->now - mark->before) / mark->before);
    else
        snprintf(text, SG_FORMAT_BYTES, "%+.1f points", 100 * (mark->now - mark->before));
    return text;
}

static void format_time(int64_t ms, const char *form, char text[40])
{
    time_t seconds = (time_t)(ms / 1000);
    struct tm parts;

    if (gmtime_r(&seconds, &parts) == NULL || strftime(text, 40, form, &parts) == 0)
        snprintf(text, 40, "?");
}

/* The name of a run: its label, or else its time. */
static void put_name(const struct sg_run_history_run *run, FILE *out)
{
    char text[40];

    format_time(run->begun_ms, "%Y-%m-%d %H:%M", text);
    sg_html_text(run->label != NULL ? run->label : text, out);
}

/* ---- the top --------------------------------------------------------------------------------- */

static void put_change(const struct sg_run_history *history, int figure, FILE *out)
{
    const struct sg_run_history_run *run = &history->runs[history->change[figure]];
    const struct sg_run_history_mark *mark = &run->of[figure];

    fprintf(out, "%s since ", format_change(mark, figure, SG_ROOM));
    put_name(run, out);
    fprintf(out, " (%s &rarr; %s)", SHOW(mark->before, figure), SHOW(mark->now, figure));
}

static void put_lead(const struct sg_run_history *history, FILE *out)
{
    fprintf(out, "<p class=\"lead\">%" PRIu32 " run%s on %" PRIu32 " rank%s. ", history->count,
            history->count == 1 ? "" : "s", history->runs[0].ranks,
            history->runs[0].ranks == 1 ? "" : "s");
    if (history->count <= SG_RUN_HISTORY_FEWEST) {
        fprintf(out, "A band of noise takes %u runs before a run.", SG_RUN_HISTORY_FEWEST);
    } else if (history->change[SG_WHOLE_RUN] == history->count) {
        fputs("The run time has not changed beyond its noise.", out);
    } else {
        fputs("Run time <strong>", out);
        put_change(history, SG_WHOLE_RUN, out);
        fputs("</strong>.", out);
    }
    fputs("</p>\n", out);
}

static void put_figure(const struct sg_run_history *history, int figure, FILE *out)
{
    const struct sg_run_history_mark *mark = &history->runs[history->count - 1].of[figure];
    bool is_changed = history->change[figure] < history->count && figure != SG_WHOLE_RUN;
    const char *class = "";

    if (figure == SG_WHOLE_RUN && sg_run_history_has_changed(history)) {
        const struct sg_run_history_mark *changed =
            &history->runs[history->change[figure]].of[figure];

        class = changed->now > changed->before ? " class=\"main\"" : " class=\"good\"";
    }
    fprintf(out, "<div%s><dt>%s</dt><dd>%s<small>", class, titles[figure],
            SHOW(history->level[figure], figure));
    if (!isnan(mark->low))
        fprintf(out, "noise %s to %s; ", SHOW(mark->low, figure), SHOW(mark->high, figure));
    fprintf(out, "newest run %s", SHOW(mark->value, figure));
    if (is_changed) {
        fputs("; ", out);
        put_change(history, figure, out);
    }
    fputs("</small></dd></div>\n", out);
}

static void put_notes(const struct sg_run_history *history, FILE *out)
{
    if (history->other_count > 0)
        fprintf(out,
                "<p class=\"quiet\">%" PRIu32
                " run%s of other programs or numbers of ranks %s left "
                "out.</p>\n",
                history->other_count, history->other_count == 1 ? "" : "s",
                history->other_count == 1 ? "is" : "are");
    if (history->refused_count > 0)
        fprintf(out, "<p class=\"quiet\">%" PRIu32 " file%s could not be read.</p>\n",
                history->refused_count, history->refused_count == 1 ? "" : "s");
}

/* ---- runs ------------------------------------------------------------------------------------ */

static void put_row(const struct sg_run_history_run *run, FILE *out)
{
    char text[40];

    format_time(run->begun_ms, "%Y-%m-%d %H:%M:%S", text);
    fprintf(out, "<tr><th scope=\"row\" class=\"text\">%s</th><td class=\"text\">", text);
    sg_html_text(run->label != NULL ? run->label : "-", out);
    fputs("</td>", out);
    for (int figure = 0; figure < SG_WHOLE_COUNT; figure++) {
        const struct sg_run_history_mark *mark = &run->of[figure];

        if (isnan(mark->value))
            fputs("<td>-", out);
        else
            fprintf(out, "<td data-v=\"%.10g\">%s", mark->value, SHOW(mark->value, figure));
        fputs("</td>", out);
    }
    fputs("<td class=\"text\">", out);
    for (int figure = 0; figure < SG_WHOLE_COUNT; figure++) {
        if (run->of[figure].is_changed)
            fprintf(out, "%s %s; ", titles[figure],
                    format_change(&run->of[figure], figure, SG_ROOM));
    }
    fprintf(out, "%s</td><td class=\"text\">", run->is_partial ? "partial" : "");
    sg_html_text(run->site != NULL ? run->site : "-", out);
    fputs("</td></tr>\n", out);
}

static uint32_t first_shown(const struct sg_run_history *history)
{
    return history->count > SG_PAGE_ROWS ? history->count - SG_PAGE_ROWS : 0;
}

static void put_runs(const struct sg_run_history *history, FILE *out)
{
    uint32_t first = first_shown(history);

    sg_html_section("runs", "Runs, the newest first", out);
    fputs("<p class=\"quiet\">Times are UTC. A level changes where five runs in a row lie beyond "
          "the noise of the runs before them.</p>\n"
          "<div class=\"scroll\" role=\"region\" aria-labelledby=\"runs-title\" tabindex=\"0\">\n"
          "<table id=\"history\"><thead><tr><th scope=\"col\" class=\"text\">begun</th>"
          "<th scope=\"col\" class=\"text\">label</th><th scope=\"col\">run time</th>"
          "<th scope=\"col\">waiting</th><th scope=\"col\">in MPI</th>"
          "<th scope=\"col\" class=\"text\">changes</th>"
          "<th scope=\"col\" class=\"text\">largest call site</th></tr></thead>\n<tbody>\n",
          out);
    for (uint32_t i = history->count; i > first; i--)
        put_row(&history->runs[i - 1], out);
    fputs("</tbody></table>\n</div>\n", out);
    if (first > 0)
        fprintf(out, "<p class=\"quiet\">%" PRIu32 " older runs are omitted.</p>\n", first);
    fputs("</section>\n", out);
}

static json_t *number(double value)
{
    return isnan(value) ? json_null() : json_real(value);
}

/* By figure: value, low, high of each shown run, and 1 where its level changes. */
static json_t *data_of(const struct sg_run_history *history)
{
    json_t *all = json_object(), *names = json_array(), *figures = json_array();

    for (uint32_t i = first_shown(history); i < history->count; i++) {
        const struct sg_run_history_run *run = &history->runs[i];
        char text[40];

        format_time(run->begun_ms, "%Y-%m-%d", text);
        json_array_append_new(names, sg_json_text(run->label != NULL ? run->label : text));
    }
    for (int figure = 0; figure < SG_WHOLE_COUNT; figure++) {
        json_t *rows = json_array();

        for (uint32_t i = first_shown(history); i < history->count; i++) {
            const struct sg_run_history_mark *mark = &history->runs[i].of[figure];

            json_array_append_new(rows,
                                  json_pack("[o, o, o, i]", number(mark->value), number(mark->low),
                                            number(mark->high), (int)mark->is_changed));
        }
        json_array_append_new(figures, rows);
    }
    sg_json_set(&all, "names", names);
    sg_json_set(&all, "figures", figures);
    return all;
}

enum sg_status sg_page_write_history(const struct sg_run_history *history, FILE *out)
{
    static const char *const scripts[] = {sg_charts_js, sg_table_js, sg_history_js, NULL};
    const struct sg_run_history_run *newest = &history->runs[history->count - 1];
    char nonce[33];
    enum sg_status status = sg_html_begin("stagger compare --history", nonce, out);

    if (status != SG_OK)
        return status;
    fputs("<header>\n<p class=\"kind\">stagger compare --history</p>\n<h1>", out);
    sg_html_text(newest->program != NULL ? newest->program : "program not known", out);
    fputs("</h1>\n", out);
    put_lead(history, out);
    fputs("<dl class=\"figures\">\n", out);
    for (int figure = 0; figure < SG_WHOLE_COUNT; figure++)
        put_figure(history, figure, out);
    fputs("</dl>\n", out);
    put_notes(history, out);
    fputs("</header>\n<main>\n<noscript><p class=\"quiet\">The charts and sorting need JavaScript."
          "</p></noscript>\n<section aria-labelledby=\"over-title\"><h2 id=\"over-title\">Over "
          "time</h2>\n<div id=\"over\"></div>\n</section>\n",
          out);
    put_runs(history, out);
    fputs("</main>\n", out);
    status = sg_html_data("data", data_of(history), out);
    sg_html_end(scripts, nonce, out);
    return status;
}

/* ---- the badge ------------------------------------------------------------------------------- */

#define LETTER 7 /* pixels of a letter, at most; textLength fits the text exactly */

void sg_page_write_badge(const struct sg_run_history *history, FILE *out)
{
    const char *color = history->count > SG_RUN_HISTORY_FEWEST ? "#2f7d4f" : "#6b7480";
    char value[3 * SG_FORMAT_BYTES];
    int left, right;

    snprintf(value, sizeof value, "%s", SHOW(history->level[SG_WHOLE_RUN], SG_WHOLE_RUN));
    if (sg_run_history_has_changed(history)) {
        const struct sg_run_history_mark *mark =
            &history->runs[history->change[SG_WHOLE_RUN]].of[SG_WHOLE_RUN];

        snprintf(value, sizeof value, "%s, %s", SHOW(mark->now, SG_WHOLE_RUN),
                 format_change(mark, SG_WHOLE_RUN, SG_ROOM));
        if (mark->now > mark->before)
            color = "#c2410c";
    }
    left = LETTER * (int)strlen(titles[SG_WHOLE_RUN]);
    right = LETTER * (int)strlen(value);
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"20\" role=\"img\" "
            "aria-label=\"%s: %s\">\n<title>%s: %s</title>\n"
            "<rect width=\"%d\" height=\"20\" rx=\"3\" fill=\"#3b4450\"/>\n"
            "<path fill=\"%s\" d=\"M%d 0h%da3 3 0 0 1 3 3v14a3 3 0 0 1-3 3h-%dz\"/>\n"
            "<g fill=\"#fff\" font-family=\"DejaVu Sans,Verdana,sans-serif\" font-size=\"11\">\n"
            "<text x=\"6\" y=\"14\" textLength=\"%d\">%s</text>\n"
            "<text x=\"%d\" y=\"14\" textLength=\"%d\">%s</text>\n</g>\n</svg>\n",
            left + right + 24, titles[SG_WHOLE_RUN], value, titles[SG_WHOLE_RUN], value,
            left + right + 24, color, left + 12, right + 9, right + 9, left, titles[SG_WHOLE_RUN],
            left + 18, right, value);
}
