/* The number with which a communicator's counts of instances begin: 0, or what a test sets by
 * STAGGER_COUNT_FROM.
 */
#ifndef SG_INTERNODE_COUNTS_H
#define SG_INTERNODE_COUNTS_H

#include "internode/communicator.h"

uint64_t sg_counts_first(void);
/* In a new segment: as if all instances before the first had been left. */
void sg_counts_init(struct sg_internode *internode);

#endif
