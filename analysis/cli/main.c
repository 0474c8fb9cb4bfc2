/* `stagger`: picks the command. */
#include "cli/command.h"
#include "cli/usage.h"
#include "core/status.h"

#include <stdio.h>
#include <string.h>

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
