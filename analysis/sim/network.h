/* A network and its nodes as LogGP parameters read from a file, and the cost of the node level in
 * formulas.
 *
 * A file has lines "key = value"; # begins a comment. NAME.conf has published and assumed values.
 * An optional second file, NAME.fitted.conf, has values that were fitted to a paper's figure; they
 * override the first file's and are listed in `fitted`. */
#ifndef SG_SIM_NETWORK_H
#define SG_SIM_NETWORK_H

#include "core/status.h"
#include "core/text.h"

#include <stdbool.h>
#include <stdint.h>

#define SG_NETWORK_FITTED_MAX 8

struct sg_network {
    char name[48];
    char source[160];       /* publication the values come from */
    double latency_us;      /* L */
    double overhead_us;     /* o, at the sender and at the receiver */
    double gap_ns_per_byte; /* G */
    double multicast_us;    /* latency of an empty multicast, both overheads included; 0: L + 2o */
    double multicast_loss;  /* fraction of multicasts that each receiver misses */
    double jitter_us;       /* mean of an exponential delay added to each message */
    /* one way of an atomic access to the endpoint's own memory; 0: L/2, the way between two
     * adapters */
    double loopback_us;
    double copy_ns_per_byte;   /* on a node */
    double reduce_ns_per_byte; /* on a node: left op right */
    double signal_us;          /* processor time that a signal costs a computation */
    double wake_us;            /* processor time that waking a helper thread costs */
    double local_us;           /* one step between processes of a node */
    double noise_us;           /* mean of an exponential delay before each call */
    /* Buffered coscheduling: the hardware's time to ask all nodes whether they are done (0: it
     * cannot), the agent's time per descriptor, and the processor's time to post one. */
    double query_us, agent_us, post_us;
    const char *fitted[SG_NETWORK_FITTED_MAX + 1]; /* names of keys, NULL-terminated */
};

/* Reads the network of that name (from ../share/stagger/networks relative to the executable, or
 * from the source tree), or the named file if the name contains a slash. On failure logs one line
 * that names the fault and, for an unknown name, the known networks. */
enum sg_status sg_network_read(const char *command, const char *name, struct sg_network *network);
/* Sets one value from "key=value"; the value no longer counts as fitted. */
enum sg_status sg_network_set(struct sg_network *network, const char *assignment);
/* Times in us or per byte, converted to ns and rounded. */
uint64_t sg_network_ns(double us);
uint64_t sg_network_bytes_ns(double ns_per_byte, uint64_t bytes);
uint64_t sg_network_gap_ns(const struct sg_network *network, uint64_t bytes);
uint64_t sg_network_multicast_ns(const struct sg_network *network, uint64_t bytes);
/* Iterates over keys and values for output: the index-th key, NULL past the last. */
const char *sg_network_value(const struct sg_network *network, int index, double *value);

/* The node level (paper 003, section 2.2, and shim/intranode) in formulas: the time of a call,
 * or a part of it, after all ranks of a node have arrived. Timed runs, and through them stagger
 * advise, use the algorithms of shim/intranode; the model of paper 003 (sim/clusters.h) has its
 * own.
 *
 * Memory costs are the network's local_us (a step: one rank sees a store of another) and its
 * copies and reductions per byte; simultaneous copies do not slow each other. Times in ns. Pure
 * functions. */

/* Algorithms that combine operands of a node's ranks. */
enum sg_node_level {
    SG_NODE_LEVEL_AUTO, /* as the library does */
    SG_NODE_LEVEL_CLIMB,
    SG_NODE_LEVEL_FLAT,
    SG_NODE_LEVEL_CHUNKS
};

/* The algorithm that srm uses in a node, by size. */
enum sg_node_level sg_node_level_of(uint32_t ranks, uint64_t bytes);

/* A node's broadcasts of this size and above are read straight from the root's buffer. */
#define SG_NODE_SINGLE_BYTES (UINT64_C(64) << 10)

uint64_t sg_node_copy_ns(const struct sg_network *network, uint64_t bytes);
/* Stores an operand where other ranks see it. */
uint64_t sg_node_store_ns(const struct sg_network *network, uint64_t bytes);
/* flat: each rank stores its operand and folds all of them. */
uint64_t sg_node_flat_ns(const struct sg_network *network, uint32_t ranks, uint64_t bytes);
/* chunks: each rank stores its operand, folds its share of all operands and fetches the other
 * shares, waiting for three counts. */
uint64_t sg_node_chunks_ns(const struct sg_network *network, uint32_t ranks, uint64_t bytes);
/* climb: the part of one rank, which folds `folds` times and, with `store`, stores its operand. */
uint64_t sg_node_climb_part_ns(const struct sg_network *network, uint32_t folds, bool store,
                               uint64_t bytes);
/* A broadcast through slots: the root's part, and the part of a rank that arrives after the root
 * (late) or has followed it slot by slot. */
uint64_t sg_node_fill_ns(const struct sg_network *network, uint64_t bytes);
uint64_t sg_node_fetch_ns(const struct sg_network *network, uint64_t bytes, bool late);
/* A broadcast read from the root's buffer, until all ranks know that all have read it. */
uint64_t sg_node_read_ns(const struct sg_network *network, uint64_t bytes);
/* A call that all ranks of a node enter at once, carried out by srm: time until the last leaves. */
uint64_t sg_node_call_ns(const struct sg_network *network, uint32_t ranks,
                         enum sg_operation operation, uint64_t bytes);
/* The paper's climb: a binomial tree whose leaves store their operands. On each level a rank sees
 * its child's flag, folds the child's value without a copy, and resets the flag. */
uint64_t sg_node_climb_ns(const struct sg_network *network, uint32_t ranks, uint64_t bytes);
/* Broadcast in chunks through two buffers with a READY flag for each reader: the root fills one
 * buffer while readers copy from the other. placed: the data is already in the buffer, as one
 * chunk. */
uint64_t sg_node_broadcast_ns(const struct sg_network *network, uint32_t ranks, uint64_t bytes,
                              uint64_t chunk_bytes, bool placed);
/* Barrier: one rank waits for a flag of each other rank and then resets each flag. */
uint64_t sg_node_barrier_ns(const struct sg_network *network, uint32_t ranks);

#endif
