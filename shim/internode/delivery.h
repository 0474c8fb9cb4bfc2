/* An event at an endpoint, while its actions are carried out. */
#ifndef SG_INTERNODE_DELIVERY_H
#define SG_INTERNODE_DELIVERY_H

#include "internode/communicator.h"

struct sg_delivery {
    struct sg_internode *internode;
    uint32_t protocol;
    const struct sg_event *event;
    const unsigned char *parts; /* of a message */
    bool told;                  /* the slice that it ended is reported (bcs/live/shared_posts.c) */
    uint64_t busy_ns;           /* likewise: thread processor time accounted up to now */
};

#endif
