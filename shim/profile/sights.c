/* The filter of each function, and the start and end of recording (profile.h). */
#include "profile/profile.h"

#include "core/tick.h"
#include "profile/entries.h"
#include "profile/mmds.h"
#include "profile/requests.h"
#include "profile/windows.h"

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
        ((traces || between) && sg_function_is_numbered(function)) ||
        (traces &&
         (sg_places[function].file != SG_NO_WORD || sg_places[function].made_file != SG_NO_WORD)) ||
        (traces && function == SG_FUNCTION_Win_fence))
        sight |= SG_SIGHT_NOTED;
    return sight;
}

/* For a function with an empty filter, sg_profile_begin returns at once. */
static void open_sights(void)
{
    bool calls[SG_FUNCTION_COUNT], events[SG_FUNCTION_COUNT], speak = sg_process.rank == 0;

    sg_function_globs("STAGGER_CALLS", sg_process.config.calls, speak, true, calls);
    sg_function_globs("STAGGER_EVENTS", sg_process.config.events, speak, true, events);
    for (int function = 0; function < SG_FUNCTION_COUNT; function++)
        atomic_store(&sg_profile_sights[function],
                     sight_of(function, calls[function], events[function]));
}

static atomic_bool is_on;

/* Call in MPI_Init, when the log is open. */
static void start_causes(bool is_crowded)
{
    const enum sg_causes_mode mode = (enum sg_causes_mode)sg_process.config.causes;
    const struct sg_causes_options options = {
        .log = sg_process.log,
        .mode = mode,
        .has_events = sg_process.config.trace == SG_TRACE_OTF2,
        .begin_ns = sg_log_header(sg_process.log)->init_begin_ns,
        .places = {.processes = "/proc",
                   .systems = "/sys",
                   .no_events = is_crowded && mode != SG_CAUSES_ALL},
    };

    sg_causes_start(&options);
}

void sg_profile_start(bool threads, bool is_crowded)
{
    if (sg_process.log == NULL)
        return;
    sg_tick_start("/sys");
    sg_places_find();
    sg_arguments_start();
    sg_profile_entries_start();
    sg_requests_start(threads);
    sg_profile_comms_start();
    sg_mmds_start();
    start_causes(is_crowded);
    is_on = true;
    open_sights();
    sg_plain_start(threads, sg_profile_records);
}

void sg_profile_stop(uint64_t end_ns)
{
    is_on = false;
    for (int function = 0; function < SG_FUNCTION_COUNT; function++)
        atomic_store(&sg_profile_sights[function], 0);
    if (sg_process.config.trace == SG_TRACE_OTF2)
        sg_windows_stop();
    sg_mmds_stop(end_ns);
}

void sg_profile_switch(bool on)
{
    if (!is_on)
        return;
    /* With events, requests are also followed while recording is off. */
    if (sg_process.config.trace != SG_TRACE_OTF2)
        sg_requests_forget_all();
    sg_windows_switch();
    sg_mmds_switch(on);
}

void sg_profile_reset(void)
{
    if (!is_on)
        return;
    sg_profile_entries_reset();
    sg_mmds_reset();
    sg_causes_reset();
}
