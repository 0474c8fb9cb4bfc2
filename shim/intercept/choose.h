/* The choice of an algorithm for a call: by a rule, or by the turn of a trial. What was chosen is
 * kept at the call site or at the communicator, so that calls that repeat themselves ask no rule.
 *
 * In the application's threads; not from a signal handler.
 */
#ifndef SG_INTERCEPT_CHOOSE_H
#define SG_INTERCEPT_CHOOSE_H

#include "intercept/comm.h"
#include "mpi/call.h"
#include "profile/site.h"

/* After the call's bytes, local and communicator are set. Where the choice may differ between the
 * ranks, sets call->rules and call->choose_alike. */
const struct sg_choice *sg_choose(struct sg_call *call, struct sg_site *site, struct sg_comm *comm);

#endif
