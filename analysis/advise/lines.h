/* srm inside a node (shim/intranode): the cost of a call when ranks arrive at given times.
 *
 * Small operands of few ranks: every rank writes its line; a rank that needs the result folds all
 * lines when the last one is there, and a rank that only contributes leaves at once. Larger
 * operands go in chunks: no data moves before all ranks have arrived; each rank brings its operand,
 * folds its share and fetches the others', and all leave together. Sizes in between are reduced as
 * in handoff, which the simulator has.
 */
#ifndef SG_ADVISE_LINES_H
#define SG_ADVISE_LINES_H

#include "core/operation.h"
#include "sim/timed/network.h"
#include "sim/timed/world.h"

#include <stdbool.h>
#include <stdint.h>

struct sg_lines_call {
    enum sg_operation operation;
    uint32_t ranks, root;
    uint64_t bytes;
    const uint64_t *late_ns; /* by rank */
};

/* False: such calls are reduced as in handoff. */
bool sg_lines_cost(const struct sg_network *network, const struct sg_lines_call *call,
                   struct sg_world_cost *out);

#endif
