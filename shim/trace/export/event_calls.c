/* The events of all calls of MPI that are in no record of collectives: a region each, and inside it
 * the messages in the order that Score-P writes: what is sent or posted behind Enter, what is
 * received or complete before Leave. A collective that not all members recorded, and a message on a
 * communicator that the archive does not have, leave the region alone. */
#include "trace/export/event_messages.h"
#include "trace/export/event_writer.h"

#include "trace/export/vocabulary.h"

static void check(struct sg_event_writer *writer, OTF2_ErrorCode code)
{
    if (code != OTF2_SUCCESS)
        sg_archive_check(writer->archive, code);
}

static const struct sg_event_function *function_of(const struct sg_event_writer *writer,
                                                   const struct sg_record_event *event)
{
    const struct sg_function_entry *function =
        sg_summary_function(&writer->summary->calls, event->function);

    return function != NULL ? &writer->functions[function - writer->summary->calls.functions]
                            : NULL;
}

/* NULL: the archive has no such communicator. */
static const struct sg_plan_profile_comm *comm_of(const struct sg_event_writer *writer,
                                                  uint32_t index)
{
    const struct sg_profile_comm_entry *comm =
        sg_summary_profile_comm(&writer->summary->calls, index);

    return comm != NULL ? writer->comms[comm - writer->summary->calls.comms] : NULL;
}

/* Whether a rank is one of the communicator's; others are damage. */
static bool is_peer(const struct sg_event_writer *writer, uint32_t comm, int32_t rank)
{
    const struct sg_profile_comm_entry *entry =
        sg_summary_profile_comm(&writer->summary->calls, comm);

    return rank >= 0 && (uint32_t)rank < entry->comm.size;
}

bool sg_event_has_function(const struct sg_event_writer *writer,
                           const struct sg_record_event *event)
{
    return function_of(writer, event) != NULL;
}

/* ---- messages ------------------------------------------------------------------------------- */

struct message {
    uint32_t comm; /* of the log */
    int32_t peer, tag;
    uint64_t bytes;
};

static bool is_written(const struct sg_event_writer *writer, const struct message *message)
{
    return comm_of(writer, message->comm) != NULL && is_peer(writer, message->comm, message->peer);
}

static void write_isend(struct sg_event_writer *writer, uint64_t time_ns,
                        const struct message *message, uint64_t slot)
{
    if (is_written(writer, message))
        check(writer,
              OTF2_EvtWriter_MpiIsend(writer->events, NULL, time_ns, (uint32_t)message->peer,
                                      comm_of(writer, message->comm)->ref, (uint32_t)message->tag,
                                      message->bytes, sg_event_request_of(slot)));
}

static void write_receive_post(struct sg_event_writer *writer, uint64_t time_ns, uint32_t comm,
                               uint64_t slot)
{
    if (comm_of(writer, comm) != NULL)
        check(writer, OTF2_EvtWriter_MpiIrecvRequest(writer->events, NULL, time_ns,
                                                     sg_event_request_of(slot)));
}

static struct message sent_by(const struct sg_record_event *event)
{
    return (struct message){event->comm, event->to, event->to_tag, event->sent_bytes};
}

/* Behind Enter. A call that posts a message posts one. */
static void write_begun(struct sg_event_writer *writer, const struct sg_record_event *event,
                        uint32_t slot, uint64_t time_ns)
{
    const struct message sent = sent_by(event);

    if (sg_event_posts(event)) {
        if (sg_event_sends(event))
            write_isend(writer, time_ns, &sent, slot);
        else if (sg_event_receives(event))
            write_receive_post(writer, time_ns, event->comm, slot);
    } else if (sg_event_sends(event) && is_written(writer, &sent)) {
        check(writer, OTF2_EvtWriter_MpiSend(writer->events, NULL, time_ns, (uint32_t)sent.peer,
                                             comm_of(writer, sent.comm)->ref, (uint32_t)sent.tag,
                                             sent.bytes));
    }
}

/* Before Leave. Of a call that never ended nothing is known to have been received. */
static void write_received(struct sg_event_writer *writer, const struct sg_record_event *event)
{
    const struct message received = {event->comm, event->from, event->from_tag,
                                     event->received_bytes};

    if (sg_event_posts(event) || !sg_event_receives(event) || !is_written(writer, &received) ||
        atomic_load_explicit(&event->end_ns, memory_order_relaxed) == 0)
        return;
    check(writer, OTF2_EvtWriter_MpiRecv(
                      writer->events, NULL, writer->now_ns, (uint32_t)received.peer,
                      comm_of(writer, received.comm)->ref, (uint32_t)received.tag, received.bytes));
}

/* ---- collectives ---------------------------------------------------------------------------- */

/* The communicator of a collective that all its members recorded; NULL: it is none. */
static const struct sg_plan_profile_comm *collective_comm(const struct sg_event_writer *writer,
                                                          const struct sg_record_event *event)
{
    const struct sg_event_function *function = function_of(writer, event);
    const struct sg_plan_profile_comm *comm = comm_of(writer, event->comm);

    if (comm == NULL || function == NULL || !function->about.is_collective ||
        !sg_event_has_number(event) ||
        !sg_intervals_contain(&comm->kept, (uint32_t)event->from_tag))
        return NULL;
    return function->about.is_nonblocking == sg_event_posts(event) ? comm : NULL;
}

static uint32_t root_of(const struct sg_record_event *event)
{
    return (event->flags & SG_EVENT_ROOTED) != 0 && event->to >= 0 ? (uint32_t)event->to
                                                                   : OTF2_COLLECTIVE_ROOT_NONE;
}

static void write_collective_begin(struct sg_event_writer *writer,
                                   const struct sg_record_event *event, uint32_t slot,
                                   uint64_t time_ns)
{
    if (collective_comm(writer, event) == NULL)
        return;
    if (sg_event_posts(event))
        check(writer, OTF2_EvtWriter_NonBlockingCollectiveRequest(writer->events, NULL, time_ns,
                                                                  sg_event_request_of(slot)));
    else
        check(writer, OTF2_EvtWriter_MpiCollectiveBegin(writer->events, NULL, time_ns));
}

static void write_collective_end(struct sg_event_writer *writer,
                                 const struct sg_record_event *event)
{
    const struct sg_plan_profile_comm *comm = collective_comm(writer, event);

    if (comm != NULL && !sg_event_posts(event))
        check(writer, OTF2_EvtWriter_MpiCollectiveEnd(
                          writer->events, NULL, writer->now_ns,
                          function_of(writer, event)->about.collective_op, comm->ref,
                          root_of(event), event->sent_bytes, event->received_bytes));
}

static void write_collective_complete(struct sg_event_writer *writer, uint64_t time_ns,
                                      const struct sg_record_event *event, uint64_t slot)
{
    const struct sg_plan_profile_comm *comm = collective_comm(writer, event);

    if (comm != NULL && sg_event_posts(event))
        check(writer,
              OTF2_EvtWriter_NonBlockingCollectiveComplete(
                  writer->events, NULL, time_ns, function_of(writer, event)->about.collective_op,
                  comm->ref, root_of(event), event->sent_bytes, event->received_bytes,
                  sg_event_request_of(slot)));
}

/* ---- calls ---------------------------------------------------------------------------------- */

void sg_event_enter_call(struct sg_event_writer *writer, const struct sg_record_event *event,
                         uint32_t slot)
{
    uint64_t time_ns = sg_event_advance(writer, event->begin_ns);

    check(writer, OTF2_AttributeList_AddStringRef(writer->attributes, SG_ATTRIBUTE_SITE,
                                                  sg_event_site_text(writer, event->site)));
    check(writer, OTF2_EvtWriter_Enter(writer->events, writer->attributes, time_ns,
                                       function_of(writer, event)->region));
    write_collective_begin(writer, event, slot, time_ns);
    write_begun(writer, event, slot, time_ns);
}

void sg_event_leave_call(struct sg_event_writer *writer, const struct sg_record_event *event,
                         uint64_t end_ns)
{
    sg_event_advance(writer, end_ns);
    write_received(writer, event);
    write_collective_end(writer, event);
    sg_event_leave_region(writer, function_of(writer, event)->region, end_ns);
}

/* ---- requests ------------------------------------------------------------------------------- */

/* What a record began. */
enum begun { BEGUN_NOTHING, BEGUN_SEND, BEGUN_RECEIVE, BEGUN_COLLECTIVE };

static enum begun begun_by_event(const struct sg_event_writer *writer,
                                 const struct sg_record_event *event)
{
    const struct message sent = sent_by(event);

    if (!sg_event_posts(event) || !sg_event_is_sound(event) || function_of(writer, event) == NULL)
        return BEGUN_NOTHING;
    if (collective_comm(writer, event) != NULL)
        return BEGUN_COLLECTIVE;
    if (sg_event_sends(event))
        return is_written(writer, &sent) ? BEGUN_SEND : BEGUN_NOTHING;
    return sg_event_receives(event) && comm_of(writer, event->comm) != NULL ? BEGUN_RECEIVE
                                                                            : BEGUN_NOTHING;
}

static struct message message_of(const struct sg_record_request *request)
{
    return (struct message){request->comm, request->peer, request->tag, request->bytes};
}

static enum begun begun_by_request(const struct sg_event_writer *writer,
                                   const struct sg_record_request *request)
{
    const struct message message = message_of(request);

    if (!sg_request_is_sound(request))
        return BEGUN_NOTHING;
    if (request->what == SG_REQUEST_SEND)
        return is_written(writer, &message) ? BEGUN_SEND : BEGUN_NOTHING;
    return request->what == SG_REQUEST_RECEIVE && comm_of(writer, request->comm) != NULL
               ? BEGUN_RECEIVE
               : BEGUN_NOTHING;
}

static enum begun begun_by(const struct sg_event_writer *writer, const void *began)
{
    uint8_t kind = began != NULL ? *(const uint8_t *)began : SG_RECORD_EMPTY;

    if (kind == SG_RECORD_EVENT)
        return begun_by_event(writer, began);
    return kind == SG_RECORD_REQUEST ? begun_by_request(writer, began) : BEGUN_NOTHING;
}

static void write_irecv(struct sg_event_writer *writer, uint64_t time_ns,
                        const struct sg_record_request *request)
{
    const struct message message = message_of(request);

    if (is_written(writer, &message))
        check(writer,
              OTF2_EvtWriter_MpiIrecv(writer->events, NULL, time_ns, (uint32_t)message.peer,
                                      comm_of(writer, message.comm)->ref, (uint32_t)message.tag,
                                      message.bytes, sg_event_request_of(request->request)));
}

void sg_event_request(struct sg_event_writer *writer, const struct sg_record_request *request,
                      uint32_t slot, const void *began)
{
    enum begun begun = begun_by(writer, began);
    const struct message message = message_of(request);
    uint64_t number = sg_event_request_of(request->request);
    uint64_t time_ns = sg_event_advance(writer, request->time_ns);

    switch (request->what) {
    case SG_REQUEST_SEND:
        write_isend(writer, time_ns, &message, slot);
        break;
    case SG_REQUEST_RECEIVE:
        write_receive_post(writer, time_ns, request->comm, slot);
        break;
    case SG_REQUEST_SENT:
        if (begun == BEGUN_SEND)
            check(writer, OTF2_EvtWriter_MpiIsendComplete(writer->events, NULL, time_ns, number));
        break;
    case SG_REQUEST_RECEIVED:
        if (begun == BEGUN_RECEIVE)
            write_irecv(writer, time_ns, request);
        break;
    case SG_REQUEST_CANCELLED:
        if (begun == BEGUN_SEND || begun == BEGUN_RECEIVE)
            check(writer,
                  OTF2_EvtWriter_MpiRequestCancelled(writer->events, NULL, time_ns, number));
        break;
    case SG_REQUEST_COMPLETE:
        if (begun == BEGUN_COLLECTIVE)
            write_collective_complete(writer, time_ns, began, request->request);
        break;
    default: /* freed, or prepared: no event is of it */
        break;
    }
}
