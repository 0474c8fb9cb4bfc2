/* The device of this process: which one it is, and what is registered with it. */
#ifndef SG_TRANSPORT_VERBS_DEVICE_H
#define SG_TRANSPORT_VERBS_DEVICE_H

#include "transport/verbs/verbs.h"

#include <infiniband/verbs.h>
#include <stdatomic.h>

struct sg_verbs_device {
    struct sg_verbs_settings settings; /* but for `device`, which is the caller's */
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
    bool has_bad_links; /* a link has failed its trial, which was said */
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

/* Registers within the limit of the settings. NULL, and *reason (of REASON_BYTES) says why. */
#define SG_VERBS_REASON_BYTES 256
struct ibv_mr *sg_verbs_register(void *memory, size_t bytes, char *reason);
void sg_verbs_unregister(struct ibv_mr *region);

/* True for the GID of an IPv4 address. */
bool sg_verbs_gid_is_ipv4(const union ibv_gid *gid);

#endif
