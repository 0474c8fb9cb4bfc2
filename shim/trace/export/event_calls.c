/* Writes all MPI calls that have no record of a collective: a region each, and inside it the
 * messages in Score-P's order. Sends and posts follow Enter; receives and completions precede
 * Leave. OTF2 has no operations for neighborhood collectives, for calls on files and for those that
 * make communicators, so attributes and parameters describe them.
 *
 * A collective that some member did not record, and a message on a communicator that the archive
 * does not have, are left out: only the call's region is written. */
#include "trace/export/event_messages.h"
#include "trace/export/event_writer.h"

#include "trace/export/vocabulary.h"

static void check(struct sg_event_writer *writer, OTF2_ErrorCode code)
{
    if (code != OTF2_SUCCESS)
        sg_archive_check(writer->archive, code);
}

static const struct sg_event_function *function_of(const struct sg_event_writer *writer,
                                                   uint32_t index)
{
    const struct sg_function_entry *function = sg_summary_function(&writer->summary->calls, index);

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

/* True if the rank is a peer on the communicator; any other rank is damage. */
static bool is_peer(const struct sg_event_writer *writer, uint32_t comm, int32_t rank)
{
    const struct sg_profile_comm_entry *entry =
        sg_summary_profile_comm(&writer->summary->calls, comm);

    uint32_t peers = entry->comm.remote_size > 0 ? entry->comm.remote_size : entry->comm.size;

    return rank >= 0 && (uint32_t)rank < peers;
}

bool sg_event_has_function(const struct sg_event_writer *writer,
                           const struct sg_record_event *event)
{
    return function_of(writer, event->function) != NULL;
}

/* ---- messages ------------------------------------------------------------------------------- */

struct message {
    uint32_t comm; /* the log's index */
    int32_t peer, tag;
    uint64_t bytes;
    bool is_complete; /* a posted send, when its call returned */
};

static bool is_written(const struct sg_event_writer *writer, const struct message *message)
{
    return comm_of(writer, message->comm) != NULL && is_peer(writer, message->comm, message->peer);
}

/* Returns attributes with the number of unrecorded messages before a message, or NULL for 0. */
static OTF2_AttributeList *gap_of(struct sg_event_writer *writer, uint32_t count)
{
    if (count == 0)
        return NULL;
    check(writer, OTF2_AttributeList_AddUint64(writer->attributes, SG_ATTRIBUTE_GAP, count));
    return writer->attributes;
}

static OTF2_AttributeList *gap_before(struct sg_event_writer *writer, uint64_t slot, bool is_send)
{
    return gap_of(writer, sg_gaps_before(&writer->summary->calls.gaps, slot, is_send));
}

static void write_isend(struct sg_event_writer *writer, uint64_t time_ns,
                        const struct message *message, uint64_t slot)
{
    OTF2_AttributeList *attributes;

    if (!is_written(writer, message))
        return;
    attributes = gap_before(writer, slot, true);
    if (message->is_complete) {
        attributes = writer->attributes;
        check(writer, OTF2_AttributeList_AddUint64(attributes, SG_ATTRIBUTE_EAGER, 1));
    }
    check(writer,
          OTF2_EvtWriter_MpiIsend(writer->events, attributes, time_ns, (uint32_t)message->peer,
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
    return (struct message){event->comm, event->to, event->to_tag, event->sent_bytes,
                            (event->flags & SG_EVENT_COMPLETE) != 0};
}

/* After Enter. A call posts at most one message. */
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
        check(writer,
              OTF2_EvtWriter_MpiSend(writer->events, gap_before(writer, slot, true), time_ns,
                                     (uint32_t)sent.peer, comm_of(writer, sent.comm)->ref,
                                     (uint32_t)sent.tag, sent.bytes));
    }
}

/* Before Leave. A call that never ended is not known to have received anything. */
static void write_received(struct sg_event_writer *writer, const struct sg_record_event *event,
                           uint32_t slot)
{
    const struct message received = {event->comm, event->from, event->from_tag,
                                     event->received_bytes, false};

    if (sg_event_posts(event) || !sg_event_receives(event) || !is_written(writer, &received) ||
        atomic_load_explicit(&event->end_ns, memory_order_relaxed) == 0)
        return;
    check(writer,
          OTF2_EvtWriter_MpiRecv(writer->events, gap_before(writer, slot, false), writer->now_ns,
                                 (uint32_t)received.peer, comm_of(writer, received.comm)->ref,
                                 (uint32_t)received.tag, received.bytes));
}

/* ---- collectives ---------------------------------------------------------------------------- */

/* A rank's part in a collective. */
struct part {
    const struct sg_plan_profile_comm *comm; /* NULL: no collective of the archive */
    uint32_t log_comm;
    const struct sg_mpi_region *about;
    uint64_t number;
    int32_t root; /* if it is rooted; as in struct sg_record_event */
    uint64_t sent_bytes, received_bytes;
    uint32_t sources; /* 1 + the group of the ranks whose data it receives; 0: all, or not known */
};

static uint32_t remote_size_of(const struct sg_event_writer *writer, const struct part *part)
{
    return sg_summary_profile_comm(&writer->summary->calls, part->log_comm)->comm.remote_size;
}

/* True if the root is a rank of the communicator, or absent as between groups; any other root is
 * damage. */
static bool has_sound_root(const struct sg_event_writer *writer, const struct part *part)
{
    return !part->about->is_rooted || (part->root >= 0 ? is_peer(writer, part->log_comm, part->root)
                                                       : remote_size_of(writer, part) > 0);
}

static struct part part_of(const struct sg_event_writer *writer, struct part part)
{
    part.comm = comm_of(writer, part.log_comm);
    if (part.comm != NULL &&
        (!has_sound_root(writer, &part) || !sg_intervals_contain(&part.comm->kept, part.number)))
        part.comm = NULL;
    return part;
}

static struct part part_of_event(const struct sg_event_writer *writer,
                                 const struct sg_record_event *event)
{
    const struct sg_event_function *function = function_of(writer, event->function);
    bool is_rooted = (event->flags & SG_EVENT_ROOTED) != 0;
    const struct sg_profile_comm_entry *made =
        function != NULL ? sg_summary_made(&writer->summary->calls, &function->about, event) : NULL;

    if (made != NULL)
        return part_of(writer, (struct part){.log_comm = made->comm.index,
                                             .about = &function->about,
                                             .number = SG_NUMBER_OF_MAKER});
    if (function == NULL || !function->about.is_collective || !sg_event_has_number(event) ||
        function->about.is_rooted != is_rooted ||
        function->about.is_nonblocking != sg_event_posts(event))
        return (struct part){.comm = NULL};
    return part_of(writer,
                   (struct part){.log_comm = event->comm,
                                 .about = &function->about,
                                 .number = sg_event_number(event),
                                 .root = event->to,
                                 .sent_bytes = event->sent_bytes,
                                 .received_bytes = event->received_bytes,
                                 .sources = event->from >= 0 ? (uint32_t)event->from + 1 : 0});
}

/* Returns the part in a persistent collective. request: the record of its begin. */
static struct part part_of_start(const struct sg_event_writer *writer,
                                 const struct sg_record_request *request)
{
    const struct sg_event_function *function = function_of(writer, request->function);

    if (function == NULL || !function->about.is_persistent || !sg_request_has_number(request))
        return (struct part){.comm = NULL};
    return part_of(writer, (struct part){.log_comm = request->comm,
                                         .about = &function->about,
                                         .number = sg_request_number(request),
                                         .root = request->peer,
                                         .sent_bytes = request->bytes,
                                         .received_bytes = request->received_bytes,
                                         .sources = request->sources});
}

/* On an intercommunicator, the ranks of the root's group, root included, record no root rank. */
static uint32_t root_of(const struct sg_event_writer *writer, const struct part *part)
{
    if (!part->about->is_rooted)
        return OTF2_COLLECTIVE_ROOT_NONE;
    if (part->root >= 0)
        return (uint32_t)part->root;
    if (remote_size_of(writer, part) == 0)
        return OTF2_COLLECTIVE_ROOT_NONE;
    return part->root == SG_EVENT_ROOT_HERE ? OTF2_COLLECTIVE_ROOT_SELF
                                            : OTF2_COLLECTIVE_ROOT_THIS_GROUP;
}

/* sources: 1 + the group of the ranks whose data it receives; 0: not known. */
static OTF2_AttributeList *number_of(struct sg_event_writer *writer, const struct part *part,
                                     uint32_t sources)
{
    const struct sg_summary_windows *windows = &writer->summary->calls.windows;
    const struct sg_group_entry *group =
        sources > 0 ? sg_summary_group_at(windows, sources - 1) : NULL;
    uint32_t ref;

    if (group != NULL && sg_plan_find_group(&writer->plan->windows, group, &ref))
        check(writer,
              OTF2_AttributeList_AddGroupRef(writer->attributes, SG_ATTRIBUTE_SOURCES, ref));
    check(writer,
          OTF2_AttributeList_AddUint64(writer->attributes, SG_ATTRIBUTE_NUMBER, part->number));
    return writer->attributes;
}

/* Adds the attributes that describe a collective without an operation, as OTF2's events describe
 * others. */
static OTF2_AttributeList *described(struct sg_event_writer *writer, const struct part *part)
{
    const struct sg_summary_calls *calls = &writer->summary->calls;
    bool has_sources = part->about->without == SG_WITHOUT_NEIGHBORHOOD;

    check(writer,
          OTF2_AttributeList_AddCommRef(writer->attributes, SG_ATTRIBUTE_COMM, part->comm->ref));
    return number_of(writer, part,
                     has_sources ? sg_summary_profile_comm(calls, part->log_comm)->sources : 0);
}

/* Adds them to the attributes of Enter. */
static void describe(struct sg_event_writer *writer, const struct sg_record_event *event)
{
    const struct part part = part_of_event(writer, event);

    if (part.comm != NULL && part.about->without != SG_WITHOUT_NONE && !sg_event_posts(event))
        described(writer, &part);
}

static void write_request(struct sg_event_writer *writer, const struct part *part, uint64_t slot,
                          uint64_t time_ns)
{
    if (part->about->without != SG_WITHOUT_NONE)
        check(writer,
              OTF2_EvtWriter_ParameterUnsignedInt(writer->events, NULL, time_ns, SG_PARAMETER_BEGUN,
                                                  sg_event_request_of(slot)));
    else
        check(writer, OTF2_EvtWriter_NonBlockingCollectiveRequest(writer->events, NULL, time_ns,
                                                                  sg_event_request_of(slot)));
}

static void write_collective_begin(struct sg_event_writer *writer,
                                   const struct sg_record_event *event, uint32_t slot,
                                   uint64_t time_ns)
{
    const struct part part = part_of_event(writer, event);

    if (part.comm == NULL)
        return;
    if (sg_event_posts(event))
        write_request(writer, &part, slot, time_ns);
    else if (part.about->without == SG_WITHOUT_NONE)
        check(writer, OTF2_EvtWriter_MpiCollectiveBegin(writer->events, NULL, time_ns));
}

static void write_collective_end(struct sg_event_writer *writer,
                                 const struct sg_record_event *event)
{
    const struct part part = part_of_event(writer, event);

    if (part.comm != NULL && !sg_event_posts(event) && part.about->without == SG_WITHOUT_NONE)
        check(writer, OTF2_EvtWriter_MpiCollectiveEnd(
                          writer->events, number_of(writer, &part, part.sources), writer->now_ns,
                          part.about->collective_op, part.comm->ref, root_of(writer, &part),
                          part.sent_bytes, part.received_bytes));
}

static void write_collective_complete(struct sg_event_writer *writer, uint64_t time_ns,
                                      const struct part *part, uint64_t slot)
{
    if (part->about->without != SG_WITHOUT_NONE) {
        check(writer, OTF2_EvtWriter_ParameterUnsignedInt(writer->events, described(writer, part),
                                                          time_ns, SG_PARAMETER_COMPLETE,
                                                          sg_event_request_of(slot)));
        return;
    }
    check(writer, OTF2_EvtWriter_NonBlockingCollectiveComplete(
                      writer->events, number_of(writer, part, part->sources), time_ns,
                      part->about->collective_op, part->comm->ref, root_of(writer, part),
                      part->sent_bytes, part->received_bytes, sg_event_request_of(slot)));
}

static void write_start(struct sg_event_writer *writer, uint64_t time_ns,
                        const struct sg_record_request *request, uint32_t slot)
{
    const struct part part = part_of_start(writer, request);

    if (part.comm != NULL)
        write_request(writer, &part, slot, time_ns);
}

/* ---- calls ---------------------------------------------------------------------------------- */

void sg_event_enter_call(struct sg_event_writer *writer, const struct sg_record_event *event,
                         uint32_t slot)
{
    uint64_t time_ns = sg_event_advance(writer, event->begin_ns);

    sg_event_enter_path(writer, event->site, time_ns);
    check(writer, OTF2_AttributeList_AddStringRef(writer->attributes, SG_ATTRIBUTE_SITE,
                                                  sg_event_site_text(writer, event->site)));
    if (sg_event_polled_ns(event) > 0)
        check(writer, OTF2_AttributeList_AddUint64(writer->attributes, SG_ATTRIBUTE_POLLED,
                                                   sg_event_polled_ns(event)));
    describe(writer, event);
    check(writer, OTF2_EvtWriter_Enter(writer->events, writer->attributes, time_ns,
                                       function_of(writer, event->function)->region));
    write_collective_begin(writer, event, slot, time_ns);
    write_begun(writer, event, slot, time_ns);
    sg_event_window_begin(writer, event, slot, time_ns);
}

void sg_event_leave_call(struct sg_event_writer *writer, const struct sg_record_event *event,
                         uint32_t slot, uint64_t end_ns)
{
    sg_event_advance(writer, end_ns);
    write_received(writer, event, slot);
    write_collective_end(writer, event);
    sg_event_window_end(writer, event, slot);
    sg_event_leave_region(writer, function_of(writer, event->function)->region, end_ns);
    sg_event_leave_path(writer, event->site, end_ns);
}

/* ---- requests ------------------------------------------------------------------------------- */

/* The kind of operation that a record began. */
enum begun { BEGUN_NOTHING, BEGUN_SEND, BEGUN_RECEIVE, BEGUN_COLLECTIVE };

/* *part is set if the record began a collective; the same holds below. */
static enum begun begun_by_event(const struct sg_event_writer *writer,
                                 const struct sg_record_event *event, struct part *part)
{
    const struct message sent = sent_by(event);

    if (!sg_event_posts(event) || !sg_event_is_sound(event) ||
        function_of(writer, event->function) == NULL)
        return BEGUN_NOTHING;
    *part = part_of_event(writer, event);
    if (part->comm != NULL)
        return BEGUN_COLLECTIVE;
    if (sg_event_sends(event))
        return is_written(writer, &sent) ? BEGUN_SEND : BEGUN_NOTHING;
    return sg_event_receives(event) && comm_of(writer, event->comm) != NULL ? BEGUN_RECEIVE
                                                                            : BEGUN_NOTHING;
}

static struct message message_of(const struct sg_record_request *request)
{
    return (struct message){request->comm, request->peer, request->tag, request->bytes, false};
}

static enum begun begun_by_request(const struct sg_event_writer *writer,
                                   const struct sg_record_request *request, struct part *part)
{
    const struct message message = message_of(request);

    if (!sg_request_is_sound(request))
        return BEGUN_NOTHING;
    if (request->what == SG_REQUEST_SEND)
        return is_written(writer, &message) ? BEGUN_SEND : BEGUN_NOTHING;
    *part = part_of_start(writer, request);
    if (part->comm != NULL)
        return BEGUN_COLLECTIVE;
    return request->what == SG_REQUEST_RECEIVE && comm_of(writer, request->comm) != NULL
               ? BEGUN_RECEIVE
               : BEGUN_NOTHING;
}

static enum begun begun_by(const struct sg_event_writer *writer, const void *began,
                           struct part *part)
{
    uint8_t kind = began != NULL ? *(const uint8_t *)began : SG_RECORD_EMPTY;

    if (kind == SG_RECORD_EVENT)
        return begun_by_event(writer, began, part);
    return kind == SG_RECORD_REQUEST ? begun_by_request(writer, began, part) : BEGUN_NOTHING;
}

/* slot: of the completion. The post and the completion may each have a gap, so they are added. */
static void write_irecv(struct sg_event_writer *writer, uint64_t time_ns,
                        const struct sg_record_request *request, uint32_t slot)
{
    const struct message message = message_of(request);
    const struct sg_gaps *gaps = &writer->summary->calls.gaps;
    uint32_t gap =
        sg_gaps_before(gaps, request->request, false) + sg_gaps_before(gaps, slot, false);

    if (is_written(writer, &message))
        check(writer, OTF2_EvtWriter_MpiIrecv(
                          writer->events, gap_of(writer, gap), time_ns, (uint32_t)message.peer,
                          comm_of(writer, message.comm)->ref, (uint32_t)message.tag, message.bytes,
                          sg_event_request_of(request->request)));
}

void sg_event_request(struct sg_event_writer *writer, const struct sg_record_request *request,
                      uint32_t slot, const void *began)
{
    struct part part = {.comm = NULL};
    enum begun begun = begun_by(writer, began, &part);
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
            write_irecv(writer, time_ns, request, slot);
        break;
    case SG_REQUEST_CANCELLED:
        if (begun == BEGUN_SEND || begun == BEGUN_RECEIVE)
            check(writer,
                  OTF2_EvtWriter_MpiRequestCancelled(writer->events, NULL, time_ns, number));
        break;
    case SG_REQUEST_COMPLETE:
        if (begun == BEGUN_COLLECTIVE)
            write_collective_complete(writer, time_ns, &part, request->request);
        sg_event_window_completions(writer, slot, time_ns);
        break;
    case SG_REQUEST_PREPARED:
        write_start(writer, time_ns, request, slot);
        break;
    default: /* freed: OTF2 has no event for it */
        break;
    }
}
