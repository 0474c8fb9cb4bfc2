/* The device of this process, memory registered with it, and its multicast groups. */
#ifndef SG_TRANSPORT_VERBS_VERBS_DEVICE_H
#define SG_TRANSPORT_VERBS_VERBS_DEVICE_H

#include "core/config.h"
#include "transport/transport.h"

#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <stdatomic.h>

/* The transport `verbs`, as other modules see it: the one table that libstagger-verbs.so exports.
 *
 * libibverbs and librdmacm are behind that companion library (docs/decisions/0001, 0012), which is
 * loaded from the directory of libstagger.so. Nothing here depends on them.
 */

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

struct sg_verbs_device {
    struct sg_verbs_settings settings; /* except for `device`, which belongs to the caller */
    struct ibv_context *context;       /* NULL: not started */
    struct ibv_pd *domain;
    struct ibv_device_attr attributes;
    struct ibv_port_attr port_attributes;
    char name[64];
    uint8_t port;
    int gid_index;
    uint16_t partition_index;
    union ibv_gid gid;
    bool is_ethernet;
    enum ibv_mtu mtu;
    bool has_bad_links; /* a link has failed its test, which has been logged */
    _Atomic uint64_t registered_bytes;
};

extern struct sg_verbs_device sg_verbs_device;

bool sg_verbs_start(const struct sg_verbs_settings *settings, const struct sg_exchange *exchange,
                    const char **reason);
void sg_verbs_describe(struct sg_verbs_description *out);
void sg_verbs_stop(void);
void sg_verbs_forget(void);

static inline int sg_verbs_mtu_bytes(enum ibv_mtu mtu)
{
    return 128 << mtu;
}

/* Registers memory within the limit of the settings. NULL: failed, and reason (of
 * SG_VERBS_REASON_BYTES) says why. */
#define SG_VERBS_REASON_BYTES 256

struct ibv_mr *sg_verbs_register(void *memory, size_t bytes, char *reason);
void sg_verbs_unregister(struct ibv_mr *region);

/* A multicast group, joined through librdmacm, which supports each kind of network. */

struct sg_verbs_group {
    struct rdma_event_channel *events;
    struct rdma_cm_id *id;
    struct sockaddr_in address;
    bool is_joined;
    struct ibv_ah_attr way; /* path to the group, and its GID */
    uint32_t queue_pair, key;
};

/* Joins a group; may take some seconds on a network without multicast. False: reason, of
 * SG_VERBS_REASON_BYTES, says why; leave it all the same. */
bool sg_verbs_group_join(struct sg_verbs_group *group, uint32_t address, char *reason);
void sg_verbs_group_leave(struct sg_verbs_group *group);

#endif
