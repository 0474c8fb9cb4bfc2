/* What a call's event tells of it, from the call's arguments.
 *
 * words: the call's, as those of C. Any thread; not from a signal handler.
 */
#ifndef SG_PROFILE_EVENT_CONTENT_H
#define SG_PROFILE_EVENT_CONTENT_H

#include "mpi/real.h"
#include "profile/events.h"
#include "profile/moved.h"

/* Peers and tags as asked for; nothing else is known before the call has succeeded. */
struct sg_event_content sg_event_content_asked(enum sg_function function, const sg_word *words);

/* A call that has succeeded. */
struct sg_event_done {
    const struct sg_moved *moved;
    const MPI_Status *status;           /* of what it received; NULL: not known */
    const struct sg_profile_comm *comm; /* NULL: of none */
    uint32_t number;                    /* of a collective on its communicator */
};
/* content: as asked. */
void sg_event_content_complete(struct sg_event_content *content, enum sg_function function,
                               const sg_word *words, const struct sg_event_done *done);

/* Whether the call tells of something: not of a test that found nothing. */
bool sg_event_content_found(enum sg_function function, const sg_word *words);

#endif
