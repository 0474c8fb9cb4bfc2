/* A communicator in virtual time: endpoints that run one protocol over a LogGP network, with
 * processes that compute, call and are interrupted as papers 000 and 002 measure them.
 *
 * An iteration: every process computes for its own delay, makes one call, computes again for
 * catchup_ns, and waits until all have; the wait costs nothing and polls. Delays are drawn
 * uniformly from 0..skew_ns, fixed for the processes that are listed as late, or both; or they are
 * those of a recorded run.
 *
 * The same setup gives the same history, told by its hash. Virtual time is in ns.
 */
#ifndef SG_SIM_TIMED_WORLD_H
#define SG_SIM_TIMED_WORLD_H

#include "core/status.h"
#include "sim/timed/setup.h"

/* One line says what is wrong: a setup that is not for the protocol, or an iteration that does not
 * end. */
enum sg_status sg_world_run(const struct sg_world_setup *setup, struct sg_world_result *result);

/* Whether the protocol accepts it; no line. */
bool sg_world_accepts(const struct sg_world_setup *setup);

#endif
