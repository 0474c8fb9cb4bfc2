/* Events in the log: calls that are in no record of collectives, and what happens to requests.
 *
 * Together they use at most half of the log's room, so that they do not push out the collectives'
 * records. What there is no room for is counted by function.
 *
 * In the application's threads, while there is a log; not from a signal handler.
 */
#ifndef SG_PROFILE_EVENTS_H
#define SG_PROFILE_EVENTS_H

#include "profile/function.h"
#include "profile/site.h"
#include "trace/record.h"

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

/* Whether an event may yet be added, by whatever thread. */
bool sg_events_have_room(void);

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

#endif
