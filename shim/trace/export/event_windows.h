/* The events of calls on windows, in the order that Score-P writes: operations, requests for locks
 * and begins of collectives behind Enter; what is complete, then synchronisations, ends of
 * collectives and releases before Leave. Calls on windows that the archive does not have leave the
 * region alone.
 */
#ifndef SG_TRACE_EXPORT_EVENT_WINDOWS_H
#define SG_TRACE_EXPORT_EVENT_WINDOWS_H

#include "trace/export/event_writer.h"

/* Of a call that has been entered, or is left; nothing of other calls. */
void sg_event_window_begin(struct sg_event_writer *writer, const struct sg_record_event *event,
                           uint32_t slot, uint64_t time_ns);
void sg_event_window_end(struct sg_event_writer *writer, const struct sg_record_event *event,
                         uint32_t slot);
/* What a record completes: by its slot. */
void sg_event_window_completions(struct sg_event_writer *writer, uint32_t slot, uint64_t time_ns);

#endif
