/* Where a communicator's counts of instances begin: at 0, or where a test says (STAGGER_COUNT_FROM).
 */
#ifndef SG_INTERNODE_COUNTS_H
#define SG_INTERNODE_COUNTS_H

#include "internode/communicator.h"

uint64_t sg_counts_first(void);
/* In a new segment: as if all instances before the first had been left. */
void sg_counts_init(struct sg_internode *internode);

#endif
