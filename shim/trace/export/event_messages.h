/* Classifies the event records of calls: which ones describe messages, and which ones numbered
 * collectives. A failed call describes neither. */
#ifndef SG_TRACE_EVENT_MESSAGES_H
#define SG_TRACE_EVENT_MESSAGES_H

#include "trace/record.h"

#include <stdbool.h>

/* True if the call sends or receives a message, or posts one. A posted receive may ask for any peer
 * and tag; a send or a completed receive must have a peer rank. */
static inline bool sg_event_sends(const struct sg_record_event *event)
{
    return (event->flags & (SG_EVENT_SENDS | SG_EVENT_FAILED)) == SG_EVENT_SENDS && event->to >= 0;
}

static inline bool sg_event_posts(const struct sg_record_event *event)
{
    return (event->flags & SG_EVENT_POSTS) != 0;
}

static inline bool sg_event_receives(const struct sg_record_event *event)
{
    return (event->flags & (SG_EVENT_RECEIVES | SG_EVENT_FAILED)) == SG_EVENT_RECEIVES &&
           (sg_event_posts(event) || event->from >= 0);
}

/* The time before the call for which its thread had tested in vain; 0: none. */
static inline uint64_t sg_event_polled_ns(const struct sg_record_event *event)
{
    return (event->flags & (SG_EVENT_POLLED | SG_EVENT_SENDS | SG_EVENT_FAILED)) == SG_EVENT_POLLED
               ? event->sent_bytes
               : 0;
}

static inline bool sg_event_has_message(const struct sg_record_event *event)
{
    return sg_event_sends(event) || sg_event_receives(event);
}

/* True for a collective, or another call that all members make, whose number is known. */
static inline bool sg_event_has_number(const struct sg_record_event *event)
{
    return (event->flags & (SG_EVENT_ORDERED | SG_EVENT_FAILED)) == SG_EVENT_ORDERED &&
           event->from_tag >= 0;
}

/* True if the record begins a persistent collective with a known number. The caller checks that the
 * record's function makes persistent collectives. */
static inline bool sg_request_has_number(const struct sg_record_request *request)
{
    return request->what == SG_REQUEST_PREPARED && request->start > 0 && request->tag >= 0;
}

/* Combines the index of a call with the number of one that depends on it, from 1. */
static inline uint64_t sg_event_number_below(int32_t index, uint32_t number)
{
    return (uint64_t)((uint32_t)index + 1) << 32 | number;
}

/* True for a collective call on a file. */
static inline bool sg_event_is_below(const struct sg_record_event *event)
{
    return event->to_tag > 0;
}

/* Number of a collective on its communicator, the same on all members. It is the call's index among
 * all collectives; for a persistent one, the index of the call that made it combined with the count
 * of its starts; for one on a file, that of the call that opened it combined with its own. */
static inline uint64_t sg_event_number(const struct sg_record_event *event)
{
    return sg_event_is_below(event)
               ? sg_event_number_below(event->from_tag, (uint32_t)event->to_tag)
               : (uint32_t)event->from_tag;
}

static inline uint64_t sg_request_number(const struct sg_record_request *request)
{
    return sg_event_number_below(request->tag, request->start);
}

/* True if the request's record begins a message. */
static inline bool sg_request_begins_message(const struct sg_record_request *request)
{
    return (request->what == SG_REQUEST_SEND && request->peer >= 0) ||
           request->what == SG_REQUEST_RECEIVE;
}

#endif
