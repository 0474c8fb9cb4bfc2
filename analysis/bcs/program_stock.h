/* Runs a program under MPI as usual, over LogGP: eager and rendezvous messages, collectives as
 * messages (program_patterns.h).
 *
 * A process handles arrived packets only in calls, at o each; while it computes nothing progresses.
 * A message of over eager_bytes is announced, asked for and then sent, each at that cost. A message
 * that comes before its receive is copied once. Adapters send and receive one message after
 * another, G for each byte.
 */
#ifndef SG_BCS_PROGRAM_STOCK_H
#define SG_BCS_PROGRAM_STOCK_H

#include "bcs/program_run.h"
#include "core/status.h"
#include "sim/network.h"

#define SG_STOCK_EAGER_DEFAULT 16384

struct sg_stock_setup {
    const struct sg_network *network;
    /* Between processes with the same node[]; NULL: the network between nodes. */
    const struct sg_network *inside;
    const uint32_t *node; /* by process; NULL: each has its own */
    uint64_t eager_bytes;
};

/* On failure one line has been logged. */
enum sg_status sg_stock_run(const struct sg_stock_setup *setup, const struct sg_program *program,
                            struct sg_program_result *result);
/* Returns the run time of a barrier pattern whose processes all compute for the same time. A
 * formula, because a million processes exchange too many messages to simulate. */
uint64_t sg_stock_lockstep_ns(const struct sg_network *network, int32_t processes, uint32_t steps,
                              uint64_t granularity_ns);

#endif
