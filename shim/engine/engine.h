/* Runs one collective by the algorithm that a rule chose: the only way from a call to an
 * algorithm. The table's index is the algorithm's index in shim/rule/algorithm.h.
 *
 * Called in the application's thread, inside the intercepted call; never from a signal handler.
 */
#ifndef SG_ENGINE_ENGINE_H
#define SG_ENGINE_ENGINE_H

#include "mpi/call.h"

struct sg_ruleset;
struct sg_span_plan;

/* What some call may need by the rules, alike on all ranks: a segment on a communicator of one node
 * (name and size); on any, the node's buffers for large operands, and to read other ranks' memory.
 */
bool sg_engine_wants_segment(const struct sg_ruleset *rules, const char *name, int size);
bool sg_engine_wants_pool(const struct sg_ruleset *rules);
bool sg_engine_wants_reading(const struct sg_ruleset *rules);

/* Returns what the MPI call returns. */
int sg_engine_run(const struct sg_call *call, const struct sg_choice *choice,
                  struct sg_outcome *outcome);

/* Of a nonblocking call. *choice becomes the one that all ranks follow. False, alike on all ranks:
 * it is MPICH's; else it is for sg_request_post. */
bool sg_engine_plan_post(const struct sg_call *call, const struct sg_choice **choice,
                         struct sg_span_plan *plan);

#endif
