/* One configuration for all ranks: rank 0's.
 *
 * Collective over the exchange; only in MPI_Init.
 */
#ifndef SG_RUNTIME_SETTINGS_H
#define SG_RUNTIME_SETTINGS_H

#include "runtime/process.h"

/* Reads every rank's configuration, warns once if they differ, gives rank 0's to all ranks, and
 * parses its rules. */
enum sg_status sg_settings_agree(struct sg_process *process);

#endif
