/* Writes events within their share of the log, and counts messages that are not in it (events.h). A
 * thread reserves adjacent slots for several events at a time, so that most events touch no shared
 * counter: an event's slot is one comparison and one addition.
 */
#include "profile/events.h"

#include "core/hash.h"
#include "core/tick.h"
#include "profile/site.h"
#include "runtime/settings.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

__thread uint16_t sg_thread_own;

uint16_t sg_thread_number_new(void)
{
    static atomic_uint count;
    uint32_t index = atomic_fetch_add(&count, 1);

    sg_thread_own = (uint16_t)(index < UINT16_MAX - 1 ? index + 1 : UINT16_MAX);
    if (index > 0 && index < UINT16_MAX && sg_process.log != NULL)
        atomic_fetch_add(&sg_log_header(sg_process.log)->thread_count, 1);
    return (uint16_t)(sg_thread_own - 1);
}

#define SHARE 2u      /* events may use one in SHARE of the log's slots */
#define ALLOWANCE 64u /* slots that a thread reserves at a time */

__thread void *sg_events_open;

__thread struct sg_event_slots sg_event_slots;

static _Atomic uint64_t taken_count;

/* ---- capacity ---- */

static bool take_share(const struct sg_log_header *header, unsigned slots)
{
    uint64_t share = header->event_limit_slots / SHARE;

    return atomic_load_explicit(&taken_count, memory_order_relaxed) + slots <= share &&
           atomic_fetch_add_explicit(&taken_count, slots, memory_order_relaxed) + slots <= share;
}

/* True if any thread may still add an event. */
static bool sg_events_have_room(void)
{
    const struct sg_log_header *header = sg_log_header(sg_process.log);

    return sg_event_slots.next != sg_event_slots.end ||
           atomic_load_explicit(&taken_count, memory_order_relaxed) + ALLOWANCE <=
               header->event_limit_slots / SHARE ||
           atomic_load_explicit(&header->thread_count, memory_order_relaxed) > 1;
}

static void leave_out(enum sg_function function)
{
    sg_log_drop_event(sg_process.log);
    sg_function_leave_out(function);
}

bool sg_events_leave_out(enum sg_function function)
{
    if (sg_events_have_room())
        return false;
    leave_out(function);
    return true;
}

/* Reserves slots for the calling thread: twice as many as the last time, since a thread that ends
 * leaves the rest unused; fewer if the log has no room for all. False: the event is left out. */
static __attribute__((noinline)) bool refill(enum sg_function function)
{
    unsigned char *first = NULL;
    unsigned slots = sg_event_slots.reserved == 0          ? 1
                     : sg_event_slots.reserved < ALLOWANCE ? 2 * sg_event_slots.reserved
                                                           : ALLOWANCE;

    if (take_share(sg_log_header(sg_process.log), slots)) {
        while (slots > 0 && (first = sg_log_event_block(sg_process.log, slots)) == NULL)
            slots /= 2;
    }
    if (first == NULL) {
        leave_out(function);
        return false;
    }
    sg_event_slots = (struct sg_event_slots){first, first + (size_t)slots * SG_SLOT_BYTES, slots};
    return true;
}

static inline void *reserve(enum sg_function function)
{
    void *record = sg_events_take();

    return __builtin_expect(record != NULL, 1) ? record
           : refill(function)                  ? sg_events_take()
                                               : NULL;
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
    event->function = (uint16_t)(number - 1);
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

void sg_events_completions_begin(struct sg_event_completions *completions,
                                 struct sg_record_event *event, uint64_t time_ns)
{
    *completions = (struct sg_event_completions){.event = event,
                                                 .slots = event->completed,
                                                 .most = SG_EVENT_COMPLETES_MOST,
                                                 .time_ns = time_ns};
}

void sg_events_completions_close(struct sg_event_completions *completions)
{
    struct sg_record_completions *more = completions->more;

    if (completions->most == 0)
        return;
    if (more == NULL) {
        completions->event->completes = (uint8_t)completions->count;
    } else if (completions->count > 0) {
        more->completes = (uint8_t)completions->count;
        more->thread = completions->event->thread;
        more->time_ns = completions->time_ns;
        sg_log_publish(more, SG_RECORD_COMPLETIONS);
    }
    completions->count = completions->most = 0;
}

bool sg_events_completions_grow(struct sg_event_completions *completions)
{
    sg_events_completions_close(completions);
    completions->more = sg_events_take();
    if (completions->more == NULL)
        return false;
    completions->slots = completions->more->completed;
    completions->most = SG_COMPLETIONS_MOST;
    return true;
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
    record->sources = change->sources;
    record->received_bytes = change->received_bytes;
    sg_log_publish(record, SG_RECORD_REQUEST);
    return slot;
}

#define BUCKETS 1024u

struct gap {
    struct sg_gap_channel channel;
    int by_begin, by_completion; /* still to be reported */
    struct gap *next;
};

_Atomic uint32_t sg_gaps_open;

static struct gap *buckets[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool has_complained;

static bool is_same(const struct sg_gap_channel *a, const struct sg_gap_channel *b)
{
    return a->comm == b->comm && a->is_send == b->is_send && a->peer == b->peer && a->tag == b->tag;
}

/* Returns the link to a channel's gap, or the link where it belongs. */
static struct gap **find(const struct sg_gap_channel *channel)
{
    uint64_t who = (uint64_t)(uint32_t)channel->peer << 32 | (uint32_t)channel->tag;
    uint64_t hash = sg_hash_mix(who ^ sg_hash_mix((uint64_t)channel->comm << 1 | channel->is_send));
    struct gap **link = &buckets[hash % BUCKETS];

    while (*link != NULL && !is_same(&(*link)->channel, channel))
        link = &(*link)->next;
    return link;
}

static struct gap *make(struct gap **link, const struct sg_gap_channel *channel)
{
    uint32_t open = atomic_load_explicit(&sg_gaps_open, memory_order_relaxed);
    struct gap *gap = open < SG_GAPS_LIMIT ? calloc(1, sizeof *gap) : NULL;

    if (gap == NULL) {
        if (!has_complained)
            sg_log("rank %d: messages of more than %u ranks and tags went unrecorded; the report "
                   "may match later messages of these incorrectly",
                   sg_process.rank, open);
        has_complained = true;
        return NULL;
    }
    gap->channel = *channel;
    *link = gap;
    atomic_store_explicit(&sg_gaps_open, open + 1, memory_order_relaxed);
    return gap;
}

static void drop_if_closed(struct gap **link)
{
    struct gap *gap = *link;

    if (gap->by_begin != 0 || gap->by_completion != 0)
        return;
    *link = gap->next;
    free(gap);
    atomic_fetch_sub_explicit(&sg_gaps_open, 1, memory_order_relaxed);
}

void sg_gaps_add(const struct sg_gap_channel *channel, enum sg_gap_told told, int count)
{
    struct gap **link, *gap;

    if (sg_process.config.trace != SG_TRACE_OTF2 || channel->comm == 0 || !sg_events_have_room())
        return;
    pthread_mutex_lock(&lock);
    link = find(channel);
    gap = *link != NULL ? *link : make(link, channel);
    if (gap != NULL) {
        *(told == SG_GAP_BY_BEGIN ? &gap->by_begin : &gap->by_completion) += count;
        drop_if_closed(link);
    }
    pthread_mutex_unlock(&lock);
}

/* Takes what a count has to report. It may be negative: messages taken back may already have been
 * reported. */
static uint32_t take(int *count)
{
    uint32_t taken = *count > 0 ? (uint32_t)*count : 0;

    *count -= (int)taken;
    return taken;
}

/* May exceed the events' capacity: there is at most one for each message left out. */
static void record(const struct sg_gap_channel *channel, uint32_t count, uint64_t slot)
{
    struct sg_record_gap *gap = sg_log_definition(sg_process.log, NULL, 0);

    if (gap == NULL)
        return;
    gap->is_send = channel->is_send;
    gap->count = count;
    gap->slot = slot;
    sg_log_publish(gap, SG_RECORD_GAP);
}

void sg_gaps_take(const struct sg_gap_channel *channel, unsigned told, uint64_t slot)
{
    uint32_t count = 0;
    struct gap **link;

    pthread_mutex_lock(&lock);
    link = find(channel);
    if (*link != NULL) {
        if ((told & SG_GAP_BY_BEGIN) != 0)
            count += take(&(*link)->by_begin);
        if ((told & SG_GAP_BY_COMPLETION) != 0)
            count += take(&(*link)->by_completion);
        drop_if_closed(link);
    }
    pthread_mutex_unlock(&lock);
    if (count > 0)
        record(channel, count, slot);
}
