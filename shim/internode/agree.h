/* Ranks agree on the choice for a call when rules distinguish call sites. Runs in the application's
 * thread. */
#ifndef SG_INTERNODE_AGREE_H
#define SG_INTERNODE_AGREE_H

#include "internode/communicator.h"

/* Returns the choice of the first rank to reach this call, which must be one that
 * sg_internode_plan_call plans. After ranks have stopped agreeing, returns call->choose_alike's
 * choice. Only for calls whose rules distinguish call sites (call->rules). */
const struct sg_choice *sg_internode_agree(struct sg_internode *internode,
                                           const struct sg_call *call, const struct sg_choice *own);

#endif
