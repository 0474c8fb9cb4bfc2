/* Every call of MPI, counted: begin and end around it, in its wrapper.
 *
 * A call of MPI inside another, by a callback, is part of that one. Nothing is counted before
 * MPI_Init has returned and after MPI_Finalize has been called, without a log, and while
 * MPI_Pcontrol has switched recording off. Where there are events, calls that are not counted are
 * followed as far as messages that are depend on them (gaps.h).
 *
 * Any thread; not from a signal handler.
 */
#ifndef SG_PROFILE_PROFILE_H
#define SG_PROFILE_PROFILE_H

#include "causes/causes.h"
#include "mpi/real.h"
#include "profile/comms.h"
#include "profile/counted_call.h"
#include "profile/counted_functions.h"
#include "profile/events.h"
#include "profile/sights.h"
#include "profile/site.h"
#include "runtime/settings.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* What is between calls of MPI (causes/causes.h): tells it of outermost calls, whatever wrapper
 * they come through, whether they are counted or not.
 *
 * Any thread; not from a signal handler.
 */

/* The calling thread's outermost call. */
extern __thread struct sg_stack_frame sg_between_outermost;

void sg_between_end_interval(void);

/* A call begins. False: nothing is to be known of it, or it is part of another. frame, caller: of a
 * function that is there until it ends. */
static inline bool sg_between_enter(void *frame, void *caller)
{
    if (!atomic_load_explicit(&sg_causes_is_on, memory_order_relaxed) ||
        sg_stack_is_held(&sg_between_outermost, frame))
        return false;
    sg_between_outermost = (struct sg_stack_frame){(uintptr_t)frame, caller};
    if (__builtin_expect(sg_causes_samples, false))
        sg_between_end_interval();
    return true;
}

struct sg_between_call {
    void *caller;                       /* where its wrapper returns to */
    const struct sg_site *site;         /* NULL: not looked up yet */
    const struct sg_profile_comm *comm; /* of a collective that succeeded; NULL: it was none */
    uint64_t end_ns;                    /* core/tick.h's; 0: not known */
};

/* It ends: the last of all that is done for it. Only where enter was true. */
void sg_between_leave(const struct sg_between_call *call);

/* In MPI_Init, when the log is there; in MPI_Finalize, entered at end_ns. threads: several may call
 * MPI at a time. */
void sg_profile_start(bool threads);
void sg_profile_stop(uint64_t end_ns);
/* Recording is switched on or off. */
void sg_profile_switch(bool on);
/* MPI_Pcontrol(2): all counted so far to zero. */
void sg_profile_reset(void);
void sg_profile_begin_counted(struct sg_profile_call *call, sg_word *words);
void sg_profile_begin_followed(struct sg_profile_call *call, sg_word *words);

/* Whether a call is counted; frame: its wrapper's, or of something that this called. */
static inline bool sg_profile_counts(enum sg_function function, void *frame)
{
    return (sg_profile_sight(function) & SG_SIGHT_COUNTED) != 0 &&
           atomic_load_explicit(&sg_process.recording, memory_order_relaxed) &&
           !sg_stack_is_held(&sg_stack_outermost, frame);
}

/* Whether anything is seen of a call, which sg_profile_end is then told. words: its arguments, as
 * they are to be passed on: a status may become call's. frame, caller: the wrapper's own. */
static inline __attribute__((always_inline)) bool sg_profile_begin(struct sg_profile_call *call,
                                                                   enum sg_function function,
                                                                   bool is_f08, sg_word *words,
                                                                   void *frame, void *caller)
{
    uint8_t sight = sg_profile_sight(function);

    if (sight == 0)
        return false;
    call->function = function;
    call->caller = caller;
    call->is_f08 = is_f08;
    call->is_between = (sight & SG_SIGHT_BETWEEN) != 0 && sg_between_enter(frame, caller);
    call->is_followed = false;
    call->is_counted = sg_profile_counts(function, frame);
    if (!call->is_counted) {
        call->site = NULL;
        if ((sight & SG_SIGHT_FOLLOWED) != 0 && !sg_stack_is_held(&sg_stack_outermost, frame)) {
            sg_stack_outermost = (struct sg_stack_frame){(uintptr_t)frame, caller};
            sg_profile_begin_followed(call, words);
            return true;
        }
        return (sight & SG_SIGHT_NOTED) != 0 || call->is_between;
    }
    sg_events_settle(frame);
    sg_stack_outermost = (struct sg_stack_frame){(uintptr_t)frame, caller};
    sg_profile_begin_counted(call, words);
    return true;
}

/* The same in what a wrapper has called: calls of MPI in it count, too. */
bool sg_profile_begin_inside(struct sg_profile_call *call, enum sg_function function,
                             sg_word *words, void *frame, void *caller);
/* Of a call of which begin has seen something. */
void sg_profile_end(struct sg_profile_call *call, const sg_word *words, int error);

/* Both at once, of a call that is over: in what a wrapper has called, as inside. */
struct sg_profile_past {
    enum sg_function function;
    int error;
    uint64_t begin_ns, end_ns;
};

void sg_profile_add_past(const struct sg_profile_past *past, sg_word *words, void *frame,
                         void *caller);

#endif
