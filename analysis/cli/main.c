/* `stagger`: dispatches to the commands. Also has the two short commands `stagger watch`, which
 * shows a running job, and `stagger bench-merge`, which pools several launches of stagger-bench.
 */
#include "cli/main.h"

#include "bench/bench_merge.h"
#include "cli/usage.h"
#include "core/status.h"
#include "output/json_output.h"
#include "watch/watch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int sg_command_watch(int argc, char **argv);
static int sg_command_bench_merge(int argc, char **argv);

static const struct sg_command commands[] = {
    {"run", sg_command_run, "run a program under observation"},
    {"watch", sg_command_watch, "show a running job: who waits where, and for whom"},
    {"report", sg_command_report, "show where skew costs time in an output directory"},
    {"compare", sg_command_compare, "compare two runs, call site by call site"},
    {"advise", sg_command_advise, "say which algorithm would have cost less, and where"},
    {"export", sg_command_export, "write a run's events for another tool (Perfetto)"},
    {"recover", sg_command_recover, "make the archive of a run that did not end well"},
    {"info", sg_command_info, "show algorithms, configuration and what this machine has"},
    {"doctor", sg_command_doctor, "look for what can be wrong on this machine"},
    {"sim", sg_command_sim, "run the protocols between nodes in virtual time"},
    {"arrivals", sg_command_arrivals, "show how late ranks came, for stagger-bench to replay"},
    {"bench-merge", sg_command_bench_merge, "pool several launches of stagger-bench"},
};

static void print_help(void)
{
    puts("usage: stagger COMMAND [ARGUMENTS]\n"
         "\n"
         "  stagger run mpiexec -n 4 ./app    runs ./app, observed, into stagger-app-ID\n"
         "  stagger report stagger-app-ID     shows where skew cost time\n"
         "\n"
         "commands:");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        printf("  %-11s  %s\n", commands[i].name, commands[i].summary);
    puts("\n"
         "stagger COMMAND --help shows a command's options, stagger --version the version.\n"
         "Environment variables and the grammar of rules: man 7 libstagger.");
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";

    if (strcmp(name, "--version") == 0) {
        puts("stagger " SG_VERSION);
        return sg_usage_finish(0);
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        print_help();
        return sg_usage_finish(0);
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(name, commands[i].name) == 0)
            return sg_usage_finish(commands[i].run(argc - 1, argv + 1));
    }
    if (argc > 1)
        sg_log("'%s' is not a command; stagger --help lists them", name);
    else
        sg_log("a command is missing; stagger --help lists them");
    return SG_USAGE_STATUS;
}

/* ---- stagger watch --------------------------------------------------------------------------- */

#define INTERVAL_LEAST_S 0.1
#define INTERVAL_MOST_S 86400.0

static const char text[] =
    "Shows a running job, without stopping or slowing it: the call sites at which its ranks spend "
    "their time in MPI, how long they wait there and for whom, in the last second and in all. "
    "It ends with the job.\n\n"
    "DIR is the job's output directory. Without DIR: the one in the working directory in which a "
    "job runs; of several that of the newest job.";

static void set_interval(const struct sg_usage *usage, const char *value, void *to)
{
    char *end;
    double seconds = strtod(value, &end);

    if (end == value || *end != '\0' || !isfinite(seconds) || seconds < INTERVAL_LEAST_S ||
        seconds > INTERVAL_MOST_S)
        sg_usage_fault(usage, "--interval wants seconds from %g to %g, not '%s'", INTERVAL_LEAST_S,
                       INTERVAL_MOST_S, value);
    *(uint64_t *)to = (uint64_t)(seconds * 1e9);
}

static void set_count(const struct sg_usage *usage, const char *value, void *to)
{
    char *end;
    long long count = strtoll(value, &end, 10);

    if (end == value || *end != '\0' || count < 1)
        sg_usage_fault(usage, "--count wants a number from 1 up, not '%s'", value);
    *(uint64_t *)to = (uint64_t)count;
}

static void parse(int argc, char **argv, struct sg_live_options *options)
{
    const struct sg_command_option table[] = {
        {"interval", 'i', "SECONDS", "show new figures so often (default: 1)",
         &options->interval_ns, set_interval},
        {"count", 'c', "N", "show figures so many times, and leave (default: until the job ends)",
         &options->count, set_count},
        {"top", 'n', "N", "show the first N call sites only (default: 20, or what fits)",
         &options->top, sg_usage_set_top},
        {"json", 'j', NULL, "print an object of JSON on a line each time (docs/watch-json.md)",
         &options->json, NULL},
        {0},
    };
    const struct sg_usage usage = {
        .command = "watch",
        .synopsis = "[OPTION...] [DIR]",
        .operand = "DIR",
        .many = true,
        .text = text,
        .end = "On a terminal q or Ctrl-C leaves.\n\nExit status: 0, 1 where no job can be read, 2 "
               "on bad usage.",
        .options = table,
    };
    struct sg_arguments operands = sg_usage_read(&usage, argc, argv);

    if (operands.count > 1)
        sg_usage_fault(&usage, "one DIR at a time");
    if (operands.count == 1)
        options->directory = operands.words[0];
}

static int sg_command_watch(int argc, char **argv)
{
    struct sg_live_options options = {.interval_ns = UINT64_C(1000000000)};
    char *found = NULL;
    enum sg_status status = SG_OK;

    parse(argc, argv, &options);
    if (options.directory == NULL) {
        status = sg_live_find(".", &found);
        options.directory = found;
    }
    if (status == SG_OK)
        status = sg_live_show(&options);
    free(found);
    return status == SG_OK ? 0 : 1;
}

/* ---- stagger bench-merge --------------------------------------------------------------------- */

static int sg_command_bench_merge(int argc, char **argv)
{
    bool json = false;
    const struct sg_command_option table[] = {
        {"json", 'j', NULL, "print JSON (docs/bench-json.md)", &json, NULL}, {0}};
    const struct sg_usage usage = {
        .command = "bench-merge",
        .synopsis = "[--json] FILE...",
        .operand = "FILE",
        .many = true,
        .text = "Pools the samples of several launches of stagger-bench --json --samples, of one "
                "command on as many ranks: rows of the same thing become one, with the spread "
                "between the launches.",
        .options = table,
    };
    struct sg_arguments files = sg_usage_read(&usage, argc, argv);
    json_t *merged;

    if (files.count == 0)
        sg_usage_fault(&usage, "no files");
    if (sg_bench_merge(files.words, files.count, &merged) != SG_OK)
        return 1;
    if (json)
        return sg_json_print(merged, 9, "bench-merge", stdout) == SG_OK ? 0 : 1;
    sg_bench_merge_print(merged, stdout);
    json_decref(merged);
    return 0;
}
