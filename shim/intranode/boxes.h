/* The memory of boxes (outbox.h), for one communicator: each rank's is made when it is needed
 * first, on the account of STAGGER_MEMORY, and mapped by the others when they look for it.
 *
 * In the application's threads; not from a signal handler.
 */
#ifndef SG_INTRANODE_BOXES_H
#define SG_INTRANODE_BOXES_H

#include "intranode/node.h"
#include "intranode/outbox.h"

struct sg_boxes;

/* Gives the node its outbox; NULL: no memory, and none. The node must stay where it is. */
struct sg_boxes *sg_boxes_create(struct sg_node *node);
/* The others find this rank's no longer: sg_outbox_is_empty. NULL: nothing. */
void sg_boxes_free(struct sg_boxes *boxes);

#endif
