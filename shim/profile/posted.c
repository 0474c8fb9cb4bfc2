/* Writes the begin and end of a request's send and receive, or counts them as left out (posted.h),
 * so that the messages of both ends match by their order.
 */
#include "profile/posted.h"

#include "profile/events.h"

struct sg_posted sg_posted_of(const struct sg_event_subject *subject,
                              const struct sg_event_content *content, const sg_word *words,
                              const struct sg_moved *moved)
{
    const struct sg_function_facts *facts = &sg_functions[subject->function];
    const struct sg_argument_places *places = &sg_places[subject->function];
    bool is_message = facts->class == SG_CLASS_MESSAGE && places->parts == SG_NO_WORD;
    bool gets = facts->flow == SG_FLOW_RECEIVE || facts->flow == SG_FLOW_EXCHANGE ||
                places->message != SG_NO_WORD;

    return (struct sg_posted){
        .subject = *subject,
        .sends = is_message && content->to >= 0 && facts->flow != SG_FLOW_RECEIVE,
        .receives = is_message && gets && content->from != MPI_PROC_NULL,
        .to = content->to,
        .to_tag = content->to_tag,
        .from = content->from,
        .from_tag = content->from_tag,
        .sent_bytes = moved->sent_bytes,
        .received_bytes = facts->class == SG_CLASS_MESSAGE && gets
                              ? sg_moved_asked(subject->function, words)
                              : moved->received_bytes,
    };
}

static bool is_collective(const struct sg_posted *posted)
{
    return sg_functions[posted->subject.function].class == SG_CLASS_COLLECTIVE;
}

/* For an operation that is no message: a collective's root and number, or a peer and tag. */
static void name_others(const struct sg_posted *posted, struct sg_event_change *change)
{
    change->peer = is_collective(posted) || posted->to >= 0 ? posted->to : posted->from;
    change->tag = !is_collective(posted) && posted->to >= 0 ? posted->to_tag : posted->from_tag;
}

static struct sg_gap_channel sent_by(const struct sg_posted *posted)
{
    return (struct sg_gap_channel){posted->subject.comm, true, posted->to, posted->to_tag};
}

static struct sg_gap_channel received_from(const struct sg_posted *posted, int from, int tag)
{
    return (struct sg_gap_channel){posted->subject.comm, false, from, tag};
}

static bool asks_for_one(const struct sg_posted *posted)
{
    return posted->from >= 0 && posted->from_tag >= 0;
}

static void begun(const struct sg_gap_channel *channel, uint64_t slot)
{
    if (slot != 0)
        sg_gaps_tell(channel, SG_GAP_BY_BEGIN, slot);
    else
        sg_gaps_add(channel, SG_GAP_BY_BEGIN, 1);
}

void sg_posted_begun(struct sg_posted *posted)
{
    struct sg_gap_channel channel;

    posted->is_skipped = false;
    if (posted->sends) {
        channel = sent_by(posted);
        begun(&channel, posted->slot);
    }
    if (posted->receives && asks_for_one(posted)) {
        channel = received_from(posted, posted->from, posted->from_tag);
        begun(&channel, posted->receive_slot);
        posted->is_skipped = posted->receive_slot == 0;
    }
}

void sg_posted_begin(struct sg_posted *posted, uint64_t time_ns)
{
    struct sg_event_change change = {.time_ns = time_ns};

    posted->slot = posted->receive_slot = 0;
    if (posted->sends) {
        change.what = SG_REQUEST_SEND;
        change.peer = posted->to;
        change.tag = posted->to_tag;
        change.bytes = posted->sent_bytes;
        posted->slot = sg_events_change(&posted->subject, &change);
    }
    if (posted->receives) {
        change.what = SG_REQUEST_RECEIVE;
        change.peer = posted->from;
        change.tag = posted->from_tag;
        change.bytes = posted->received_bytes;
        posted->receive_slot = sg_events_change(&posted->subject, &change);
    }
    if (posted->sends || posted->receives) {
        sg_posted_begun(posted);
        return;
    }
    change.what = SG_REQUEST_PREPARED;
    name_others(posted, &change);
    if (is_collective(posted)) {
        change.start = posted->starts;
        change.received_bytes = posted->received_bytes;
    }
    change.bytes = posted->sent_bytes > 0 || is_collective(posted) ? posted->sent_bytes
                                                                   : posted->received_bytes;
    posted->slot = sg_events_change(&posted->subject, &change);
}

static enum sg_request_event what_of(enum sg_posted_end how, enum sg_request_event complete)
{
    return how == SG_POSTED_CANCELLED ? SG_REQUEST_CANCELLED
           : how == SG_POSTED_FREED   ? SG_REQUEST_FREED
                                      : complete;
}

static void end_send(const struct sg_posted *posted, enum sg_posted_end how, bool failed,
                     uint64_t time_ns)
{
    const struct sg_event_change change = {
        .what = what_of(how, failed ? SG_REQUEST_COMPLETE : SG_REQUEST_SENT),
        .request = posted->slot,
        .peer = posted->to,
        .tag = posted->to_tag,
        .bytes = posted->sent_bytes,
        .time_ns = time_ns};

    sg_events_change(&posted->subject, &change);
}

/* MPICH's MPI_Isendrecv does not report what it received: assumes what was requested. */
static bool find_received(const struct sg_posted *posted, const MPI_Status *status,
                          struct sg_event_change *change)
{
    if (sg_functions[posted->subject.function].flow == SG_FLOW_EXCHANGE) {
        change->bytes = posted->received_bytes;
        return asks_for_one(posted);
    }
    if (status->MPI_SOURCE < 0)
        return false;
    change->peer = status->MPI_SOURCE;
    change->tag = status->MPI_TAG;
    return true;
}

/* If a receive's completion is in the log, it reports the gap that its post did not; otherwise the
 * receive itself is left out. */
static void completed(const struct sg_posted *posted, const struct sg_event_change *received,
                      uint64_t slot)
{
    const struct sg_gap_channel channel = received_from(posted, received->peer, received->tag);
    unsigned told = SG_GAP_BY_COMPLETION | (asks_for_one(posted) ? 0 : SG_GAP_BY_BEGIN);

    if (slot != 0)
        sg_gaps_tell(&channel, told, slot);
    else if (!posted->is_skipped)
        sg_gaps_add(&channel, SG_GAP_BY_COMPLETION, 1);
}

static void end_receive(const struct sg_posted *posted, enum sg_posted_end how,
                        const MPI_Status *status, uint64_t received_bytes, uint64_t time_ns)
{
    struct sg_event_change change = {.request = posted->receive_slot,
                                     .peer = posted->from,
                                     .tag = posted->from_tag,
                                     .bytes = received_bytes,
                                     .time_ns = time_ns};
    bool is_known =
        how == SG_POSTED_COMPLETE && status != NULL && find_received(posted, status, &change);
    uint64_t slot;

    change.what = what_of(how, is_known ? SG_REQUEST_RECEIVED : SG_REQUEST_COMPLETE);
    slot = sg_events_change(&posted->subject, &change);
    if (is_known)
        completed(posted, &change, slot);
    else if (how == SG_POSTED_FREED && asks_for_one(posted))
        completed(posted, &change, 0);
}

void sg_posted_end(const struct sg_posted *posted, enum sg_posted_end how, const MPI_Status *status,
                   uint64_t received_bytes, uint64_t time_ns)
{
    struct sg_event_change change = {.what = what_of(how, SG_REQUEST_COMPLETE),
                                     .request = posted->slot,
                                     .bytes = received_bytes,
                                     .time_ns = time_ns};

    if (posted->slot == 0 && posted->receive_slot == 0)
        sg_posted_end_unseen(posted, how, status);
    if (posted->sends && posted->slot != 0)
        end_send(posted, how, status == NULL, time_ns);
    if (posted->receives && posted->receive_slot != 0)
        end_receive(posted, how, status, received_bytes, time_ns);
    if (posted->sends || posted->receives || posted->slot == 0)
        return;
    name_others(posted, &change);
    sg_events_change(&posted->subject, &change);
}

void sg_posted_end_unseen(const struct sg_posted *posted, enum sg_posted_end how,
                          const MPI_Status *status)
{
    struct sg_event_change change = {.peer = posted->from, .tag = posted->from_tag};
    struct sg_gap_channel channel;

    if (how == SG_POSTED_CANCELLED && posted->sends && posted->slot == 0) {
        channel = sent_by(posted);
        sg_gaps_add(&channel, SG_GAP_BY_BEGIN, -1);
    }
    if (how == SG_POSTED_CANCELLED && posted->is_skipped) {
        channel = received_from(posted, posted->from, posted->from_tag);
        sg_gaps_add(&channel, SG_GAP_BY_BEGIN, -1);
    }
    if (how == SG_POSTED_COMPLETE && posted->receives && status != NULL &&
        find_received(posted, status, &change))
        completed(posted, &change, 0);
}
