/* Records collectives in the log: a blocking call from begin to end, a nonblocking call until its
 * request completes. Adds both to the statistics.
 *
 * Application threads, while there is a log; not from a signal handler.
 */
#ifndef SG_INTERCEPT_CALL_LOG_H
#define SG_INTERCEPT_CALL_LOG_H

#include "intercept/comm.h"
#include "mpi/call.h"
#include "profile/profile.h"
#include "profile/site.h"
#include "runtime/start.h"
#include "trace/record.h"

struct sg_internode_plan;

/* True if calls of this function are counted. */
bool sg_call_log_counts(const struct sg_call *call);
/* Notes that the thread is in a blocking call, and that it has left it. comm: as the profile knows
 * it; NULL: not known. */
void sg_call_log_enter(const struct sg_call *call, const struct sg_site *site,
                       const struct sg_profile_comm *comm, uint64_t begin_ns);
static inline void sg_call_log_leave(uint64_t end_ns)
{
    sg_present_leave(end_ns);
}
/* Begins the record of a blocking call; the call's bytes are set. NULL: only statistics are
 * kept. */
struct sg_record_call *sg_call_log_begin(struct sg_call *call, const struct sg_site *site,
                                         const struct sg_comm *comm, uint64_t begin_ns);
/* Ends the record that sg_call_log_begin returned (maybe NULL), and counts the call. error: what
 * the MPI call returns. */
void sg_call_log_end(struct sg_record_call *record, const struct sg_call *call,
                     struct sg_site *site, const struct sg_comm *comm,
                     const struct sg_call_statistics *statistics, int error, uint64_t begin_ns,
                     uint64_t end_ns);
/* Calls sg_request_start and records the call. begin_ns: when the call began. */
int sg_call_log_nonblocking(struct sg_call *call, const struct sg_internode_plan *plan,
                            struct sg_site *site, const struct sg_comm *comm, uint64_t begin_ns);

/* A call that MPICH runs and that has no collective record: it counts as any MPI call. Call pass at
 * its begin and passed at its end. caller: the wrapper's return address. */
struct sg_call_log_passing {
    struct sg_profile_call profile;
    sg_word words[SG_ARGUMENTS_MAX];
    bool is_seen;
};

void sg_call_log_pass(struct sg_call_log_passing *passing, const struct sg_call *call,
                      void *caller);
void sg_call_log_passed(struct sg_call_log_passing *passing, int error);
/* Does the same for a call that has ended, once it is known to have no record. */
void sg_call_log_first(const struct sg_call *call, void *caller, int error, uint64_t begin_ns,
                       uint64_t end_ns);

/* ---- statistics ----
 *
 * One entry in the log per (site, communicator, operation, algorithm, trial candidate, size class),
 * found in a lock-free table and updated in place.
 */

/* MPI_Pcontrol(2): sets all entries to zero. */
void sg_statistics_reset(void);
/* MPI_Pcontrol(3): writes DIR/interim-RANK-N.csv; N counts from 1. Logs one line on failure. */
void sg_statistics_write(void);

/* Hooks that start and stop call handling in MPI_Init and MPI_Finalize (runtime/start.h). */

extern const struct sg_process_calls sg_calls;

#endif
