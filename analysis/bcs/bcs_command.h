/* A program under buffered coscheduling by the protocol's own code, message by message, in the
 * timed world. */
#ifndef SG_BCS_BCS_COMMAND_H
#define SG_BCS_BCS_COMMAND_H

#include "bcs/program_run.h"
#include "core/status.h"
#include "sim/timed_queue.h"

/* network, mode and parameters of setup are used. The program has one communicator, of all; an
 * endpoint is a process. One line says what is wrong. */
enum sg_status sg_bcs_protocol_run(const struct sg_world_setup *setup,
                                   const struct sg_program *program,
                                   struct sg_program_result *result);

#endif
