/* Operations of requests, and records of their begin and end. Messages without records are counted
 * as left out (events.h).
 *
 * Application threads, while there is a log; not from a signal handler.
 */
#ifndef SG_PROFILE_POSTED_H
#define SG_PROFILE_POSTED_H

#include "profile/comms.h"
#include "profile/events.h"
#include "profile/moved.h"
#include "profile/windows.h"

#include <mpi.h>

struct sg_posted {
    struct sg_event_subject subject;
    bool sends, receives;           /* messages that match others' */
    int to, to_tag, from, from_tag; /* as requested */
    uint64_t sent_bytes, received_bytes;
    /* Slots of the records that began the send (or an operation that is no message) and the
     * receive; 0: not in the log. */
    uint64_t slot, receive_slot;
    bool is_skipped; /* its receive has been counted as left out */
    uint32_t starts; /* of a persistent collective; from_tag: its maker's number */
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

#endif
