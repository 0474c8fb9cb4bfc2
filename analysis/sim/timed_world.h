/* Runs a communicator in virtual time: endpoints execute one protocol over a LogGP network, and
 * processes compute, call and are interrupted as in the measurements of papers 000 and 002.
 *
 * In an iteration every process computes for its own delay, makes one call, computes again for
 * catchup_ns, and waits until all others have done the same; this wait costs nothing and polls.
 * Delays are drawn uniformly from 0..skew_ns, fixed for the processes that are listed as late, or
 * both; or they come from a recorded run.
 *
 * The same setup gives the same history, identified by its hash. Virtual time is in ns. */
#ifndef SG_SIM_TIMED_WORLD_H
#define SG_SIM_TIMED_WORLD_H

#include "core/status.h"
#include "sim/timed_queue.h"

/* Logs one line on failure: the setup does not suit the protocol, or an iteration does not end. */
enum sg_status sg_world_run(const struct sg_world_setup *setup, struct sg_world_result *result);
/* True if the protocol accepts the setup; logs nothing. */
bool sg_world_accepts(const struct sg_world_setup *setup);

#endif
