/* The RDMA device of this machine, as libstagger-verbs.so finds it. */
#ifndef SG_CLI_RDMA_H
#define SG_CLI_RDMA_H

#include "core/config.h"

#include <stdio.h>

/* One line: the device that a program would use with this configuration, or why none. */
void sg_rdma_print(const struct sg_config *config, FILE *out);

#endif
