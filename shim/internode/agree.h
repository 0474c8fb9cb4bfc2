/* The choice of a call, on which its ranks agree where rules tell call sites apart. In the
 * application's thread.
 */
#ifndef SG_INTERNODE_AGREE_H
#define SG_INTERNODE_AGREE_H

#include "internode/communicator.h"

/* Where rules tell call sites apart (call->rules): the choice of the first rank to come to this
 * call, which must be one that sg_internode_plan_call plans; call->choose_alike's, where ranks
 * agree no more. */
const struct sg_choice *sg_internode_agree(struct sg_internode *internode,
                                           const struct sg_call *call, const struct sg_choice *own);

#endif
