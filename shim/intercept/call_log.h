/* Calls in the log: the record of a call from its begin to its end, that of a nonblocking one from
 * the nonblocking call to the completion of its request, and their entries of the statistics.
 *
 * In the application's threads, while there is a log; not from a signal handler.
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

/* Whether calls of this function are counted. */
bool sg_call_log_counts(const struct sg_call *call);
/* Begins the record of a blocking call, after its bytes are set. NULL: only statistics are kept. */
struct sg_record_call *sg_call_log_begin(struct sg_call *call, const struct sg_site *site,
                                         const struct sg_comm *comm, uint64_t begin_ns);
/* Ends what begin returned, and counts the call. error: what the MPI call returns. */
void sg_call_log_end(struct sg_record_call *record, const struct sg_call *call,
                     struct sg_site *site, const struct sg_comm *comm,
                     const struct sg_call_statistics *statistics, int error, uint64_t begin_ns,
                     uint64_t end_ns);
/* sg_request_start, recorded. begin_ns: the call's. */
int sg_call_log_nonblocking(struct sg_call *call, const struct sg_internode_plan *plan,
                            struct sg_site *site, const struct sg_comm *comm, uint64_t begin_ns);

/* A call that MPICH carries out, and that has no record here: one of all calls of MPI. From its
 * begin to its end. caller: the wrapper's. */
struct sg_call_log_passing {
    struct sg_profile_call profile;
    sg_word words[SG_ARGUMENTS_MAX];
    bool is_seen;
};

void sg_call_log_pass(struct sg_call_log_passing *passing, const struct sg_call *call,
                      void *caller);
void sg_call_log_passed(struct sg_call_log_passing *passing, int error);
/* The same of one that is over, when it is known that it has no record. */
void sg_call_log_first(const struct sg_call *call, void *caller, int error, uint64_t begin_ns,
                       uint64_t end_ns);

/* What calls need in place from MPI_Init to MPI_Finalize (runtime/start.h). */

extern const struct sg_process_calls sg_calls;

#endif
