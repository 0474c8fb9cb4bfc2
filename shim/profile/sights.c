/* Computes the filter of each function in MPI_Init, from STAGGER_CALLS, STAGGER_EVENTS,
 * STAGGER_TRACE and STAGGER_CAUSES (sights.h). For a function with an empty filter,
 * sg_profile_begin returns at once.
 */
#include "profile/sights.h"

#include "profile/counted_functions.h"
#include "profile/moved.h"
#include "profile/windows.h"
#include "runtime/settings.h"

_Atomic uint8_t sg_profile_sights[SG_FUNCTION_COUNT];

/* True for functions that send or receive messages, make requests of them or of persistent
 * collectives, or complete these. */
static bool is_of_messages(enum sg_function function)
{
    const struct sg_function_facts *facts = &sg_functions[function];
    const struct sg_argument_places *places = &sg_places[function];

    if (facts->class == SG_CLASS_COLLECTIVE)
        return facts->mode == SG_MODE_PREPARE;
    if (facts->class == SG_CLASS_MESSAGE)
        return facts->flow != SG_FLOW_NONE || facts->mode == SG_MODE_START ||
               places->message != SG_NO_WORD;
    return facts->class == SG_CLASS_REQUEST && places->handle == SG_NO_WORD;
}

static uint8_t sight_of(enum sg_function function, bool is_counted, bool has_events)
{
    bool traces = sg_process.config.trace == SG_TRACE_OTF2;
    bool between = sg_process.config.causes != SG_CAUSES_OFF;
    uint8_t sight = between ? SG_SIGHT_BETWEEN : 0;

    if (is_counted)
        sight |= SG_SIGHT_COUNTED;
    if (is_counted && has_events && traces)
        sight |= SG_SIGHT_EVENT;
    if (traces && is_of_messages(function))
        sight |= SG_SIGHT_FOLLOWED;
    if (sg_places[function].made != SG_NO_WORD || sg_window_content_makes(function) ||
        ((traces || between) && sg_function_is_ordered(function)) ||
        (traces && function == SG_FUNCTION_Win_fence))
        sight |= SG_SIGHT_NOTED;
    return sight;
}

void sg_sights_open(void)
{
    bool calls[SG_FUNCTION_COUNT], events[SG_FUNCTION_COUNT], speak = sg_process.rank == 0;

    sg_function_globs("STAGGER_CALLS", sg_process.config.calls, speak, true, calls);
    sg_function_globs("STAGGER_EVENTS", sg_process.config.events, speak, true, events);
    for (int function = 0; function < SG_FUNCTION_COUNT; function++)
        atomic_store(&sg_profile_sights[function],
                     sight_of(function, calls[function], events[function]));
}
