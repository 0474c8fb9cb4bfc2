/* Matches sends with receives. A channel orders the messages of a communicator from one rank to
 * another with one tag, and holds the ends that are not matched yet. Receives enter their channel
 * in the order of their posts. An end keeps the calls that it belongs to alive until it is dropped.
 *
 * Functions that return a status return SG_OK or SG_ERR_MEMORY, which they do not log. Not
 * thread-safe.
 */
#include "report/keyed.h"
#include "report/wait_skews.h"

#include <stdlib.h>

struct sg_message_key {
    uint32_t comm, from, to, tag;
};

/* One end of a message. */
struct sg_waitstate_message_end {
    UT_hash_handle hh; /* in the table of requests, if has_request */
    struct sg_request_key {
        uint64_t request, rank, is_send;
    } key;
    struct sg_waitstate_message_end *previous, *following; /* in the list of all ends */
    struct sg_waitstate_message_end *next;                 /* in its channel */
    uint32_t gap; /* earlier messages of its channel that this side did not report */
    struct sg_message_key channel;
    struct sg_waitstate_end who; /* who and begin_ns: the call that began it */
    int64_t begin_ns;
    struct sg_waitstate_call *completing; /* the call that completed it; NULL: pending */
    bool is_send, has_request;
    bool is_matched;
};

/* Holds sends that wait for receives, or receives that wait for sends (if clocks contradict). */
struct sg_channel {
    UT_hash_handle hh;
    struct sg_message_key key;
    struct sg_waitstate_message_end *first, *last;
};

/* Appends an end to its channel; NULL: makes a new channel. */
static enum sg_status sg_channels_append(struct sg_channel **channels, struct sg_channel *channel,
                                         struct sg_waitstate_message_end *end)
{
    if (channel == NULL) {
        channel = calloc(1, sizeof *channel);
        if (channel == NULL)
            return SG_ERR_MEMORY;
        channel->key = end->channel;
        if (!SG_KEYED_ADD(*channels, channel)) {
            free(channel);
            return SG_ERR_MEMORY;
        }
    }
    end->next = NULL;
    *(channel->last != NULL ? &channel->last->next : &channel->first) = end;
    channel->last = end;
    return SG_OK;
}

/* Removes an end; the next end takes over its gap. Frees the channel when it becomes empty. */
static void sg_channels_remove(struct sg_channel **channels, struct sg_channel *channel,
                               struct sg_waitstate_message_end *end)
{
    struct sg_waitstate_message_end *before = NULL;

    for (struct sg_waitstate_message_end *at = channel->first; at != end; at = at->next)
        before = at;
    if (end->next != NULL)
        end->next->gap += end->gap;
    *(before != NULL ? &before->next : &channel->first) = end->next;
    if (channel->last == end)
        channel->last = before;
    if (channel->first == NULL) {
        HASH_DEL(*channels, channel);
        free(channel);
    }
}

/* The first end that waits on the other side for this end's message or an earlier one; NULL:
 * none. */
static struct sg_waitstate_message_end *
sg_channel_opposite(const struct sg_channel *channel, const struct sg_waitstate_message_end *end)
{
    struct sg_waitstate_message_end *first = channel != NULL ? channel->first : NULL;

    return first != NULL && first->is_send != end->is_send ? first : NULL;
}

struct send {
    struct sg_waitstate_message_end end;
    struct sg_waitstate_underway underway;
    bool is_buffered, is_synchronous, is_complete;
    struct sg_waitstate_call *flushing; /* the first call that waits for the buffer; or NULL */
    uint64_t bytes;
    /* The matching receive, if there is a match. */
    struct sg_waitstate_end receiver;
    int64_t posted_ns;
};

struct receive {
    struct sg_waitstate_message_end end;
    struct receive *earlier, *later; /* in the rank's queue, if is_queued */
    struct sg_waitstate_call *probe;
    int64_t received_ns;
    bool is_queued;
};

struct sg_waitstate_receives {
    struct receive *first, *last;
    uint32_t complete; /* number of complete ones */
};

/* ---- requests -------------------------------------------------------------------------------- */

static struct sg_waitstate_message_end *find_request(const struct sg_waitstate_messages *messages,
                                                     uint32_t rank, uint64_t request, bool is_send)
{
    return SG_KEYED_FIND(messages->requests, (&(struct sg_request_key){request, rank, is_send}));
}

static enum sg_status add_request(struct sg_waitstate_messages *messages,
                                  struct sg_waitstate_message_end *end, uint64_t request)
{
    end->key = (struct sg_request_key){request, end->who.rank, end->is_send};
    end->has_request = SG_KEYED_ADD(messages->requests, end);
    return end->has_request ? SG_OK : SG_ERR_MEMORY;
}

static void forget_request(struct sg_waitstate_messages *messages,
                           struct sg_waitstate_message_end *end)
{
    if (end->has_request)
        HASH_DEL(messages->requests, end);
    end->has_request = false;
}

/* ---- ends ------------------------------------------------------------------------------------ */

static void *new_end(struct sg_waitstate_messages *messages, size_t size_bytes,
                     const struct sg_waitstate_call *call, bool is_send)
{
    struct sg_waitstate_message_end *end = calloc(1, size_bytes);

    if (end == NULL)
        return NULL;
    end->who = call->who;
    end->begin_ns = call->enter_ns;
    end->is_send = is_send;
    end->following = messages->ends;
    if (end->following != NULL)
        end->following->previous = end;
    messages->ends = end;
    sg_waitstate_born(messages->settling);
    return end;
}

/* Frees an end that is in no channel or queue any more, and releases its calls. */
static enum sg_status drop(struct sg_waitstate_messages *messages,
                           struct sg_waitstate_message_end *end)
{
    struct sg_waitstate_call *completing = end->completing;
    struct sg_waitstate_call *other =
        end->is_send ? ((struct send *)end)->flushing : ((struct receive *)end)->probe;
    enum sg_status status;

    forget_request(messages, end);
    *(end->previous != NULL ? &end->previous->following : &messages->ends) = end->following;
    if (end->following != NULL)
        end->following->previous = end->previous;
    free(end);
    sg_waitstate_gone(messages->settling);
    status = sg_waitstate_let_go(messages->settling, completing);
    return status == SG_OK ? sg_waitstate_let_go(messages->settling, other) : status;
}

static uint64_t channel_ends(const struct send *send)
{
    return (uint64_t)send->end.channel.from << 32 | send->end.channel.to;
}

/* True if the call that completed the send returned before the receive was posted. */
static bool ended_before_receive(const struct send *send)
{
    const struct sg_waitstate_call *call = send->end.completing;

    return send->is_complete || (call->has_left && call->leave_ns < send->posted_ns);
}

/* A send that is complete without its receive is eager, and so are smaller ones between the same
 * ranks: MPI copies their data and waits for no receiver. Such sends show the limit. */
static enum sg_status learn_eager(struct sg_waitstate_messages *messages, const struct send *send)
{
    int64_t bytes = (int64_t)(send->bytes < UINT32_MAX - 1 ? send->bytes : UINT32_MAX - 1);
    uint64_t ends = channel_ends(send);

    if (send->is_buffered || send->is_synchronous || !ended_before_receive(send) ||
        sg_map_get(&messages->eager, ends) > bytes)
        return SG_OK;
    return sg_map_put(&messages->eager, ends, (uint32_t)(bytes + 1));
}

static bool is_eager(const struct sg_waitstate_messages *messages, const struct send *send)
{
    return sg_map_get(&messages->eager, channel_ends(send)) > (int64_t)send->bytes;
}

static bool waits_for_receiver(const struct sg_waitstate_messages *messages,
                               const struct send *send)
{
    if (send->is_synchronous || send->posted_ns <= send->end.completing->enter_ns)
        return send->is_synchronous;
    return !send->is_buffered && !send->is_complete && !is_eager(messages, send);
}

/* A send is done when it is matched and its call or request is complete. */
static enum sg_status finish_send(struct sg_waitstate_messages *messages, struct send *send)
{
    const struct sg_waitstate_cause cause = {.kind = SG_WAITSTATE_LATE_RECEIVER,
                                             .ready_ns = send->posted_ns,
                                             .other = send->receiver,
                                             .comm = send->end.channel.comm};
    enum sg_status status, dropped;

    if (!send->end.is_matched || send->end.completing == NULL)
        return SG_OK;
    status = learn_eager(messages, send);
    if (waits_for_receiver(messages, send))
        sg_waitstate_call_offer(send->end.completing, &cause);
    if (!is_eager(messages, send))
        sg_waitstate_call_offer(send->flushing, &cause);
    dropped = drop(messages, &send->end);
    return status == SG_OK ? dropped : status;
}

static void check_clocks(struct sg_waitstate_messages *messages, const struct send *send,
                         const struct receive *receive)
{
    uint64_t by_ns;

    if (receive->received_ns >= send->end.begin_ns)
        return;
    by_ns = (uint64_t)send->end.begin_ns - (uint64_t)receive->received_ns;
    messages->violations++;
    if (by_ns > messages->largest_violation_ns)
        messages->largest_violation_ns = by_ns;
}

static enum sg_status tell(const struct sg_waitstate_messages *messages, const struct send *send,
                           const struct receive *receive)
{
    const struct sg_waitstate_matched matched = {.from = send->end.who.location,
                                                 .to = receive->end.completing->who.location,
                                                 .sent_ns = send->end.begin_ns,
                                                 .completing_ns = receive->end.completing->enter_ns,
                                                 .received_ns = receive->received_ns};

    return messages->listener == NULL ? SG_OK
                                      : messages->listener(messages->listener_context, &matched);
}

static enum sg_status match(struct sg_waitstate_messages *messages, struct send *send,
                            struct receive *receive)
{
    struct sg_waitstate_cause cause = {.kind = SG_WAITSTATE_LATE_SENDER,
                                       .ready_ns = send->end.begin_ns,
                                       .other = send->end.who,
                                       .comm = send->end.channel.comm};
    enum sg_status told = tell(messages, send, receive), status;

    messages->matched++;
    check_clocks(messages, send, receive);
    sg_waitstate_take_off(messages->settling, send->end.channel.to, &send->underway);
    sg_waitstate_took(messages->settling, send->end.channel.to, send->end.begin_ns,
                      receive->received_ns);
    sg_waitstate_call_offer(receive->probe, &cause);
    cause.is_bounded = true;
    sg_waitstate_call_offer(receive->end.completing, &cause);
    send->end.is_matched = true;
    send->receiver = receive->end.who;
    send->posted_ns = receive->end.begin_ns;
    status = drop(messages, &receive->end);
    if (status == SG_OK)
        status = finish_send(messages, send);
    return status == SG_OK ? told : status;
}

/* Drops an end that is in no channel, because the other side did not report its message. */
static enum sg_status give_up(struct sg_waitstate_messages *messages,
                              struct sg_waitstate_message_end *end)
{
    if (end->is_send)
        sg_waitstate_take_off(messages->settling, end->channel.to, &((struct send *)end)->underway);
    messages->unmatched_sends += end->is_send;
    messages->unmatched_receives += !end->is_send;
    return drop(messages, end);
}

/* Pairs the unreported messages before an end with the ends that wait on the other side, and gives
 * those up. Messages that neither side reported are skipped. */
static enum sg_status close_gap(struct sg_waitstate_messages *messages,
                                struct sg_waitstate_message_end *end)
{
    struct sg_waitstate_message_end *other;
    enum sg_status status = SG_OK;

    while (end->gap > 0 && status == SG_OK &&
           (other = sg_channel_opposite(SG_KEYED_FIND(messages->channels, &end->channel), end)) !=
               NULL) {
        uint32_t both = other->gap < end->gap ? other->gap : end->gap;

        other->gap -= both;
        end->gap -= both;
        if (end->gap == 0)
            break;
        end->gap--;
        sg_channels_remove(&messages->channels, SG_KEYED_FIND(messages->channels, &end->channel),
                           other);
        status = give_up(messages, other);
    }
    return status;
}

/* Matches an end with the first one on the other side of its channel, or appends it. */
static enum sg_status join(struct sg_waitstate_messages *messages,
                           struct sg_waitstate_message_end *end)
{
    enum sg_status status = close_gap(messages, end);
    struct sg_channel *channel;
    struct sg_waitstate_message_end *other;

    if (status != SG_OK)
        return status;
    channel = SG_KEYED_FIND(messages->channels, &end->channel);
    other = sg_channel_opposite(channel, end);
    if (other == NULL)
        return sg_channels_append(&messages->channels, channel, end);
    if (other->gap > 0) {
        other->gap--;
        return give_up(messages, end);
    }
    sg_channels_remove(&messages->channels, channel, other);
    return end->is_send ? match(messages, (struct send *)end, (struct receive *)other)
                        : match(messages, (struct send *)other, (struct receive *)end);
}

/* ---- sends ----------------------------------------------------------------------------------- */

enum sg_status sg_waitstate_messages_send(struct sg_waitstate_messages *messages,
                                          struct sg_waitstate_call *call,
                                          const struct sg_waitstate_message *message,
                                          const uint64_t *request)
{
    struct send *send = new_end(messages, sizeof *send, call, true);
    enum sg_status status = SG_OK;

    if (send == NULL)
        return SG_ERR_MEMORY;
    send->end.channel =
        (struct sg_message_key){message->comm, call->who.rank, message->peer, message->tag};
    send->end.gap = message->gap;
    send->is_buffered = call->is_buffered;
    send->is_synchronous = call->is_synchronous;
    send->is_complete = message->is_complete;
    send->bytes = message->bytes;
    if (request != NULL)
        status = add_request(messages, &send->end, *request);
    else
        send->end.completing = sg_waitstate_call_hold(call);
    send->underway.sent_ns = send->end.begin_ns;
    sg_waitstate_set_out(messages->settling, message->peer, &send->underway);
    if (status == SG_OK)
        status = join(messages, &send->end);
    return status;
}

enum sg_status sg_waitstate_messages_sent(struct sg_waitstate_messages *messages,
                                          struct sg_waitstate_call *call, uint64_t request)
{
    struct sg_waitstate_message_end *end = find_request(messages, call->who.rank, request, true);

    if (end == NULL)
        return SG_OK;
    forget_request(messages, end);
    end->completing = sg_waitstate_call_hold(call);
    return finish_send(messages, (struct send *)end);
}

void sg_waitstate_messages_flush(const struct sg_waitstate_messages *messages,
                                 struct sg_waitstate_call *call)
{
    for (struct sg_waitstate_message_end *end = messages->ends; end != NULL; end = end->following) {
        struct send *send = (struct send *)end;

        if (end->is_send && end->who.rank == call->who.rank && send->is_buffered &&
            !end->is_matched && send->flushing == NULL)
            send->flushing = sg_waitstate_call_hold(call);
    }
}

/* ---- receives, in the order of their posts --------------------------------------------------- */

static void enqueue(struct sg_waitstate_receives *receives, struct receive *receive)
{
    struct receive *before = receives->last;

    while (before != NULL && before->end.begin_ns > receive->end.begin_ns)
        before = before->earlier;
    receive->earlier = before;
    receive->later = before != NULL ? before->later : receives->first;
    *(before != NULL ? &before->later : &receives->first) = receive;
    *(receive->later != NULL ? &receive->later->earlier : &receives->last) = receive;
    receive->is_queued = true;
}

static void dequeue(struct sg_waitstate_receives *receives, struct receive *receive)
{
    if (!receive->is_queued)
        return;
    *(receive->earlier != NULL ? &receive->earlier->later : &receives->first) = receive->later;
    *(receive->later != NULL ? &receive->later->earlier : &receives->last) = receive->earlier;
    receive->is_queued = false;
}

/* Joins complete receives in the order of their posts. A pending receive at the head delays them
 * until more than `held` complete ones wait; then it leaves the queue. */
static enum sg_status advance(struct sg_waitstate_messages *messages,
                              struct sg_waitstate_receives *receives, uint32_t held)
{
    enum sg_status status = SG_OK;

    while (receives->first != NULL && status == SG_OK) {
        struct receive *first = receives->first;

        if (first->end.completing == NULL && receives->complete <= held)
            break;
        dequeue(receives, first);
        if (first->end.completing != NULL) {
            receives->complete--;
            status = join(messages, &first->end);
        }
    }
    return status;
}

static enum sg_status complete(struct sg_waitstate_messages *messages, struct receive *receive,
                               struct sg_waitstate_call *call,
                               const struct sg_waitstate_message *message, int64_t time_ns)
{
    uint32_t rank = receive->end.who.rank;

    receive->end.channel =
        (struct sg_message_key){message->comm, message->peer, rank, message->tag};
    receive->end.gap = message->gap;
    receive->end.completing = sg_waitstate_call_hold(call);
    receive->received_ns = time_ns;
    if (!receive->is_queued)
        return join(messages, &receive->end);
    messages->receives[rank].complete++;
    return advance(messages, &messages->receives[rank], SG_WAITSTATE_HELD);
}

static struct receive *new_receive(struct sg_waitstate_messages *messages,
                                   const struct sg_waitstate_call *call,
                                   struct sg_waitstate_call *probe)
{
    struct receive *receive = new_end(messages, sizeof *receive, call, false);

    if (receive == NULL)
        return NULL;
    receive->probe = sg_waitstate_call_hold(probe);
    enqueue(&messages->receives[call->who.rank], receive);
    return receive;
}

enum sg_status sg_waitstate_messages_post(struct sg_waitstate_messages *messages,
                                          struct sg_waitstate_call *call,
                                          struct sg_waitstate_call *probe, uint64_t request)
{
    struct receive *receive = new_receive(messages, call, probe);

    return receive != NULL ? add_request(messages, &receive->end, request) : SG_ERR_MEMORY;
}

enum sg_status sg_waitstate_messages_received(struct sg_waitstate_messages *messages,
                                              struct sg_waitstate_call *call,
                                              const struct sg_waitstate_message *message,
                                              uint64_t request, int64_t time_ns)
{
    struct sg_waitstate_message_end *end = find_request(messages, call->who.rank, request, false);

    if (end == NULL)
        return SG_OK;
    forget_request(messages, end);
    return complete(messages, (struct receive *)end, call, message, time_ns);
}

enum sg_status sg_waitstate_messages_receive(struct sg_waitstate_messages *messages,
                                             struct sg_waitstate_call *call,
                                             struct sg_waitstate_call *probe,
                                             const struct sg_waitstate_message *message,
                                             int64_t time_ns)
{
    struct receive *receive = new_receive(messages, call, probe);

    return receive != NULL ? complete(messages, receive, call, message, time_ns) : SG_ERR_MEMORY;
}

enum sg_status sg_waitstate_messages_cancelled(struct sg_waitstate_messages *messages,
                                               uint32_t rank, uint64_t request)
{
    struct sg_waitstate_message_end *end = find_request(messages, rank, request, false);
    struct sg_waitstate_receives *receives = &messages->receives[rank];
    enum sg_status status;

    if (end != NULL) {
        dequeue(receives, (struct receive *)end);
    } else {
        end = find_request(messages, rank, request, true);
        if (end == NULL)
            return SG_OK;
        if (!end->is_matched) {
            sg_channels_remove(&messages->channels,
                               SG_KEYED_FIND(messages->channels, &end->channel), end);
            sg_waitstate_take_off(messages->settling, end->channel.to,
                                  &((struct send *)end)->underway);
        }
    }
    status = drop(messages, end);
    return status == SG_OK ? advance(messages, receives, SG_WAITSTATE_HELD) : status;
}

/* ---- start and end --------------------------------------------------------------------------- */

enum sg_status sg_waitstate_messages_start(struct sg_waitstate_messages *messages,
                                           struct sg_waitstate_settling *settling, uint32_t ranks)
{
    *messages = (struct sg_waitstate_messages){.settling = settling, .rank_count = ranks};
    messages->receives = calloc((size_t)ranks + 1, sizeof *messages->receives);
    return messages->receives != NULL ? SG_OK : SG_ERR_MEMORY;
}

enum sg_status sg_waitstate_messages_finish(struct sg_waitstate_messages *messages)
{
    enum sg_status status = SG_OK;

    for (uint32_t rank = 0; rank < messages->rank_count && status == SG_OK; rank++)
        status = advance(messages, &messages->receives[rank], 0);
    while (messages->ends != NULL && status == SG_OK) {
        struct sg_waitstate_message_end *end = messages->ends;

        messages->unmatched_sends += end->is_send && !end->is_matched;
        messages->unmatched_receives += !end->is_send && end->completing != NULL;
        status = drop(messages, end);
    }
    return status;
}

void sg_waitstate_messages_clear(struct sg_waitstate_messages *messages)
{
    struct sg_channel *channel, *next;

    HASH_ITER(hh, messages->channels, channel, next)
    {
        HASH_DEL(messages->channels, channel);
        free(channel);
    }
    while (messages->ends != NULL)
        drop(messages, messages->ends);
    sg_map_clear(&messages->eager);
    free(messages->receives);
    messages->receives = NULL;
}
