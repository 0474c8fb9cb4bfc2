#include "profile/events.h"

#include "core/tick.h"
#include "profile/function_log.h"
#include "profile/stack.h"
#include "profile/thread.h"
#include "runtime/process.h"

#include <stdatomic.h>

#define SHARE 2u      /* of the log's room: one in so many slots */
#define ALLOWANCE 64u /* slots that a thread takes of it at a time */

__thread void *sg_events_open;

static __thread uint32_t allowance;
static _Atomic uint64_t taken;

/* ---- room ---- */

static bool take_allowance(const struct sg_log_header *header)
{
    uint64_t share = header->event_limit_slots / SHARE;

    if (atomic_load_explicit(&taken, memory_order_relaxed) + ALLOWANCE > share ||
        atomic_fetch_add_explicit(&taken, ALLOWANCE, memory_order_relaxed) + ALLOWANCE > share)
        return false;
    allowance = ALLOWANCE;
    return true;
}

bool sg_events_have_room(void)
{
    const struct sg_log_header *header = sg_log_header(sg_process.log);

    return allowance > 0 ||
           atomic_load_explicit(&taken, memory_order_relaxed) + ALLOWANCE <=
               header->event_limit_slots / SHARE ||
           atomic_load_explicit(&header->thread_count, memory_order_relaxed) > 1;
}

static __attribute__((noinline)) void *leave_out(enum sg_function function, bool is_counted)
{
    if (!is_counted)
        atomic_fetch_add_explicit(&sg_log_header(sg_process.log)->dropped_events, 1,
                                  memory_order_relaxed);
    sg_function_leave_out(function);
    return NULL;
}

static inline void *reserve(enum sg_function function)
{
    void *record;

    if (__builtin_expect(allowance == 0, 0) && !take_allowance(sg_log_header(sg_process.log)))
        return leave_out(function, false);
    record = sg_log_event_growing(sg_process.log);
    if (__builtin_expect(record == NULL, 0))
        return leave_out(function, true);
    allowance--;
    return record;
}

uint64_t sg_events_slot(const void *record)
{
    const unsigned char *first = (const unsigned char *)sg_log_header(sg_process.log);

    return (uint64_t)((const unsigned char *)record - first - SG_LOG_HEADER_BYTES) / SG_SLOT_BYTES;
}

/* ---- calls ---- */

static inline void fill(struct sg_record_event *event, const struct sg_event_content *content)
{
    event->flags = content->flags;
    event->comm = content->comm;
    event->to = content->to;
    event->to_tag = content->to_tag;
    event->from = content->from;
    event->from_tag = content->from_tag;
    event->sent_bytes = content->sent_bytes;
    event->received_bytes = content->received_bytes;
}

static inline struct sg_record_event *add(enum sg_function function, const struct sg_site *site,
                                          const struct sg_event_content *content)
{
    uint32_t number = sg_function_number(function);
    struct sg_record_event *event = number > 0 ? reserve(function) : NULL;

    if (event == NULL)
        return NULL;
    event->thread = sg_thread_number();
    event->site = site->index;
    event->function = number - 1;
    fill(event, content);
    return event;
}

struct sg_record_event *sg_events_begin(enum sg_function function, const struct sg_site *site,
                                        const struct sg_event_content *content)
{
    struct sg_record_event *event = add(function, site, content);

    sg_events_open = event;
    return event;
}

void sg_events_begun(struct sg_record_event *event, uint64_t begin_ns)
{
    event->begin_ns = begin_ns;
    sg_log_publish(event, SG_RECORD_EVENT);
}

void sg_events_end(struct sg_record_event *event, const struct sg_event_content *content,
                   uint64_t end_ns)
{
    sg_events_open = NULL;
    fill(event, content);
    /* Release: a reader that sees the end sees the whole record. */
    atomic_store_explicit(&event->end_ns, end_ns, memory_order_release);
}

struct sg_record_event *sg_events_add(enum sg_function function, const struct sg_site *site,
                                      const struct sg_event_content *content, uint64_t begin_ns,
                                      uint64_t end_ns)
{
    struct sg_record_event *event = add(function, site, content);

    if (event == NULL)
        return NULL;
    event->begin_ns = begin_ns;
    atomic_store_explicit(&event->end_ns, end_ns, memory_order_relaxed);
    sg_log_publish(event, SG_RECORD_EVENT);
    return event;
}

void sg_events_abandon(void *frame)
{
    uint64_t now_ns = sg_tick_ns();

    if (*(const uint8_t *)sg_events_open == SG_RECORD_EVENT) {
        struct sg_record_event *event = sg_events_open;

        if (sg_stack_is_held(&sg_stack_outermost, frame))
            return;
        event->flags |= SG_EVENT_FAILED;
        atomic_store_explicit(&event->end_ns, now_ns, memory_order_release);
    } else {
        struct sg_record_call *call = sg_events_open;

        call->flags |= SG_CALL_FAILED;
        atomic_store_explicit(&call->end_ns, now_ns, memory_order_release);
    }
    sg_events_open = NULL;
}

/* ---- requests ---- */

uint64_t sg_events_change(const struct sg_event_subject *subject,
                          const struct sg_event_change *change)
{
    uint32_t number = sg_function_number(subject->function);
    struct sg_record_request *record = number > 0 ? reserve(subject->function) : NULL;
    uint64_t slot;

    if (record == NULL)
        return 0;
    slot = sg_events_slot(record);
    record->what = (uint8_t)change->what;
    record->thread = sg_thread_number();
    record->site = subject->site->index;
    record->comm = subject->comm;
    record->function = number - 1;
    record->time_ns = change->time_ns;
    record->request = change->request != 0 ? change->request : slot;
    record->peer = change->peer;
    record->tag = change->tag;
    record->bytes = change->bytes;
    record->start = change->start;
    record->received_bytes = change->received_bytes;
    sg_log_publish(record, SG_RECORD_REQUEST);
    return slot;
}
