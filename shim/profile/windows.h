/* Windows, whose handles do not tell their communicators; and groups of ranks, with which windows
 * are synchronised.
 *
 * A window is known by its communicator and its place among the windows of that: all members make
 * them in one order, so that nothing is agreed with others. It is written to the log when a call on
 * it is recorded first after its making, by when it has its name.
 *
 * Any thread; look-ups take no lock. Not from a signal handler.
 */
#ifndef SG_PROFILE_WINDOWS_H
#define SG_PROFILE_WINDOWS_H

#include "mpi/real.h"
#include "profile/comms.h"
#include "profile/events.h"
#include "profile/moved.h"

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct sg_window {
    int number;    /* in this rank's log */
    uint32_t comm; /* the number of its communicator there; 0: it has none */
    /* Collectives on it so far, of which its making is the first. */
    _Atomic uint32_t collectives;
    /* With which groups it is synchronised; SG_NO_NUMBER: none, or not known. */
    _Atomic int access_group, exposure_group;
};

/* NULL: it is not known. Valid until the handle is given up. */
struct sg_window *sg_window_of(MPI_Win handle);

/* The place of a collective that is over among those on it. */
static inline uint32_t sg_window_order(struct sg_window *window)
{
    return atomic_fetch_add_explicit(&window->collectives, 1, memory_order_relaxed);
}

/* Its handle is given up. */
void sg_window_forget(MPI_Win handle);
/* Recording is switched on or off: with which groups they are synchronised is not known. */
void sg_windows_switch(void);
/* All that are there are in the log. */
void sg_windows_stop(void);

/* What an event tells of a call on a window, besides what all tell (event_content.h).
 *
 * words: the call's, as those of C. Any thread; not from a signal handler.
 */

/* Whether calls of a function are on a window, and whether they make one. */
bool sg_window_content_has(enum sg_function function);
bool sg_window_content_makes(enum sg_function function);
/* The window of a call that is over and has not ended it; NULL: it is of none, or not known. */
struct sg_window *sg_window_content_at(enum sg_function function, const sg_word *words,
                                       bool failed);
/* A call on a window has succeeded, whether or not it is counted: its place among the collectives
 * there. comm: on which it makes a window. */
uint32_t sg_window_content_note(enum sg_function function, const sg_word *words,
                                struct sg_profile_comm *comm);
/* Of a call that has begun: its window, its target, its lock. window: NULL where not known. */
void sg_window_content_asked(struct sg_event_content *content, enum sg_function function,
                             const sg_word *words, const struct sg_window *window);
/* Of one that has ended: its group, too, and the number of a collective. The window is in the log
 * then, unless the call has made it. */
void sg_window_content_add(struct sg_event_content *content, enum sg_function function,
                           const sg_word *words, struct sg_window *window, uint32_t number);

/* What a call's event tells of it, from the call's arguments.
 *
 * words: the call's, as those of C. Any thread; not from a signal handler.
 */

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
