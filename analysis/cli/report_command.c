/* `stagger report`: parses options, reads the run, sorts and prints. Also prints the brief summary
 * that `stagger run` shows when its program has ended.
 */
#include "cli/report_command.h"

#include "cli/child.h"
#include "cli/compare_command.h"
#include "cli/info_command.h"
#include "cli/main.h"
#include "cli/usage.h"
#include "core/config.h"
#include "core/status.h"
#include "output/output_file.h"
#include "page/page.h"
#include "report/filter.h"
#include "report/report.h"
#include "report/report_columns.h"
#include "report/report_print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct options {
    bool json, csv, rules;
    const char *html; /* output file of the page; NULL: no page */
    const struct sg_column *sort;
    struct sg_print_options rows;
    struct sg_filter filter;
    struct sg_filter why; /* only `site` is used: causes are printed for this site only */
    char *path;           /* owned */
};

static const char help[] =
    "Shows where process skew costs time: for each call site, communicator and operation the skew "
    "of its members' arrivals, the time lost waiting, the time blocked and who is last.\n\n"
    "DIR is the directory that a run wrote, or the path of an OTF2 archive "
    "(traces.otf2). " SG_RUNS_TEXT;

static void set_sort(const struct sg_usage *usage, const char *name, void *to)
{
    *(const struct sg_column **)to = sg_usage_column(usage, "column", name, sg_site_columns);
}

/* Without a name: the rows. */
static void set_csv(const struct sg_usage *usage, const char *name, void *to)
{
    const struct sg_report_section *const *section = sg_report_sections;
    struct options *options = to;
    char names[300] = "";

    options->csv = true;
    if (name == NULL)
        return;
    for (; *section != NULL; section++) {
        if ((*section)->name == NULL)
            continue;
        if (strcmp((*section)->name, name) == 0)
            break;
        snprintf(names + strlen(names), sizeof names - strlen(names), " %s", (*section)->name);
    }
    if (*section == NULL)
        sg_usage_fault(usage, "no table '%s' for CSV; there are:%s", name, names);
    options->rows.table = *section;
}

/* Without a window: all slices. */
static void set_slices(const struct sg_usage *usage, const char *window, void *to)
{
    struct sg_print_options *rows = to;

    rows->has_slices = true;
    rows->slices.has_window = window != NULL;
    if (window != NULL && !sg_slice_window_parse(window, &rows->slices.first, &rows->slices.last))
        sg_usage_fault(usage, "--slices wants FIRST-LAST, of which FIRST is not the greater");
}

static void set_nodes(const struct sg_usage *usage, const char *nodes, void *to)
{
    struct sg_slices_filter *filter = to;

    filter->has_nodes = true;
    if (!sg_rank_list_parse(nodes, &filter->nodes))
        sg_usage_fault(usage, "--node wants nodes such as 3 or 0-3,8");
}

static void set_metrics(const struct sg_usage *usage, const char *names, void *to)
{
    uint32_t *metrics = to;

    *metrics = sg_slice_metrics_parse("report: --metric", names, true);
    if (*metrics == 0)
        sg_usage_fault(usage, "--metric wants metrics such as GETTS,LTTS");
}

static void check(const struct sg_usage *usage, struct options *options)
{
    char message[500];

    if (options->json && options->csv)
        sg_usage_fault(usage, "--json and --csv exclude each other");
    if (options->rules && (options->json || options->csv || options->html != NULL ||
                           sg_filter_is_set(&options->filter) || options->why.site != NULL))
        sg_usage_fault(usage, "--rules prints rules alone, of the whole run: no other option");
    if (options->html != NULL && (options->json || options->csv))
        sg_usage_fault(usage, "--html excludes --json and --csv");
    if (options->html != NULL && sg_filter_is_set(&options->filter))
        sg_usage_fault(usage, "--html is of the whole run: no --site, --comm, --rank, --time");
    if (options->html != NULL && (options->rows.primitives || options->rows.distribution != NULL))
        sg_usage_fault(usage, "--html excludes --calls and --distribution");
    if (options->csv && (options->rows.table == NULL || options->rows.table == &sg_rows_section) &&
        options->rows.primitives)
        options->rows.table = &sg_primitives_section;
    if (options->csv && options->rows.has_slices)
        options->rows.table = &sg_slices_section;
    if (options->html != NULL && options->rows.has_slices)
        sg_usage_fault(usage, "--html excludes --slices");
    if (!options->rows.has_slices && !options->json &&
        !(options->csv && options->rows.table == &sg_slices_section) &&
        (options->rows.slices.has_nodes || options->rows.slices.metrics != 0))
        sg_usage_fault(usage, "%s is of --slices",
                       options->rows.slices.has_nodes ? "--node" : "--metric");
    if (options->csv && options->rows.distribution != NULL)
        options->rows.table = &sg_distributions_section;
    if (options->why.site != NULL && (options->json || options->csv || options->html != NULL ||
                                      sg_filter_is_set(&options->filter)))
        sg_usage_fault(usage,
                       "--why prints text of the whole run: no --json, --csv, --html, --site, "
                       "--comm, --rank, --time");
    if (!sg_filter_parse(&options->filter, message, sizeof message) ||
        !sg_filter_parse(&options->why, message, sizeof message))
        sg_usage_fault(usage, "%s", message);
}

static void parse(int argc, char **argv, struct options *options)
{
    const struct sg_command_option table[] = {
        {"json", 'j', NULL, "print JSON (docs/report-json.md)", &options->json, NULL},
        {"html", 'H', "FILE", "write a page with charts, for a browser", &options->html, NULL},
        {"comms", 'C', NULL, "print a row for each communicator", &options->rows.comms, NULL},
        {"csv", 'c', "[=TABLE]",
         "print the rows as CSV, or another table: collectives, functions, calls, messages, waits,"
         " pairs, path, causes, intervals, primitives, distributions, slices",
         options, set_csv},
        {"calls", 'a', NULL,
         "print MPI functions' latencies, computation granularity and communication overhead",
         &options->rows.primitives, NULL},
        {"distribution", 'd', "PRIMITIVE",
         "print the distributions that STAGGER_MMDS kept of a function",
         &options->rows.distribution, NULL},
        {"slices", 'l', "[=FIRST-LAST]",
         "print the slices of bcs that STAGGER_EMDS kept, or those of this window", &options->rows,
         set_slices},
        {"node", 'N', "NODES", "print slices of these nodes only (3, 0-3,7)", &options->rows.slices,
         set_nodes},
        {"metric", 'm', "METRICS", "print these metrics of slices only (GETTS,LTTS)",
         &options->rows.slices.metrics, set_metrics},
        {"rules", 'R', NULL, "print what auto has learned, as rules for STAGGER_RULES",
         &options->rules, NULL},
        {"sort", 's', "COLUMN", "sort the rows by this column (default: " SG_COLUMN_DEFAULT ")",
         &options->sort, set_sort},
        {"why", 'w', "SITE", "print why ranks are late at this call site, written as in a rule",
         &options->why.site, NULL},
        {"site", 'S', "SITE", "report this call site only, written as in a rule",
         &options->filter.site, NULL},
        {"comm", 'M', "COMM", "report this communicator only, written as in a rule",
         &options->filter.comm, NULL},
        {"rank", 'r', "RANKS", "report the calls of these ranks only (3, 0-3,7)",
         &options->filter.ranks, NULL},
        {"time", 't', "FROM:TO", "report the instances that begin then only (10ms:1.5s)",
         &options->filter.time, NULL},
        {"top", 'n', "N", "print the first N rows only (default: all; 500 in a page's table)",
         &options->rows.top, sg_usage_set_top},
        {0},
    };
    const struct sg_usage usage = {
        .command = "report",
        .synopsis = "[OPTION...] [DIR]",
        .operand = "DIR",
        .is_optional = true,
        .text = help,
        .end = "Exit status: 0, 1 where DIR cannot be read, 2 on bad usage.",
        .options = table,
    };
    struct sg_arguments operands;

    operands = sg_usage_read(&usage, argc, argv);
    check(&usage, options);
    options->path = sg_runs_operand(&usage, &operands);
}

static enum sg_status print(const struct options *options)
{
    const struct sg_watch watch = {.filter =
                                       sg_filter_is_set(&options->filter) ? &options->filter : NULL,
                                   .calls = true,
                                   .waitstates = true,
                                   .paths = true};
    struct sg_report report;
    enum sg_status status;

    if (sg_report_read(options->path, true, &watch, &report) != SG_OK)
        return SG_ERR_FORMAT;
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
    char *configuration = sg_read_configuration(options->path);
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
#define LEAST_NS UINT64_C(200000000)
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

static void say_lines(char *text)
{
    char *rest;

    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest))
        sg_log("%s", line);
}

/* Runs in a process of its own, which may be killed at any time. */
static int read_and_say(void *path)
{
    const struct sg_watch watch = {.calls = true, .waitstates = true};
    struct sg_report report;
    size_t bytes = 0;
    char *text = NULL;
    FILE *out;

    /* No progress line: a killed process could not erase it from the terminal. */
    if (sg_report_read(path, false, &watch, &report) != SG_OK)
        return 1;
    out = open_memstream(&text, &bytes);
    if (out != NULL) {
        sg_report_print_brief(&report, out);
        if (fclose(out) == 0)
            say_lines(text);
    }
    free(text);
    sg_report_clear(&report);
    return 0;
}

void sg_brief_tell(const char *where, const char *launch, uint64_t took_ns)
{
    char *paths[RUNS_MAX];
    size_t count = sg_runs_find(where, launch, RUNS_MAX, paths);
    uint64_t limit_ns = took_ns / SHARE;
    pid_t reader;

    if (count == 0)
        return;
    if (count > 1)
        sg_log("the last of %zu runs, %s:", count, paths[0]);
    reader = sg_child_start(read_and_say, paths[0]);
    if (reader > 0) {
        limit_ns = limit_ns < LEAST_NS ? LEAST_NS : limit_ns > MOST_NS ? MOST_NS : limit_ns;
        sg_child_await_briefly(reader, limit_ns);
    }
    for (size_t i = 0; i < count; i++)
        free(paths[i]);
}
