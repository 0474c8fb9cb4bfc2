/* `stagger report`: parses options, reads the run, sorts and prints. Also prints the brief summary
 * that `stagger run` shows when its program has ended.
 */
#include "cli/elf.h"
#include "cli/main.h"
#include "core/config.h"
#include "core/status.h"
#include "options/options.h"
#include "output/output_file.h"
#include "page/page.h"
#include "processes/processes.h"
#include "report/filter.h"
#include "report/open_calls.h"
#include "report/report.h"
#include "report/report_columns.h"
#include "report/report_print.h"
#include "report/rule_use.h"
#include "report/source_otf2.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct options {
    bool json, rules, csv;
    const char *html; /* output file of the page; NULL: no page */
    const struct sg_column *sort;
    struct sg_print_options rows;
    struct sg_filter filter;
    struct sg_filter why; /* only `site` is used: causes are printed for this site only */
    bool has_why;
    char *path; /* owned */
};

static const char help[] =
    "Shows one screen: the parallel efficiency, where the time of the ranks went, the call sites "
    "where ranks wait for others, who is late there and why, and what would help. Options print "
    "further tables.\n\n"
    "DIR is a run's output directory, or the path of an OTF2 archive (traces.otf2). " SG_RUNS_TEXT
    "\v"
    "Exit status: 0; 1 if DIR cannot be read; 2 on bad usage.";

/* Without a name: the rows. */
static const char *read_csv(const struct sg_option *option, const char *name, void *into,
                            char *fault)
{
    struct options *options = sg_option_place(option, into);
    char names[300] = "";
    size_t used = 0;

    options->csv = true;
    if (name == NULL)
        return NULL;
    for (const struct sg_report_section *const *at = sg_report_sections; *at != NULL; at++) {
        if ((*at)->name == NULL)
            continue;
        if (strcmp((*at)->name, name) == 0) {
            options->rows.table = *at;
            return NULL;
        }
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used > 0 ? ", " : "",
                                 (*at)->name);
    }
    return sg_option_wants(fault, names, name, strlen(name));
}

/* Without a window: all slices. */
static const char *read_slices(const struct sg_option *option, const char *window, void *into,
                               char *fault)
{
    struct sg_print_options *rows = sg_option_place(option, into);

    rows->has_slices = true;
    rows->slices.has_window = window != NULL;
    if (window == NULL || sg_slice_window_parse(window, &rows->slices.first, &rows->slices.last))
        return NULL;
    return "wants FIRST-LAST, with FIRST at most LAST";
}

static const char *read_nodes(const struct sg_option *option, const char *nodes, void *into,
                              char *fault)
{
    struct sg_slices_filter *filter = sg_option_place(option, into);

    filter->has_nodes = true;
    return sg_rank_list_parse(nodes, &filter->nodes) ? NULL : "wants nodes such as 3 or 0-3,8";
}

static const char *read_metrics(const struct sg_option *option, const char *names, void *into,
                                char *fault)
{
    uint32_t *metrics = sg_option_place(option, into);

    *metrics = sg_slice_metrics_parse("report: --metric", names, true);
    return *metrics != 0 ? NULL : "wants metrics such as GETTS,LTTS";
}

static const char *read_part(const struct sg_option *option, const char *text, void *into,
                             char *fault)
{
    unsigned *parts = sg_option_place(option, into);

    *parts |= (unsigned)option->least;
    return NULL;
}

/* Without a site: the causes at all sites. */
static const char *read_why(const struct sg_option *option, const char *site, void *into,
                            char *fault)
{
    struct options *options = sg_option_place(option, into);

    options->has_why = true;
    options->why.site = site;
    return NULL;
}

#define AT(member) offsetof(struct options, member)
#define PART(name, letter, says, ...)                                                              \
    {                                                                                              \
        name, letter, NULL, says, read_part, .at = AT(rows.parts), .least = __VA_ARGS__            \
    }

static const struct sg_option option_table[] = {
    {"json", 'j', NULL, "print JSON (share/doc/stagger/report-json.md)", sg_option_flag,
     .at = AT(json), .excludes = "csv html"},
    {"html", 'H', "FILE", "write an HTML page with charts", sg_option_text, .at = AT(html),
     .excludes = "csv site comm rank time calls distribution slices",
     .because = "covers the whole run"},
    PART("waits", 'W', "print where ranks wait, by call site, kind and awaited call",
         SG_PART_WAITS),
    PART("calls", 'a', "print MPI functions and their call sites, with latencies",
         SG_PART_CALLS | SG_PART_PRIMITIVES),
    PART("collectives", 0, "print how late ranks come to collectives", SG_PART_COLLECTIVES),
    PART("messages", 0, "print messages between ranks", SG_PART_MESSAGES),
    PART("rma", 0, "print one-sided operations between ranks", SG_PART_RMA),
    PART("ranks", 0, "print the ranks", SG_PART_RANKS),
    {"why", 'w', "SITE",
     "print why ranks are late, with SITE in detail at this call site, written as in a rule",
     read_why, .at = 0, .optional = true, .excludes = "json csv html site comm rank time",
     .because = "prints text about the whole run"},
    PART("path", 'P', "print the critical path", SG_PART_PATH),
    PART("trials", 0, "print trials and what auto has learned", SG_PART_TRIALS),
    {"all", 'A', NULL, "print all of these", sg_option_flag, .at = AT(rows.all)},
    {"comms", 'C', NULL, "print a row for each communicator, with --calls and --collectives",
     sg_option_flag, .at = AT(rows.comms)},
    {"csv", 'c', "TABLE",
     "print the rows as CSV, or another table: collectives, functions, calls, messages, "
     "wait-sites, waits,"
     " pairs, path, causes, intervals, primitives, distributions, slices",
     read_csv, .optional = true},
    {"distribution", 'd', "PRIMITIVE",
     "print a function's distributions, recorded with STAGGER_MMDS", sg_option_text,
     .at = AT(rows.distribution)},
    {"slices", 'l', "FIRST-LAST",
     "print the slices of bcs recorded with STAGGER_EMDS: all, or this window", read_slices,
     AT(rows), .optional = true},
    {"node", 'N', "NODES", "print only the slices of these nodes (3, 0-3,7)", read_nodes,
     .at = AT(rows.slices)},
    {"metric", 'm', "METRICS", "print only these metrics of slices (GETTS,LTTS)", read_metrics,
     .at = AT(rows.slices.metrics)},
    {"rules", 'R', NULL, "print what auto has learned, as rules for STAGGER_RULES", sg_option_flag,
     .at = AT(rules), .excludes = "json csv html site comm rank time why",
     .because = "prints rules for the whole run"},
    {"sort", 's', "COLUMN", "sort the rows by this column (default: " SG_COLUMN_DEFAULT ")",
     sg_read_column, AT(sort), .columns = &sg_site_columns},
    {"site", 'S', "SITE", "report only this call site, written as in a rule", sg_option_text,
     .at = AT(filter.site)},
    {"comm", 'M', "COMM", "report only this communicator, written as in a rule", sg_option_text,
     .at = AT(filter.comm)},
    {"rank", 'r', "RANKS", "report only the calls of these ranks (3, 0-3,7)", sg_option_text,
     .at = AT(filter.ranks)},
    {"time", 't', "FROM:TO", "report only the instances that begin in this interval (10ms:1.5s)",
     sg_option_text, .at = AT(filter.time)},
    {"top", 'n', "N", "print only the first N rows (default: all; 500 in an HTML table)",
     sg_option_u32, AT(rows.top), .least = 1, .most = UINT32_MAX},
    {0}};

/* Options that select a part of the text select its table for CSV. */
static void choose_table(struct options *options)
{
    struct sg_print_options *rows = &options->rows;

    if (rows->distribution != NULL)
        rows->table = &sg_distributions_section;
    else if (rows->has_slices)
        rows->table = &sg_slices_section;
    else if ((rows->parts & SG_PART_PRIMITIVES) != 0 &&
             (rows->table == NULL || rows->table == &sg_rows_section))
        rows->table = &sg_primitives_section;
}

/* --why SITE may be two words: a word that is no run is the site. */
static void take_site(struct sg_command_line *line, struct options *options)
{
    const char *first = line->count > 0 ? line->words[0] : NULL;
    const char *suffix = first != NULL ? strrchr(first, '.') : NULL;
    struct stat info;
    bool is_run = first == NULL || (stat(first, &info) == 0 && S_ISDIR(info.st_mode)) ||
                  (suffix != NULL && strcmp(suffix, ".otf2") == 0);

    if (options->has_why && options->why.site == NULL && (line->count == 2 || !is_run)) {
        options->why.site = first;
        line->words++;
        line->count--;
    } else if (line->count > 1) {
        sg_options_fault(line, "unexpected argument '%s'", line->words[1]);
    }
}

/* Columns and communicators are those of collectives, unless other parts are chosen. */
static void choose_parts(const struct sg_command_line *line, struct options *options)
{
    struct sg_print_options *rows = &options->rows;

    if (options->has_why)
        rows->parts |= SG_PART_WHY;
    if (rows->parts == 0 && !rows->all && (rows->comms || sg_options_given(line, "sort")))
        rows->parts = SG_PART_COLLECTIVES;
}

static void parse(int argc, char **argv, struct options *options)
{
    struct sg_command_line line = {.name = "stagger report",
                                   .arguments = "[DIR]",
                                   .documentation = help,
                                   .tables = {{option_table, options}},
                                   .most = 2};
    const struct sg_slices_filter *slices = &options->rows.slices;
    char message[500];

    sg_options_read(&line, argc, argv);
    if (!options->rows.has_slices && !options->json &&
        !(options->csv && options->rows.table == &sg_slices_section) &&
        (slices->has_nodes || slices->metrics != 0))
        sg_options_fault(&line, "--%s needs --slices", slices->has_nodes ? "node" : "metric");
    take_site(&line, options);
    choose_parts(&line, options);
    choose_table(options);
    if (!sg_filter_parse(&options->filter, message, sizeof message) ||
        !sg_filter_parse(&options->why, message, sizeof message))
        sg_options_fault(&line, "%s", message);
    options->path = sg_runs_operand(&line);
}

static enum sg_status print(const struct options *options)
{
    const struct sg_watch watch = {.filter =
                                       sg_filter_is_set(&options->filter) ? &options->filter : NULL,
                                   .calls = true,
                                   .waitstates = true,
                                   .paths = true,
                                   .open_calls = true,
                                   .rules = true};
    struct sg_report report;
    enum sg_status status;

    if (sg_report_read(options->path, true, &watch, &report) != SG_OK)
        return SG_ERR_FORMAT;
    status = sg_report_check_filter(&report, &options->filter);
    if (status == SG_OK)
        status = sg_report_check_filter(&report, &options->why);
    if (status == SG_OK)
        status = sg_report_sort(&report, options->sort);
    if (status == SG_OK && options->why.site != NULL)
        status = sg_causes_print_why(&report, &options->why, stdout);
    else if (status == SG_OK && options->rules)
        status = sg_learned_print_rules(&report, stdout);
    else if (status == SG_OK && options->json)
        status = sg_report_print_json(&report, &options->rows, stdout);
    else if (status == SG_OK && options->csv)
        status = sg_report_print_csv(&report, &options->rows, stdout);
    else if (status == SG_OK)
        status = sg_report_print_text(&report, &options->rows, stdout);
    sg_report_clear(&report);
    return status;
}

/* ---- the page -------------------------------------------------------------------------------- */

static enum sg_status write_page(const struct options *options, struct sg_report *report,
                                 const struct sg_detail *detail, FILE *out)
{
    struct sg_page page = {.report = report,
                           .detail = detail,
                           .row_limit = options->rows.top != 0 ? options->rows.top : SG_PAGE_ROWS,
                           .state_limit =
                               options->rows.top != 0 ? options->rows.top : SG_PAGE_STATES};
    char *configuration = sg_run_configuration(options->path);
    enum sg_status status = sg_report_sort(report, options->sort);

    page.configuration = configuration;
    if (status == SG_OK)
        status = sg_page_write(&page, out);
    free(configuration);
    return status;
}

static enum sg_status make_page(const struct options *options)
{
    struct sg_output_file file;
    struct sg_detail detail;
    struct sg_watch watch;
    struct sg_report report;
    enum sg_status status;

    if (sg_output_file_open(options->html, &file) != SG_OK)
        return SG_ERR_SYSTEM;
    status = sg_detail_create(&detail);
    if (status != SG_OK) {
        sg_log("report: %s", sg_status_text(status));
        return sg_output_file_close(&file, status);
    }
    watch = sg_detail_watch(&detail);
    watch.calls = true;
    watch.open_calls = true;
    watch.rules = true;
    status = sg_report_read(options->path, true, &watch, &report);
    if (status == SG_OK) {
        status = write_page(options, &report, &detail, file.stream);
        sg_report_clear(&report);
    }
    sg_detail_clear(&detail);
    return sg_output_file_close(&file, status);
}

int sg_command_report(int argc, char **argv)
{
    struct options options = {.sort = sg_column_find(sg_site_columns, SG_COLUMN_DEFAULT)};
    enum sg_status status = SG_ERR_MISSING;

    if (sg_processes_join() != 0) {
        sg_source_otf2_serve();
        return 0;
    }
    parse(argc, argv, &options);
    if (options.path != NULL)
        status = options.html != NULL ? make_page(&options) : print(&options);
    sg_filter_clear(&options.filter);
    sg_filter_clear(&options.why);
    free(options.path);
    return status == SG_OK ? 0 : 1;
}

/* ---- the summary of stagger run -------------------------------------------------------------- */

#define RUNS_MAX 64 /* runs of one launch are counted up to this number */
#define LEAST_NS UINT64_C(3000000000)
#define MOST_NS UINT64_C(10000000000)
#define SHARE 20

/* Slurm sets the same variables for a batch script, which is not a rank, except for the step id. */
bool sg_brief_is_rank(void)
{
    static const char *const names[] = {"PMI_RANK",        "PMI_FD",      "PMI_PORT",
                                        "PMI_ID",          "PMIX_RANK",   "OMPI_COMM_WORLD_RANK",
                                        "MPI_LOCALRANKID", "PALS_RANKID", "ALPS_APP_PE",
                                        "SLURM_STEPID"};
    bool is_rank = false;

    for (size_t i = 0; i < sizeof names / sizeof *names && !is_rank; i++)
        is_rank = sg_config_environment(names[i]) != NULL;
    return is_rank;
}

/* True for Open MPI's mpiexec and mpirun, which are links to one program. */
static bool is_open_mpi(const char *word)
{
    char *path = sg_locate_program(word);
    char *real = path != NULL ? realpath(path, NULL) : NULL;
    const char *name = real != NULL ? sg_locate_base(real) : "";
    bool is_one = strcmp(name, "orterun") == 0 || strcmp(name, "prterun") == 0 ||
                  strcmp(name, "prte") == 0 || strstr(name, "openmpi") != NULL;

    free(path);
    free(real);
    return is_one;
}

/* The word that starts Open MPI's launcher; NULL: none does. */
static const char *find_open_mpi(char *const *words)
{
    while (*words != NULL && !is_open_mpi(*words))
        words++;
    return *words;
}

/* Runs in a process of its own, which may be killed at any time. */
static int read_and_say(void *path)
{
    const struct sg_watch watch = {.calls = true,
                                   .waitstates = true,
                                   .paths = true,
                                   .open_calls = true,
                                   .rules = true,
                                   .just_ended = true};
    const struct sg_print_options options = {.top = 0};
    struct sg_report report;
    size_t bytes = 0;
    char *text = NULL;
    FILE *out;

    /* No progress line: a killed process could not erase it from the terminal. */
    if (sg_report_read(path, false, &watch, &report) != SG_OK)
        return 1;
    out = open_memstream(&text, &bytes);
    if (out != NULL) {
        fputc('\n', out);
        sg_report_print_text(&report, &options, out);
        if (fclose(out) == 0)
            fwrite(text, 1, bytes, stderr);
    }
    free(text);
    sg_report_clear(&report);
    return 0;
}

void sg_brief_tell(const char *where, const char *launch, char *const *words, uint64_t took_ns,
                   int exit_status, bool is_told)
{
    char *paths[RUNS_MAX];
    size_t count = sg_runs_find(where, launch, RUNS_MAX, paths);
    uint64_t limit_ns = took_ns / SHARE;
    const char *launcher;
    pid_t reader;

    if (count == 0) {
        sg_log("nothing was recorded: no process called MPI_Init, or a line above says why");
        return;
    }
    if (count == 1)
        sg_open_calls_note_end(paths[0], exit_status, is_told);
    launcher = count > 1 ? find_open_mpi(words) : NULL;
    if (launcher != NULL)
        sg_log("%zu jobs instead of one: %s is Open MPI's launcher, the program uses MPICH: use "
               "mpiexec.mpich",
               count, sg_locate_base(launcher));
    else if (count > 1)
        sg_log("the last of %zu runs, %s:", count, paths[0]);
    reader = launcher == NULL ? sg_child_start(read_and_say, paths[0]) : -1;
    if (reader > 0) {
        if (limit_ns < LEAST_NS)
            limit_ns = LEAST_NS;
        if (limit_ns > MOST_NS)
            limit_ns = MOST_NS;
        if (!sg_child_await_briefly(reader, limit_ns))
            sg_log("the first screen was not finished: stagger report %s", paths[0]);
    }
    for (size_t i = 0; i < count; i++)
        free(paths[i]);
}
