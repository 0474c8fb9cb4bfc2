/* One-sided access by loads and stores, for a transport with regions in memory that the caller
 * maps. */
#ifndef SG_TRANSPORT_LOCAL_MEMORY_H
#define SG_TRANSPORT_LOCAL_MEMORY_H

#include "transport/transport.h"

/* The function `access` of struct sg_transport_ops. */
enum sg_transport_result sg_transport_access_memory(struct sg_transport *transport, int self,
                                                    const struct sg_action *action,
                                                    const struct sg_transport_region *region,
                                                    void *local, uint64_t value[8]);

#endif
