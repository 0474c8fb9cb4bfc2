/* What waits and tests are asked about: which requests they find complete, and what those received.
 *
 * A call's handles are MPI_REQUEST_NULL, and its statuses may be ignored, when it returns: so they
 * are kept, or asked for, when it begins. Any thread; not from a signal handler.
 */
#ifndef SG_PROFILE_AWAITED_H
#define SG_PROFILE_AWAITED_H

#include "mpi/real.h"
#include "profile/function.h"

#include <stdbool.h>
#include <stdint.h>

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
