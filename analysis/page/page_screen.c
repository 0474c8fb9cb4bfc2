/* Writes the first screen of the report as the top of the page: efficiency and rank time as tiles,
 * where ranks wait for others, and what would help. Amounts, sites and reasons are those of
 * report/first_screen.c. It needs no scripts.
 */
#include "page/html.h"
#include "page/page.h"
#include "report/open_calls.h"
#include "report/report_section.h"
#include "report/rule_use.h"
#include "report/wait_print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { RULE_COLUMNS = 200 };

/* ---- texts ----------------------------------------------------------------------------------- */

static bool is_setting(const char *word)
{
    return strncmp(word, "STAGGER_", 8) == 0 || strncmp(word, "OMP_", 4) == 0;
}

/* Settings are code. A setting ends at a blank. */
static void put_words(char *line, FILE *out)
{
    char *rest;

    for (char *word = strtok_r(line, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        bool is_code = is_setting(word);

        fputs(is_code ? "<code>" : "", out);
        sg_html_text(word, out);
        fputs(is_code ? "</code> " : " ", out);
    }
}

/* Ends the text, and writes its first line. */
static void put_line(struct sg_format_text *text, FILE *out)
{
    char *line = sg_format_take(text);

    if (line != NULL) {
        line[strcspn(line, "\n")] = '\0';
        put_words(line, out);
    }
    free(line);
}

static size_t indent_of(const char *line)
{
    return strspn(line, " ");
}

/* Ends the text, and writes each line as an item of a list, together with the lines that continue
 * it: they are indented more than the first. Two blanks follow a label; "note: " is left out. */
static void put_items(struct sg_format_text *text, FILE *out)
{
    static const char note[] = "note: ";
    char *lines = sg_format_take(text), *rest;
    char *line = lines != NULL ? strtok_r(lines, "\n", &rest) : NULL;
    size_t indent = line != NULL ? indent_of(line) : 0;

    while (line != NULL) {
        char *label = line + indent, *gap = strstr(label, "  ");

        fputs("<li>", out);
        if (strncmp(label, note, sizeof note - 1) == 0) {
            line = label + sizeof note - 1;
        } else if (gap != NULL) {
            *gap = '\0';
            fputs("<b>", out);
            sg_html_text(label, out);
            fputs("</b> ", out);
            line = gap + 1;
        }
        put_words(line, out);
        while ((line = strtok_r(NULL, "\n", &rest)) != NULL && indent_of(line) > indent) {
            fputs("<br>", out);
            put_words(line, out);
        }
        fputs("</li>\n", out);
    }
    free(lines);
}

/* ---- efficiency ------------------------------------------------------------------------------ */

void sg_page_write_run(const struct sg_report *report, FILE *out)
{
    struct sg_format_text text;

    if (!sg_format_open(&text))
        return;
    sg_screen_put_run(report, text.out);
    put_line(&text, out);
}

static void put_share(double share, int decimals, FILE *out)
{
    char text[32];
    FILE *in = fmemopen(text, sizeof text, "w");

    if (in == NULL)
        return;
    sg_screen_put_share(share, decimals, in);
    if (fclose(in) == 0)
        sg_html_text(text, out);
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
    double inner = sg_screen_inner_efficiency(report);
    const struct {
        const char *class, *name;
        uint64_t ns;
    } parts[] = {{"work", "work", of->work_ns},
                 {"off", "off the processor", of->off_ns},
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
        if ((i == 1 && of->off_ns == 0) || (i == 2 && !has_waits))
            continue;
        fprintf(out, "<li class=\"%s\"><i></i>%s ", parts[i].class, parts[i].name);
        put_share(sg_screen_share(parts[i].ns, report->ranks_run_ns), 0, out);
        fputs("</li>", out);
    }
    fputs("</ul>\n", out);
    if (inner >= 0) {
        fputs("<p class=\"quiet\">" SG_SCREEN_INNER, out);
        put_share(inner, 0, out);
        fputs("</p>\n", out);
    }
    fputs("</div>\n", out);
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
        const struct sg_efficiency_part part = sg_efficiency_part_of(of, i);
        double height = part.parallel > 0 ? 100 * part.parallel : 0;

        fprintf(out, "<g><title>%s to %s: parallel efficiency ", SG_NS(part.begin_ns),
                SG_NS(part.end_ns));
        put_share(part.parallel, 0, out);
        fputs(" = load balance ", out);
        put_share(part.load_balance, 0, out);
        fputs(" x communication ", out);
        put_share(part.communication, 0, out);
        fprintf(out,
                "</title>"
                "<rect class=\"rest\" x=\"%d\" y=\"0\" width=\"9\" height=\"100\"/>"
                "<rect class=\"good\" x=\"%d\" y=\"%.1f\" width=\"9\" height=\"%.1f\"/></g>",
                10 * i, 10 * i, 100 - height, height);
    }
    fputs("</svg>\n", out);
}

static void put_notes(const struct sg_report *report, FILE *out)
{
    struct sg_format_text text;

    fputs("<ul class=\"notes\">\n", out);
    if (sg_format_open(&text)) {
        sg_screen_put_facts(report, false, text.out);
        put_items(&text, out);
    }
    if (sg_format_open(&text)) {
        sg_report_put_notes(report, true, text.out);
        put_items(&text, out);
    }
    fputs("</ul>\n", out);
}

void sg_page_write_tiles(const struct sg_report *report, FILE *out)
{
    const struct sg_efficiency *of = &report->efficiency;

    if (of->is_known) {
        fputs("<dl class=\"figures\">\n", out);
        put_tile(" class=\"main\"", "parallel efficiency", of->parallel,
                 "the product of the other three", out);
        put_tile("", "load balance", of->load_balance, "mean work / greatest work of a rank", out);
        put_tile("", "serialization", of->serialization,
                 "greatest work / run time with an ideal "
                 "network",
                 out);
        put_tile("", "transfer", of->transfer, "run time with an ideal network / run time", out);
        fputs("</dl>\n", out);
        put_times(report, out);
        put_over_time(of, out);
    }
    put_notes(report, out);
}

/* ---- waits and help -------------------------------------------------------------------------- */

static void put_call(const char *function, const struct sg_report_site *site, uint64_t ns,
                     const struct sg_report *report, FILE *out)
{
    fputs("<tr><th scope=\"row\">", out);
    sg_html_text(function != NULL ? function : "?", out);
    fputs("</th><td><code>", out);
    if (site->has_id)
        sg_html_column("site", report, site, out);
    fputs("</code></td><td>", out);
    put_share(sg_screen_share(ns, report->ranks_run_ns), 1, out);
    fputs("</td>", out);
}

static void put_site(const struct sg_report *report, const struct sg_waitstate_site *site,
                     FILE *out)
{
    struct sg_format_text text;

    put_call(site->at.function, &site->at.site, site->of.wait_ns, report, out);
    fputs("<td>", out);
    sg_waitstate_put_late(site, out); /* figures only */
    fputs("</td><td>", out);
    if (sg_format_open(&text)) {
        sg_waitstate_put_because(report, site, text.out);
        put_line(&text, out);
    }
    fputs("</td></tr>\n", out);
}

#define TABLE_OF_CALLS                                                                             \
    "<table class=\"screen\" id=\"where\">\n<thead><tr><th scope=\"col\">call</th>"                \
    "<th scope=\"col\">at</th><th scope=\"col\">of run</th>"

static void put_no_lines(bool lacks_lines, FILE *out)
{
    if (lacks_lines)
        fputs("<p class=\"quiet\">" SG_SCREEN_NO_LINES "</p>\n", out);
}

/* Without events it is not known who waits for whom. */
static void put_calls(const struct sg_report *report, FILE *out)
{
    const struct sg_calls *calls = report->calls;
    bool lacks_lines = false;

    if (calls == NULL || calls->site_count == 0)
        return;
    fputs("<h3>Time in MPI by call site</h3>\n" TABLE_OF_CALLS "</tr></thead>\n<tbody>\n", out);
    for (uint32_t i = 0; i < calls->site_count && i < SG_SCREEN_SITES; i++) {
        const struct sg_call_row *row = &calls->sites[i];

        put_call(row->function, &row->place, row->of.time_ns, report, out);
        fputs("</tr>\n", out);
        lacks_lines = lacks_lines || (row->place.has_id && row->place.file == NULL);
    }
    fputs("</tbody>\n</table>\n", out);
    put_no_lines(lacks_lines, out);
}

static void put_sites(const struct sg_report *report, FILE *out)
{
    static const struct sg_print_options options = {.top = 0};
    uint32_t shown = sg_screen_sites(report, &options);
    const char *samples = sg_waitstate_samples_note(report, report->waitstates->sites, shown);
    bool lacks_lines = false;
    struct sg_format_text text;

    fputs(TABLE_OF_CALLS "<th scope=\"col\">who is late</th><th scope=\"col\">because</th>"
                         "</tr></thead>\n<tbody>\n",
          out);
    for (uint32_t i = 0; i < shown; i++) {
        const struct sg_waitstate_site *site = &report->waitstates->sites[i];

        put_site(report, site, out);
        lacks_lines = lacks_lines || (site->at.site.has_id && site->at.site.file == NULL);
    }
    fputs("</tbody>\n</table>\n<p class=\"quiet\">", out);
    if (sg_format_open(&text)) {
        sg_screen_put_more(report, shown, text.out);
        put_line(&text, out);
    }
    fputs("</p>\n", out);
    if (samples != NULL)
        fprintf(out, "<p class=\"quiet\">%s</p>\n", samples);
    put_no_lines(lacks_lines, out);
}

static void put_waits(const struct sg_report *report, FILE *out)
{
    const struct sg_waitstates *states = report->waitstates;

    sg_html_section("where", "Where ranks wait for others", out);
    if (states != NULL && states->site_count > 0) {
        put_sites(report, out);
    } else {
        fputs("<p>", out);
        sg_screen_put_no_sites(report, out);
        fputs("</p>\n", out);
        if (states == NULL)
            put_calls(report, out);
    }
    fputs("</section>\n", out);
}

/* Ends the text, and writes its lines as a section; nothing if there are none. */
static void put_section(const char *id, const char *title, const char *class,
                        struct sg_format_text *text, FILE *out)
{
    if (fflush(text->out) != 0 || text->bytes == 0) {
        free(sg_format_take(text));
        return;
    }
    sg_html_section(id, title, out);
    fprintf(out, "<ul%s>\n", class);
    put_items(text, out);
    fputs("</ul>\n</section>\n", out);
}

static void put_help(const struct sg_report *report, FILE *out)
{
    static const struct sg_print_options options = {.top = 0};
    struct sg_format_text text;

    if (!sg_format_open(&text))
        return;
    sg_screen_put_help(report, &options, 0, text.out);
    put_section("help", "What would help", "", &text, out);
}

static void put_rules(const struct sg_report *report, FILE *out)
{
    struct sg_format_text text;

    if (!sg_format_open(&text))
        return;
    for (uint32_t i = 0; i < report->rule_count; i++) {
        sg_rule_use_put(&report->rules[i], RULE_COLUMNS, text.out);
        fputc('\n', text.out);
    }
    put_section("rules", "Rules", "", &text, out);
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
    put_rules(report, out);
}
