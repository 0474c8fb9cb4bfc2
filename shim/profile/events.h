/* Events in the log: calls that are in no record of collectives, and what happens to requests.
 *
 * Together they use at most half of the log's room, so that they do not push out the collectives'
 * records. What there is no room for is counted by function.
 *
 * In the application's threads, while there is a log; not from a signal handler.
 */
#ifndef SG_PROFILE_EVENTS_H
#define SG_PROFILE_EVENTS_H

#include "profile/counted_functions.h"
#include "profile/site.h"
#include "trace/record.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* What an event tells of its call; fields and flags as in struct sg_record_event. */
struct sg_event_content {
    uint8_t flags;
    uint32_t comm;
    int to, to_tag, from, from_tag;
    uint64_t sent_bytes, received_bytes;
};

/* A call that waits: begun, and ended. NULL: there is no room. */
struct sg_record_event *sg_events_begin(enum sg_function function, const struct sg_site *site,
                                        const struct sg_event_content *content);
void sg_events_begun(struct sg_record_event *event, uint64_t begin_ns);
void sg_events_end(struct sg_record_event *event, const struct sg_event_content *content,
                   uint64_t end_ns);
/* A call that is over. NULL: there is no room. */
struct sg_record_event *sg_events_add(enum sg_function function, const struct sg_site *site,
                                      const struct sg_event_content *content, uint64_t begin_ns,
                                      uint64_t end_ns);
/* Of a record in the log. */
uint64_t sg_events_slot(const void *record);

/* What a request is about. */
struct sg_event_subject {
    enum sg_function function; /* that made it */
    const struct sg_site *site;
    uint32_t comm;
};

/* ... and what happens to it. */
struct sg_event_change {
    enum sg_request_event what;
    uint64_t request; /* slot of the record that began it; 0: this one does */
    int peer, tag;
    uint64_t bytes;
    uint64_t time_ns;
    uint32_t start; /* as in struct sg_record_request, and the next */
    uint64_t received_bytes;
};

/* Its slot; 0: there is no room. */
uint64_t sg_events_change(const struct sg_event_subject *subject,
                          const struct sg_event_change *change);

/* The record of this thread's call, of either kind, whose end has not come yet; NULL: none. */
extern __thread void *sg_events_open;

/* Ends, as failed, the record of a call of this thread that an error handler has left by an
 * exception or longjmp, or calls from. frame: of a call that begins. */
void sg_events_abandon(void *frame);

static inline void sg_events_settle(void *frame)
{
    if (__builtin_expect(sg_events_open != NULL, 0))
        sg_events_abandon(frame);
}

/* Messages that are not in the log, while others of the same communicator, ranks and tag are: the
 * next one that is tells how many came before it, so that both ends count alike.
 *
 * Messages match in the order in which sends begin and receives are posted. What was left out
 * unawares when a receive was posted, because it asked for any rank or any tag, or because its post
 * is in the log and its completion is not, is told by the next completion.
 *
 * Nothing is counted where there are no events. Any thread; takes a lock only where something has
 * been left out. Not from a signal handler. Memory grows with the ranks and tags of what is left
 * out; beyond SG_GAPS_LIMIT of them at a time the rank says once that no more are followed.
 */

#define SG_GAPS_LIMIT 65536u

struct sg_gap_channel {
    uint32_t comm; /* number in the log */
    bool is_send;
    int peer, tag;
};

/* What tells of a gap, and takes it; bits. */
enum sg_gap_told { SG_GAP_BY_BEGIN = 1, SG_GAP_BY_COMPLETION = 2 };

/* Messages have been left out: -1 takes one back. told: one of its bits. */
void sg_gaps_add(const struct sg_gap_channel *channel, enum sg_gap_told told, int count);

extern _Atomic uint32_t sg_gaps_open; /* channels that something is left out of */

void sg_gaps_take(const struct sg_gap_channel *channel, unsigned told, uint64_t slot);

/* The record in slot is of the channel's next message. told: bits. */
static inline void sg_gaps_tell(const struct sg_gap_channel *channel, unsigned told, uint64_t slot)
{
    if (__builtin_expect(atomic_load_explicit(&sg_gaps_open, memory_order_relaxed) != 0, 0))
        sg_gaps_take(channel, told, slot);
}

/* The threads of this rank that record, by numbers from 0: 0 is the one that called MPI_Init. */

uint16_t sg_thread_number_new(void);

/* 1 + the calling thread's; 0: not yet known. */
extern __thread uint16_t sg_thread_own;

/* The calling thread's number. Also from a signal handler. */
static inline uint16_t sg_thread_number(void)
{
    if (__builtin_expect(sg_thread_own == 0, 0))
        return sg_thread_number_new();
    return (uint16_t)(sg_thread_own - 1);
}

#endif
