#include "advise/lines.h"

#include "sim/model/node.h"

/* The same as in the built-in rules and the engine: docs/decisions/0005-thresholds.md. */
#define FLAT_RANKS_MAX 8
#define FLAT_BYTES_MAX 1024
#define CLIMB_BYTES_MAX 4096

/* Over all ranks, or all but the root. */
static uint64_t last_of(const struct sg_lines_call *call, bool but_root)
{
    uint64_t last_ns = 0;

    for (uint32_t rank = 0; rank < call->ranks; rank++) {
        if ((!but_root || rank != call->root) && call->late_ns[rank] > last_ns)
            last_ns = call->late_ns[rank];
    }
    return last_ns;
}

/* Every rank's exit minus its own arrival. */
static uint64_t until(const struct sg_lines_call *call, uint64_t leave_ns)
{
    uint64_t blocked_ns = 0;

    for (uint32_t rank = 0; rank < call->ranks; rank++)
        blocked_ns += leave_ns - call->late_ns[rank];
    return blocked_ns;
}

static uint64_t flat(const struct sg_network *network, const struct sg_lines_call *call)
{
    uint64_t flat_ns = sg_node_flat_ns(network, call->ranks, call->bytes);
    uint64_t store_ns = sg_node_store_ns(network, call->bytes);
    uint64_t all_ns, root_ns;

    if (call->operation != SG_OPERATION_REDUCE)
        return until(call, last_of(call, false) + flat_ns);
    /* The root needs the others' lines; its own is in its cache. */
    all_ns = last_of(call, true);
    root_ns = call->late_ns[call->root];
    all_ns = (all_ns > root_ns ? all_ns : root_ns) + flat_ns;
    return (call->ranks - 1) * store_ns + all_ns - root_ns;
}

static uint64_t chunks(const struct sg_network *network, const struct sg_lines_call *call)
{
    return until(call, last_of(call, false) + sg_node_chunks_ns(network, call->ranks, call->bytes));
}

bool sg_lines_cost(const struct sg_network *network, const struct sg_lines_call *call,
                   struct sg_world_cost *out)
{
    if (call->bytes <= FLAT_BYTES_MAX && call->ranks <= FLAT_RANKS_MAX)
        out->blocked_ns = flat(network, call);
    else if (call->bytes > CLIMB_BYTES_MAX)
        out->blocked_ns = chunks(network, call);
    else
        return false;
    out->processor_ns = out->blocked_ns;
    return true;
}
