/* Events in the log: calls that have no record of a collective, and changes of requests; gaps left
 * by messages that are not in the log; and the numbers of threads.
 *
 * Events together use at most half of the log's capacity, so that they do not displace records of
 * collectives. Events beyond that are counted by function.
 *
 * Application threads, while there is a log; not from a signal handler.
 */
#ifndef SG_PROFILE_EVENTS_H
#define SG_PROFILE_EVENTS_H

#include "core/cpu/cpu.h"
#include "profile/counted_functions.h"
#include "profile/site.h"
#include "trace/record.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Data of a call's event; fields and flags as in struct sg_record_event. */
struct sg_event_content {
    uint8_t flags;
    uint32_t comm;
    int to, to_tag, from, from_tag;
    uint64_t sent_bytes, received_bytes;
};

/* Record a call that waits, at its begin and end. NULL: no capacity. */
struct sg_record_event *sg_events_begin(enum sg_function function, const struct sg_site *site,
                                        const struct sg_event_content *content);
void sg_events_begun(struct sg_record_event *event, uint64_t begin_ns);
void sg_events_end(struct sg_record_event *event, const struct sg_event_content *content,
                   uint64_t end_ns);
/* Records a call that has ended. NULL: no capacity. */
struct sg_record_event *sg_events_add(enum sg_function function, const struct sg_site *site,
                                      const struct sg_event_content *content, uint64_t begin_ns,
                                      uint64_t end_ns);
/* Returns the slot of a record in the log. */
uint64_t sg_events_slot(const void *record);

/* The operation of a request ... */
struct sg_event_subject {
    const struct sg_site *site;
    enum sg_function function; /* function that made it */
    uint32_t comm;
};

/* ... and a change of its state. */
struct sg_event_change {
    enum sg_request_event what;
    uint64_t request; /* slot of the record that began it; 0: this record does */
    int peer, tag;
    uint64_t bytes;
    uint64_t time_ns;
    uint32_t start; /* as in struct sg_record_request; so are the next */
    uint32_t sources;
    uint64_t received_bytes;
};

/* Returns the record's slot; 0: no capacity. */
uint64_t sg_events_change(const struct sg_event_subject *subject,
                          const struct sg_event_change *change);

/* The calling thread's reserved slots in the log. */
struct sg_event_slots {
    unsigned char *next, *end;
    unsigned reserved; /* together with `next`, the last time */
};

extern __thread struct sg_event_slots sg_event_slots;

/* Returns the thread's next reserved slot; NULL: the functions above reserve more. */
static inline void *sg_events_take(void)
{
    unsigned char *record = sg_event_slots.next;

    if (__builtin_expect(record == sg_event_slots.end, 0))
        return NULL;
    sg_event_slots.next = record + SG_SLOT_BYTES;
    sg_cpu_take(record + SG_SLOT_BYTES);
    return record;
}

/* ---- requests that a call's event completes, in order ---- */

struct sg_event_completions {
    struct sg_record_event *event;
    struct sg_record_completions *more; /* the record that the next one goes to; NULL: event */
    uint32_t *slots;
    unsigned count, most;
    uint64_t time_ns;
};

void sg_events_completions_begin(struct sg_event_completions *completions,
                                 struct sg_record_event *event, uint64_t time_ns);
/* Makes room for another one in the log. False: there is none. */
bool sg_events_completions_grow(struct sg_event_completions *completions);
/* Completes what is there: call before other records of the same call, and at the end. */
void sg_events_completions_close(struct sg_event_completions *completions);

/* Adds a message that was posted in the slot, and completed as it was posted. False: it needs a
 * record of its own. */
static inline bool sg_events_complete(struct sg_event_completions *completions, uint64_t slot)
{
    if (slot > UINT32_MAX ||
        (completions->count == completions->most && !sg_events_completions_grow(completions)))
        return false;
    completions->slots[completions->count++] = (uint32_t)slot;
    return true;
}

/* Counts an event of the function that the log has no room for, once it will never have any. False:
 * it may have, and nothing is counted. */
bool sg_events_leave_out(enum sg_function function);

/* The open record of this thread's call, of either kind; NULL: none. */
extern __thread void *sg_events_open;

/* Ends, as failed, the record of a call of this thread that an error handler left by an exception
 * or longjmp, or calls from. frame: of a call that begins. */
void sg_events_abandon(void *frame);

static inline void sg_events_settle(void *frame)
{
    if (__builtin_expect(sg_events_open != NULL, 0))
        sg_events_abandon(frame);
}

/* ---- messages missing from the log ----
 *
 * If a message is not in the log while others of the same communicator, ranks and tag are, the next
 * recorded one reports how many came before it, so that both ends count alike.
 *
 * Messages match in the order in which sends begin and receives are posted. A receive's gap is not
 * always known when it is posted: it may ask for any rank or tag, or its post may be recorded and
 * its completion not. The next completion reports such gaps.
 *
 * Without events nothing is counted. Any thread; takes a lock only if something has been left out.
 * Not from a signal handler. Memory grows with the ranks and tags of missing messages; beyond
 * SG_GAPS_LIMIT at a time, the rank logs once that it follows no more.
 */

#define SG_GAPS_LIMIT 65536u

struct sg_gap_channel {
    uint32_t comm; /* number in the log */
    bool is_send;
    int peer, tag;
};

/* The record that reports a gap and closes it; bits. */
enum sg_gap_told { SG_GAP_BY_BEGIN = 1, SG_GAP_BY_COMPLETION = 2 };

/* Adds missing messages; -1 takes one back. told: one bit. */
void sg_gaps_add(const struct sg_gap_channel *channel, enum sg_gap_told told, int count);

extern _Atomic uint32_t sg_gaps_open; /* channels with a gap */

void sg_gaps_take(const struct sg_gap_channel *channel, unsigned told, uint64_t slot);

/* Reports the channel's gap by its next message, in the record in slot. told: bits. */
static inline void sg_gaps_tell(const struct sg_gap_channel *channel, unsigned told, uint64_t slot)
{
    if (__builtin_expect(atomic_load_explicit(&sg_gaps_open, memory_order_relaxed) != 0, 0))
        sg_gaps_take(channel, told, slot);
}

/* ---- numbers of this rank's recording threads, from 0: the one that called MPI_Init ---- */

uint16_t sg_thread_number_new(void);

/* 1 + the calling thread's number; 0: none yet. */
extern __thread uint16_t sg_thread_own;

/* Returns the calling thread's number. Also from a signal handler. */
static inline uint16_t sg_thread_number(void)
{
    if (__builtin_expect(sg_thread_own == 0, 0))
        return sg_thread_number_new();
    return (uint16_t)(sg_thread_own - 1);
}

#endif
