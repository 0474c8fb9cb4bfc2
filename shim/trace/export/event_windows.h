/* Writes the OTF2 events of calls on windows, in Score-P's order. After Enter: one-sided
 * operations, lock requests and begins of collectives. Before Leave: completions, then
 * synchronisations, ends of collectives and lock releases. A call on a window that the archive does
 * not have is written as a region only.
 *
 * event_windows.c also writes the metrics of intervals between calls and of slices
 * (event_writer.h).
 */
#ifndef SG_TRACE_EXPORT_EVENT_WINDOWS_H
#define SG_TRACE_EXPORT_EVENT_WINDOWS_H

#include "trace/export/event_writer.h"

/* Write the events after a call's Enter or before its Leave; nothing for other calls and for calls
 * that never returned. */
void sg_event_window_begin(struct sg_event_writer *writer, const struct sg_record_event *event,
                           uint32_t slot, uint64_t time_ns);
void sg_event_window_end(struct sg_event_writer *writer, const struct sg_record_event *event,
                         uint32_t slot);
/* Writes the completions that a record causes. slot: the record's. */
void sg_event_window_completions(struct sg_event_writer *writer, uint32_t slot, uint64_t time_ns);

#endif
