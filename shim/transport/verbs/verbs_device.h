/* The device of this process, memory registered with it, and its multicast groups. */
#ifndef SG_TRANSPORT_VERBS_VERBS_DEVICE_H
#define SG_TRANSPORT_VERBS_VERBS_DEVICE_H

#include "transport/verbs/verbs.h"

#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <stdatomic.h>

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
