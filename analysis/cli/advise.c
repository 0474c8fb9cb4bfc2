/* stagger advise: options, then read the run, replay it, print. */
#include "advise/advise.h"
#include "advise/rules.h"
#include "cli/command.h"
#include "cli/configuration.h"
#include "cli/output_file.h"
#include "cli/runs.h"
#include "cli/usage.h"
#include "core/status.h"
#include "core/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOP_DEFAULT 10

struct options {
    struct sg_advise_options advise;
    bool json;
    const char *rules; /* the file to write; NULL: none */
    uint32_t top;
    char *path; /* owned */
};

static const char text[] =
    "Says which algorithm would have cost less at the call sites of a run: replays the recorded "
    "arrivals with every algorithm that may run there, and writes rules for STAGGER_CONFIG.\n\n"
    "DIR is a directory that a run wrote, or the path of an OTF2 archive "
    "(traces.otf2). " SG_RUNS_TEXT;

static void set_top(const struct sg_usage *usage, const char *value, void *to)
{
    const char *end = value + strlen(value);
    uint64_t number;

    if (sg_text_number(value, end, false, &number) != end || number > UINT32_MAX)
        sg_usage_fault(usage, "--top wants a number, not '%s'", value);
    *(uint32_t *)to = (uint32_t)number;
}

static bool to_stdout(const struct options *options)
{
    return options->rules != NULL && strcmp(options->rules, "-") == 0;
}

static void parse(int argc, char **argv, struct options *options)
{
    const struct sg_command_option table[] = {
        {"output", 'o', "FILE", "write the rules; - is standard output, without the table",
         &options->rules, NULL},
        {"network", 'n', "FILE",
         "costs of another machine: a network of stagger sim, by name or as a file with a slash",
         &options->advise.network, NULL},
        {"top", 't', "N", "show N call sites in full (default: 10); 0: all", &options->top,
         set_top},
        {"json", 'j', NULL, "print JSON (docs/advise-json.md)", &options->json, NULL},
        {0},
    };
    const struct sg_usage usage = {
        .command = "advise",
        .synopsis = "[OPTION...] [DIR]",
        .operand = "DIR",
        .is_optional = true,
        .text = text,
        .end = "Exit status: 0, 1 where DIR cannot be read or the rules cannot be written, 2 on "
               "bad usage.",
        .options = table,
    };
    struct sg_arguments operands;

    operands = sg_usage_read(&usage, argc, argv);
    if (options->json && to_stdout(options))
        sg_usage_fault(&usage, "--json and rules cannot both go to standard output");
    options->path = sg_runs_operand(&usage, &operands);
}

static enum sg_status print(const struct options *options, const struct sg_advice *advice)
{
    return options->json ? sg_advice_print_json(advice, stdout)
                         : sg_advice_print_text(advice, options->top, stdout);
}

static enum sg_status write_rules(const struct options *options, const struct sg_advice *advice)
{
    struct sg_output_file file;
    enum sg_status status = sg_output_file_open(options->rules, &file);
    uint32_t rules;

    if (status != SG_OK)
        return status;
    rules = sg_advice_print_rules(advice, file.stream);
    status = sg_output_file_close(&file, SG_OK);
    if (status == SG_OK && !to_stdout(options) && !options->json)
        printf("%u rule%s in %s; use them with STAGGER_CONFIG=%s\n", (unsigned)rules,
               rules == 1 ? "" : "s", options->rules, options->rules);
    return status;
}

int sg_command_advise(int argc, char **argv)
{
    struct options options = {.advise = {.progress = true}, .top = TOP_DEFAULT};
    struct sg_advice advice;
    char *configuration;
    enum sg_status status;

    parse(argc, argv, &options);
    if (options.path == NULL)
        return 1;
    configuration = sg_read_configuration(options.path);
    options.advise.configuration = configuration;
    status = sg_advise(options.path, &options.advise, &advice);
    free(configuration);
    free(options.path);
    if (status != SG_OK)
        return 1;
    if (!to_stdout(&options))
        status = print(&options, &advice);
    if (status == SG_OK && options.rules != NULL)
        status = write_rules(&options, &advice);
    sg_advice_clear(&advice);
    return status == SG_OK ? 0 : 1;
}
