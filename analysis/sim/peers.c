#include "sim/peers.h"

#include <string.h>

static void add(const struct sg_algo *algo, const struct sg_algo_setup *setup,
                enum sg_operation operation, int32_t root, bool *named)
{
    int32_t peers[SG_SIM_PEERS_MAX];
    int count = algo->peers(setup, operation, root, peers, SG_SIM_PEERS_MAX);

    for (int i = 0; i < count; i++)
        named[peers[i]] = true;
}

void sg_sim_peers(const struct sg_algo *algo, const struct sg_algo_setup *setup,
                  const struct sg_algo_call *call, bool named[SG_SIM_PEERS_MAX])
{
    if (algo->peers == NULL) {
        memset(named, true, SG_SIM_PEERS_MAX);
        return;
    }
    add(algo, setup, call->operation, call->root, named);
    if (call->operation != SG_OPERATION_REDUCE || (call->flags & SG_CALL_COMMUTATIVE))
        return;
    /* The tree of endpoint 0, which forwards the result. */
    add(algo, setup, call->operation, 0, named);
    if (setup->rank == 0)
        named[call->root] = true;
    if (setup->rank == call->root)
        named[0] = true;
}
