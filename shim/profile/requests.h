/* Requests, from the call that made them to their completion as the program sees it: in a wait, or
 * in a test that found them complete.
 *
 * A handle may stand for several requests at a time: MPICH gives one to all sends that are complete
 * at once. The oldest is then the first to be complete. Persistent and partitioned ones are active
 * from their start to their completion, and known until they are freed.
 *
 * Any thread; not from a signal handler. Memory grows with the requests at a time;
 * of one handle's that are never completed nor freed, the oldest are forgotten.
 */
#ifndef SG_PROFILE_REQUESTS_H
#define SG_PROFILE_REQUESTS_H

#include "mpi/real.h"
#include "profile/counted_functions.h"
#include "profile/entries.h"
#include "profile/posted.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* threads: several may call MPI at a time. */
void sg_requests_start(bool threads);
/* A call, which sample describes, has made the request: begun at begin_ns, or to be started. 0: its
 * completion is not counted. */
void sg_requests_add(MPI_Request handle, const struct sg_profile_sample *sample,
                     const struct sg_posted *posted, uint64_t begin_ns);
/* A persistent one is active. What it sends; false: it is not known. is_recorded: the call that
 * starts it is in the log. begin_ns: as above. */
bool sg_requests_activate(MPI_Request handle, uint64_t begin_ns, bool is_recorded, uint32_t *comm,
                          struct sg_moved *moved);
/* Cancelling it has been tried: its status tells whether it has been. */
void sg_requests_cancel(MPI_Request handle);
/* Nobody will ask for it again. False: it is not known, or MPI_REQUEST_NULL. */
bool sg_requests_forget(MPI_Request handle, struct sg_posted *posted);
/* All of them: their completions are not counted. */
void sg_requests_forget_all(void);

/* What waits and tests are asked about: which requests they find complete, and what those received.
 *
 * A call's handles are MPI_REQUEST_NULL, and its statuses may be ignored, when it returns: so they
 * are kept, or asked for, when it begins. Any thread; not from a signal handler.
 */

/* From a call's begin to its end, on its thread. */
struct sg_awaited {
    MPI_Request one;
    MPI_Status status;
    const MPI_Request *handles; /* as they were; NULL: the call asks about none */
    int count;
};

/* words: the call's, in C; a status that is ignored becomes ours. */
void sg_awaited_begin(struct sg_awaited *awaited, enum sg_function function, sg_word *words);

/* A call that has ended. */
struct sg_awaited_call {
    enum sg_function function;
    const sg_word *words;
    int error;
    bool is_f08;      /* indices are those of Fortran 2008 */
    bool is_recorded; /* it is in the log */
    uint64_t end_ns;  /* 0: completions are not counted */
};

void sg_awaited_end(const struct sg_awaited *awaited, const struct sg_awaited_call *call);

#endif
