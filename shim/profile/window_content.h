/* What an event tells of a call on a window, besides what all tell (event_content.h).
 *
 * words: the call's, as those of C. Any thread; not from a signal handler.
 */
#ifndef SG_PROFILE_WINDOW_CONTENT_H
#define SG_PROFILE_WINDOW_CONTENT_H

#include "mpi/real.h"
#include "profile/events.h"
#include "profile/windows.h"

#include <stdbool.h>

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

#endif
