/* Carries a message by its checked arguments. A small message is copied at its send, and the send
 * returns or its request is complete at once: programs in which every rank sends before it receives
 * depend on that.
 */
#include "bcs/live/sliced.h"

#include "bcs/live/messages.h"
#include "core/status.h"
#include "internode/request.h"
#include "mpi/operands.h"
#include "mpi/real.h"

#include <stdlib.h>
#include <string.h>

#define COPIED_BYTES 65536u                     /* largest message that is copied */
#define COPIES_BYTES ((size_t)64 * 1024 * 1024) /* of all copies of a rank */

atomic_bool sg_sliced_on;

/* A message with its bytes. A request's is allocated. */
struct sliced {
    struct sg_internode *internode;
    struct sg_carried_message message;
    struct sg_bytes bytes;
    int error; /* of a completed receive */
};

static int raise(const struct sg_comm *comm, int error)
{
    sg_real.Comm_call_errhandler(atomic_load_explicit(&comm->handle, memory_order_relaxed), error);
    return error;
}

static int wild(int rank_or_tag, int any)
{
    return rank_or_tag == any ? SG_ANY : rank_or_tag;
}

/* ---- statuses ---- */

static void tell(const struct sg_carried_message *message, MPI_Status *status)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    sg_real.Status_set_elements_x(status, MPI_BYTE, (MPI_Count)message->source_bytes);
    sg_real.Status_set_cancelled(status, 0);
    status->MPI_SOURCE = message->source;
    status->MPI_TAG = message->source_tag;
}

/* ---- sends ---- */

static bool is_to_copy(const struct sg_comm *comm, const struct sg_bytes *bytes,
                       bool is_synchronous)
{
    return !is_synchronous && !comm->is_rendezvous && bytes->size_bytes <= COPIED_BYTES &&
           sg_messages_detached_bytes(comm->internode) + (size_t)bytes->size_bytes <= COPIES_BYTES;
}

/* False: no memory. */
static bool post_copy(struct sg_internode *internode, const struct sg_bytes *bytes, int to, int tag)
{
    struct sg_carried_message *message = calloc(1, sizeof *message);

    if (message == NULL)
        return false;
    *message = (struct sg_carried_message){.kind = SG_POST_SEND,
                                           .peer = to,
                                           .tag = tag,
                                           .bytes = (uint32_t)bytes->size_bytes,
                                           .buffer = malloc((size_t)bytes->size_bytes + 1),
                                           .is_detached = true};
    if (message->buffer == NULL) {
        free(message);
        return false;
    }
    if (bytes->size_bytes > 0)
        memcpy(message->buffer, bytes->at, (size_t)bytes->size_bytes);
    sg_messages_post(internode, message);
    return true;
}

/* A send has less than 4 GiB; a receive uses that much of its buffer at most. */
static int begin(const struct sg_comm *comm, struct sliced *sliced,
                 const struct sg_sliced_side *side, enum sg_post_kind kind)
{
    MPI_Count bytes;
    int error =
        sg_bytes_begin(side->buffer, side->count, side->type, kind == SG_POST_SEND, &sliced->bytes);

    if (error != MPI_SUCCESS)
        return error;
    bytes = sliced->bytes.size_bytes;
    if (kind == SG_POST_SEND && bytes > UINT32_MAX) {
        sg_bytes_end(&sliced->bytes);
        return MPI_ERR_COUNT;
    }
    sliced->internode = comm->internode;
    sliced->message =
        (struct sg_carried_message){.kind = kind,
                                    .peer = wild(side->peer, MPI_ANY_SOURCE),
                                    .tag = wild(side->tag, MPI_ANY_TAG),
                                    .bytes = (uint32_t)(bytes < UINT32_MAX ? bytes : UINT32_MAX),
                                    .buffer = sliced->bytes.at};
    return MPI_SUCCESS;
}

/* The send is done at once if it could be copied. */
static void post_send(const struct sg_comm *comm, struct sliced *sliced, bool is_synchronous)
{
    if (is_to_copy(comm, &sliced->bytes, is_synchronous) &&
        post_copy(sliced->internode, &sliced->bytes, sliced->message.peer, sliced->message.tag))
        atomic_store(&sliced->message.done, true);
    else
        sg_messages_post(sliced->internode, &sliced->message);
}

static void end_send(struct sliced *sliced)
{
    sg_messages_wait(sliced->internode, &sliced->message);
    sg_bytes_end(&sliced->bytes);
}

int sg_sliced_send(const struct sg_comm *comm, const struct sg_sliced_side *side,
                   bool is_synchronous)
{
    struct sliced sliced;
    int error = begin(comm, &sliced, side, SG_POST_SEND);

    if (error != MPI_SUCCESS)
        return raise(comm, error);
    post_send(comm, &sliced, is_synchronous);
    end_send(&sliced);
    return MPI_SUCCESS;
}

/* ---- receives ---- */

static int put(struct sliced *sliced)
{
    int error = sg_bytes_put(&sliced->bytes, &sliced->message.source_bytes);

    return sliced->message.outcome == SG_OUTCOME_TRUNCATED ? MPI_ERR_TRUNCATE : error;
}

static int end_receive(struct sliced *sliced, MPI_Status *status)
{
    int error;

    sg_messages_wait(sliced->internode, &sliced->message);
    error = put(sliced);
    tell(&sliced->message, status);
    sg_bytes_end(&sliced->bytes);
    return error;
}

int sg_sliced_receive(const struct sg_comm *comm, const struct sg_sliced_side *side,
                      MPI_Status *status)
{
    struct sliced sliced;
    int error = begin(comm, &sliced, side, SG_POST_RECEIVE);

    if (error == MPI_SUCCESS) {
        sg_messages_post(sliced.internode, &sliced.message);
        error = end_receive(&sliced, status);
    }
    return error == MPI_SUCCESS ? MPI_SUCCESS : raise(comm, error);
}

/* ---- exchanges ---- */

int sg_sliced_exchange(const struct sg_comm *comm, const struct sg_sliced_side *sends,
                       const struct sg_sliced_side *receives, MPI_Status *status)
{
    struct sliced out, in;
    int error = MPI_SUCCESS;

    if (receives->takes_part)
        error = begin(comm, &in, receives, SG_POST_RECEIVE);
    if (error != MPI_SUCCESS)
        return raise(comm, error);
    if (sends->takes_part)
        error = begin(comm, &out, sends, SG_POST_SEND);
    if (error != MPI_SUCCESS) {
        if (receives->takes_part)
            sg_bytes_end(&in.bytes);
        return raise(comm, error);
    }
    if (receives->takes_part)
        sg_messages_post(in.internode, &in.message);
    if (sends->takes_part)
        post_send(comm, &out, false);
    if (receives->takes_part)
        error = end_receive(&in, status);
    if (sends->takes_part)
        end_send(&out);
    return error == MPI_SUCCESS ? MPI_SUCCESS : raise(comm, error);
}

int sg_sliced_replace(const struct sg_comm *comm, const struct sg_sliced_side *sends, int from,
                      int tag, bool comes, MPI_Status *status)
{
    struct sg_sliced_side copy = *sends, receives = *sends;
    struct sg_bytes bytes;
    int error = sg_bytes_begin(sends->buffer, sends->count, sends->type, true, &bytes);

    if (error != MPI_SUCCESS)
        return raise(comm, error);
    copy.buffer = malloc((size_t)bytes.size_bytes + 1);
    if (copy.buffer == NULL) {
        sg_bytes_end(&bytes);
        return raise(comm, MPI_ERR_NO_MEM);
    }
    if (bytes.size_bytes > 0)
        memcpy(copy.buffer, bytes.at, (size_t)bytes.size_bytes);
    copy.count = bytes.size_bytes;
    copy.type = MPI_BYTE;
    sg_bytes_end(&bytes);
    receives.peer = from;
    receives.tag = tag;
    receives.takes_part = comes;
    /* An error handler need not return: then the copy leaks, as MPICH's does. */
    error = sg_sliced_exchange(comm, &copy, &receives, status);
    free(copy.buffer);
    return error;
}

/* ---- requests ---- */

static __thread bool was_cut;

bool sg_sliced_take_cut(void)
{
    bool before = was_cut;

    was_cut = false;
    return before;
}

static bool is_done(const void *work)
{
    return sg_carried_is_done(&((const struct sliced *)work)->message);
}

static bool poll(void *work)
{
    struct sliced *sliced = work;

    return sg_messages_poll(sliced->internode, &sliced->message);
}

static void await(void *work)
{
    struct sliced *sliced = work;

    sg_messages_wait(sliced->internode, &sliced->message);
}

static void complete(void *work, struct sg_request_times *times)
{
    struct sliced *sliced = work;

    (void)times;
    if (sliced->message.kind == SG_POST_RECEIVE)
        sliced->error = put(sliced);
    sg_bytes_end(&sliced->bytes);
}

static int query(const void *work, MPI_Status *status)
{
    const struct sliced *sliced = work;

    if (sliced->message.kind == SG_POST_RECEIVE) {
        tell(&sliced->message, status);
        was_cut |= sliced->error == MPI_ERR_TRUNCATE;
        return sliced->error;
    }
    sg_real.Status_set_elements(status, MPI_BYTE, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static const struct sg_request_ops message_ops = {is_done, poll, await, complete, query, free};

/* begun: the result of begin. */
static int make_request(const struct sg_comm *comm, struct sliced *sliced, int begun,
                        MPI_Request *handle, struct sg_request **request)
{
    int error = begun;

    if (error == MPI_SUCCESS) {
        error = sg_request_make(&message_ops, sliced, handle, request);
        if (error == MPI_SUCCESS)
            return MPI_SUCCESS;
        sg_bytes_end(&sliced->bytes);
    }
    free(sliced);
    *handle = MPI_REQUEST_NULL;
    return raise(comm, error);
}

int sg_sliced_post(const struct sg_comm *comm, const struct sg_sliced_side *side, bool sends,
                   bool is_synchronous, MPI_Request *handle)
{
    struct sliced *sliced = calloc(1, sizeof *sliced);
    struct sg_request *request;
    int error;

    sg_request_reap();
    if (sliced == NULL)
        return raise(comm, MPI_ERR_NO_MEM);
    error = make_request(comm, sliced,
                         begin(comm, sliced, side, sends ? SG_POST_SEND : SG_POST_RECEIVE), handle,
                         &request);
    if (error != MPI_SUCCESS)
        return error;
    if (sends)
        post_send(comm, sliced, is_synchronous);
    else
        sg_messages_post(sliced->internode, &sliced->message);
    sg_request_begun(request);
    return MPI_SUCCESS;
}

/* ---- probes ---- */

void sg_sliced_probe(const struct sg_comm *comm, int from, int tag, MPI_Status *status)
{
    struct sg_carried_message message = {
        .kind = SG_POST_PROBE, .peer = wild(from, MPI_ANY_SOURCE), .tag = wild(tag, MPI_ANY_TAG)};

    sg_messages_post(comm->internode, &message);
    sg_messages_wait(comm->internode, &message);
    tell(&message, status);
}

bool sg_sliced_look(const struct sg_comm *comm, int from, int tag, MPI_Status *status)
{
    struct sg_carried_message message = {
        .kind = SG_POST_IPROBE, .peer = wild(from, MPI_ANY_SOURCE), .tag = wild(tag, MPI_ANY_TAG)};

    sg_messages_look(comm->internode, &message);
    if (message.outcome == SG_OUTCOME_NOTHING)
        return false;
    tell(&message, status);
    return true;
}

void sg_sliced_say_refused(const struct sg_comm *comm, const char *function)
{
    static atomic_bool is_said;

    if (!atomic_exchange(&is_said, true))
        sg_log(
            "%s on %s fails: p2p=bcs does not support it, and its caller was loaded after MPI_Init",
            function, comm->name[0] != '\0' ? comm->name : "a communicator");
}
