/* Calls that failed by their arguments on this rank alone, for which the others do not wait: a
 * reduce to this rank, a broadcast that it was to receive. The others may have made the call, or
 * may have left it out as well. In MPICH their messages stay unreceived, and later calls pass them
 * by. In stagger's engines a call has a position: so before its next call on the communicator this
 * rank looks whether the others' call at its position is the one that failed, and then takes part
 * in it, with buffers that nobody reads.
 *
 * In the application's thread, inside a call on the communicator; not from a signal handler.
 */
#ifndef SG_INTERCEPT_UNMET_H
#define SG_INTERCEPT_UNMET_H

#include "intercept/comm.h"
#include "mpi/call.h"
#include "profile/site.h"

/* MPICH's own version of a call whose algorithm does not take it: kept if it fails. */
int sg_unmet_pass(const struct sg_call *call);

/* sg_call_run */
typedef int (*sg_unmet_run)(const struct sg_call *call, const struct sg_choice *choice,
                            struct sg_call_statistics *statistics);

/* comm->unmet is not NULL; the call, from that site, is about to run. waits: it waits for another
 * rank if none has come. */
void sg_unmet_meet(struct sg_comm *comm, const struct sg_call *call, struct sg_site *site,
                   bool waits, sg_unmet_run run);

void sg_unmet_forget(struct sg_comm *comm);

#endif
