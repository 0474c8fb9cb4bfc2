/* For a test, in a build with SG_INTERNODE_DECISIONS=1: appends the effect of each event to the
 * file decisions-COMMUNICATOR-ENDPOINT in the working directory (struct sg_decision,
 * algos/decision.h). tests/internode/replay.c compares.
 */
#ifndef SG_INTERNODE_DECISIONS_H
#define SG_INTERNODE_DECISIONS_H

#include "internode/communicator.h"

#if SG_INTERNODE_DECISIONS
/* With the endpoint's lock. drain: on_drain, without an event. */
void sg_decisions_record(const struct sg_internode *internode, uint32_t protocol,
                         const struct sg_event *event, bool drain,
                         const struct sg_actions *actions);
#else
static inline void sg_decisions_record(const struct sg_internode *internode, uint32_t protocol,
                                       const struct sg_event *event, bool drain,
                                       const struct sg_actions *actions)
{
}
#endif

#endif
