/* What this machine has, for `stagger info`: a line for each thing, found or not. */
#ifndef SG_CLI_MACHINE_H
#define SG_CLI_MACHINE_H

#include "core/config.h"

#include <stdio.h>

void sg_machine_print_transports(const struct sg_config *config, FILE *out);
void sg_machine_print_libraries(FILE *out);
/* In machine_sources.c: what can be read of a rank between calls. */
void sg_machine_print_sources(FILE *out);
void sg_machine_print_mpi(const struct sg_config *config, FILE *out);

#endif
