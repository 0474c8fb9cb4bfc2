/* Writes the first screen of the report as the top of the page: efficiency and rank time as tiles,
 * where ranks wait for others, and what would help. Amounts, sites and reasons are those of
 * report/first_screen.c. It needs no scripts.
 */
#include "page/html.h"
#include "page/page.h"
#include "report/open_calls.h"
#include "report/report_section.h"
#include "report/wait_print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- efficiency ------------------------------------------------------------------------------ */

/* Text for people, which is escaped for the page when it is complete. */
struct text {
    char *of;
    size_t bytes;
};

static FILE *text_open(struct text *text)
{
    *text = (struct text){0};
    return open_memstream(&text->of, &text->bytes);
}

/* Writes the text's first line. */
static void text_put(struct text *text, FILE *in, FILE *out)
{
    if (in != NULL && fclose(in) == 0) {
        text->of[strcspn(text->of, "\n")] = '\0';
        sg_html_text(text->of, out);
    }
    free(text->of);
}

static void put_share(double share, int decimals, FILE *out)
{
    struct text text;
    FILE *in = text_open(&text);

    if (in != NULL)
        sg_screen_put_share(share, decimals, in);
    text_put(&text, in, out);
}

static void put_tile(const char *class, const char *name, double share, const char *means,
                     FILE *out)
{
    fprintf(out, "<div%s><dt>%s</dt><dd>", class, name);
    put_share(share, 0, out);
    fprintf(out, "<small>%s</small></dd></div>\n", means);
}

static void put_times(const struct sg_report *report, FILE *out)
{
    const struct sg_efficiency *of = &report->efficiency;
    bool has_waits = report->waitstates != NULL;
    const struct {
        const char *class, *name;
        uint64_t ns;
    } parts[] = {{"work", "work", of->work_ns},
                 {"wait", "waiting for ranks", of->waiting_ns},
                 {"mpi", has_waits ? "MPI itself" : "in MPI", of->mpi_ns},
                 {"ends", "start and end", of->ends_ns}};
    const size_t count = sizeof parts / sizeof parts[0];

    fputs("<div class=\"times\">\n<p class=\"quiet\">rank time</p>\n"
          "<div class=\"parts\" aria-hidden=\"true\">",
          out);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "<i class=\"%s\" style=\"width:%.2f%%\"></i>", parts[i].class,
                100 * sg_screen_share(parts[i].ns, report->ranks_run_ns));
    fputs("</div>\n<ul class=\"legend\">", out);
    for (size_t i = 0; i < count; i++) {
        if (i == 1 && !has_waits)
            continue;
        fprintf(out, "<li class=\"%s\"><i></i>%s ", parts[i].class, parts[i].name);
        put_share(sg_screen_share(parts[i].ns, report->ranks_run_ns), 0, out);
        fputs("</li>", out);
    }
    fputs("</ul>\n</div>\n", out);
}

static void put_over_time(const struct sg_efficiency *of, FILE *out)
{
    if (!of->has_slices)
        return;
    fputs("<p class=\"quiet\">parallel efficiency over time, from start to end</p>\n"
          "<svg class=\"over\" viewBox=\"0 0 500 100\" preserveAspectRatio=\"none\" role=\"img\" "
          "aria-label=\"parallel efficiency over time\">",
          out);
    for (int i = 0; i < SG_EFFICIENCY_SLICES; i++) {
        const struct sg_efficiency_slice *slice = &of->slices[i];
        struct sg_efficiency part = {0};

        sg_efficiency_set(&part, (uint64_t)(slice->end_ns - slice->begin_ns), slice->useful_ns,
                          slice->useful_max_ns, of->threads);
        fprintf(out,
                "<rect class=\"rest\" x=\"%d\" y=\"0\" width=\"9\" height=\"100\"/>"
                "<rect class=\"good\" x=\"%d\" y=\"%.1f\" width=\"9\" height=\"%.1f\"/>",
                10 * i, 10 * i, part.parallel < 0 ? 100 : 100 - 100 * part.parallel,
                part.parallel < 0 ? 0 : 100 * part.parallel);
    }
    fputs("</svg>\n", out);
}

void sg_page_write_tiles(const struct sg_report *report, FILE *out)
{
    const struct sg_efficiency *of = &report->efficiency;

    fputs("<dl class=\"figures\">\n", out);
    if (of->is_known) {
        put_tile(" class=\"main\"", "parallel efficiency", of->parallel,
                 "the product of the other three", out);
        put_tile("", "load balance", of->load_balance, "mean work / greatest work of a rank", out);
        put_tile("", "serialization", of->serialization,
                 "greatest work / run time with an ideal "
                 "network",
                 out);
        put_tile("", "transfer", of->transfer, "run time with an ideal network / run time", out);
    }
    sg_page_write_share(report, out);
    fputs("</dl>\n", out);
    if (of->is_known) {
        put_times(report, out);
        put_over_time(of, out);
    }
}

/* ---- waits and help -------------------------------------------------------------------------- */

static void put_site(const struct sg_report *report, const struct sg_waitstate_site *site,
                     FILE *out)
{
    struct text text;
    FILE *in;

    fputs("<tr><th scope=\"row\">", out);
    sg_html_text(site->at.function != NULL ? site->at.function : "?", out);
    fputs("</th><td><code>", out);
    if (site->at.site.has_id)
        sg_html_column("site", report, &site->at.site, out);
    fputs("</code></td><td>", out);
    put_share(sg_screen_share(site->of.wait_ns, report->ranks_run_ns), 1, out);
    fputs("</td><td>", out);
    sg_waitstate_put_late(site, out); /* figures only */
    fputs("</td><td>", out);
    in = text_open(&text);
    if (in != NULL)
        sg_waitstate_put_because(report, site, in);
    text_put(&text, in, out);
    fputs("</td></tr>\n", out);
}

static void put_waits(const struct sg_report *report, FILE *out)
{
    static const struct sg_print_options options = {.top = 0};
    const struct sg_waitstates *states = report->waitstates;
    uint32_t shown;

    sg_html_section("where", "Where ranks wait for others", out);
    if (states == NULL || states->site_count == 0) {
        fputs("<p>", out);
        sg_screen_put_no_sites(report, out);
        fputs("</p>\n</section>\n", out);
        return;
    }
    shown = sg_screen_sites(report, &options);
    fputs(
        "<table class=\"screen\" id=\"where\">\n<thead><tr><th scope=\"col\">call</th>"
        "<th scope=\"col\">at</th><th scope=\"col\">of run</th>"
        "<th scope=\"col\">who is late</th><th scope=\"col\">because</th></tr></thead>\n<tbody>\n",
        out);
    for (uint32_t i = 0; i < shown; i++)
        put_site(report, &states->sites[i], out);
    fputs("</tbody>\n</table>\n", out);
    if (states->site_count > shown)
        fprintf(out, "<p class=\"quiet\">%" PRIu32 " more site%s</p>\n", states->site_count - shown,
                states->site_count - shown == 1 ? "" : "s");
    fputs("</section>\n", out);
}

static void put_help(const struct sg_report *report, FILE *out)
{
    static const struct sg_print_options options = {.top = 0};
    char *text = NULL, *rest;
    size_t bytes;
    FILE *into = open_memstream(&text, &bytes);

    if (into == NULL)
        return;
    sg_screen_put_help(report, &options, into);
    if (fclose(into) == 0 && strtok_r(text, "\n", &rest) != NULL) {
        sg_html_section("help", "What would help", out);
        fputs("<ul>\n", out);
        for (char *line; (line = strtok_r(NULL, "\n", &rest)) != NULL;) {
            fputs("<li>", out);
            sg_html_text(line + strspn(line, " "), out);
            fputs("</li>\n", out);
        }
        fputs("</ul>\n</section>\n", out);
    }
    free(text);
}

static void put_open_line(void *context, const char *label, bool is_group, char *text)
{
    FILE *out = context;

    fputs(is_group ? "<tr class=\"group\"><th scope=\"row\">" : "<tr><th scope=\"row\">", out);
    sg_html_text(label, out);
    fputs("</th><td>", out);
    sg_html_text(text, out);
    fputs("</td></tr>\n", out);
}

void sg_page_write_open_calls(const struct sg_report *report, FILE *out)
{
    char *rows = NULL;
    size_t bytes;
    FILE *into = open_memstream(&rows, &bytes);
    uint32_t count;

    if (into == NULL)
        return;
    count = sg_open_calls_each(report->open_calls, report, false, put_open_line, into);
    if (fclose(into) == 0 && count > 0) {
        sg_html_section("open", "Open calls", out);
        fprintf(
            out,
            "<table class=\"screen\" id=\"open-calls\"><tbody>\n%s</tbody></table>\n</section>\n",
            rows);
    }
    free(rows);
}

void sg_page_write_screen(const struct sg_report *report, FILE *out)
{
    put_waits(report, out);
    put_help(report, out);
}
