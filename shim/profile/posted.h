/* What requests are about, and the records of their begin and end. Messages that have none are
 * counted as left out (gaps.h).
 *
 * As events.h.
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
    bool sends, receives;           /* messages that others' are matched with */
    int to, to_tag, from, from_tag; /* as asked for */
    uint64_t sent_bytes, received_bytes;
    /* Of the records that began what it sends, or what is no message, and what it receives; 0: not
     * in the log. */
    uint64_t slot, receive_slot;
    bool is_skipped; /* what it receives has been counted as left out */
    uint32_t starts; /* of a persistent collective, so far; from_tag: of what made it */
};

/* content: of the call that makes the request. */
struct sg_posted sg_posted_of(const struct sg_event_subject *subject,
                              const struct sg_event_content *content, const sg_word *words,
                              const struct sg_moved *moved);

/* Each of its parts begins, with a record of its own. */
void sg_posted_begin(struct sg_posted *posted, uint64_t time_ns);
/* They have begun, in the slots that posted tells. */
void sg_posted_begun(struct sg_posted *posted);

enum sg_posted_end { SG_POSTED_COMPLETE, SG_POSTED_CANCELLED, SG_POSTED_FREED };

/* It ends. status: NULL where it failed, or none is known. */
void sg_posted_end(const struct sg_posted *posted, enum sg_posted_end how, const MPI_Status *status,
                   uint64_t received_bytes, uint64_t time_ns);
/* It ends, and the call that found this is not in the log. */
void sg_posted_end_unseen(const struct sg_posted *posted, enum sg_posted_end how,
                          const MPI_Status *status);

#endif
