/* Trials while the program runs: whose turn it is at a call, what of them stands in the log, and
 * what the user is told of arms that have no turns and trials that no call matches.
 *
 * Blocks are counted by the communicator's own numbers of its collectives (seq), which all members
 * have alike, whichever call sites they come from.
 */
#ifndef SG_INTERCEPT_TRIAL_H
#define SG_INTERCEPT_TRIAL_H

#include "intercept/comm.h"
#include "mpi/call.h"
#include "rule/trial.h"
#include "runtime/process.h"

/* The arm whose turn it is on a communicator, of the trial that a matched choice stands for; a
 * choice of no trial is its own. */
const struct sg_choice *sg_trial_now(const struct sg_comm *comm,
                                     const struct sg_rule_comm *rule_comm,
                                     const struct sg_choice *matched);

/* Where there are trials: looks whose a call is, for what is said of them. site: NULL where calls
 * are told apart by what all ranks know alone. */
void sg_trial_look(const struct sg_call *call, const struct sg_rule_site *site,
                   const struct sg_rule_comm *rule_comm);

/* Once the log is there: its arms go into it. */
void sg_trial_record(const struct sg_process *process);

/* At MPI_Finalize, collective: says of which trials no call was. */
void sg_trial_stop(const struct sg_process *process);

#endif
