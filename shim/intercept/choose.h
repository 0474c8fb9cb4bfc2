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
#include "rule/trial.h"
#include "runtime/settings.h"

/* After the call's bytes, local and communicator are set. Where the choice may differ between the
 * ranks, sets call->rules and call->choose_alike. */
const struct sg_choice *sg_choose(struct sg_call *call, struct sg_site *site, struct sg_comm *comm);

/* Trials while the program runs: whose turn it is at a call, what of them stands in the log, and
 * what the user is told of arms that have no turns and trials that no call matches.
 *
 * Blocks are counted by the communicator's own numbers of its collectives (seq), which all members
 * have alike, whichever call sites they come from.
 */

/* Once the log is there: its arms go into it. */
void sg_trial_record(const struct sg_process *process);
/* At MPI_Finalize, collective: says of which trials no call was. */
void sg_trial_stop(const struct sg_process *process);

/* Calls that failed by their arguments on this rank alone, for which the others do not wait: a
 * reduce to this rank, a broadcast that it was to receive. The others may have made the call, or
 * may have left it out as well. In MPICH their messages stay unreceived, and later calls pass them
 * by. In stagger's engines a call has a position: so before its next call on the communicator this
 * rank looks whether the others' call at its position is the one that failed, and then takes part
 * in it, with buffers that nobody reads.
 *
 * In the application's thread, inside a call on the communicator; not from a signal handler.
 */

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
