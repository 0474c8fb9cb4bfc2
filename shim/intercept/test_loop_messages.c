/* Messages. A receive waits until the message is there, by probes, and is then MPICH's own: so it
 * finds, raises and returns what MPICH's does. Only a large message that fits, which takes its
 * sender's help to come over, is received by a nonblocking call and tests.
 */
#include "intercept/test_loop_messages.h"

#include "intercept/test_loop.h"

#include <stdlib.h>

/* Messages up to this size come over at once. */
#define SMALL_BYTES 4096

/* Some MPICHs set MPI_ERROR in the status of MPI_Sendrecv_replace, others leave it alone. */
#define UNTOUCHED (-1)

/* Waits until a message is there. */
static int await(int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    int there = 0, error;

    for (;;) {
        error = sg_real.Iprobe(from, tag, comm, &there, status);
        if (there || error != MPI_SUCCESS)
            return error;
        sg_turn_idle();
    }
}

static bool is_large(const MPI_Status *message, MPI_Count count, MPI_Datatype type)
{
    MPI_Count size = 0, bytes = 0;

    return sg_real.Get_elements_x(message, MPI_BYTE, &bytes) == MPI_SUCCESS &&
           bytes > SMALL_BYTES && sg_real.Type_size_x(type, &size) == MPI_SUCCESS && size > 0 &&
           bytes / size <= count && (bytes / size < count || bytes % size == 0);
}

/* MPI_Mrecv raises its errors on MPI_COMM_WORLD, whatever the message's communicator; so does
 * MPI_Request_get_status, and MPI_Test does not always. */
static int complete_matched(MPI_Request request, MPI_Status *status)
{
    int done = 0, error;

    for (;;) {
        error = sg_real.Request_get_status(request, &done, status);
        if (done || error != MPI_SUCCESS)
            break;
        sg_turn_idle();
    }
    if (error == MPI_SUCCESS)
        return sg_real.Wait(&request, status);
    sg_real.Request_free(&request);
    return error;
}

/* Of messages of any length: the type of a count; the suffix of its functions; that of MPI_Pack's
 * sizes. */
#define RECEIVE(length, c)                                                                         \
    static int receive##c(void *into, length count, MPI_Datatype type, int from, int tag,          \
                          MPI_Comm comm, MPI_Status *status)                                       \
    {                                                                                              \
        MPI_Request request;                                                                       \
        MPI_Status message;                                                                        \
        int error = from == MPI_PROC_NULL ? MPI_SUCCESS : await(from, tag, comm, &message);        \
                                                                                                   \
        if (error != MPI_SUCCESS)                                                                  \
            return error;                                                                          \
        if (from == MPI_PROC_NULL || !is_large(&message, count, type) ||                           \
            !sg_test_loop_raises_on(comm))                                                         \
            return sg_real.Recv##c(into, count, type, from, tag, comm, status);                    \
        error = sg_real.Irecv##c(into, count, type, from, tag, comm, &request);                    \
        return sg_test_loop_complete(error, &request, comm, status);                               \
    }                                                                                              \
    /* MPICH's own checks of the other arguments come first: the message may never come. */        \
    int sg_loop_Recv##c(SG_LOOP_ENVELOPE, sg_word from, sg_word tag, sg_word comm, sg_word status) \
    {                                                                                              \
        MPI_Status nothing;                                                                        \
        int error = sg_real.Recv##c((void *)buffer, (length)count, (MPI_Datatype)type,             \
                                    MPI_PROC_NULL, (int)tag, (MPI_Comm)comm, &nothing);            \
                                                                                                   \
        if (error != MPI_SUCCESS)                                                                  \
            return error;                                                                          \
        return receive##c((void *)buffer, (length)count, (MPI_Datatype)type, (int)from, (int)tag,  \
                          (MPI_Comm)comm, (MPI_Status *)status);                                   \
    }                                                                                              \
    int sg_loop_Mrecv##c(SG_LOOP_ENVELOPE, sg_word message, sg_word status)                        \
    {                                                                                              \
        MPI_Request request;                                                                       \
        int error = sg_real.Imrecv##c((void *)buffer, (length)count, (MPI_Datatype)type,           \
                                      (MPI_Message *)message, &request);                           \
                                                                                                   \
        return error != MPI_SUCCESS ? error : complete_matched(request, (MPI_Status *)status);     \
    }

#define SEND(name, begin, length)                                                                  \
    int sg_loop_##name(SG_LOOP_ENVELOPE, sg_word to, sg_word tag, sg_word comm)                    \
    {                                                                                              \
        MPI_Request request;                                                                       \
        int error;                                                                                 \
                                                                                                   \
        if (!sg_test_loop_raises_on((MPI_Comm)comm))                                               \
            return sg_real.name((void *)buffer, (length)count, (MPI_Datatype)type, (int)to,        \
                                (int)tag, (MPI_Comm)comm);                                         \
        error = sg_real.begin((void *)buffer, (length)count, (MPI_Datatype)type, (int)to,          \
                              (int)tag, (MPI_Comm)comm, &request);                                 \
        return sg_test_loop_complete(error, &request, (MPI_Comm)comm, MPI_STATUS_IGNORE);          \
    }

/* Both ways. What can be wrong with the arguments is found before anything is sent. */
#define EXCHANGE(length, size, c)                                                                  \
    static int exchange##c(void *send, length count, MPI_Datatype type, int to, int send_tag,      \
                           void *into, length into_count, MPI_Datatype into_type, int from,        \
                           int tag, MPI_Comm comm, MPI_Status *status)                             \
    {                                                                                              \
        MPI_Request request;                                                                       \
        int there, received, error;                                                                \
                                                                                                   \
        error = sg_real.Iprobe(from, tag, comm, &there, MPI_STATUS_IGNORE);                        \
        if (error != MPI_SUCCESS)                                                                  \
            return error;                                                                          \
        error = sg_real.Isend##c(send, count, type, to, send_tag, comm, &request);                 \
        if (error != MPI_SUCCESS)                                                                  \
            return error;                                                                          \
        received = receive##c(into, into_count, into_type, from, tag, comm, status);               \
        error = sg_test_loop_complete(MPI_SUCCESS, &request, comm, MPI_STATUS_IGNORE);             \
        return received != MPI_SUCCESS ? received : error;                                         \
    }                                                                                              \
    int sg_loop_Sendrecv##c(SG_LOOP_ENVELOPE, sg_word to, sg_word send_tag, sg_word into,          \
                            sg_word into_count, sg_word into_type, sg_word from, sg_word tag,      \
                            sg_word comm, sg_word status)                                          \
    {                                                                                              \
        bool raises = sg_test_loop_raises_on((MPI_Comm)comm);                                      \
        MPI_Status nothing;                                                                        \
        int error = sg_real.Sendrecv##c((void *)buffer, (length)count, (MPI_Datatype)type,         \
                                        raises ? MPI_PROC_NULL : (int)to, (int)send_tag,           \
                                        (void *)into, (length)into_count, (MPI_Datatype)into_type, \
                                        raises ? MPI_PROC_NULL : (int)from, (int)tag,              \
                                        (MPI_Comm)comm, raises ? &nothing : (MPI_Status *)status); \
                                                                                                   \
        if (error != MPI_SUCCESS || !raises)                                                       \
            return error;                                                                          \
        return exchange##c((void *)buffer, (length)count, (MPI_Datatype)type, (int)to,             \
                           (int)send_tag, (void *)into, (length)into_count,                        \
                           (MPI_Datatype)into_type, (int)from, (int)tag, (MPI_Comm)comm,           \
                           (MPI_Status *)status);                                                  \
    }                                                                                              \
    /* What is sent is copied out of the way; NULL: it cannot be. */                               \
    static void *pack##c(void *buffer, length count, MPI_Datatype type, MPI_Comm comm,             \
                         size *packed)                                                             \
    {                                                                                              \
        size room = 0;                                                                             \
        void *copy = NULL;                                                                         \
                                                                                                   \
        *packed = 0;                                                                               \
        if (sg_real.Pack_size##c(count, type, comm, &room) == MPI_SUCCESS)                         \
            copy = malloc((size_t)room + 1);                                                       \
        if (copy != NULL && count > 0 &&                                                           \
            sg_real.Pack##c(buffer, count, type, copy, room, packed, comm) != MPI_SUCCESS) {       \
            free(copy);                                                                            \
            copy = NULL;                                                                           \
        }                                                                                          \
        return copy;                                                                               \
    }                                                                                              \
    int sg_loop_Sendrecv_replace##c(SG_LOOP_ENVELOPE, sg_word to, sg_word send_tag, sg_word from,  \
                                    sg_word tag, sg_word comm, sg_word status)                     \
    {                                                                                              \
        MPI_Status *out = (MPI_Status *)status, nothing = {.MPI_ERROR = UNTOUCHED};                \
        void *copy = NULL;                                                                         \
        size packed;                                                                               \
        int error = sg_real.Sendrecv_replace##c((void *)buffer, (length)count, (MPI_Datatype)type, \
                                                MPI_PROC_NULL, (int)send_tag, MPI_PROC_NULL,       \
                                                (int)tag, (MPI_Comm)comm, &nothing);               \
                                                                                                   \
        if (error != MPI_SUCCESS)                                                                  \
            return error;                                                                          \
        if (sg_test_loop_raises_on((MPI_Comm)comm))                                                \
            copy = pack##c((void *)buffer, (length)count, (MPI_Datatype)type, (MPI_Comm)comm,      \
                           &packed);                                                               \
        if (copy == NULL)                                                                          \
            return sg_real.Sendrecv_replace##c((void *)buffer, (length)count, (MPI_Datatype)type,  \
                                               (int)to, (int)send_tag, (int)from, (int)tag,        \
                                               (MPI_Comm)comm, out);                               \
        error = exchange##c(copy, packed, MPI_PACKED, (int)to, (int)send_tag, (void *)buffer,      \
                            (length)count, (MPI_Datatype)type, (int)from, (int)tag,                \
                            (MPI_Comm)comm, out);                                                  \
        free(copy);                                                                                \
        if (out != MPI_STATUS_IGNORE && nothing.MPI_ERROR != UNTOUCHED)                            \
            out->MPI_ERROR = error;                                                                \
        return error;                                                                              \
    }

RECEIVE(int, )
RECEIVE(MPI_Count, _c)
SEND(Send, Isend, int)
SEND(Send_c, Isend_c, MPI_Count)
SEND(Ssend, Issend, int)
SEND(Ssend_c, Issend_c, MPI_Count)
SEND(Rsend, Irsend, int)
SEND(Rsend_c, Irsend_c, MPI_Count)
EXCHANGE(int, int, )
EXCHANGE(MPI_Count, MPI_Count, _c)

int sg_loop_Probe(sg_word from, sg_word tag, sg_word comm, sg_word status)
{
    return await((int)from, (int)tag, (MPI_Comm)comm, (MPI_Status *)status);
}

int sg_loop_Mprobe(sg_word from, sg_word tag, sg_word comm, sg_word message, sg_word status)
{
    int there = 0, error;

    for (;;) {
        error = sg_real.Improbe((int)from, (int)tag, (MPI_Comm)comm, &there, (MPI_Message *)message,
                                (MPI_Status *)status);
        if (there || error != MPI_SUCCESS)
            return error;
        sg_turn_idle();
    }
}
