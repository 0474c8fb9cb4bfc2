/* A call of MPI between its begin and its end, in its wrapper's frame. */
#ifndef SG_PROFILE_COUNTED_CALL_H
#define SG_PROFILE_COUNTED_CALL_H

#include "profile/requests.h"
#include "profile/site.h"
#include "trace/record.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* Counted, followed, or what is between calls ends and begins with it. */
struct sg_profile_call {
    enum sg_function function;
    void *caller; /* where its wrapper returns to */
    uint64_t begin_ns;
    bool is_f08; /* scalars are pointers */
    bool is_counted;
    bool is_followed;  /* it is not counted: its messages and requests are followed */
    bool is_between;   /* it ends an interval, and its end begins one */
    MPI_Status status; /* where the caller wants none, and it tells what was received */
    MPI_Request ended; /* a request, or a message, that the call gives up */
    MPI_Win window;    /* likewise */
    struct sg_awaited awaited;
    const struct sg_site *site;    /* NULL: not known yet */
    struct sg_record_event *event; /* begun; NULL: there is none */
};

#endif
