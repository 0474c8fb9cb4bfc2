/* stagger advise: options, then read the run, replay it, print. */
#include "advise/advise.h"
#include "cli/command.h"
#include "cli/configuration.h"
#include "cli/output_file.h"
#include "core/status.h"
#include "core/text.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

enum { USAGE = 2, KEY_NETWORK = 'n', KEY_TOP = 't' };

#define TOP_DEFAULT 10

struct options {
    struct sg_advise_options advise;
    bool json;
    const char *rules; /* the file to write; NULL: none */
    uint32_t top;
    const char *path;
};

static const char documentation[] =
    "Says which algorithm would have cost less at the call sites of a run: replays the recorded "
    "arrivals with every algorithm that may run there, and writes rules for STAGGER_CONFIG.\n\n"
    "DIR is a directory that a run wrote, or the path of an OTF2 archive (traces.otf2).\v"
    "Exit status: 0, 1 where DIR cannot be read or the rules cannot be written, 2 on bad usage.";

static const struct argp_option option_table[] = {
    {NULL, 'h', NULL, 0, "the same as --help", -1},
    {"output", 'o', "FILE", 0, "write the rules; - is standard output, without the table", 0},
    {"network", KEY_NETWORK, "FILE", 0,
     "costs of another machine: a network of stagger sim, by name or as a file with a slash", 0},
    {"top", KEY_TOP, "N", 0, "show so many in full (10); 0: all", 0},
    {"json", 'j', NULL, 0, "print JSON (docs/advise-json.md)", 0},
    {0},
};

static void parse_top(struct options *options, const char *text, struct argp_state *state)
{
    const char *end = text + strlen(text);
    uint64_t value;

    if (sg_text_number(text, end, false, &value) != end || value > UINT32_MAX)
        argp_error(state, "--top wants a number, not '%s'", text);
    options->top = (uint32_t)value;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;

    switch (key) {
    case 'h':
        argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
        return 0;
    case 'j':
        options->json = true;
        return 0;
    case 'o':
        options->rules = argument;
        return 0;
    case KEY_NETWORK:
        options->advise.network = argument;
        return 0;
    case KEY_TOP:
        parse_top(options, argument, state);
        return 0;
    case ARGP_KEY_ARG:
        if (options->path != NULL)
            argp_error(state, "one run at a time");
        options->path = argument;
        return 0;
    case ARGP_KEY_END:
        if (options->path == NULL)
            argp_error(state, "DIR is missing");
        if (options->json && options->rules != NULL && strcmp(options->rules, "-") == 0)
            argp_error(state, "--json and rules cannot both go to standard output");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static enum sg_status print(const struct options *options, const struct sg_advice *advice)
{
    enum sg_status status = options->json ? sg_advice_print_json(advice, stdout)
                                          : sg_advice_print_text(advice, options->top, stdout);

    return status;
}

static enum sg_status write_rules(const struct options *options, const struct sg_advice *advice)
{
    bool to_file = strcmp(options->rules, "-") != 0;
    struct sg_output_file file;
    enum sg_status status = sg_output_file_open(options->rules, &file);
    uint32_t rules;

    if (status != SG_OK)
        return status;
    rules = sg_advice_print_rules(advice, file.stream);
    status = sg_output_file_close(&file, SG_OK);
    if (status == SG_OK && to_file && !options->json)
        printf("%u rule%s in %s; use them with STAGGER_CONFIG=%s\n", (unsigned)rules,
               rules == 1 ? "" : "s", options->rules, options->rules);
    return status;
}

int sg_command_advise(int argc, char **argv)
{
    static const struct argp argp = {option_table, parse_option, "DIR", documentation,
                                     NULL,         NULL,         NULL};
    static char name[] = "stagger advise";
    struct options options = {.advise = {.progress = true}, .top = TOP_DEFAULT};
    struct sg_advice advice;
    char *configuration;
    enum sg_status status;

    argv[0] = name;
    argp_err_exit_status = USAGE;
    if (argp_parse(&argp, argc, argv, 0, NULL, &options) != 0)
        return USAGE;
    configuration = sg_read_configuration(options.path);
    options.advise.configuration = configuration;
    status = sg_advise(options.path, &options.advise, &advice);
    free(configuration);
    if (status != SG_OK)
        return 1;
    if (options.rules == NULL || strcmp(options.rules, "-") != 0)
        status = print(&options, &advice);
    if (status == SG_OK && options.rules != NULL)
        status = write_rules(&options, &advice);
    sg_advice_clear(&advice);
    return status == SG_OK ? 0 : 1;
}
