/* OTF2's callbacks of messages and their requests: all that they tell goes to the wait states. */
#include "report/archive_calls.h"
#include "report/archive_waits.h"

static OTF2_CallbackCode tell_message(struct sg_archive_events *events, OTF2_LocationRef location,
                                      OTF2_TimeStamp ticks, OTF2_AttributeList *attributes,
                                      struct sg_archive_message *message)
{
    int64_t rank, time_ns;
    const struct sg_open_call *open = sg_archive_call_of(events, location, &rank);

    time_ns = sg_archive_note_time(events, rank, ticks);
    if (open == NULL)
        return OTF2_CALLBACK_SUCCESS;
    message->gap = sg_archive_gap(events, attributes);
    return sg_archive_verdict(events, sg_archive_waits_message(events->waits,
                                                               (uint32_t)(open - events->calls),
                                                               time_ns, message));
}

static OTF2_CallbackCode tell_request(struct sg_archive_events *events, OTF2_LocationRef location,
                                      OTF2_TimeStamp ticks, enum sg_archive_request what,
                                      uint64_t request)
{
    int64_t rank;
    const struct sg_open_call *open = sg_archive_call_of(events, location, &rank);

    sg_archive_note_time(events, rank, ticks);
    if (open == NULL)
        return OTF2_CALLBACK_SUCCESS;
    return sg_archive_verdict(
        events,
        sg_archive_waits_request(events->waits, (uint32_t)(open - events->calls), what, request));
}

static OTF2_CallbackCode on_send(OTF2_LocationRef location, OTF2_TimeStamp ticks, void *context,
                                 OTF2_AttributeList *attributes, uint32_t receiver,
                                 OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
    struct sg_archive_message message = {SG_ARCHIVE_SEND, comm, receiver, tag, bytes, 0, 0};

    return tell_message(context, location, ticks, attributes, &message);
}

static OTF2_CallbackCode on_isend(OTF2_LocationRef location, OTF2_TimeStamp ticks, void *context,
                                  OTF2_AttributeList *attributes, uint32_t receiver,
                                  OTF2_CommRef comm, uint32_t tag, uint64_t bytes, uint64_t request)
{
    struct sg_archive_message message = {SG_ARCHIVE_ISEND, comm, receiver, tag, bytes, request, 0};

    return tell_message(context, location, ticks, attributes, &message);
}

static OTF2_CallbackCode on_receive(OTF2_LocationRef location, OTF2_TimeStamp ticks, void *context,
                                    OTF2_AttributeList *attributes, uint32_t sender,
                                    OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
    struct sg_archive_message message = {SG_ARCHIVE_RECEIVE, comm, sender, tag, bytes, 0, 0};

    return tell_message(context, location, ticks, attributes, &message);
}

static OTF2_CallbackCode on_received(OTF2_LocationRef location, OTF2_TimeStamp ticks, void *context,
                                     OTF2_AttributeList *attributes, uint32_t sender,
                                     OTF2_CommRef comm, uint32_t tag, uint64_t bytes,
                                     uint64_t request)
{
    struct sg_archive_message message = {SG_ARCHIVE_RECEIVED, comm, sender, tag, bytes, request, 0};

    return tell_message(context, location, ticks, attributes, &message);
}

static OTF2_CallbackCode on_post(OTF2_LocationRef location, OTF2_TimeStamp ticks, void *context,
                                 OTF2_AttributeList *attributes, uint64_t request)
{
    return tell_request(context, location, ticks, SG_ARCHIVE_POST, request);
}

static OTF2_CallbackCode on_sent(OTF2_LocationRef location, OTF2_TimeStamp ticks, void *context,
                                 OTF2_AttributeList *attributes, uint64_t request)
{
    return tell_request(context, location, ticks, SG_ARCHIVE_SENT, request);
}

static OTF2_CallbackCode on_cancelled(OTF2_LocationRef location, OTF2_TimeStamp ticks,
                                      void *context, OTF2_AttributeList *attributes,
                                      uint64_t request)
{
    return tell_request(context, location, ticks, SG_ARCHIVE_CANCELLED, request);
}

void sg_archive_message_callbacks(OTF2_GlobalEvtReaderCallbacks *callbacks)
{
    OTF2_GlobalEvtReaderCallbacks_SetMpiSendCallback(callbacks, on_send);
    OTF2_GlobalEvtReaderCallbacks_SetMpiIsendCallback(callbacks, on_isend);
    OTF2_GlobalEvtReaderCallbacks_SetMpiIsendCompleteCallback(callbacks, on_sent);
    OTF2_GlobalEvtReaderCallbacks_SetMpiRecvCallback(callbacks, on_receive);
    OTF2_GlobalEvtReaderCallbacks_SetMpiIrecvCallback(callbacks, on_received);
    OTF2_GlobalEvtReaderCallbacks_SetMpiIrecvRequestCallback(callbacks, on_post);
    OTF2_GlobalEvtReaderCallbacks_SetMpiRequestCancelledCallback(callbacks, on_cancelled);
}
