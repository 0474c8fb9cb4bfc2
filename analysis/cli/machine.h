/* Describes this machine for `stagger info`, one line for each resource, found or not. Shared with
 * `stagger doctor`, which checks some of them.
 */
#ifndef SG_CLI_MACHINE_H
#define SG_CLI_MACHINE_H

#include "core/config.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>

void sg_machine_print_transports(const struct sg_config *config, FILE *out);
void sg_machine_print_libraries(FILE *out);
/* The algorithms for ranks on one node, by number of ranks. */
void sg_machine_print_forms(FILE *out);
/* The sources of what a rank does between calls, read as a rank reads them. */
void sg_machine_print_sources(FILE *out);
void sg_machine_print_mpi(const struct sg_config *config, FILE *out);
/* The errno with which one process is refused access to another's memory; 0: it is allowed. */
int sg_machine_read_refused(void);
/* scandir filter for /sys/class/infiniband. */
int sg_machine_is_device(const struct dirent *entry);
/* Prints the RDMA device that a program would use with this configuration, or why it would use
 * none. Returns false if none.
 */
bool sg_machine_put_rdma(const struct sg_config *config, FILE *out);
/* The path of MPICH's launcher in PATH; malloc'ed, NULL: there is none. */
char *sg_machine_launcher(void);

#endif
