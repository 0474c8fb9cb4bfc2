/* stagger report: options, then read, sort, print. */
#include "report/report.h"
#include "cli/command.h"
#include "cli/configuration.h"
#include "cli/output_file.h"
#include "cli/rows.h"
#include "core/status.h"
#include "page/page.h"
#include "report/columns.h"
#include "report/filter.h"
#include "report/print.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

enum { USAGE = 2 };

typedef enum sg_status (*print_function)(const struct sg_report *, const struct sg_print_options *,
                                         FILE *);

struct options {
    print_function print; /* NULL: not asked for */
    const char *html;     /* the page's file; NULL: no page */
    const struct sg_column *sort;
    const char *bad_sort; /* what was asked for in vain */
    struct sg_print_options rows;
    struct sg_filter filter;
    const char *path;
};

static const char documentation[] =
    "Shows where process skew costs time: for each call site, communicator and operation the skew "
    "of its members' arrivals, the time lost waiting, the time blocked and who is last.\n\n"
    "DIR is the directory that a run wrote, or the path of an OTF2 archive (traces.otf2).\v"
    "Exit status: 0, 1 where DIR cannot be read, 2 on bad usage.";

static const struct argp_option option_table[] = {
    {NULL, 'h', NULL, 0, "the same as --help", -1},
    {"json", 'j', NULL, 0, "print JSON (docs/report-json.md)", 0},
    {"html", 'H', "FILE", 0, "write a page with charts to look at in a browser", 0},
    {"comms", 'C', NULL, 0, "print a row for each communicator", 0},
    {"csv", 'c', NULL, 0, "print the rows as CSV", 0},
    {"sort", 's', "COLUMN", 0, "sort the rows by this column (default: " SG_COLUMN_DEFAULT ")", 0},
    {"site", 'S', "SITE", 0, "report this call site only, written as in a rule", 0},
    {"comm", 'M', "COMM", 0, "report this communicator only, likewise", 0},
    {"rank", 'r', "RANKS", 0, "report the calls of these ranks only (3, 0-3,7)", 0},
    {"time", 't', "FROM:TO", 0, "report instances that begin then only (10ms:1.5s)", 0},
    {"top", 'n', "N", 0, "print the first N rows only (of a page's table: 500)", 0},
    {0},
};

static void set_print(struct options *options, print_function print, struct argp_state *state)
{
    if (options->print != NULL && options->print != print)
        argp_error(state, "--json and --csv exclude each other");
    options->print = print;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;
    char message[500];

    switch (key) {
    case 'h':
        argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
        return 0;
    case 'j':
        set_print(options, sg_report_print_json, state);
        return 0;
    case 'c':
        set_print(options, sg_report_print_csv, state);
        return 0;
    case 'S':
        options->filter.site = argument;
        return 0;
    case 'M':
        options->filter.comm = argument;
        return 0;
    case 'r':
        options->filter.ranks = argument;
        return 0;
    case 't':
        options->filter.time = argument;
        return 0;
    case 'C':
        options->rows.comms = true;
        return 0;
    case 'H':
        options->html = argument;
        return 0;
    case 's':
        options->sort = sg_column_find(argument);
        options->bad_sort = options->sort == NULL ? argument : NULL;
        return 0;
    case 'n':
        options->rows.top = sg_rows_top(argument, state);
        return 0;
    case ARGP_KEY_ARG:
        if (options->path != NULL)
            argp_error(state, "one DIR at a time");
        options->path = argument;
        return 0;
    case ARGP_KEY_END:
        if (options->path == NULL)
            argp_error(state, "DIR is missing");
        if (options->html != NULL && options->print != NULL)
            argp_error(state, "--html excludes --json and --csv");
        if (options->html != NULL && sg_filter_is_set(&options->filter))
            argp_error(state, "--html is of the whole run: no --site, --comm, --rank, --time");
        if (!sg_filter_parse(&options->filter, message, sizeof message))
            argp_error(state, "%s", message);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void complain_sort(const char *name)
{
    char known[400] = "";
    size_t used = 0;

    for (size_t i = 0; i < sg_column_count && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, " %s", sg_columns[i].name);
    sg_log("report: no column '%s' to sort by; there are:%s", name, known);
}

static enum sg_status print(const struct options *options)
{
    print_function function = options->print != NULL ? options->print : sg_report_print_text;
    const struct sg_watch watch = {.filter = sg_filter_is_set(&options->filter) ? &options->filter
                                                                                : NULL};
    struct sg_report report;
    enum sg_status status;

    if (sg_report_read_watched(options->path, true, &watch, &report) != SG_OK)
        return SG_ERR_FORMAT;
    status = sg_report_sort(&report, options->sort);
    if (status == SG_OK)
        status = function(&report, &options->rows, stdout);
    sg_report_clear(&report);
    return status;
}

/* ---- the page ---------------------------------------------------------------------------------
 */

static enum sg_status write_page(const struct options *options, struct sg_report *report,
                                 const struct sg_detail *detail, FILE *out)
{
    struct sg_page page = {.report = report,
                           .detail = detail,
                           .row_limit = options->rows.top != 0 ? options->rows.top : SG_PAGE_ROWS};
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
    status = sg_report_read_watched(options->path, true, &watch, &report);
    if (status == SG_OK) {
        status = write_page(options, &report, &detail, file.stream);
        sg_report_clear(&report);
    }
    sg_detail_clear(&detail);
    return sg_output_file_close(&file, status);
}

int sg_command_report(int argc, char **argv)
{
    static const struct argp argp = {option_table, parse_option, "DIR", documentation,
                                     NULL,         NULL,         NULL};
    static char name[] = "stagger report";
    struct options options = {.sort = sg_column_find(SG_COLUMN_DEFAULT)};
    enum sg_status status;

    argv[0] = name;
    argp_err_exit_status = USAGE;
    if (argp_parse(&argp, argc, argv, 0, NULL, &options) != 0)
        return USAGE;
    if (options.sort == NULL) {
        complain_sort(options.bad_sort);
        return USAGE;
    }
    status = options.html != NULL ? make_page(&options) : print(&options);
    sg_filter_clear(&options.filter);
    return status == SG_OK ? 0 : 1;
}
