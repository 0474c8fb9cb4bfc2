/* `stagger` and `stagger sim`: dispatch to the commands. Also has the two short commands `stagger
 * watch`, which shows a running job, and `stagger bench-merge`, which pools several launches of
 * stagger-bench.
 */
#include "cli/main.h"

#include "bench/bench_merge.h"
#include "core/status.h"
#include "options/options.h"
#include "output/json_output.h"
#include "sim/sim_commands.h"
#include "watch/watch.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int watch(int argc, char **argv);
static int bench_merge(int argc, char **argv);
static int sim(int argc, char **argv);

struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary; /* one line for --help */
};

static const struct command commands[] = {
    {"run", sg_command_run, "run a program under observation"},
    {"watch", watch, "show a running job: which ranks wait where, and for which rank"},
    {"report", sg_command_report, "show where a run's ranks wait, who is late, and why"},
    {"compare", sg_command_compare, "compare two runs, call site by call site"},
    {"advise", sg_command_advise, "estimate which algorithm would have cost less, and where"},
    {"export", sg_command_export, "write a run's events for another tool (Perfetto)"},
    {"recover", sg_command_recover, "make the archive of a run that did not end normally"},
    {"info", sg_command_info, "show algorithms, configuration and this machine's resources"},
    {"doctor", sg_command_doctor, "check this machine for problems"},
    {"sim", sim, "run the protocols between nodes in virtual time"},
    {"arrivals", sg_command_arrivals, "print how late ranks arrived, for stagger-bench to replay"},
    {"bench-merge", bench_merge, "pool several launches of stagger-bench"},
    {0}};

static const struct command sim_commands[] = {
    {"cpu", sg_sim_cpu_command, "processor use of a reduction under skew"},
    {"delay", sg_sim_delay_command, "synchronization delay of a barrier or allreduce"},
    {"bcs", sg_sim_bcs_command, "programs with and without buffered coscheduling"},
    {"lines", sg_sim_lines_command,
     "small collectives in a node, modeled by transfers of cache lines"},
    {"explore", sg_explore_command, "look for interleavings and faults that break a protocol"},
    {"plot", sg_sim_plot_command, "the papers' figures as SVG"},
    {"papers", sg_sim_papers_command, "the papers' results against the simulator's"},
    {0}};

/* Runs the command that argv[1] names, or prints the commands. where: " of sim", or empty. */
static int dispatch(const struct command *list, const char *where, const char *program,
                    const char *head, const char *tail, int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";

    if (argc < 2 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        FILE *out = argc < 2 ? stderr : stdout;

        fprintf(out, "usage: %s COMMAND [ARGUMENTS]\n\n%s\ncommands:\n", program, head);
        for (; list->name != NULL; list++)
            fprintf(out, "  %-11s  %s\n", list->name, list->summary);
        fprintf(out, "\n%s COMMAND --help shows a command's options%s.\n", program, tail);
        return argc < 2 ? SG_OPTIONS_USAGE : 0;
    }
    for (; list->name != NULL; list++) {
        if (strcmp(name, list->name) == 0)
            return list->run(argc - 1, argv + 1);
    }
    sg_log("'%s' is not a command%s; %s --help lists them", name, where, program);
    return SG_OPTIONS_USAGE;
}

static int sim(int argc, char **argv)
{
    return dispatch(sim_commands, " of sim", "stagger sim",
                    "Runs the protocols between nodes in virtual time.\n", "", argc, argv);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--version") == 0) {
        puts("stagger " SG_VERSION);
        return sg_options_finish(0);
    }
    return sg_options_finish(
        dispatch(commands, "", "stagger",
                 "  stagger run mpiexec -n 4 ./app    runs ./app and records it in stagger-app-ID\n"
                 "  stagger report stagger-app-ID     shows where ranks wait, and why\n",
                 ", stagger --version the version.\n"
                 "Environment variables and the grammar of rules: man 7 libstagger",
                 argc, argv));
}

/* ---- stagger watch --------------------------------------------------------------------------- */

#define INTERVAL_LEAST_S 0.1
#define INTERVAL_MOST_S 86400.0

static const char watch_text[] =
    "Shows a running job, without stopping or slowing it: the call sites at which its ranks spend "
    "their time in MPI, how long they wait there and for whom, in the last second and in all. "
    "It ends with the job.\n\n"
    "DIR is the job's output directory. Without DIR: that of the newest running job in the working "
    "directory.\v"
    "On a terminal, q or Ctrl-C quits.\n\n"
    "Exit status: 0; 1 if no job can be read; 2 on bad usage.";

static const char *read_interval(const struct sg_option *option, const char *text, void *into,
                                 char *fault)
{
    char *end;
    double seconds = strtod(text, &end);

    /* Written so that a NaN fails, too. */
    if (end == text || *end != '\0' || !(seconds >= INTERVAL_LEAST_S && seconds <= INTERVAL_MOST_S))
        return sg_option_wants(fault, "seconds from 0.1 to 86400", text, strlen(text));
    *(uint64_t *)sg_option_place(option, into) = (uint64_t)(seconds * 1e9);
    return NULL;
}

#define AT(member) offsetof(struct sg_live_options, member)

static const struct sg_option watch_options[] = {
    {"interval", 'i', "SECONDS", "time between updates (default: 1, of a file 15)", read_interval,
     .at = AT(interval_ns)},
    {"count", 'c', "N", "quit after N updates (default: when the job ends)", sg_option_u64,
     AT(count), .least = 1, .most = UINT64_MAX},
    {"top", 'n', "N", "show only the first N call sites (default: 20, or as many as fit)",
     sg_option_u32, AT(top), .least = 1, .most = UINT32_MAX},
    {"json", 'j', NULL, "print one line of JSON per update (share/doc/stagger/watch-json.md)",
     sg_option_flag, .at = AT(json)},
    {"openmetrics", 'm', "FILE", "write FILE in the OpenMetrics format instead, until the job ends",
     sg_option_text, .at = AT(openmetrics)},
    {0}};

static int watch(int argc, char **argv)
{
    struct sg_live_options options = {0};
    struct sg_command_line line = {.name = "stagger watch",
                                   .arguments = "[DIR]",
                                   .documentation = watch_text,
                                   .tables = {{watch_options, &options}},
                                   .most = 1};
    char *found = NULL;
    enum sg_status status = SG_OK;

    sg_options_read(&line, argc, argv);
    options.directory = sg_options_argument(&line);
    if (options.json && options.openmetrics != NULL)
        sg_options_fault(&line, "--openmetrics cannot be combined with --json");
    if (options.interval_ns == 0)
        options.interval_ns =
            options.openmetrics != NULL ? SG_LIVE_OPENMETRICS_NS : SG_LIVE_INTERVAL_NS;
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

static const struct sg_option merge_options[] = {
    {"json", 'j', NULL, "print JSON (share/doc/stagger/bench-json.md)", sg_option_flag, .at = 0},
    {0}};

static int bench_merge(int argc, char **argv)
{
    bool json = false;
    struct sg_command_line line = {
        .name = "stagger bench-merge",
        .arguments = "FILE...",
        .documentation = "Pools the samples of several launches of the same command of "
                         "stagger-bench --json --samples, on the same number of ranks. Matching "
                         "rows become one, with the spread between the launches.",
        .tables = {{merge_options, &json}},
        .most = INT_MAX};
    json_t *merged;

    sg_options_read(&line, argc, argv);
    if (line.count == 0)
        sg_options_fault(&line, "FILE is missing");
    if (sg_bench_merge(line.words, line.count, &merged) != SG_OK)
        return 1;
    if (json)
        return sg_json_print(merged, 9, "bench-merge", stdout) == SG_OK ? 0 : 1;
    sg_bench_merge_print(merged, stdout);
    json_decref(merged);
    return 0;
}
