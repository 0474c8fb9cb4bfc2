/* Between machines: what ends the job, and whether the others are still there.
 *
 * The job ends if ranks are in different calls (consistency.h) or the transport has failed. A
 * thread of the application ends it, the next time that it is in the library. An instance that has
 * been outstanding for a second is told to all peers, by messages of its own.
 */
#ifndef SG_INTERNODE_HEALTH_H
#define SG_INTERNODE_HEALTH_H

#include "internode/communicator.h"

void sg_internode_check_health(struct sg_internode *internode);

#endif
