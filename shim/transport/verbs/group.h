/* A multicast group, joined through librdmacm, which knows how on each kind of network. */
#ifndef SG_TRANSPORT_VERBS_GROUP_H
#define SG_TRANSPORT_VERBS_GROUP_H

#include "transport/verbs/device.h"

#include <netinet/in.h>
#include <rdma/rdma_cma.h>

struct sg_verbs_group {
    struct rdma_event_channel *events;
    struct rdma_cm_id *id;
    struct sockaddr_in address;
    bool is_joined;
    struct ibv_ah_attr way; /* to the group, and its GID */
    uint32_t queue_pair, key;
};

/* May take some seconds where there is no multicast. False: reason, of SG_VERBS_REASON_BYTES, says
 * why; leave it all the same. */
bool sg_verbs_group_join(struct sg_verbs_group *group, uint32_t address, char *reason);
void sg_verbs_group_leave(struct sg_verbs_group *group);

#endif
