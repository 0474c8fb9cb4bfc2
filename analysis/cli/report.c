/* stagger report: options, then read, sort, print. */
#include "report/report.h"
#include "cli/command.h"
#include "cli/configuration.h"
#include "cli/output_file.h"
#include "core/status.h"
#include "page/page.h"
#include "report/columns.h"
#include "report/print.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { USAGE = 2 };

typedef enum sg_status (*print_function)(const struct sg_report *, uint32_t, FILE *);

struct options {
    print_function print; /* NULL: not asked for */
    const char *html;     /* the page's file; NULL: no page */
    const struct sg_column *sort;
    const char *bad_sort; /* what was asked for in vain */
    uint32_t top;         /* 0: all */
    const char *path;
};

static const char documentation[] =
    "Shows where process skew costs time: for each call site, communicator and operation the skew "
    "of its members' arrivals, the time lost waiting, the time blocked and who is last.\n\n"
    "DIR is the directory that a run wrote, or the path of an OTF2 archive (traces.otf2).\v"
    "Exit status: 0, 1 where DIR cannot be read, 2 on bad usage.";

static const struct argp_option option_table[] = {
    {"json", 'j', NULL, 0, "print JSON (docs/report-json.md)", 0},
    {"html", 'H', "FILE", 0, "write a page with charts to look at in a browser", 0},
    {"csv", 'c', NULL, 0, "print the rows as CSV", 0},
    {"sort", 's', "COLUMN", 0, "sort the rows by this column (default: " SG_COLUMN_DEFAULT ")", 0},
    {"top", 'n', "N", 0, "print the first N rows only (of a page's table: 500)", 0},
    {0},
};

static void set_print(struct options *options, print_function print, struct argp_state *state)
{
    if (options->print != NULL && options->print != print)
        argp_error(state, "--json and --csv exclude each other");
    options->print = print;
}

static void set_top(struct options *options, const char *text, struct argp_state *state)
{
    char *end;
    unsigned long value;

    errno = 0;
    value = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || value < 1 ||
        value > UINT32_MAX)
        argp_error(state, "--top wants a number of rows from 1 up, not '%s'", text);
    options->top = (uint32_t)value;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;

    switch (key) {
    case 'j':
        set_print(options, sg_report_print_json, state);
        return 0;
    case 'c':
        set_print(options, sg_report_print_csv, state);
        return 0;
    case 'H':
        options->html = argument;
        return 0;
    case 's':
        options->sort = sg_column_find(argument);
        options->bad_sort = options->sort == NULL ? argument : NULL;
        return 0;
    case 'n':
        set_top(options, argument, state);
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
    struct sg_report report;
    uint32_t count;
    enum sg_status status;

    if (sg_report_read(options->path, true, &report) != SG_OK)
        return SG_ERR_FORMAT;
    count =
        options->top != 0 && options->top < report.site_count ? options->top : report.site_count;
    status = sg_report_sort(&report, options->sort);
    if (status == SG_OK)
        status = function(&report, count, stdout);
    if (status == SG_OK && (fflush(stdout) != 0 || ferror(stdout))) {
        sg_log("report: cannot write it: %m");
        status = SG_ERR_SYSTEM;
    }
    sg_report_clear(&report);
    return status;
}

/* ---- the page ---------------------------------------------------------------------------------
 */

static enum sg_status write_page(const struct options *options, struct sg_report *report,
                                 const struct sg_detail *detail, FILE *out)
{
    uint32_t top = options->top != 0 ? options->top : SG_PAGE_ROWS;
    struct sg_page page = {.report = report, .detail = detail};
    char *configuration = sg_read_configuration(options->path);
    enum sg_status status = sg_report_sort(report, options->sort);

    page.configuration = configuration;
    page.row_count = top < report->site_count ? top : report->site_count;
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

    argv[0] = name;
    argp_err_exit_status = USAGE;
    if (argp_parse(&argp, argc, argv, 0, NULL, &options) != 0)
        return USAGE;
    if (options.sort == NULL) {
        complain_sort(options.bad_sort);
        return USAGE;
    }
    return (options.html != NULL ? make_page(&options) : print(&options)) == SG_OK ? 0 : 1;
}
