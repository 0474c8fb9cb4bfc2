/* `stagger sim`: dispatches to the simulator's commands. */
#include "cli/main.h"
#include "core/status.h"
#include "sim/sim_commands.h"

#include <stdio.h>
#include <string.h>

static const struct sg_command commands[] = {
    {"cpu", sg_sim_cpu_command, "processor use of a reduction under skew"},
    {"delay", sg_sim_delay_command, "synchronization delay of a barrier or allreduce"},
    {"bcs", sg_sim_bcs_command, "programs under buffered coscheduling and as usual"},
    {"lines", sg_sim_lines_command, "small collectives in a node, by transfers of cache lines"},
    {"explore", sg_explore_command, "look for interleavings and faults that break a protocol"},
    {"plot", sg_sim_plot_command, "the papers' figures as SVG"},
    {"papers", sg_sim_papers_command, "the papers' results against the simulator's"},
};

static void print_help(void)
{
    puts("usage: stagger sim COMMAND [ARGUMENTS]\n"
         "\n"
         "Runs the protocols between nodes in virtual time.\n"
         "\n"
         "commands:");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        printf("  %-8s  %s\n", commands[i].name, commands[i].summary);
    puts("\nstagger sim COMMAND --help shows a command's options.");
}

int sg_command_sim(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";

    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        print_help();
        return 0;
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(name, commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    }
    if (argc > 1)
        sg_log("'%s' is not a command of sim; stagger sim --help lists them", name);
    else
        sg_log("a command is missing; stagger sim --help lists them");
    return 2;
}
