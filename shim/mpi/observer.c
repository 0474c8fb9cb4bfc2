#include "mpi/observer.h"

#include <stdatomic.h>

/* Read by helper threads and signal handlers too, which the end of MPI_Finalize may find at work.
 */
static _Atomic(const struct sg_observer *) current;

void sg_observe(const struct sg_observer *given)
{
    /* Release: what it uses is there. */
    atomic_store_explicit(&current, given, memory_order_release);
}

static const struct sg_observer *get(void)
{
    return atomic_load_explicit(&current, memory_order_acquire);
}

void sg_observed_late(const struct sg_late *late)
{
    const struct sg_observer *observer = get();

    if (observer != NULL)
        observer->late(late);
}

void sg_trace_event_line(enum sg_trace_line kind, const char *text)
{
    const struct sg_observer *observer = get();

    if (observer != NULL)
        observer->line(kind, text);
}

bool sg_observed_place(uint32_t site, const char *module, uint64_t offset, char *text,
                       size_t text_bytes)
{
    const struct sg_observer *observer = get();

    return observer != NULL && observer->place(site, module, offset, text, text_bytes);
}
