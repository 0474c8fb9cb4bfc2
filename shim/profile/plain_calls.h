/* A direct path for plain calls: blocking and nonblocking sends and receives, MPI_Wait and
 * MPI_Waitall, and blocking collectives that MPICH runs, as most programs use them. It writes what
 * the general path (profile.c) would write.
 *
 * A plan holds all that a call looks up: its call site, communicator, and entries in the
 * statistics. The calling thread finds it by the return address and the arguments. A call that is
 * unusual in any way takes the general path: a message of a derived type, MPI_PROC_NULL, a
 * collective with a count for each rank or between groups, an error, a full block of slots,
 * messages missing from the log, several threads that may call MPI at a time.
 *
 * Any thread; not from a signal handler.
 */
#ifndef SG_PROFILE_PLAIN_CALLS_H
#define SG_PROFILE_PLAIN_CALLS_H

#include "profile/arguments.h"
#include "profile/comms.h"
#include "profile/counted_functions.h"
#include "profile/events.h"
#include "profile/site.h"

#include <stdbool.h>
#include <stdint.h>

/* State of an MPI call between its begin and its end. It is in the frame of the call's wrapper,
 * which owns it; profile.c fills it. Only the calling thread uses it. The call is counted or
 * followed, or bounds an interval between calls. */
struct sg_profile_call {
    enum sg_function function;
    bool is_f08; /* scalars are pointers */
    bool is_counted;
    bool is_followed;              /* not counted, but its messages and requests are followed */
    bool is_between;               /* it ends an interval, and its return begins one */
    bool is_repeat;                /* of a test that found nothing (polling.h) */
    bool is_begun;                 /* its event has begun, or was left out */
    void *caller;                  /* return address of its wrapper */
    uint64_t begin_ns;             /* of a repeat, the counter */
    const struct sg_site *site;    /* NULL: not looked up yet */
    struct sg_plain_plan *plan;    /* of a plain call (plain_calls.h); NULL: it is none */
    struct sg_profile_comm *comm;  /* of a counted call that waits; NULL: none, or not known */
    struct sg_record_event *event; /* begun; NULL: none */
    struct sg_event_content asked; /* of a counted call that waits */
    struct sg_kept kept;
};

/* Call in MPI_Init, when the filters of the functions are set. threads: several may call MPI at a
 * time. records: true if a function's calls are counted and have events. */
void sg_plain_start(bool threads, bool (*records)(enum sg_function function));

/* Prepares a counted call, up to the reading of its begin. False: the general path has to. */
bool sg_plain_begin(struct sg_profile_call *call, sg_word *words);
/* Ends a call that it has begun and that has succeeded. False: the general path has to. Fills the
 * call's end on its thread, but not the interval after it. */
bool sg_plain_end(struct sg_profile_call *call, const sg_word *words, uint64_t *end_ns);

#endif
