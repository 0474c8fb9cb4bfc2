/* The transport `verbs`, as other modules see it: the one table that libstagger-verbs.so exports.
 *
 * libibverbs and librdmacm are behind that companion library (docs/decisions/01, 05), which is
 * loaded from the directory of libstagger.so. This header depends on neither.
 */
#ifndef SG_TRANSPORT_VERBS_VERBS_H
#define SG_TRANSPORT_VERBS_VERBS_H

#include "core/config.h"
#include "transport/transport.h"

#define SG_VERBS_LIBRARY "libstagger-verbs.so"
#define SG_VERBS_SYMBOL "sg_verbs"
/* Version of this table and of transport.h, compared when the library is loaded. */
#define SG_VERBS_VERSION 2u

struct sg_verbs_settings {
    const char *device; /* "": any */
    int port;           /* -1: any active one */
    int gid_index;      /* -1: chosen from the port's GIDs */
    int partition;      /* -1: the port's first */
    int service_level, traffic_class;
    int mtu;               /* in bytes; -1: the port's */
    bool multicast;        /* false: messages along a tree */
    uint64_t memory_bytes; /* limit of this process's registered memory */
};

/* Returns the user's settings; `device` belongs to the config. */
static inline struct sg_verbs_settings sg_verbs_settings(const struct sg_config *config)
{
    return (struct sg_verbs_settings){.device = config->verbs_device,
                                      .port = config->verbs_port,
                                      .gid_index = config->verbs_gid_index,
                                      .partition = config->verbs_partition,
                                      .service_level = config->verbs_service_level,
                                      .traffic_class = config->verbs_traffic_class,
                                      .mtu = config->verbs_mtu,
                                      .multicast = config->verbs_multicast != 0,
                                      .memory_bytes = config->verbs_memory_bytes};
}

struct sg_verbs_description {
    char device[64], gid[64];
    const char *link_layer; /* "InfiniBand" or "Ethernet" */
    int port, gid_index, mtu;
    uint64_t locked_bytes; /* lock limit of the process; UINT64_MAX: none */
};

struct sg_verbs {
    uint32_t version;
    const struct sg_transport_ops *ops; /* open needs a device, and setup.location */
    /* Opens a device, once a process. False: none is usable, and *reason says why: valid until the
     * next start. Before the program forks. Collective over the exchange, whose ranks then have
     * ports on one network; NULL: for this process alone. */
    bool (*start)(const struct sg_verbs_settings *settings, const struct sg_exchange *exchange,
                  const char **reason);
    /* After start. */
    void (*describe)(struct sg_verbs_description *out);
    /* After all transports are closed. */
    void (*stop)(void);
    /* In the child of a fork: drops the parent's device without touching it. */
    void (*forget)(void);
};

#endif
