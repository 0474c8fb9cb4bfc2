#include "mpi/trace_events.h"

#include <stdatomic.h>

/* Read by helper threads and signal handlers too, which the end of MPI_Finalize may find at work.
 */
static _Atomic(const struct sg_trace_events *) current;

void sg_trace_events_set(const struct sg_trace_events *given)
{
    /* Release: what it uses is there. */
    atomic_store_explicit(&current, given, memory_order_release);
}

static const struct sg_trace_events *get(void)
{
    return atomic_load_explicit(&current, memory_order_acquire);
}

void sg_trace_event_late(const struct sg_late *late)
{
    const struct sg_trace_events *events = get();

    if (events != NULL)
        events->late(late);
}

void sg_trace_event_slice(const struct sg_told_slice *told)
{
    const struct sg_trace_events *events = get();

    if (events != NULL)
        events->slice(told);
}

void sg_trace_event_line(enum sg_trace_line kind, const char *text)
{
    const struct sg_trace_events *events = get();

    if (events != NULL)
        events->line(kind, text);
}

bool sg_trace_event_site(uint32_t site, const char *module, uint64_t offset, char *text,
                         size_t text_bytes)
{
    const struct sg_trace_events *events = get();

    return events != NULL && events->site(site, module, offset, text, text_bytes);
}
