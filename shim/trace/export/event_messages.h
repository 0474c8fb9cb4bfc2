/* What the records of a call's events are about: which are of messages, and which of numbered
 * collectives. A call that failed is of neither. */
#ifndef SG_TRACE_EVENT_MESSAGES_H
#define SG_TRACE_EVENT_MESSAGES_H

#include "trace/record.h"

#include <stdbool.h>

/* A call that sends or receives a message, or posts one. A receive is posted whatever it asks for;
 * what is sent or was received has a rank at its other end. */
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

static inline bool sg_event_has_message(const struct sg_record_event *event)
{
    return sg_event_sends(event) || sg_event_receives(event);
}

/* A collective with its number on its communicator. */
static inline bool sg_event_has_number(const struct sg_record_event *event)
{
    return (event->flags & (SG_EVENT_ORDERED | SG_EVENT_FAILED)) == SG_EVENT_ORDERED &&
           event->from_tag >= 0;
}

/* A persistent collective that begins; the record is of a function that makes one. */
static inline bool sg_request_has_number(const struct sg_record_request *request)
{
    return request->what == SG_REQUEST_PREPARED && request->start > 0 && request->tag >= 0;
}

/* The number of a collective on its communicator, the same for all its members: its place among
 * all; of a persistent one that of what made it, and how often it was started. */
static inline uint64_t sg_event_number(const struct sg_record_event *event)
{
    return (uint32_t)event->from_tag;
}

static inline uint64_t sg_request_number(const struct sg_record_request *request)
{
    return (uint64_t)((uint32_t)request->tag + 1) << 32 | request->start;
}

/* A message that a request's record begins. */
static inline bool sg_request_begins_message(const struct sg_record_request *request)
{
    return (request->what == SG_REQUEST_SEND && request->peer >= 0) ||
           request->what == SG_REQUEST_RECEIVE;
}

#endif
