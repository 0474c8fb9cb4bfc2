/* `stagger advise` and `stagger arrivals`, two commands that replay recorded arrivals. Advise
 * parses its options, reads the run, replays it with other algorithms, and prints the advice or the
 * rules. Arrivals prints how late each rank was in each collective.
 */
#include "advise/advise.h"
#include "bcs/bcs_advice.h"
#include "cli/main.h"
#include "core/status.h"
#include "core/text.h"
#include "options/options.h"
#include "output/format.h"
#include "output/output_file.h"
#include "report/report.h"
#include "report/rule_use.h"
#include "report/source_otf2.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOP_DEFAULT 10

struct options {
    struct sg_advise_options advise;
    struct sg_coscheduling_options coscheduling;
    bool json, bcs;
    int restart;       /* index in restarts */
    const char *rules; /* output file of the rules; NULL: none */
    uint32_t top;
    char *path; /* owned */
};

static const char text[] =
    "Estimates which algorithm would have cost less at each call site of a run: replays the "
    "recorded arrivals with every algorithm that may run there, and writes rules for "
    "STAGGER_CONFIG.\n\n"
    "DIR is a run's output directory, or the path of an OTF2 archive "
    "(traces.otf2). " SG_RUNS_TEXT "\v"
    "Exit status: 0; 1 if DIR cannot be read or the rules cannot be written; 2 on bad usage.";

static const char *const restarts[] = {"phase", "slice", NULL};

#define AT(member) offsetof(struct options, member)

static const struct sg_option option_table[] = {
    {"output", 'o', "FILE", "write the rules to FILE; - is standard output, without the table",
     sg_option_text, .at = AT(rules)},
    {"network", 'n', "FILE",
     "use the costs of another network: the name of one of stagger sim, or a file's path with a "
     "slash",
     sg_option_text, .at = AT(advise.network)},
    {"top", 't', "N", "show the first N call sites in full (default: 10); 0: all", sg_option_u32,
     AT(top), .most = UINT32_MAX},
    {"json", 'j', NULL, "print JSON (share/doc/stagger/advise-json.md)", sg_option_flag,
     .at = AT(json)},
    {"bcs", 'b', NULL, "estimate nonblocking calls and coscheduling in slices instead",
     sg_option_flag, .at = AT(bcs), .excludes = "output"},
    {"slice", 's', "US,...", "with --bcs: slice lengths (default: 100,500)", sg_option_wholes,
     AT(coscheduling.slices_us), .least = 10, .most = 1000000, .needs = "bcs"},
    {"restart", 'r', "phase|slice",
     "with --bcs: calls return with their phase (the default) or the next slice", sg_option_word,
     AT(restart), .words = restarts, .needs = "bcs"},
    {0}};

static bool to_stdout(const struct options *options)
{
    return options->rules != NULL && strcmp(options->rules, "-") == 0;
}

static void parse(int argc, char **argv, struct options *options)
{
    struct sg_command_line line = {.name = "stagger advise",
                                   .arguments = "[DIR]",
                                   .documentation = text,
                                   .tables = {{option_table, options}},
                                   .most = 1};

    sg_options_read(&line, argc, argv);
    if (options->json && to_stdout(options))
        sg_options_fault(&line, "--json and rules cannot both go to standard output");
    options->coscheduling.restart_slice = options->restart == 1;
    options->path = sg_runs_operand(&line);
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
    char word[SG_WORD_BYTES];
    uint32_t rules;

    if (status != SG_OK)
        return status;
    rules = sg_advice_print_rules(advice, file.stream);
    status = sg_output_file_close(&file, SG_OK);
    if (status == SG_OK && !to_stdout(options) && !options->json) {
        printf("%u rule%s in ", (unsigned)rules, rules == 1 ? "" : "s");
        sg_format_put(options->rules, stdout);
        printf("; use them with STAGGER_CONFIG=%s\n",
               sg_text_word(options->rules, word, sizeof word));
    }
    return status;
}

static int coschedule(struct options *options)
{
    struct sg_coscheduling found;
    enum sg_status status;

    options->coscheduling.network = options->advise.network;
    status = sg_coscheduling_find(options->path, &options->coscheduling, &found);
    if (status == SG_OK)
        status = options->json ? sg_coscheduling_print_json(&found, stdout)
                               : sg_coscheduling_print_text(&found, stdout);
    sg_coscheduling_clear(&found);
    free(options->path);
    return status == SG_OK ? 0 : 1;
}

int sg_command_advise(int argc, char **argv)
{
    struct options options = {.advise = {.progress = true},
                              .coscheduling = {.slices_us = {{100, 500}, 2}, .progress = true},
                              .top = TOP_DEFAULT};
    struct sg_advice advice;
    char *configuration;
    enum sg_status status;

    parse(argc, argv, &options);
    if (options.path == NULL)
        return 1;
    if (options.bcs)
        return coschedule(&options);
    configuration = sg_run_configuration(options.path);
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

/* stagger arrivals DIR: prints how late each rank reached each collective of a recorded run, in the
 * format that `stagger-bench --arrival trace:FILE` replays.
 */

enum { EXIT_INPUT = 1 };

struct arrivals {
    char *path;    /* owned */
    int operation; /* SG_OPERATION_COUNT: any */
    uint32_t ranks;
    uint64_t calls, others;
};

static const char *const operations[] = {[SG_OPERATION_BARRIER] = "barrier",
                                         [SG_OPERATION_REDUCE] = "reduce",
                                         [SG_OPERATION_ALLREDUCE] = "allreduce",
                                         [SG_OPERATION_BCAST] = "bcast",
                                         [SG_OPERATION_COUNT] = NULL};

static const struct sg_option arrivals_options[] = {
    {"op", 'o', "OPERATION", "print only barrier, allreduce, reduce or bcast", sg_option_word,
     .at = offsetof(struct arrivals, operation), .words = operations},
    {0}};

/* Only collectives of the whole job: a smaller one has no arrival times for the other ranks. */
static enum sg_status print_instance(void *context, const struct sg_aggregate *aggregate,
                                     const struct sg_seen_instance *seen)
{
    const struct sg_instance *instance = seen->instance;
    struct arrivals *arrivals = context;
    int64_t first_ns = INT64_MAX;
    uint64_t *late_ns;

    if (arrivals->operation != SG_OPERATION_COUNT &&
        (int)instance->operation != arrivals->operation)
        return SG_OK;
    if (instance->size != arrivals->ranks) {
        arrivals->others++;
        return SG_OK;
    }
    late_ns = calloc(instance->size, sizeof *late_ns);
    if (late_ns == NULL)
        return SG_ERR_MEMORY;
    for (uint32_t i = 0; i < instance->size; i++) {
        if (instance->calls[i].begin_ns < first_ns)
            first_ns = instance->calls[i].begin_ns;
    }
    for (uint32_t i = 0; i < instance->size; i++) {
        if (instance->calls[i].rank < instance->size)
            late_ns[instance->calls[i].rank] = (uint64_t)(instance->calls[i].begin_ns - first_ns);
    }
    for (uint32_t rank = 0; rank < instance->size; rank++)
        printf("%s%.3f", rank > 0 ? " " : "", (double)late_ns[rank] / 1e3);
    putchar('\n');
    free(late_ns);
    arrivals->calls++;
    return SG_OK;
}

static enum sg_status note_size(void *context, const struct sg_aggregate *aggregate,
                                const struct sg_seen_instance *seen)
{
    const struct sg_instance *instance = seen->instance;
    struct arrivals *arrivals = context;

    if (instance->size > arrivals->ranks)
        arrivals->ranks = instance->size;
    return SG_OK;
}

typedef enum sg_status (*look)(void *context, const struct sg_aggregate *aggregate,
                               const struct sg_seen_instance *seen);

static enum sg_status read_archive(const char *anchor, look instance, struct arrivals *arrivals)
{
    struct sg_watch watch = {.context = arrivals, .instance = instance};
    struct sg_report report = {0};
    struct sg_progress_line progress;
    enum sg_status status;

    sg_progress_line_start(&progress, true);
    status = sg_source_otf2(anchor, &progress, &watch, &report);
    sg_report_clear(&report);
    return status;
}

static int print_arrivals(struct arrivals *arrivals, const char *anchor)
{
    if (read_archive(anchor, note_size, arrivals) != SG_OK)
        return EXIT_INPUT;
    fputs("# ", stdout);
    sg_format_put(arrivals->path, stdout);
    printf(": arrivals of %u ranks, us after the first\n", arrivals->ranks);
    if (read_archive(anchor, print_instance, arrivals) != SG_OK)
        return EXIT_INPUT;
    if (arrivals->calls == 0) {
        sg_log("arrivals: %s: no matching collective of all %u ranks", arrivals->path,
               arrivals->ranks);
        return EXIT_INPUT;
    }
    return 0;
}

int sg_command_arrivals(int argc, char **argv)
{
    struct arrivals arrivals = {.operation = SG_OPERATION_COUNT};
    struct sg_command_line line = {
        .name = "stagger arrivals",
        .arguments = "[DIR]",
        .documentation = "Prints a line for each collective of all ranks of a run: how late each "
                         "rank arrived, in us after the first, in the order of ranks. "
                         "stagger-bench --arrival trace:FILE replays these arrivals. " SG_RUNS_TEXT,
        .tables = {{arrivals_options, &arrivals}},
        .most = 1};
    int exit_status = EXIT_INPUT;
    char *anchor;

    sg_options_read(&line, argc, argv);
    arrivals.path = sg_runs_operand(&line);
    if (arrivals.path != NULL && sg_report_find_archive(arrivals.path, &anchor) == SG_OK) {
        exit_status = print_arrivals(&arrivals, anchor);
        free(anchor);
    }
    free(arrivals.path);
    return exit_status;
}
