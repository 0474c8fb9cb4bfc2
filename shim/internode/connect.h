/* A communicator's transport: opened in the mapped segment, and connected between machines. */
#ifndef SG_INTERNODE_CONNECT_H
#define SG_INTERNODE_CONNECT_H

#include "internode/communicator.h"

/* Opens the transport; from here on progress serves the endpoint. */
enum sg_status sg_internode_open(struct sg_internode *internode);

/* Before a planned call: whether the protocol's connections exist. The same on all ranks. sets_up:
 * if that is not known yet, all ranks make the connections, collectively. */
bool sg_internode_reaches(struct sg_internode *internode, const struct sg_internode_plan *plan,
                          const struct sg_call *call, bool sets_up);

/* Tells the trace, once, what this process has used of the transport. */
void sg_internode_note_usage(struct sg_internode *internode);

#endif
