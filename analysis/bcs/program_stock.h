/* A program under MPI as usual, over LogGP: eager and rendezvous messages, collectives as messages
 * (rounds.h).
 *
 * A process handles what has come when it is in a call, at o each; while it computes nothing
 * progresses. A message of over eager_bytes is announced, asked for and then sent, each of which
 * takes that. A message that comes before its receive is copied once. Adapters send and receive one
 * message after another, G for each byte.
 */
#ifndef SG_BCS_PROGRAM_STOCK_H
#define SG_BCS_PROGRAM_STOCK_H

#include "bcs/program_run.h"
#include "core/status.h"
#include "sim/network.h"

#define SG_STOCK_EAGER_DEFAULT 16384

struct sg_stock_setup {
    const struct sg_network *network;
    /* Between processes of the same node[]; NULL: as between nodes. */
    const struct sg_network *inside;
    const uint32_t *node; /* of each process; NULL: each has its own */
    uint64_t eager_bytes;
};

/* One line says what is wrong. */
enum sg_status sg_stock_run(const struct sg_stock_setup *setup, const struct sg_program *program,
                            struct sg_program_result *result);
/* The same of a barrier pattern whose processes all compute alike, computed: among a million
 * processes the messages would be too many. */
uint64_t sg_stock_lockstep_ns(const struct sg_network *network, int32_t processes, uint32_t steps,
                              uint64_t granularity_ns);

#endif
