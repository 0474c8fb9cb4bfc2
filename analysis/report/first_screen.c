/* Prints the first screen of a report, also at the end of a run: efficiency, where ranks wait for
 * others and why, and what would help. It has at most 40 lines of 100 columns. All other figures
 * are sections that the reader asks for by name (report/report_print.c).
 *
 * A reason is given for a wait only if enough samples show it, and a saving only if it exceeds its
 * error.
 */
#include "output/format.h"
#include "report/critical_path.h"
#include "report/filter.h"
#include "report/open_calls.h"
#include "report/profile_calls.h"
#include "report/report_columns.h"
#include "report/report_section.h"
#include "report/rule_use.h"
#include "report/wait_print.h"
#include "report/wait_sums.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS 100
#define LABEL_COLUMNS 22
#define MODULE_COLUMNS 8   /* that a caller's name leaves to its module, or none */
#define BECAUSE_COLUMNS 26 /* that call sites leave to the reason */
#define ENDS_TOLD 0.1
#define RULES 4
#define OFF_TOLD 0.005

/* ---- words and figures ----------------------------------------------------------------------- */

static void put_label(const char *label, FILE *out)
{
    fprintf(out, "  %s%s%s%*s", sg_style(SG_BOLD, out), label, sg_style(SG_PLAIN, out),
            LABEL_COLUMNS - (int)strlen(label), "");
}

/* ---- the head -------------------------------------------------------------------------------- */

static void put_filter(const struct sg_filter *filter, FILE *out)
{
    const char *before = ", only ";
    const struct {
        const char *name, *text;
    } parts[] = {{"site ", filter != NULL ? filter->site : NULL},
                 {"communicator ", filter != NULL ? filter->comm : NULL},
                 {"ranks ", filter != NULL ? filter->ranks : NULL},
                 {"time ", filter != NULL ? filter->time : NULL}};

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (parts[i].text == NULL)
            continue;
        fprintf(out, "%s%s", before, parts[i].name);
        sg_format_put(parts[i].text, out);
        before = ", ";
    }
}

void sg_screen_put_run(const struct sg_report *report, FILE *out)
{
    const struct sg_run_waiting *waiting = &report->waiting;

    fprintf(out, "%" PRIu32 " rank%s", report->rank_count, report->rank_count == 1 ? "" : "s");
    if (waiting->told > 0 && waiting->ranks == report->rank_count)
        fprintf(out, " on %" PRIu64 " processor%s (%.32s)", sg_waiting_processors(waiting),
                sg_waiting_processors(waiting) == 1 ? "" : "s", waiting->host);
    fputs(", ", out);
    sg_screen_put_time(report->run_ns, out);
    fputs(report->has_events ? "" : ", statistics only", out);
    fputs(report->partial ? ", PARTIAL" : "", out);
    put_filter(report->filter, out);
}

static void put_program(const struct sg_report *report, FILE *out)
{
    char *name =
        sg_format_clean(report->program != NULL ? report->program : "program not known", true);

    if (name != NULL)
        sg_format_shorten(name, COLUMNS / 3);
    fprintf(out, "%s, ", name != NULL ? name : "?");
    free(name);
    sg_screen_put_run(report, out);
}

void sg_report_put_heading(const struct sg_report *report, FILE *out)
{
    char *path = sg_format_clean(report->path, true), *line = NULL;
    size_t path_columns = path != NULL ? sg_format_columns(path) : 0, columns;
    struct sg_format_text text;

    if (sg_format_open(&text)) {
        put_program(report, text.out);
        line = sg_format_take_clean(&text);
    }
    if (line != NULL)
        sg_format_shorten(line, COLUMNS);
    columns = line != NULL ? sg_format_columns(line) : 0;
    fputs(line != NULL ? line : "?", out);
    if (columns + 2 + path_columns <= COLUMNS)
        fprintf(out, "%*s", (int)(COLUMNS - columns - path_columns), "");
    else
        fputc('\n', out);
    if (path != NULL)
        sg_format_shorten(path, COLUMNS);
    fprintf(out, "%s\n", path != NULL ? path : "?");
    free(line);
    free(path);
}

static void put_efficiency(const struct sg_efficiency *efficiency, FILE *out)
{
    put_label("parallel efficiency", out);
    sg_screen_put_share(efficiency->parallel, 0, out);
    fputs("   = load balance ", out);
    sg_screen_put_share(efficiency->load_balance, 0, out);
    fputs(" x serialization ", out);
    sg_screen_put_share(efficiency->serialization, 0, out);
    fputs(" x transfer ", out);
    sg_screen_put_share(efficiency->transfer, 0, out);
    fputc('\n', out);
}

/* Begins another line under a label. */
static void put_further(const char *text, FILE *out)
{
    fprintf(out, "  %*s%s", LABEL_COLUMNS, "", text);
}

double sg_screen_inner_efficiency(const struct sg_report *report)
{
    const struct sg_efficiency *efficiency = &report->efficiency;

    if (sg_screen_share(efficiency->ends_ns, report->ranks_run_ns) < ENDS_TOLD)
        return -1;
    return sg_screen_share(efficiency->work_ns, report->ranks_run_ns - efficiency->ends_ns);
}

static void put_times(const struct sg_report *report, FILE *out)
{
    const struct sg_efficiency *efficiency = &report->efficiency;
    bool has_waits = report->waitstates != NULL;
    double inner = sg_screen_inner_efficiency(report);

    put_label("rank time", out);
    fputs("work ", out);
    sg_screen_put_share(sg_screen_share(efficiency->work_ns, report->ranks_run_ns), 0, out);
    if (has_waits) {
        fputs("   waiting for ranks ", out);
        sg_screen_put_share(sg_screen_share(efficiency->waiting_ns, report->ranks_run_ns), 0, out);
    }
    fputs(has_waits ? "   MPI itself " : "   in MPI ", out);
    sg_screen_put_share(sg_screen_share(efficiency->mpi_ns, report->ranks_run_ns), 0, out);
    fputs("   start and end ", out);
    sg_screen_put_share(sg_screen_share(efficiency->ends_ns, report->ranks_run_ns), 0, out);
    fputc('\n', out);
    if (sg_screen_share(efficiency->off_ns, report->ranks_run_ns) >= OFF_TOLD) {
        put_further("off the processor ", out);
        sg_screen_put_share(sg_screen_share(efficiency->off_ns, report->ranks_run_ns), 0, out);
        fputs(": outside MPI, asleep, in files or ready to run\n", out);
    }
    if (inner >= 0) {
        put_further(SG_SCREEN_INNER, out);
        sg_screen_put_share(inner, 0, out);
        fputc('\n', out);
    }
}

/* The reader has no other way to learn what the library gained. */
static void put_oversubscribed(const struct sg_report *report, bool all, FILE *out)
{
    const struct sg_run_waiting *waiting = &report->waiting;
    bool by_quota = sg_waiting_processors(waiting) < waiting->processors;

    put_label("oversubscribed", out);
    fprintf(out, "%" PRIu64 " ranks on %s%" PRIu64 " processor%s: ", waiting->ranks,
            by_quota ? "a quota of " : "", sg_waiting_processors(waiting),
            sg_waiting_processors(waiting) == 1 ? "" : "s");
    if (waiting->mode == SG_WAIT_SPIN) {
        fputs("waiting ranks spun;\n", out);
        put_further("to let late ones run: STAGGER_WAIT=yield\n", out);
    } else {
        fprintf(out, "waiting ranks yielded the processor%s;\n",
                waiting->hook[0] == '\0' ? ", MPICH itself spun" : "");
        put_further("to see stock: STAGGER_WAIT=spin STAGGER_RULES='*=mpich'\n", out);
    }
    if (waiting->short_ranks > waiting->ranks) {
        put_further("on ", out);
        sg_format_put(waiting->host, out);
        fprintf(out, ", and in all %" PRIu64 " ranks on such machines\n", waiting->short_ranks);
    }
    if (all && waiting->apart_ranks > 0)
        put_further("ranks in different autogroups (man 7 libstagger, WAITING)\n", out);
}

bool sg_screen_put_facts(const struct sg_report *report, bool all, FILE *out)
{
    bool has_waited = all && report->waiting.told > 0;

    if (sg_report_is_oversubscribed(report))
        put_oversubscribed(report, all, out);
    if (sg_waiting_has_spinning(&report->waiting)) {
        put_label("threads", out);
        sg_report_put_spinning(report, out);
        fputc('\n', out);
    }
    if (has_waited) {
        put_label("waiting", out);
        sg_report_put_waited(report, out);
        fputc('\n', out);
    }
    return has_waited || sg_report_is_oversubscribed(report) ||
           sg_waiting_has_spinning(&report->waiting);
}

/* The rules that matched nothing come first. */
static void put_rules(const struct sg_report *report, bool all, FILE *out)
{
    uint32_t shown = 0, most = all ? report->rule_count : RULES, matched = 0;

    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < report->rule_count; i++) {
            bool is_matched = report->rules[i].reason == NULL;

            if (is_matched != (pass == 1))
                continue;
            if (shown == most) {
                matched += is_matched;
                continue;
            }
            if (shown++ == 0)
                put_label("rules", out);
            else
                put_further("", out);
            sg_rule_use_put(&report->rules[i], COLUMNS - LABEL_COLUMNS - 2, out);
            fputc('\n', out);
        }
    }
    if (shown < report->rule_count) {
        put_further("", out);
        fprintf(out, "%" PRIu32 " more, of which %" PRIu32 " matched (--all)\n",
                report->rule_count - shown, matched);
    }
}

/* ---- where ranks wait ------------------------------------------------------------------------ */

enum { PLACE, RUN, LATE, BECAUSE, CELLS };

struct line {
    char *function, *site; /* owned, like the cells; cells[PLACE] is made of both */
    char *cells[CELLS];
};

struct lines {
    struct line of[SG_SCREEN_SITES];
    uint32_t count;
    bool has_unknown; /* some site has no file and line */
    bool failed;
};

static char *cell_of(const struct sg_report *report, const struct sg_waitstate_site *site, int cell)
{
    struct sg_format_text text;

    if (!sg_format_open(&text))
        return NULL;
    if (cell == RUN)
        sg_screen_put_share(sg_screen_share(site->of.wait_ns, report->ranks_run_ns), 1, text.out);
    else if (cell == LATE)
        sg_waitstate_put_late(site, text.out);
    else
        sg_waitstate_put_because(report, site, text.out);
    return sg_format_take_clean(&text);
}

static void add_line(struct lines *lines, const char *function, const struct sg_report_site *site)
{
    struct line *line = &lines->of[lines->count++];

    line->function = sg_format_clean(function != NULL ? function : "?", true);
    line->site = site->has_id ? sg_site_text("site", NULL, site) : strdup("");
    if (site->has_id && site->file == NULL)
        lines->has_unknown = true;
    lines->failed = lines->failed || line->site == NULL || line->function == NULL;
}

static size_t width_of(const struct lines *lines, int cell, const char *header, size_t most)
{
    size_t width = strlen(header);

    for (uint32_t i = 0; i < lines->count; i++) {
        size_t columns = sg_format_columns(lines->of[i].cells[cell]);

        width = columns > width ? columns : width;
    }
    return width < most ? width : most;
}

/* File and line stay, and the caller's name is shortened, or left out. Without them, the caller's
 * name stays, and its module is shortened. */
static void shorten_site(char *site, size_t columns)
{
    char *place = strrchr(site, ' ');
    char *offset = place != NULL ? strstr(place, "+0x") : NULL;
    size_t caller;

    if (sg_format_columns(site) <= columns)
        return;
    if (offset == NULL) {
        sg_format_shorten_site(site, columns);
        place = strrchr(site, ' ');
        if (place != NULL && sg_format_columns(site) > columns)
            memmove(site, place + 1, strlen(place));
        return;
    }
    *offset = '\0';
    caller = sg_format_columns(site) - sg_format_columns(place);
    if (caller + 1 + MODULE_COLUMNS > columns)
        *place = '\0';
    else
        sg_format_shorten(place + 1, columns - caller - 1);
    sg_format_shorten(site, columns);
}

/* Functions and sites share the columns: files and lines come first, unless they take more than
 * half. */
static void make_places(struct lines *lines, size_t most)
{
    size_t functions = 0, files = 0;

    for (uint32_t i = 0; i < lines->count; i++) {
        const char *site = lines->of[i].site, *file = strrchr(site, ' ');
        size_t columns = sg_format_columns(lines->of[i].function);

        functions = columns > functions ? columns : functions;
        columns = sg_format_columns(file != NULL ? file + 1 : site);
        files = columns > files ? columns : files;
    }
    files = files < most / 2 ? files : most / 2;
    functions = functions > most - files - 2 ? most - files - 2 : functions;
    for (uint32_t i = 0; i < lines->count; i++) {
        struct line *line = &lines->of[i];
        int pad = (int)functions - (int)sg_format_columns(line->function);

        sg_format_shorten(line->function, functions);
        shorten_site(line->site, most - functions - 2);
        if (asprintf(&line->cells[PLACE], "%s%*s  %s", line->function, pad > 0 ? pad : 0, "",
                     line->site) < 0) {
            line->cells[PLACE] = NULL;
            lines->failed = true;
        } else {
            sg_format_shorten(line->cells[PLACE], most);
        }
    }
}

static void put_cell(const char *text, size_t width, bool is_left, FILE *out)
{
    size_t columns = sg_format_columns(text);
    int pad = columns < width ? (int)(width - columns) : 0;

    fprintf(out, "%*s%s%*s", is_left ? 0 : pad, "", text, is_left ? pad : 0, "");
}

static void print_lines(struct lines *lines, const char *const titles[CELLS], FILE *out)
{
    bool has_reasons = titles[BECAUSE] != NULL;
    size_t run = strlen("< 0.1 %"), late = 0, because = 0, place, room = COLUMNS - 2 - 2 - run;

    if (has_reasons) {
        late = width_of(lines, LATE, titles[LATE], 16);
        room -= 3 + late + 2;
        because = width_of(lines, BECAUSE, titles[BECAUSE], room);
    }
    make_places(lines, room - (because < BECAUSE_COLUMNS ? because : BECAUSE_COLUMNS));
    if (lines->failed)
        return;
    place = width_of(lines, PLACE, titles[PLACE], COLUMNS);
    because = because < room - place ? because : room - place;
    fputs(sg_style(SG_BOLD, out), out);
    put_cell(titles[PLACE], place + 2, true, out);
    fprintf(out, "  %*s", (int)run, titles[RUN]);
    if (has_reasons)
        fprintf(out, "   %-*s  %s", (int)late, titles[LATE], titles[BECAUSE]);
    fprintf(out, "%s\n", sg_style(SG_PLAIN, out));
    for (uint32_t i = 0; i < lines->count; i++) {
        char *const *cells = lines->of[i].cells;

        fputs("  ", out);
        put_cell(cells[PLACE], place, true, out);
        fputs("  ", out);
        put_cell(cells[RUN], run, false, out);
        if (has_reasons) {
            fputs("   ", out);
            sg_format_shorten(cells[LATE], late);
            put_cell(cells[LATE], late, true, out);
            sg_format_shorten_interval(cells[BECAUSE], because);
            fprintf(out, "  %s", cells[BECAUSE]);
        }
        fputc('\n', out);
    }
}

static void lines_clear(struct lines *lines)
{
    for (uint32_t i = 0; i < lines->count; i++) {
        free(lines->of[i].function);
        free(lines->of[i].site);
        for (int cell = 0; cell < CELLS; cell++)
            free(lines->of[i].cells[cell]);
    }
}

void sg_screen_put_more(const struct sg_report *report, uint32_t shown, FILE *out)
{
    const struct sg_waitstates *states = report->waitstates;
    uint64_t more_ns = states->total.wait_ns;
    uint32_t more = states->site_count - shown;

    if (more == 0)
        return;
    for (uint32_t i = 0; i < shown; i++)
        more_ns -= states->sites[i].of.wait_ns;
    fprintf(out, "  %" PRIu32 " more site%s, ", more, more == 1 ? "" : "s");
    sg_screen_put_share(sg_screen_share(more_ns, report->ranks_run_ns), 1, out);
    fputc('\n', out);
}

/* Returns true if some site has no file and line. */
static bool put_waits(const struct sg_report *report, const struct sg_print_options *options,
                      FILE *out)
{
    static const char *const titles[CELLS] = {"Where ranks wait for others", "of run",
                                              "who is late", "because"};
    struct lines lines = {.count = 0};
    uint32_t shown = sg_screen_sites(report, options);

    for (uint32_t i = 0; i < shown; i++) {
        const struct sg_waitstate_site *site = &report->waitstates->sites[i];

        add_line(&lines, site->at.function, &site->at.site);
        for (int cell = RUN; cell < CELLS; cell++) {
            lines.of[i].cells[cell] = cell_of(report, site, cell);
            lines.failed = lines.failed || lines.of[i].cells[cell] == NULL;
        }
    }
    if (!lines.failed)
        print_lines(&lines, titles, out);
    sg_screen_put_more(report, shown, out);
    lines_clear(&lines);
    return lines.has_unknown;
}

/* Likewise. Without events it is not known who waits for whom. */
static bool put_calls(const struct sg_report *report, FILE *out)
{
    static const char *const titles[CELLS] = {"Time in MPI by call site", "of run"};
    const struct sg_calls *calls = report->calls;
    struct lines lines = {.count = 0};

    for (uint32_t i = 0; i < calls->site_count && i < SG_SCREEN_SITES; i++) {
        const struct sg_call_row *row = &calls->sites[i];
        struct sg_format_text text;

        add_line(&lines, row->function, &row->place);
        if (sg_format_open(&text)) {
            sg_screen_put_share(sg_screen_share(row->of.time_ns, report->ranks_run_ns), 1,
                                text.out);
            lines.of[i].cells[RUN] = sg_format_take_clean(&text);
        }
        lines.failed = lines.failed || lines.of[i].cells[RUN] == NULL;
    }
    if (!lines.failed)
        print_lines(&lines, titles, out);
    lines_clear(&lines);
    return lines.has_unknown;
}

void sg_screen_put_no_sites(const struct sg_report *report, FILE *out)
{
    const struct sg_waitstates *states = report->waitstates;

    if (report->rank_count == 1)
        fputs("One rank: it waits for no other.\n", out);
    else if (states != NULL && sg_filter_is_set(report->filter))
        fputs("No rank waited for another in this part of the run.\n", out);
    else if (states != NULL)
        fputs("No rank waited for another.\n", out);
    else if (report->has_events)
        fputs("It is not known who waits for whom: no instance is complete.\n", out);
    else if (report->living > 0)
        fputs("The end of the run shows who waits for whom; until then: stagger watch\n", out);
    else if (report->unrecovered)
        fputs("stagger recover shows who waits for whom: the run ended without an archive.\n", out);
    else
        fputs("It is not known who waits for whom: no events were recorded (STAGGER_TRACE=otf2).\n",
              out);
}

/* Likewise. */
static bool put_table(const struct sg_report *report, const struct sg_print_options *options,
                      FILE *out)
{
    const struct sg_waitstates *states = report->waitstates;

    if (states != NULL && states->site_count > 0)
        return put_waits(report, options, out);
    sg_screen_put_no_sites(report, out);
    if (states == NULL && report->calls != NULL && report->calls->site_count > 0) {
        fputc('\n', out);
        return put_calls(report, out);
    }
    return false;
}

/* ---- what would help, and notes ------------------------------------------------------------- */

static void put_help(const struct sg_report *report, const struct sg_print_options *options,
                     FILE *out)
{
    struct sg_format_text text;
    char *lines, *rest;

    if (!sg_format_open(&text))
        return;
    sg_screen_put_help(report, options, COLUMNS - 2, text.out);
    lines = sg_format_take(&text);
    if (lines != NULL && lines[0] != '\0') {
        fprintf(out, "\n%sWhat would help%s\n", sg_style(SG_BOLD, out), sg_style(SG_PLAIN, out));
        for (char *line = strtok_r(lines, "\n", &rest); line != NULL;
             line = strtok_r(NULL, "\n", &rest))
            fprintf(out, "  %s\n", line);
    }
    free(lines);
}

static void put_notes(const struct sg_report *report, const struct sg_print_options *options,
                      bool has_unknown, FILE *out)
{
    const struct sg_waitstates *states = report->waitstates;
    const char *samples =
        states != NULL
            ? sg_waitstate_samples_note(report, states->sites, sg_screen_sites(report, options))
            : NULL;

    sg_report_put_notes(report, false, out);
    if (samples != NULL)
        fprintf(out, "note: %s\n", samples);
    if (has_unknown)
        fputs("note: " SG_SCREEN_NO_LINES "\n", out);
}

/* ---- open calls ------------------------------------------------------------------------------ */

static void put_open_line(void *context, const char *label, bool is_group, char *text)
{
    size_t before = is_group ? 6 + strlen(label) : 2 + LABEL_COLUMNS;
    FILE *out = context;

    sg_format_shorten(text, before < COLUMNS / 2 ? COLUMNS - before : COLUMNS / 2);
    if (is_group)
        fprintf(out, "    %s: ", label);
    else
        put_label(label, out);
    fprintf(out, "%s\n", text);
}

/* ---- the screen ------------------------------------------------------------------------------ */

void sg_report_print_screen(const struct sg_report *report, const struct sg_print_options *options,
                            FILE *out)
{
    bool has_facts, has_unknown;

    sg_report_put_heading(report, out);
    fputc('\n', out);
    has_facts = sg_open_calls_each(report->open_calls, report, false, put_open_line, out) > 0;
    if (report->efficiency.is_known) {
        put_efficiency(&report->efficiency, out);
        put_times(report, out);
    }
    has_facts = sg_screen_put_facts(report, options->all, out) || has_facts;
    put_rules(report, options->all, out);
    if (has_facts || report->efficiency.is_known || report->rule_count > 0)
        fputc('\n', out);
    has_unknown = put_table(report, options, out);
    put_help(report, options, out);
    fputc('\n', out);
    if (!options->all)
        put_notes(report, options, has_unknown, out);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *because_json(const void *row, const void *context)
{
    char *text = cell_of(context, row, BECAUSE);
    json_t *value = text != NULL && strcmp(text, "-") != 0 ? sg_json_text(text) : NULL;
    bool failed = text == NULL;

    free(text);
    return value != NULL || failed ? value : json_null();
}

static json_t *because_rank_json(const void *row, const void *context)
{
    return sg_waitstate_because_rank(context, row);
}

static json_t *run_json(const void *row, const void *context)
{
    const struct sg_waitstate_site *site = row;
    const struct sg_report *report = context;

    return sg_json_share(site->of.wait_ns, report->ranks_run_ns);
}

static void put_helps(const struct sg_report *report, struct sg_json_writer *writer)
{
    static const struct sg_print_options options = {.top = 0};
    struct sg_format_text text;
    char *lines = NULL, *rest;

    sg_json_begin(writer, "help", '[');
    if (sg_format_open(&text)) {
        sg_screen_put_help(report, &options, 0, text.out);
        lines = sg_format_take(&text);
    }
    for (char *line = lines != NULL ? strtok_r(lines, "\n", &rest) : NULL; line != NULL;
         line = strtok_r(NULL, "\n", &rest))
        sg_json_put(writer, NULL, sg_json_text(line));
    free(lines);
    sg_json_end(writer, ']');
}

SG_REPORT_MEMBER(sg_summary_put)
{
    static const struct sg_column columns[] = {{"run_share", .json = run_json},
                                               {"because", .json = because_json},
                                               {"because_rank", .json = because_rank_json}};
    static const struct sg_columns more = SG_COLUMNS(columns);
    static const struct sg_section sites = {
        .member = "sites",
        .json = {&sg_waitstate_place_columns, &sg_waitstate_site_columns, &more}};
    const struct sg_waitstates *states = report->waitstates;
    uint32_t shown = states != NULL ? sg_screen_sites(report, options) : 0;

    sg_json_begin(writer, "summary", '{');
    sg_json_put(writer, "oversubscribed", json_boolean(sg_report_is_oversubscribed(report)));
    sg_section_put(&sites,
                   states != NULL ? &SG_ROWS(states->sites, shown, report) : &(struct sg_rows){0},
                   writer);
    sg_json_put(writer, "more_sites",
                sg_json_count(states != NULL, states != NULL ? states->site_count - shown : 0));
    put_helps(report, writer);
    sg_json_put(writer, "rules", sg_rule_uses_json(report));
    sg_json_end(writer, '}');
}
