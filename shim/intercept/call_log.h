/* Calls in the log: the record of a call from its begin to its end, that of a nonblocking one from
 * the nonblocking call to the completion of its request, and their entries of the statistics.
 *
 * In the application's threads, while there is a log; not from a signal handler.
 */
#ifndef SG_INTERCEPT_CALL_LOG_H
#define SG_INTERCEPT_CALL_LOG_H

#include "intercept/comm.h"
#include "mpi/call.h"
#include "profile/site.h"
#include "trace/record.h"

struct sg_internode_plan;

/* The record of this thread's call whose end has not come yet; NULL: none. */
extern __thread struct sg_record_call *sg_call_log_open;

/* Index of the calling thread among those that record: 0 is the one that called MPI_Init. Also from
 * a signal handler. */
uint16_t sg_call_log_thread(void);

/* Begins the record of a blocking call, after its bytes are set. NULL: only statistics are kept. */
struct sg_record_call *sg_call_log_begin(struct sg_call *call, const struct sg_site *site,
                                         const struct sg_comm *comm, uint64_t begin_ns);

/* Ends what begin returned, and counts the call. error: what the MPI call returns. */
void sg_call_log_end(struct sg_record_call *record, const struct sg_call *call,
                     struct sg_site *site, const struct sg_comm *comm,
                     const struct sg_call_statistics *statistics, int error, uint64_t begin_ns,
                     uint64_t end_ns);

/* Ends the record of a call of this thread that an error handler has left by an exception or
 * longjmp, or calls from. */
void sg_call_log_abandon(void);

static inline void sg_call_log_settle(void)
{
    if (__builtin_expect(sg_call_log_open != NULL, 0))
        sg_call_log_abandon();
}

/* sg_request_start, recorded. begin_ns: the call's. */
int sg_call_log_nonblocking(struct sg_call *call, const struct sg_internode_plan *plan,
                            struct sg_site *site, const struct sg_comm *comm, uint64_t begin_ns);

/* A call that has no record, as MPICH has carried it out: counts it. caller: the wrapper's. */
void sg_call_log_passed(const struct sg_call *call, void *caller, int error, uint64_t begin_ns);

#endif
