/* Chooses the algorithm of a call, by a rule or by a trial, and keeps the state behind that: log
 * lines and records of trials, and calls that failed on this rank alone. Choices are cached at the
 * call site or in the communicator, so that repeated calls skip the rules.
 *
 * Application threads; not from a signal handler.
 */
#ifndef SG_INTERCEPT_CHOOSE_H
#define SG_INTERCEPT_CHOOSE_H

#include "intercept/comm.h"
#include "mpi/call.h"
#include "profile/site.h"
#include "rule/trial.h"
#include "runtime/settings.h"

/* Returns the choice for a call; its bytes, engines and communicator are set. If the choice may
 * differ between the ranks, sets call->rules. */
const struct sg_choice *sg_choose(struct sg_call *call, struct sg_site *site, struct sg_comm *comm);
/* Returns the choice without the call site, for a call on which the ranks no longer agree. */
const struct sg_choice *sg_choose_alike(const struct sg_call *call);

/* ---- trials (rule/trial.h) ----
 *
 * Trials in a running program: which candidate a call runs, their records in the log, and log lines
 * for candidates without blocks and for trials that no call matches.
 *
 * Blocks are counted by seq, the communicator's own number of its collectives, which is the same on
 * all members whatever the call sites.
 */

/* Writes the candidates to the log, once it is open. */
void sg_trial_record(const struct sg_process *process);
/* Call in MPI_Finalize, collective: reports the trials that no call matched. */
void sg_trial_stop(const struct sg_process *process);

/* ---- calls that failed on this rank alone ----
 *
 * Calls that failed here because of their arguments and that the other ranks do not wait for: a
 * reduce to this rank, a broadcast that it was to receive. The others may have made the call, or
 * omitted it. With MPICH, their messages stay unreceived and later calls pass them. In stagger's
 * engines each call has a position. So before its next call on the communicator, this rank checks
 * whether the others' call at its position is the failed one. If so, it takes part in it, with
 * buffers that nobody reads.
 *
 * Application's thread, inside a call on the communicator; not from a signal handler.
 */

/* Runs MPICH's own function for a call that the chosen algorithm does not take. Keeps the call if
 * it fails. */
int sg_unmet_pass(const struct sg_call *call);

/* Before a call on the communicator runs, while comm->unmet is not NULL: true if the other ranks
 * are in a call that failed here. The caller then runs *part, this rank's part in it, ends it, and
 * asks again. waits: the call waits for another rank if none has arrived. */
bool sg_unmet_begin(struct sg_comm *comm, const struct sg_call *call, bool waits,
                    struct sg_call *part);
void sg_unmet_end(struct sg_comm *comm, const struct sg_call *part);
void sg_unmet_forget(struct sg_comm *comm);

#endif
