/* The commands of `stagger`; main.c has the table.
 *
 * A command gets its own arguments (argv[0] is its name, e.g. "report") and returns the exit
 * status: 0, 1 on bad input (one line on stderr says which), 2 on bad usage.
 */
#ifndef SG_CLI_MAIN_H
#define SG_CLI_MAIN_H

int sg_command_run(int argc, char **argv);
int sg_command_report(int argc, char **argv);
int sg_command_compare(int argc, char **argv);
int sg_command_advise(int argc, char **argv);
int sg_command_export(int argc, char **argv);
int sg_command_recover(int argc, char **argv);
int sg_command_info(int argc, char **argv);
int sg_command_doctor(int argc, char **argv);
int sg_command_arrivals(int argc, char **argv);

#endif
