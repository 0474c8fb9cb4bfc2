/* Follows requests from the call that made them until the program sees their completion, in a wait
 * or a test.
 *
 * A handle may represent several requests at a time: MPICH gives one handle to all sends that
 * complete at once. The oldest then completes first. Persistent and partitioned requests are active
 * from start to completion, and known until they are freed.
 *
 * Any thread; not from a signal handler. Memory grows with concurrent requests; if those of one
 * handle are never completed nor freed, the oldest are forgotten.
 */
#ifndef SG_PROFILE_REQUESTS_H
#define SG_PROFILE_REQUESTS_H

#include "mpi/real.h"
#include "profile/comms.h"
#include "profile/counted_functions.h"
#include "profile/entries.h"
#include "profile/events.h"
#include "profile/moved.h"
#include "profile/windows.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- operations of requests, and records of their begin and end ----
 *
 * Messages without records are counted as left out (events.h). Application threads, while there is
 * a log; not from a signal handler.
 */

struct sg_posted {
    struct sg_event_subject subject;
    int to, to_tag, from, from_tag; /* as requested; of a collective as in struct sg_record_event */
    uint64_t sent_bytes, received_bytes;
    /* Slots of the records that began the send (or an operation that is no message) and the
     * receive; 0: not in the log. */
    uint64_t slot, receive_slot;
    uint32_t starts;      /* of a persistent collective; from_tag: its maker's number */
    bool sends, receives; /* messages that match others' */
    bool is_skipped;      /* its receive has been counted as left out */
};

/* content: of the call that makes the request. */
struct sg_posted sg_posted_of(const struct sg_event_subject *subject,
                              const struct sg_event_content *content, const sg_word *words,
                              const struct sg_moved *moved);

/* Begins each of its parts, with a record of its own. */
void sg_posted_begin(struct sg_posted *posted, uint64_t time_ns);
/* Notes that its parts have begun, in the slots in posted. */
void sg_posted_begun(struct sg_posted *posted);

enum sg_posted_end { SG_POSTED_COMPLETE, SG_POSTED_CANCELLED, SG_POSTED_FREED };

/* Ends it. status: NULL if it failed or is not known. */
void sg_posted_end(const struct sg_posted *posted, enum sg_posted_end how, const MPI_Status *status,
                   uint64_t received_bytes, uint64_t time_ns);
/* Ends it by a call that is not in the log. */
void sg_posted_end_unseen(const struct sg_posted *posted, enum sg_posted_end how,
                          const MPI_Status *status);

/* ---- requests ---- */

/* threads: several may call MPI at a time. */
void sg_requests_start(bool threads);
/* True if the handle is the one that this MPI gives to all sends that complete at once, and to no
 * other request. */
bool sg_request_is_complete(MPI_Request handle);
/* Adds the request that a call made; sample describes the call. begin_ns: when it began; 0: its
 * completion is not counted. A persistent request is started later. */
void sg_requests_add(MPI_Request handle, const struct sg_profile_sample *sample,
                     const struct sg_posted *posted, uint64_t begin_ns);
/* The same for a plain message's (plain_calls.h), with the entries of its completion. The caller
 * fills the operation at once. NULL: it is not followed. Only if one thread at a time calls MPI. */
struct sg_posted *sg_requests_add_plain(MPI_Request handle, uint64_t begin_ns, uint8_t size_class,
                                        struct sg_record_profile *entry,
                                        struct sg_record_peer *peer);
/* Completes the requests of a call that has succeeded. event: the call's; NULL: it is not in the
 * log. Likewise. */
void sg_requests_complete_all(const MPI_Request *handles, const MPI_Status *statuses, int count,
                              uint64_t end_ns, struct sg_record_event *event);
/* Starts a persistent request. Returns what it sends in *comm and *moved; false: not known.
 * is_recorded: the call that starts it is in the log. begin_ns: as above. */
bool sg_requests_activate(MPI_Request handle, uint64_t begin_ns, bool is_recorded, uint32_t *comm,
                          struct sg_moved *moved);
/* The program has tried to cancel it; its status will report whether that worked. */
void sg_requests_cancel(MPI_Request handle);
/* The program will not ask for it again. False: not known, or MPI_REQUEST_NULL. */
bool sg_requests_forget(MPI_Request handle, struct sg_posted *posted);
/* Forgets all requests: their completions are not counted. */
void sg_requests_forget_all(void);

/* ---- requests of waits and tests: which are complete, and what they received ----
 *
 * When a call returns, its handles are MPI_REQUEST_NULL and its statuses may have been ignored. So
 * both are kept, or requested, when it begins. Any thread; not from a signal handler.
 */

/* Lives from a call's begin to its end, on its thread. */
struct sg_awaited {
    MPI_Request one;
    MPI_Status status;
    const MPI_Request *handles; /* before the call; NULL: the call has no requests */
    int count;
};

/* words: the call's, in C; an ignored status is replaced by the struct's. */
void sg_awaited_begin(struct sg_awaited *awaited, enum sg_function function, sg_word *words);

/* A call that has ended. */
struct sg_awaited_call {
    enum sg_function function;
    const sg_word *words;
    int error;
    bool is_f08;      /* indices are Fortran 2008's */
    bool is_recorded; /* it is in the log */
    uint64_t end_ns;  /* 0: completions are not counted */
};

void sg_awaited_end(const struct sg_awaited *awaited, const struct sg_awaited_call *call);

#endif
