/* A network and its hosts, as LogGP parameters read from a file.
 *
 * A file has lines "key = value", and # begins a comment. NAME.conf has published and assumed
 * values. A second file, NAME.fitted.conf, may have values that were fitted to a paper's figure;
 * they override the first file's and are listed in `fitted`.
 */
#ifndef SG_SIM_NETWORK_H
#define SG_SIM_NETWORK_H

#include "core/status.h"
#include "core/text.h"

#include <stdbool.h>
#include <stdint.h>

#define SG_NETWORK_FITTED_MAX 8

struct sg_network {
    char name[48];
    char source[160];       /* the source of its values */
    double latency_us;      /* L */
    double overhead_us;     /* o, at the sender and at the receiver */
    double gap_ns_per_byte; /* G */
    double multicast_us;    /* of an empty multicast, both overheads included; 0: L + 2o */
    double multicast_loss;  /* share of multicasts that each receiver misses */
    double jitter_us;       /* mean of an exponential delay that each message takes on top */
    /* one way of an atomic access to the endpoint's own memory; 0: L/2, the way between two
     * adapters */
    double loopback_us;
    double copy_ns_per_byte;   /* of the hosts */
    double reduce_ns_per_byte; /* of the hosts: left op right */
    double signal_us;          /* processor time that a signal takes from a computation */
    double wake_us;            /* the same of waking a helper thread */
    double local_us;           /* one step between processes of a node */
    double noise_us;           /* mean of an exponential delay before each call */
    /* Of buffered coscheduling: until hardware has asked all nodes whether they are done (0: it
     * cannot); the agent's time for a descriptor; the host's to post one. */
    double query_us, agent_us, post_us;
    const char *fitted[SG_NETWORK_FITTED_MAX + 1]; /* names of keys, ended by NULL */
};

/* Reads the network of that name (from ../share/stagger/networks relative to the executable, or
 * from the source tree), or from the file if the name contains a slash. On failure one line says
 * what is wrong, and which networks there are. */
enum sg_status sg_network_read(const char *command, const char *name, struct sg_network *network);
/* Sets one value from "key=value"; the value no longer counts as a fitted one. */
enum sg_status sg_network_set(struct sg_network *network, const char *assignment);
/* For a number of bytes and for times in us, rounded to ns. */
uint64_t sg_network_ns(double us);
uint64_t sg_network_bytes_ns(double ns_per_byte, uint64_t bytes);
uint64_t sg_network_gap_ns(const struct sg_network *network, uint64_t bytes);
uint64_t sg_network_multicast_ns(const struct sg_network *network, uint64_t bytes);
/* Keys and values, for outputs: the index-th key, NULL past the last. */
const char *sg_network_value(const struct sg_network *network, int index, double *value);

/* The node level (paper 003, section 2.2, and shim/intranode) in formulas: what a call takes from
 * the time at which all ranks of a node have come, or a part of it. Timed runs, and by them stagger
 * advise, have the ways of shim/intranode; the model of paper 003 (model/cluster.h) has its own.
 *
 * Memory is the network's local_us (a step: one rank sees what another has written) and its copies
 * and reductions for each byte; simultaneous copies do not slow each other. Times in ns. Pure
 * functions.
 */

/* How ranks of a node combine. */
enum sg_node_level {
    SG_NODE_LEVEL_AUTO, /* as the library does */
    SG_NODE_LEVEL_CLIMB,
    SG_NODE_LEVEL_FLAT,
    SG_NODE_LEVEL_CHUNKS
};

/* srm's in a node, by size. */
enum sg_node_level sg_node_level_of(uint32_t ranks, uint64_t bytes);

/* From so many bytes on a node's broadcasts are read straight from the root's buffer. */
#define SG_NODE_SINGLE_BYTES (UINT64_C(64) << 10)

uint64_t sg_node_copy_ns(const struct sg_network *network, uint64_t bytes);
/* An operand written where others see it. */
uint64_t sg_node_store_ns(const struct sg_network *network, uint64_t bytes);
/* flat: each rank stores its operand and folds all of them. */
uint64_t sg_node_flat_ns(const struct sg_network *network, uint32_t ranks, uint64_t bytes);
/* chunks: each rank stores its operand, folds its share of all and fetches the others': three
 * counts that it waits for. */
uint64_t sg_node_chunks_ns(const struct sg_network *network, uint32_t ranks, uint64_t bytes);
/* handoff: the part of one rank, which folds this often, or stores its operand. */
uint64_t sg_node_climb_part_ns(const struct sg_network *network, uint32_t folds, bool store,
                               uint64_t bytes);
/* A broadcast through slots: the root's part; and that of a rank which comes after it (late), or
 * has followed it slot by slot. */
uint64_t sg_node_fill_ns(const struct sg_network *network, uint64_t bytes);
uint64_t sg_node_fetch_ns(const struct sg_network *network, uint64_t bytes, bool late);
/* A broadcast read from the root's buffer, until all know that all have it. */
uint64_t sg_node_read_ns(const struct sg_network *network, uint64_t bytes);
/* A call that all ranks of a node enter at once, as srm carries it out there: until the last
 * leaves. */
uint64_t sg_node_call_ns(const struct sg_network *network, uint32_t ranks,
                         enum sg_operation operation, uint64_t bytes);
/* The paper's climb: a binomial tree, whose leaves store their operands. On each level a rank sees
 * its child's flag, folds what the child has, without a copy, and resets the flag. */
uint64_t sg_node_climb_ns(const struct sg_network *network, uint32_t ranks, uint64_t bytes);
/* Broadcast through two buffers with a READY flag for each reader, in chunks: the root fills one
 * while readers copy the other out. placed: the data is in the buffer already, in one chunk. */
uint64_t sg_node_broadcast_ns(const struct sg_network *network, uint32_t ranks, uint64_t bytes,
                              uint64_t chunk_bytes, bool placed);
/* Barrier: one rank waits for a flag of each other and then resets each. */
uint64_t sg_node_barrier_ns(const struct sg_network *network, uint32_t ranks);

#endif
