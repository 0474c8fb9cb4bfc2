/* Ranks agree on the choice for a call when rules distinguish call sites. Runs in the application's
 * thread. */
#ifndef SG_INTERNODE_AGREE_H
#define SG_INTERNODE_AGREE_H

#include "internode/communicator.h"

/* Returns the choice of the first rank to reach this call, which must be one that
 * sg_internode_takes. NULL: the ranks agree no more, from this call on; each chooses without the
 * call site. Only for calls whose rules distinguish call sites (call->rules). */
const struct sg_choice *sg_internode_agree(struct sg_internode *internode,
                                           const struct sg_call *call, const struct sg_choice *own);

#endif
