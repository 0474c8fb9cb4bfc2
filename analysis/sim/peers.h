/* Whom a protocol may name in a call, by its own word (algo.h, peers): for hosts that check it. */
#ifndef SG_SIM_PEERS_H
#define SG_SIM_PEERS_H

#include "algos/algo.h"

/* Endpoints of the largest communicator that this is for. */
#define SG_SIM_PEERS_MAX 128

/* Sets named[r] for each of them; all where the protocol does not say. */
void sg_sim_peers(const struct sg_algo *algo, const struct sg_algo_setup *setup,
                  const struct sg_algo_call *call, bool named[SG_SIM_PEERS_MAX]);

#endif
