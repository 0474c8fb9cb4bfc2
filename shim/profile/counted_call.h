/* State of an MPI call between its begin and its end. It is in the frame of the call's wrapper,
 * which owns it; profile.c fills it. Only the calling thread uses it. */
#ifndef SG_PROFILE_COUNTED_CALL_H
#define SG_PROFILE_COUNTED_CALL_H

#include "profile/requests.h"
#include "profile/site.h"
#include "trace/record.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* A call that is counted or followed, or that bounds an interval between calls. */
struct sg_profile_call {
    enum sg_function function;
    void *caller; /* return address of its wrapper */
    uint64_t begin_ns;
    bool is_f08; /* scalars are pointers */
    bool is_counted;
    bool is_followed;  /* not counted, but its messages and requests are followed */
    bool is_between;   /* it ends an interval, and its return begins one */
    MPI_Status status; /* replaces an ignored status, to find what was received */
    MPI_Request ended; /* request or message that the call frees */
    MPI_Win window;    /* window that the call frees */
    struct sg_awaited awaited;
    const struct sg_site *site;    /* NULL: not looked up yet */
    struct sg_record_event *event; /* begun; NULL: none */
};

#endif
