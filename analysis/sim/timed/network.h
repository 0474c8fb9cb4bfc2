/* A network and its hosts, as LogGP parameters read from a file.
 *
 * A file has lines "key = value", and # begins a comment. NAME.conf has published and assumed
 * values. A second file, NAME.fitted.conf, may have values that were fitted to a paper's figure;
 * they override the first file's and are listed in `fitted`.
 */
#ifndef SG_SIM_TIMED_NETWORK_H
#define SG_SIM_TIMED_NETWORK_H

#include "core/status.h"

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

#endif
