/* stagger compare: options, then read the runs, compare, print. */
#include "cli/command.h"
#include "cli/output_file.h"
#include "cli/rows.h"
#include "compare/columns.h"
#include "core/status.h"
#include "page/page.h"

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { USAGE = 2 };

typedef enum sg_status (*print_function)(const struct sg_comparison *, FILE *);

struct options {
    print_function print; /* NULL: not asked for */
    const char *html;     /* NULL: no page */
    const struct sg_compared_column *sort;
    const char *bad_sort; /* what was asked for in vain */
    uint32_t top;         /* 0: all */
    struct sg_run_paths sides[2];
    /* Behind "--": argp would move what is there, and nobody could tell the sides apart. */
    char **behind;
    uint32_t behind_count;
};

static const char documentation[] =
    "Compares two runs call site by call site: time blocked, time waiting and processor time per "
    "call in A and in B, the difference with its 95% interval, and whether it is more than "
    "noise.\n\n"
    "A and B are directories that a run wrote, or paths of OTF2 archives (traces.otf2). With "
    "several runs a side (A1 A2 -- B1 B2) figures are means over a side's runs and noise is what "
    "differs from run to run.\v"
    "Exit status: 0, 1 where A or B cannot be read, 2 on bad usage.";

static const struct argp_option option_table[] = {
    {NULL, 'h', NULL, 0, "the same as --help", -1},
    {"json", 'j', NULL, 0, "print JSON (docs/compare-json.md)", 0},
    {"html", 'H', "FILE", 0, "write a page to look at in a browser", 0},
    {"csv", 'c', NULL, 0, "print the rows as CSV", 0},
    {"sort", 's', "FIELD", 0,
     "sort the rows by this field (default: " SG_COMPARED_COLUMN_DEFAULT ")", 0},
    {"top", 'n', "N", 0, "print the first N rows only (of a page's tables: 500)", 0},
    {0},
};

static void set_print(struct options *options, print_function print, struct argp_state *state)
{
    if (options->print != NULL && options->print != print)
        argp_error(state, "--json and --csv exclude each other");
    options->print = print;
}

/* Two paths need no "--" between them. */
static void divide(struct options *options, struct argp_state *state)
{
    struct sg_run_paths *a = &options->sides[0], *b = &options->sides[1];
    struct sg_run_paths behind = {(const char *const *)options->behind, options->behind_count};

    if (a->count == 0)
        *a = behind;
    else
        *b = behind;
    if (b->paths == NULL && a->count > 2)
        argp_error(state, "two runs at a time, or several a side: A1 A2 -- B1 B2");
    if (b->paths == NULL && a->count == 2) {
        *b = (struct sg_run_paths){a->paths + 1, 1};
        a->count = 1;
    }
    if (b->count == 0)
        argp_error(state, "%s missing", a->count == 0 ? "A and B are" : "B is");
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;

    switch (key) {
    case 'h':
        argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
        return 0;
    case 'j':
        set_print(options, sg_comparison_print_json, state);
        return 0;
    case 'c':
        set_print(options, sg_comparison_print_csv, state);
        return 0;
    case 's':
        options->sort = sg_compared_column_find(argument);
        options->bad_sort = options->sort == NULL ? argument : NULL;
        return 0;
    case 'n':
        options->top = sg_rows_top(argument, state);
        return 0;
    case 'H':
        options->html = argument;
        return 0;
    case ARGP_KEY_ARGS:
        options->sides[0] = (struct sg_run_paths){(const char *const *)&state->argv[state->next],
                                                  (uint32_t)(state->argc - state->next)};
        return 0;
    case ARGP_KEY_END:
        divide(options, state);
        if (options->html != NULL && options->print != NULL)
            argp_error(state, "--html and --%s exclude each other",
                       options->print == sg_comparison_print_json ? "json" : "csv");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void complain_sort(const char *name)
{
    char known[400] = "";
    size_t used = 0;

    for (size_t i = 0; i < sg_compared_column_count && used < sizeof known; i++)
        used +=
            (size_t)snprintf(known + used, sizeof known - used, " %s", sg_compared_columns[i].name);
    sg_log("compare: no field '%s' to sort by; there are:%s", name, known);
}

/* The rows that are asked for, in their order. */
static enum sg_status read_runs(const struct options *options, struct sg_comparison *out)
{
    enum sg_status status = sg_compare(options->sides, true, out);

    if (status != SG_OK)
        return status;
    status = sg_comparison_sort(out, options->sort);
    if (status == SG_OK) {
        sg_comparison_keep(out, options->top);
    } else {
        sg_log("compare: %s", sg_status_text(status));
        sg_comparison_clear(out);
    }
    return status;
}

static enum sg_status print(const struct options *options)
{
    print_function function = options->print != NULL ? options->print : sg_comparison_print_text;
    struct sg_comparison comparison;
    enum sg_status status = read_runs(options, &comparison);

    if (status != SG_OK)
        return status;
    status = function(&comparison, stdout);
    sg_comparison_clear(&comparison);
    return status;
}

static enum sg_status make_page(const struct options *options)
{
    struct sg_output_file file;
    struct sg_comparison comparison;
    enum sg_status status = sg_output_file_open(options->html, &file);

    if (status != SG_OK)
        return status;
    status = read_runs(options, &comparison);
    if (status == SG_OK) {
        status = sg_page_write_comparison(
            &comparison, options->top != 0 ? options->top : SG_PAGE_ROWS, file.stream);
        sg_comparison_clear(&comparison);
    }
    return sg_output_file_close(&file, status);
}

int sg_command_compare(int argc, char **argv)
{
    static const struct argp argp = {
        option_table, parse_option, "A... [--] B...", documentation, NULL, NULL, NULL};
    static char name[] = "stagger compare";
    struct options options = {.sort = sg_compared_column_find(SG_COMPARED_COLUMN_DEFAULT)};

    argv[0] = name;
    argp_err_exit_status = USAGE;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--") == 0) {
            options.behind = &argv[i + 1];
            options.behind_count = (uint32_t)(argc - i - 1);
            argc = i;
        }
    }
    if (argp_parse(&argp, argc, argv, 0, NULL, &options) != 0)
        return USAGE;
    if (options.sort == NULL) {
        complain_sort(options.bad_sort);
        return USAGE;
    }
    return (options.html != NULL ? make_page(&options) : print(&options)) == SG_OK ? 0 : 1;
}
