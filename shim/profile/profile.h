/* Counts every MPI call: a wrapper calls begin and end around it. Also reports outermost calls to
 * the sampler of intervals (causes/causes.h).
 *
 * An MPI call inside another, from a callback, is part of that one. Nothing is counted before
 * MPI_Init has returned, after MPI_Finalize has been called, without a log, and while MPI_Pcontrol
 * has switched recording off. If there are events, calls that are not counted are followed as far
 * as recorded messages depend on them (events.h).
 *
 * Any thread; not from a signal handler.
 */
#ifndef SG_PROFILE_PROFILE_H
#define SG_PROFILE_PROFILE_H

#include "causes/causes.h"
#include "mpi/real.h"
#include "profile/arguments.h"
#include "profile/comms.h"
#include "profile/counted_functions.h"
#include "profile/events.h"
#include "profile/plain_calls.h"
#include "profile/requests.h"
#include "profile/site.h"
#include "runtime/settings.h"
#include "trace/record.h"

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- the filter of each function's calls: which of them the settings STAGGER_CALLS,
 * STAGGER_EVENTS, STAGGER_TRACE and STAGGER_CAUSES select for counting, events and following.
 * Wrappers read it before anything else. ---- */

/* Bits of a function's filter. */
enum sg_profile_sight {
    SG_SIGHT_COUNTED = 1,
    SG_SIGHT_EVENT = 2, /* counted calls get an event */
    /* Even if not counted: the call makes a communicator or has a position among collectives. */
    SG_SIGHT_NOTED = 4,
    SG_SIGHT_BETWEEN = 8, /* intervals between calls, counted or not */
    /* Even if not counted: messages and requests, on which recorded ones depend. */
    SG_SIGHT_FOLLOWED = 16,
};

extern _Atomic uint8_t sg_profile_sights[SG_FUNCTION_COUNT]; /* 0: calls are not observed */

static inline uint8_t sg_profile_sight(enum sg_function function)
{
    return atomic_load_explicit(&sg_profile_sights[function], memory_order_relaxed);
}

/* True if calls of the function are counted and have events. With events, messages and requests are
 * followed. */
static inline bool sg_profile_records(enum sg_function function)
{
    return (sg_profile_sight(function) & SG_SIGHT_EVENT) != 0;
}

/* ---- intervals between MPI calls (causes/causes.h) ----
 *
 * Covers outermost calls through any wrapper, counted or not. Any thread; not from a signal
 * handler.
 */

/* The calling thread's outermost call. */
extern __thread struct sg_stack_frame sg_between_outermost;

void sg_between_end_interval(void);

/* Call when an MPI call begins. False: it is not observed, or it is part of another. frame, caller:
 * of a function that is live until the call ends. */
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
    void *caller;                       /* return address of its wrapper */
    const struct sg_site *site;         /* NULL: not looked up yet */
    const struct sg_profile_comm *comm; /* of a collective that succeeded; NULL: no collective */
    uint64_t end_ns;                    /* core/tick.h's; 0: not known */
};

/* Call when the call ends, after everything else that is done for it. Only if enter returned
 * true. */
void sg_between_leave(const struct sg_between_call *call);

/* Start in MPI_Init, when the log is open; stop in MPI_Finalize, entered at end_ns. threads:
 * several may call MPI at a time; is_crowded: ranks share processors. */
void sg_profile_start(bool threads, bool is_crowded);
void sg_profile_stop(uint64_t end_ns);
/* Recording is switched on or off. */
void sg_profile_switch(bool on);
/* MPI_Pcontrol(2): sets all counts to zero. */
void sg_profile_reset(void);
void sg_profile_begin_counted(struct sg_profile_call *call, sg_word *words);
void sg_profile_begin_followed(struct sg_profile_call *call, sg_word *words);

/* True if the call is counted. frame: its wrapper's, or of a function that it called. */
static inline bool sg_profile_counts(enum sg_function function, void *frame)
{
    return (sg_profile_sight(function) & SG_SIGHT_COUNTED) != 0 &&
           atomic_load_explicit(&sg_process.recording, memory_order_relaxed) &&
           !sg_stack_is_held(&sg_stack_outermost, frame);
}

/* Returns true if the call is observed; then sg_profile_end must be called. words: its arguments as
 * the wrapper must pass them on: a status may be replaced by call's. frame, caller: the wrapper's
 * own. */
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

/* The same for a function that a wrapper has called: MPI calls inside it count, too. */
bool sg_profile_begin_inside(struct sg_profile_call *call, enum sg_function function,
                             sg_word *words, void *frame, void *caller);
/* Ends a call for which begin returned true. */
void sg_profile_end(struct sg_profile_call *call, const sg_word *words, int error);

/* Begin and end together, for a call that has ended, in a function that a wrapper has called. */
struct sg_profile_past {
    enum sg_function function;
    int error;
    uint64_t begin_ns, end_ns;
};

void sg_profile_add_past(const struct sg_profile_past *past, sg_word *words, void *frame,
                         void *caller);

#endif
