/* What this machine has, for `stagger info`: a line for each thing, found or not. And what of it
 * `stagger doctor` looks at, too.
 */
#ifndef SG_CLI_MACHINE_H
#define SG_CLI_MACHINE_H

#include "core/config.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>

void sg_machine_print_transports(const struct sg_config *config, FILE *out);
void sg_machine_print_libraries(FILE *out);
/* How the ranks of a node exchange, by their number. */
void sg_machine_print_forms(FILE *out);
/* In machine_sources.c: what can be read of a rank between calls. */
void sg_machine_print_sources(FILE *out);
void sg_machine_print_mpi(const struct sg_config *config, FILE *out);
/* The errno with which one process is refused another's memory; 0: it is allowed. */
int sg_machine_read_refused(void);
/* Of /sys/class/infiniband: for scandir. */
int sg_machine_is_device(const struct dirent *entry);
/* Writes which RDMA device a program would use with this configuration, or why none. False: none.
 */
bool sg_machine_put_rdma(const struct sg_config *config, FILE *out);
/* The path of MPICH's launcher in PATH; malloc'ed, NULL: there is none. */
char *sg_machine_launcher(void);

#endif
