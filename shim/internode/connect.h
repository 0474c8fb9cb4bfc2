/* Opens a communicator's transport in the mapped segment, connects it between machines, and watches
 * over the connections. */
#ifndef SG_INTERNODE_CONNECT_H
#define SG_INTERNODE_CONNECT_H

#include "internode/communicator.h"

/* Opens the transport; from here on, progress serves the endpoint, by the operations of
 * internode->client. */
enum sg_status sg_internode_open(struct sg_internode *internode);

/* Between machines: the protocols' connections for each root's endpoint (-1: for calls without a
 * root). */
enum { SG_REACH_NOT_KNOWN, SG_REACHED, SG_BEYOND_REACH };
static inline uint8_t *sg_internode_reached(const struct sg_internode *internode, uint32_t protocol,
                                            int root_endpoint)
{
    return &internode->reached[(size_t)protocol * (size_t)(internode->endpoints + 1) +
                               (size_t)(root_endpoint + 1)];
}
/* Makes connections that are not known yet: collective. False: they cannot be made. */
bool sg_internode_reach(struct sg_internode *internode, uint32_t protocol, int root_endpoint);

/* Between machines: aborts the job if ranks are in different calls (endpoint.h) or the transport
 * has failed. An application thread aborts it, on its next call into the library. If an instance
 * has been outstanding for a second, all peers get messages of the library's own that show whether
 * they are still reachable. */
void sg_internode_check_health(struct sg_internode *internode);

/* Writes this process's usage of the transport to the trace, once. */
void sg_internode_note_usage(struct sg_internode *internode);

#endif
