/* The commands of `stagger sim`; argv[0] is the command's own name. They return the exit status,
 * like those of cli/main.h.
 */
#ifndef SG_SIM_SIM_COMMANDS_H
#define SG_SIM_SIM_COMMANDS_H

int sg_sim_cpu_command(int argc, char **argv);
int sg_sim_delay_command(int argc, char **argv);
int sg_sim_bcs_command(int argc, char **argv);
int sg_sim_lines_command(int argc, char **argv);
int sg_sim_plot_command(int argc, char **argv);
int sg_explore_command(int argc, char **argv);
int sg_sim_papers_command(int argc, char **argv);

#endif
