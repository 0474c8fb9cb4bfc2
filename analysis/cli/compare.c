/* stagger compare: options, then read both runs, compare, print. */
#include "compare/compare.h"
#include "cli/command.h"
#include "cli/output_file.h"
#include "core/status.h"
#include "page/page.h"

#include <argp.h>
#include <stdbool.h>

enum { USAGE = 2 };

struct options {
    bool json;
    const char *html; /* NULL: no page */
    const char *paths[2];
    int path_count;
};

static const char documentation[] =
    "Compares two runs call site by call site: time blocked, time waiting and processor time per "
    "call in A and in B, the difference with its 95% interval, and whether it is more than "
    "noise.\n\n"
    "A and B are directories that a run wrote, or paths of OTF2 archives (traces.otf2).\v"
    "Exit status: 0, 1 where A or B cannot be read, 2 on bad usage.";

static const struct argp_option option_table[] = {
    {"json", 'j', NULL, 0, "print JSON (docs/compare-json.md)", 0},
    {"html", 'H', "FILE", 0, "write a page to look at in a browser", 0},
    {0},
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;

    switch (key) {
    case 'j':
        options->json = true;
        return 0;
    case 'H':
        options->html = argument;
        return 0;
    case ARGP_KEY_ARG:
        if (options->path_count == 2)
            argp_error(state, "two runs at a time: A and B");
        options->paths[options->path_count++] = argument;
        return 0;
    case ARGP_KEY_END:
        if (options->path_count < 2)
            argp_error(state, "%s missing", options->path_count == 0 ? "A and B are" : "B is");
        if (options->json && options->html != NULL)
            argp_error(state, "--json and --html exclude each other");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static enum sg_status print(const struct options *options)
{
    struct sg_comparison comparison;
    enum sg_status status = sg_compare(options->paths, true, &comparison);

    if (status != SG_OK)
        return status;
    status = options->json ? sg_comparison_print_json(&comparison, stdout)
                           : sg_comparison_print_text(&comparison, stdout);
    if (status == SG_OK && (fflush(stdout) != 0 || ferror(stdout))) {
        sg_log("compare: cannot write it: %m");
        status = SG_ERR_SYSTEM;
    }
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
    status = sg_compare(options->paths, true, &comparison);
    if (status == SG_OK) {
        status = sg_page_write_comparison(&comparison, file.stream);
        sg_comparison_clear(&comparison);
    }
    return sg_output_file_close(&file, status);
}

int sg_command_compare(int argc, char **argv)
{
    static const struct argp argp = {option_table, parse_option, "A B", documentation,
                                     NULL,         NULL,         NULL};
    static char name[] = "stagger compare";
    struct options options = {0};

    argv[0] = name;
    argp_err_exit_status = USAGE;
    if (argp_parse(&argp, argc, argv, 0, NULL, &options) != 0)
        return USAGE;
    return (options.html != NULL ? make_page(&options) : print(&options)) == SG_OK ? 0 : 1;
}
