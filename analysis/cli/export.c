/* stagger export: a run's events in the form of another tool. */
#include "cli/command.h"
#include "cli/output_file.h"
#include "core/status.h"
#include "perfetto/perfetto.h"

#include <argp.h>
#include <inttypes.h>

enum { USAGE = 2 };

struct options {
    const char *perfetto;
    const char *path;
};

static const char documentation[] =
    "Writes the events of a run for another tool: with --perfetto as Chrome trace JSON, which "
    "https://ui.perfetto.dev and chrome://tracing open.\n\n"
    "DIR is the directory that a run wrote, or the path of an OTF2 archive (traces.otf2). FILE is "
    "replaced; - is standard output.\v"
    "Exit status: 0, 1 where DIR cannot be read or FILE not be written, 2 on bad usage.";

static const struct argp_option option_table[] = {
    {NULL, 'h', NULL, 0, "the same as --help", -1},
    {"perfetto", 'p', "FILE", 0, "write Chrome trace JSON", 0},
    {0},
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;

    switch (key) {
    case 'h':
        argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
        return 0;
    case 'p':
        options->perfetto = argument;
        return 0;
    case ARGP_KEY_ARG:
        if (options->path != NULL)
            argp_error(state, "one DIR at a time");
        options->path = argument;
        return 0;
    case ARGP_KEY_END:
        if (options->perfetto == NULL)
            argp_error(state, "--perfetto FILE is missing");
        if (options->path == NULL)
            argp_error(state, "DIR is missing");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int sg_command_export(int argc, char **argv)
{
    static const struct argp argp = {option_table, parse_option, "DIR", documentation,
                                     NULL,         NULL,         NULL};
    static char name[] = "stagger export";
    struct options options = {0};
    struct sg_perfetto_counts counts;
    struct sg_output_file file;
    enum sg_status status;

    argv[0] = name;
    argp_err_exit_status = USAGE;
    if (argp_parse(&argp, argc, argv, 0, NULL, &options) != 0)
        return USAGE;
    if (sg_output_file_open(options.perfetto, &file) != SG_OK)
        return 1;
    status = sg_perfetto_write(options.path, true, file.stream, &counts);
    status = sg_output_file_close(&file, status);
    if (status != SG_OK)
        return 1;
    if (counts.dropped_calls > 0)
        sg_log("export: %" PRIu64 " calls of incomplete instances are left out",
               counts.dropped_calls);
    return 0;
}
