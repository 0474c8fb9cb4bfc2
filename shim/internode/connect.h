/* Opens a communicator's transport in the mapped segment, and connects it between machines. */
#ifndef SG_INTERNODE_CONNECT_H
#define SG_INTERNODE_CONNECT_H

#include "internode/communicator.h"

/* Opens the transport; from here on, progress serves the endpoint. */
enum sg_status sg_internode_open(struct sg_internode *internode);

/* True if the planned call's protocol has the connections that it needs. The same on all ranks.
 * sets_up: if that is not known yet, all ranks make the connections, collectively. */
bool sg_internode_reaches(struct sg_internode *internode, const struct sg_internode_plan *plan,
                          bool sets_up);

/* Writes this process's usage of the transport to the trace, once. */
void sg_internode_note_usage(struct sg_internode *internode);

#endif
