/* A communicator's transport: opened in the mapped segment, and between machines connected. */
#ifndef SG_INTERNODE_CONNECT_H
#define SG_INTERNODE_CONNECT_H

#include "internode/communicator.h"

/* Opens the transport; progress serves the endpoint from here on. */
enum sg_status sg_internode_open(struct sg_internode *internode);

/* Before a planned call: whether its protocol reaches those it talks to. Alike on all ranks.
 * sets_up: where that is not known yet, all of them connect, collectively. */
bool sg_internode_reaches(struct sg_internode *internode, const struct sg_internode_plan *plan,
                          const struct sg_call *call, bool sets_up);

/* What this process has used of the transport, for the trace: once. */
void sg_internode_note_usage(struct sg_internode *internode);

#endif
