/* The choice of a call, on which its ranks agree if rules tell call sites apart. In the
 * application's thread.
 */
#ifndef SG_INTERNODE_AGREE_H
#define SG_INTERNODE_AGREE_H

#include "internode/communicator.h"

/* If rules tell call sites apart (call->rules): the choice of the first rank to reach this call,
 * which must be one that sg_internode_plan_call plans; or call->choose_alike's, after ranks have
 * stopped agreeing. */
const struct sg_choice *sg_internode_agree(struct sg_internode *internode,
                                           const struct sg_call *call, const struct sg_choice *own);

#endif
