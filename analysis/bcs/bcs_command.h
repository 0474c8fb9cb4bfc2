/* Runs a program under buffered coscheduling by the protocol's own code, message by message, in the
 * timed world. */
#ifndef SG_BCS_BCS_COMMAND_H
#define SG_BCS_BCS_COMMAND_H

#include "bcs/program_run.h"
#include "core/status.h"
#include "sim/timed_queue.h"

/* Uses network, mode and parameters of setup. Each process is an endpoint, and the program's only
 * communicator has all of them. On failure one line has been logged. */
enum sg_status sg_bcs_protocol_run(const struct sg_world_setup *setup,
                                   const struct sg_program *program,
                                   struct sg_program_result *result);

#endif
