/* Opens a communicator's transport in the mapped segment, connects it between machines, and watches
 * over the connections. */
#ifndef SG_INTERNODE_CONNECT_H
#define SG_INTERNODE_CONNECT_H

#include "internode/communicator.h"

/* Opens the transport; from here on, progress serves the endpoint, by the operations of
 * internode->client. */
enum sg_status sg_internode_open(struct sg_internode *internode);

/* Between machines: true if the protocol has its connections for calls with the root at that
 * endpoint (-1: without a root), the same on all ranks. sets_up: all ranks call it, and make the
 * connections if they can and have not tried. */
bool sg_internode_reaches(struct sg_internode *internode, uint32_t protocol, int32_t root,
                          bool sets_up);

void sg_internode_lose_links(struct sg_internode *internode);

/* Between machines: aborts the job if ranks are in different calls (endpoint.h) or the transport
 * has failed. An application thread aborts it, on its next call into the library. If an instance
 * has been outstanding for a second, all peers get messages of the library's own that show whether
 * they are still reachable. */
void sg_internode_check_health(struct sg_internode *internode);

/* Writes this process's usage of the transport to the trace, once. */
void sg_internode_note_usage(struct sg_internode *internode);

#endif
