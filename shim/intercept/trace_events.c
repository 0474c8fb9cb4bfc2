#include "intercept/trace_events.h"

#include "core/clock.h"
#include "intercept/emds.h"
#include "mpi/trace_events.h"
#include "profile/site.h"
#include "profile/thread.h"
#include "progress/progress.h"
#include "runtime/process.h"

#include <string.h>

/* In whatever thread or signal handler brought it. */
static void on_late(const struct sg_late *late)
{
    struct sg_record_late *record = sg_log_event(sg_process.log);
    enum sg_progress_by by = sg_progress_by();

    if (record == NULL)
        return;
    record->operation = (uint8_t)late->operation;
    record->by_signal = by == SG_PROGRESS_BY_SIGNAL;
    record->site = late->call.site;
    record->comm = late->call.comm;
    record->thread = sg_thread_number();
    record->begin_ns = late->begin_ns;
    record->bytes = late->bytes;
    record->seq = late->call.seq;
    record->child = late->child;
    record->avoided_ns = late->avoided_ns;
    if (by == SG_PROGRESS_BY_THREAD)
        sg_log_header(sg_process.log)->progress_thread = record->thread + 1u;
    atomic_store_explicit(&record->end_ns, late->end_ns, memory_order_relaxed);
    sg_log_publish(record, SG_RECORD_LATE);
}

static void on_line(enum sg_trace_line kind, const char *text)
{
    static const uint8_t markers[] = {[SG_TRACE_LINE_STALL] = SG_MARKER_STALL,
                                      [SG_TRACE_LINE_MISMATCH] = SG_MARKER_MISMATCH,
                                      [SG_TRACE_LINE_NOTE] = SG_MARKER_NOTE,
                                      [SG_TRACE_LINE_LEARNED] = SG_MARKER_LEARNED};
    size_t text_bytes = strlen(text);
    struct sg_record_marker *marker = sg_log_definition(sg_process.log, text, text_bytes);

    if (marker == NULL)
        return;
    marker->marker = markers[kind];
    marker->text_bytes = (uint32_t)text_bytes;
    marker->time_ns = sg_clock_ns();
    sg_log_publish(marker, SG_RECORD_MARKER);
}

void sg_trace_events_start(void)
{
    static const struct sg_trace_events trace_events = {
        .late = on_late, .slice = sg_emds_slice, .line = on_line, .site = sg_site_locate};

    sg_trace_events_set(&trace_events);
}

void sg_trace_events_stop(void)
{
    int first_failed;

    sg_exchange_agree(&sg_process.exchange, true, &first_failed);
    sg_trace_events_set(NULL);
}
