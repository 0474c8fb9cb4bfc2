/* Windows and files, whose handles do not give their communicators; the groups that synchronise
 * with windows; and the contents of a call's event.
 *
 * A window is identified by its communicator and its position among that one's windows: all members
 * make them in the same order, so nothing is agreed with others. It is written to the log when a
 * call on it is first recorded after it was made; by then it has its name. A file is identified by
 * the number that the call which opened it has on its communicator.
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
    uint32_t comm; /* number of its communicator there; 0: none */
    /* Collectives on it so far; the first made it. */
    _Atomic uint32_t collectives;
    /* Groups that synchronise with it; SG_NO_NUMBER: none, or not known. */
    _Atomic int access_group, exposure_group;
};

/* NULL: not known. Valid until the handle is freed. */
struct sg_window *sg_window_of(MPI_Win handle);

/* Counts a collective that has ended on the window. Returns its position. */
static inline uint32_t sg_window_order(struct sg_window *window)
{
    return atomic_fetch_add_explicit(&window->collectives, 1, memory_order_relaxed);
}

/* Call when its handle is freed. */
void sg_window_forget(MPI_Win handle);
/* Recording is switched on or off: forgets the groups that synchronise with windows. */
void sg_windows_switch(void);
/* Writes all windows to the log that are not in it. */
void sg_windows_stop(void);

/* ---- contents of an event on a window, besides those of all events ----
 *
 * words: the call's, in C's form. Any thread; not from a signal handler.
 */

/* has: calls of the function are on a window. makes: they make one. */
static inline bool sg_window_content_has(enum sg_function function)
{
    return sg_functions[function].class == SG_CLASS_ONE_SIDED ||
           sg_functions[function].class == SG_CLASS_WINDOW;
}
bool sg_window_content_makes(enum sg_function function);
/* Returns the window of a call that has ended without freeing it; NULL: none, or not known. */
struct sg_window *sg_window_content_at(enum sg_function function, const sg_word *words,
                                       bool failed);
/* Notes a successful call on a window, counted or not. Returns its position among the collectives
 * there. comm: the communicator on which it makes a window. */
uint32_t sg_window_content_note(enum sg_function function, const sg_word *words,
                                struct sg_profile_comm *comm);
/* Fills in a call that has begun: window, target, lock. window: NULL if not known. */
void sg_window_content_asked(struct sg_event_content *content, enum sg_function function,
                             const sg_word *words, const struct sg_window *window);
/* Fills in a call that has ended: also its group, and the number of a collective. The window is
 * then in the log, unless the call has made it. */
void sg_window_content_add(struct sg_event_content *content, enum sg_function function,
                           const sg_word *words, struct sg_window *window, uint32_t number);

/* ---- files ---- */

/* A call that all members of a file's communicator make. number: among those on the file, from 1;
 * 0: it is no such call, or the file is not known. */
struct sg_file_part {
    uint32_t comm;
    int opened; /* number of the call that opened the file, on the communicator */
    int number;
};

/* Notes a call on files that has succeeded, counted or not, and returns its part. closed: the file
 * that it closed. comm, number: of a call that opened a file. */
struct sg_file_part sg_file_note(enum sg_function function, const sg_word *words, MPI_File closed,
                                 const struct sg_profile_comm *comm, uint32_t number);

/* ---- contents of an event from the call's arguments ----
 *
 * words: the call's, in C's form. Any thread; not from a signal handler.
 */

/* Sets peers and tags as requested; the rest is known only after the call has succeeded. */
void sg_event_content_asked(struct sg_event_content *content, enum sg_function function,
                            const sg_word *words);

/* A call that has succeeded. */
struct sg_event_done {
    const struct sg_moved *moved;
    const MPI_Status *status;           /* of the received message; NULL: not known */
    const struct sg_profile_comm *comm; /* NULL: none */
    uint32_t number;                    /* of a collective on its communicator */
    const struct sg_file_part *file;    /* of a call on files */
};

/* content: as sg_event_content_asked has set it. */
void sg_event_content_complete(struct sg_event_content *content, enum sg_function function,
                               const sg_word *words, const struct sg_event_done *done);
/* False for a test that found nothing; else true. */
bool sg_event_content_found(enum sg_function function, const sg_word *words);

#endif
