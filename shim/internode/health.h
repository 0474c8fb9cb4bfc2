/* Between machines: what ends the job, and whether the peers are still there.
 *
 * The job ends if ranks are in different calls (consistency.h) or the transport has failed. A
 * thread of the application ends it, the next time that it is in the library. If an instance has
 * been outstanding for a second, all peers are told by messages of the library's own.
 */
#ifndef SG_INTERNODE_HEALTH_H
#define SG_INTERNODE_HEALTH_H

#include "internode/communicator.h"

void sg_internode_check_health(struct sg_internode *internode);

#endif
