/* srm inside a node (shim/intranode): what a call costs when ranks come at given times.
 *
 * Small operands of few ranks: every rank writes its line, and who needs the result folds all lines
 * when the last is there; whoever only contributes leaves. Larger ones go in chunks: nobody moves
 * anything before all have come, each rank brings its operand, folds its share, fetches the
 * others', and all leave together. What lies between is handoff's climb, which the simulator has.
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

/* False: such calls climb. */
bool sg_lines_cost(const struct sg_network *network, const struct sg_lines_call *call,
                   struct sg_world_cost *out);

#endif
