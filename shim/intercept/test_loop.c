/* Carries out blocking calls as nonblocking ones and a loop of tests (test_loop.h). Collectives
 * need the same decision on all ranks; messages and waits do not. Errors reach the handler that the
 * blocking call would have called.
 */
#include "intercept/test_loop.h"

#include "intercept/comm.h"
#include "internode/request.h"
#include "mpi/operands.h"
#include "wait/hook.h"
#include "wait/processors.h"

#include <stdlib.h>
#include <string.h>

struct sg_test_loop sg_test_loop;

static MPI_Request endless = MPI_REQUEST_NULL;

/* ---- start and stop ---- */

enum { NO_HOOK = 1, SHORT = 2, INDIRECT = 4 };

static int on_query(void *state, MPI_Status *status)
{
    return sg_real.Status_set_elements(status, MPI_BYTE, 0);
}

static int on_free(void *state)
{
    return MPI_SUCCESS;
}

static int on_cancel(void *state, int is_complete)
{
    return MPI_SUCCESS;
}

/* Combines the facts that hold on any rank. */
static enum sg_status unite(const struct sg_exchange *exchange, uint32_t *facts)
{
    enum sg_status status = sg_exchange_unite(exchange, facts, sizeof *facts);

    return status != SG_OK ? status : exchange->broadcast(exchange->context, facts, sizeof *facts);
}

enum sg_status sg_test_loop_start(const struct sg_exchange *exchange, bool (*are_direct)(void))
{
    uint32_t facts = 0;
    enum sg_status status;
    int level = MPI_THREAD_SINGLE;

    if (sg_turn_mode() == SG_WAIT_SPIN || sg_real_has_user_threads())
        return SG_OK;
    facts = (sg_hook_chosen() == NULL ? NO_HOOK : 0) | (sg_processors_are_short() ? SHORT : 0);
    status = unite(exchange, &facts);
    if (status != SG_OK || !(facts & NO_HOOK))
        return status;
    facts |= are_direct() ? 0 : INDIRECT;
    if (sg_hook_chosen() == NULL && !(facts & INDIRECT)) {
        sg_real.Grequest_start(on_query, on_free, on_cancel, NULL, &endless);
        atomic_store(&sg_test_loop.messages, true);
    }
    status = unite(exchange, &facts);
    if (status != SG_OK)
        return status;
    sg_real.Query_thread(&level);
    sg_test_loop.threads = level == MPI_THREAD_MULTIPLE;
    atomic_store(&sg_test_loop.collectives,
                 !(facts & INDIRECT) && (sg_turn_mode() != SG_WAIT_AUTO || (facts & SHORT)));
    return SG_OK;
}

void sg_test_loop_stop(void)
{
    MPI_Request request = endless;

    atomic_store(&sg_test_loop.messages, false);
    atomic_store(&sg_test_loop.collectives, false);
    endless = MPI_REQUEST_NULL;
    if (request == MPI_REQUEST_NULL)
        return;
    sg_real.Grequest_complete(request);
    sg_real.Wait(&request, MPI_STATUS_IGNORE);
}

/* Returns a request that never completes; MPI_REQUEST_NULL: there is none. */
static MPI_Request sg_test_loop_endless(void)
{
    return endless;
}

/* ---- communicators ---- */

static bool is_inside(int (*get_group)(MPI_Comm, MPI_Group *), MPI_Comm comm, MPI_Group world)
{
    enum { PIECE = 64 };
    int from[PIECE], to[PIECE], size = 0;
    bool inside = true;
    MPI_Group group;

    if (get_group(comm, &group) != MPI_SUCCESS)
        return false;
    sg_real.Group_size(group, &size);
    for (int first = 0; first < size && inside; first += PIECE) {
        int count = size - first < PIECE ? size - first : PIECE;

        for (int i = 0; i < count; i++)
            from[i] = first + i;
        sg_real.Group_translate_ranks(group, count, from, world, to);
        for (int i = 0; i < count; i++)
            inside = inside && to[i] != MPI_UNDEFINED;
    }
    sg_real.Group_free(&group);
    return inside;
}

/* The same on all ranks: processes of another MPI_COMM_WORLD decide for themselves. */
bool sg_test_loop_covers(MPI_Comm comm)
{
    const struct sg_comm *known;
    MPI_Group world;
    int is_inter = 0;
    bool covers;

    if (comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF)
        return true;
    if (comm == MPI_COMM_NULL)
        return false;
    known = sg_comm_find(comm);
    if (known != NULL && known->managed)
        return true;
    if (sg_real.Comm_test_inter(comm, &is_inter) != MPI_SUCCESS ||
        sg_real.Comm_group(MPI_COMM_WORLD, &world) != MPI_SUCCESS)
        return false;
    covers = is_inside(sg_real.Comm_group, comm, world) &&
             (!is_inter || is_inside(sg_real.Comm_remote_group, comm, world));
    sg_real.Group_free(&world);
    return covers;
}

bool sg_test_loop_begin_reduction(MPI_Comm comm, MPI_Datatype datatype, MPI_Op op)
{
    enum sg_reduction reduction;
    enum sg_element element;

    /* Integers and bits. */
    return atomic_load_explicit(&sg_test_loop.collectives, memory_order_relaxed) &&
           sg_type_of(datatype, &element) && element <= SG_ELEMENT_LOGICAL &&
           sg_reduction_of(op, &reduction) && sg_test_loop_begin_collective(comm);
}

/* ---- error handlers ----
 *
 * If a test finds an error, MPICH raises it on the request's communicator if the request knows it,
 * else on MPI_COMM_WORLD (requests of UCX and of collectives do not know it). If the two handlers
 * differ, both are set aside and the error is raised here. A communicator whose handler reads as
 * MPI_ERRORS_ARE_FATAL may have none of its own: then MPI_COMM_WORLD's is right.
 */

struct handlers {
    bool aside;
    MPI_Errhandler comm, world;
};

/* MPICH's handles of predefined objects have this mark; others have to be freed. */
static bool is_users(MPI_Errhandler handler)
{
    return (unsigned)handler >> 30 != 1;
}

static struct handlers look_at_handlers(MPI_Comm comm)
{
    struct handlers handlers = {false, MPI_ERRHANDLER_NULL, MPI_ERRHANDLER_NULL};

    if (comm == MPI_COMM_WORLD ||
        sg_real.Comm_get_errhandler(comm, &handlers.comm) != MPI_SUCCESS ||
        sg_real.Comm_get_errhandler(MPI_COMM_WORLD, &handlers.world) != MPI_SUCCESS)
        return handlers;
    handlers.aside = handlers.comm != MPI_ERRORS_ARE_FATAL &&
                     (handlers.comm != handlers.world || is_users(handlers.comm));
    return handlers;
}

static void release(struct handlers *handlers)
{
    if (handlers->comm != MPI_ERRHANDLER_NULL && is_users(handlers->comm))
        sg_real.Errhandler_free(&handlers->comm);
    if (handlers->world != MPI_ERRHANDLER_NULL && is_users(handlers->world))
        sg_real.Errhandler_free(&handlers->world);
}

/* True if errors during tests of the communicator's call reach its handler. If false, the caller
 * makes the blocking call. */
static bool sg_test_loop_raises_on(MPI_Comm comm)
{
    struct handlers handlers;

    if (!sg_test_loop.threads)
        return true;
    handlers = look_at_handlers(comm);
    release(&handlers);
    return !handlers.aside;
}

static int test_aside(const struct handlers *handlers, MPI_Request *request, MPI_Comm comm,
                      int *done, MPI_Status *status)
{
    int error;

    sg_real.Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    sg_real.Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    error = sg_real.Test(request, done, status);
    sg_real.Comm_set_errhandler(MPI_COMM_WORLD, handlers->world);
    sg_real.Comm_set_errhandler(comm, handlers->comm);
    return error;
}

/* ---- the loop ---- */

int sg_test_loop_complete(int error, MPI_Request *request, MPI_Comm comm, MPI_Status *status)
{
    struct handlers handlers;
    int done = 0;

    if (error != MPI_SUCCESS)
        return error;
    handlers = look_at_handlers(comm);
    /* With several threads, another thread's error would be lost while the handlers are aside. */
    handlers.aside = handlers.aside && !sg_test_loop.threads;
    for (;;) {
        error = handlers.aside ? test_aside(&handlers, request, comm, &done, status)
                               : sg_real.Test(request, &done, status);
        if (done || error != MPI_SUCCESS)
            break;
        sg_turn_idle();
    }
    release(&handlers);
    /* Last: the handler need not return. */
    if (error != MPI_SUCCESS && handlers.aside)
        sg_real.Comm_call_errhandler(comm, error);
    return error;
}

/* ---- messages ----
 *
 * A receive probes until the message is there and then calls MPICH's own function, so that it
 * matches, raises and returns what MPICH's does. Only a large message that fits is received by a
 * nonblocking call and tests, as its transfer needs the sender's help.
 */

/* Messages up to this size arrive whole. */
#define SMALL_BYTES 4096

/* Some MPICHs set MPI_ERROR in the status of MPI_Sendrecv_replace, others leave it. */
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

/* MPI_Mrecv raises its errors on MPI_COMM_WORLD, whatever the message's communicator.
 * MPI_Request_get_status does, too; MPI_Test does not always. */
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

/* Begins the call's nonblocking form, or another function, whose arguments are the first of the
 * call's and a request. */
static int begin_as(enum sg_function function, const sg_word *words, MPI_Request *request)
{
    sg_word begun[SG_ARGUMENTS_MAX];
    int last = sg_functions[function].words - 1;

    memcpy(begun, words, (size_t)last * sizeof *words);
    begun[last] = (sg_word)request;
    return sg_function_call(function, begun);
}

static int run_begun(enum sg_function function, const sg_word *words, MPI_Comm comm,
                     MPI_Status *status)
{
    MPI_Request request;
    int error = begin_as(sg_functions[function].begin, words, &request);

    return sg_test_loop_complete(error, &request, comm, status);
}

/* For MPI_Send, MPI_Ssend, MPI_Rsend. */
static int send(enum sg_function function, const sg_word *words)
{
    MPI_Comm comm = (MPI_Comm)words[5];

    return sg_test_loop_raises_on(comm) ? run_begun(function, words, comm, MPI_STATUS_IGNORE)
                                        : sg_function_call(function, words);
}

/* For MPI_Recv, or such a part of another function, after a check of the arguments. */
static int receive(enum sg_function function, const sg_word *words)
{
    MPI_Comm comm = (MPI_Comm)words[5];
    int from = (int)words[3];
    MPI_Status message;
    int error = from == MPI_PROC_NULL ? MPI_SUCCESS : await(from, (int)words[4], comm, &message);

    if (error != MPI_SUCCESS)
        return error;
    if (from == MPI_PROC_NULL ||
        !is_large(&message, sg_function_amount(function, words[1]), (MPI_Datatype)words[2]) ||
        !sg_test_loop_raises_on(comm))
        return sg_function_call(function, words);
    return run_begun(function, words, comm, (MPI_Status *)words[6]);
}

/* MPICH checks the other arguments first: the message may never come. */
static int check_and_receive(enum sg_function function, const sg_word *words)
{
    MPI_Status nothing;
    sg_word checked[] = {words[0], words[1], words[2],         MPI_PROC_NULL,
                         words[4], words[5], (sg_word)&nothing};
    int error = sg_function_call(function, checked);

    return error != MPI_SUCCESS ? error : receive(function, words);
}

static int receive_matched(enum sg_function function, const sg_word *words)
{
    MPI_Request request;
    int error = begin_as(sg_functions[function].begin, words, &request);

    return error != MPI_SUCCESS ? error : complete_matched(request, (MPI_Status *)words[4]);
}

/* sends: the words of MPI_Send; receives: those of MPI_Recv. */
static int exchange(bool is_wide, const sg_word *sends, const sg_word *receives)
{
    MPI_Comm comm = (MPI_Comm)receives[5];
    MPI_Request request;
    int there, received, error;

    error = sg_real.Iprobe((int)receives[3], (int)receives[4], comm, &there, MPI_STATUS_IGNORE);
    if (error != MPI_SUCCESS)
        return error;
    error = begin_as(is_wide ? SG_FUNCTION_Isend_c : SG_FUNCTION_Isend, sends, &request);
    if (error != MPI_SUCCESS)
        return error;
    received = receive(is_wide ? SG_FUNCTION_Recv_c : SG_FUNCTION_Recv, receives);
    error = sg_test_loop_complete(MPI_SUCCESS, &request, comm, MPI_STATUS_IGNORE);
    return received != MPI_SUCCESS ? received : error;
}

/* Argument errors are found before anything is sent. */
static int send_and_receive(enum sg_function function, const sg_word *words)
{
    const sg_word sends[] = {words[0], words[1], words[2], words[3], words[4], words[10]};
    bool raises = sg_test_loop_raises_on((MPI_Comm)words[10]);
    sg_word checked[12];
    MPI_Status nothing;
    int error;

    memcpy(checked, words, sizeof checked);
    if (raises) {
        checked[3] = checked[8] = MPI_PROC_NULL;
        checked[11] = (sg_word)&nothing;
    }
    error = sg_function_call(function, checked);
    if (error != MPI_SUCCESS || !raises)
        return error;
    return exchange(sg_functions[function].counts_wide, sends, &words[5]);
}

/* Copies the data of MPI_Sendrecv_replace to send. NULL: they cannot be copied. */
static void *pack(bool is_wide, const sg_word *words, MPI_Count *packed)
{
    void *buffer = (void *)words[0], *copy = NULL;
    MPI_Datatype type = (MPI_Datatype)words[2];
    MPI_Comm comm = (MPI_Comm)words[7];
    MPI_Count count = is_wide ? (MPI_Count)words[1] : (int)words[1], wide_room = 0;
    int room = 0, at = 0, error;

    *packed = 0;
    if (is_wide)
        error = sg_real.Pack_size_c(count, type, comm, &wide_room);
    else
        error = sg_real.Pack_size((int)count, type, comm, &room);
    if (error == MPI_SUCCESS)
        copy = malloc((size_t)(is_wide ? wide_room : room) + 1);
    if (copy == NULL || count <= 0)
        return copy;
    if (is_wide)
        error = sg_real.Pack_c(buffer, count, type, copy, wide_room, packed, comm);
    else
        error = sg_real.Pack(buffer, (int)count, type, copy, room, &at, comm);
    if (!is_wide)
        *packed = at;
    if (error == MPI_SUCCESS)
        return copy;
    free(copy);
    return NULL;
}

static int send_and_replace(enum sg_function function, const sg_word *words)
{
    bool is_wide = sg_functions[function].counts_wide;
    MPI_Status *out = (MPI_Status *)words[8], nothing = {.MPI_ERROR = UNTOUCHED};
    const sg_word checked[] = {words[0],      words[1], words[2], MPI_PROC_NULL,    words[4],
                               MPI_PROC_NULL, words[6], words[7], (sg_word)&nothing};
    const sg_word receives[] = {words[0], words[1], words[2], words[5],
                                words[6], words[7], words[8]};
    sg_word sends[6] = {0, 0, MPI_PACKED, words[3], words[4], words[7]};
    MPI_Count packed;
    void *copy = NULL;
    int error = sg_function_call(function, checked);

    if (error != MPI_SUCCESS)
        return error;
    if (sg_test_loop_raises_on((MPI_Comm)words[7]))
        copy = pack(is_wide, words, &packed);
    if (copy == NULL)
        return sg_function_call(function, words);
    sends[0] = (sg_word)copy;
    sends[1] = packed;
    error = exchange(is_wide, sends, receives);
    free(copy);
    if (out != MPI_STATUS_IGNORE && nothing.MPI_ERROR != UNTOUCHED)
        out->MPI_ERROR = error;
    return error;
}

static int probe_matched(int from, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    int there = 0, error;

    for (;;) {
        error = sg_real.Improbe(from, tag, comm, &there, message, status);
        if (there || error != MPI_SUCCESS)
            return error;
        sg_turn_idle();
    }
}

/* ---- waits ----
 *
 * MPI_Test, MPI_Testany and MPI_Testsome complete, fill statuses and raise errors as MPI_Wait,
 * MPI_Waitany and MPI_Waitsome do. MPI_Testall differs from MPI_Waitall, which goes through its
 * requests in order, up to the first with an error. So Waitall calls Testsome with one request at a
 * time.
 */

int sg_test_loop_wait(sg_word request, sg_word status)
{
    int done = 0, error;

    for (;;) {
        error = sg_real.Test((MPI_Request *)request, &done, (MPI_Status *)status);
        if (done || error != MPI_SUCCESS)
            return error;
        sg_turn_idle();
    }
}

static int wait_any(int count, MPI_Request *requests, int *index, MPI_Status *status)
{
    int done = 0, error;

    for (;;) {
        error = sg_real.Testany(count, requests, index, &done, status);
        if (done || error != MPI_SUCCESS)
            return error;
        sg_turn_idle();
    }
}

static int wait_some(int count, MPI_Request *requests, int *done, int *indices,
                     MPI_Status *statuses)
{
    int error;

    for (;;) {
        error = sg_real.Testsome(count, requests, done, indices, statuses);
        if (error != MPI_SUCCESS || *done != 0 || count == 0)
            return error;
        sg_turn_idle();
    }
}

/* ---- MPI_Waitall ---- */

struct all {
    int count, next; /* the first that is not complete */
    MPI_Request *requests;
    MPI_Status *statuses;
    int turn;
};

static MPI_Status *status_of(const struct all *all, int i)
{
    return all->statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &all->statuses[i];
}

static void set_error(const struct all *all, int i, int error)
{
    if (all->statuses != MPI_STATUSES_IGNORE)
        all->statuses[i].MPI_ERROR = error;
}

/* MPICH progresses generalized requests only when they are tested, and other ranks may wait for
 * that before they send what the first request waits for. So the requests after it are tested in
 * rotation. The endless request beside each keeps the test from completing any, except one that has
 * failed if MPICH checks for that. */
static int poll_another(struct all *all)
{
    int others = all->count - all->next - 1, done, error;
    MPI_Request pair[2] = {MPI_REQUEST_NULL, sg_test_loop_endless()};
    MPI_Status statuses[2];
    int i;

    if (others == 0 || pair[1] == MPI_REQUEST_NULL)
        return MPI_SUCCESS;
    i = all->next + 1 + all->turn++ % others;
    pair[0] = all->requests[i];
    if (pair[0] == MPI_REQUEST_NULL)
        return MPI_SUCCESS;
    error = sg_real.Testall(2, pair, &done, statuses);
    if (error == MPI_SUCCESS)
        return error;
    all->requests[i] = pair[0];
    for (int other = all->next; other < all->count; other++)
        set_error(all, other, MPI_ERR_PENDING);
    if (all->statuses != MPI_STATUSES_IGNORE)
        all->statuses[i] = statuses[0];
    return error;
}

/* Completes one request that MPI_Testsome reports as inactive: MPI_Test gives its status. */
static int complete_inactive(struct all *all)
{
    bool is_null = all->requests[all->next] == MPI_REQUEST_NULL;
    int done;
    int error = sg_real.Test(&all->requests[all->next], &done, status_of(all, all->next));

    if (error == MPI_SUCCESS && !is_null)
        set_error(all, all->next, MPI_SUCCESS);
    return error;
}

static void leave_others(struct all *all)
{
    for (int i = all->next + 1; i < all->count; i++)
        set_error(all, i, all->requests[i] == MPI_REQUEST_NULL ? MPI_SUCCESS : MPI_ERR_PENDING);
}

static int complete_next(struct all *all)
{
    int done = 0, index, error;

    if (all->requests[all->next] == MPI_REQUEST_NULL)
        return complete_inactive(all);
    for (;;) {
        error = sg_real.Testsome(1, &all->requests[all->next], &done, &index,
                                 all->statuses == MPI_STATUSES_IGNORE ? MPI_STATUSES_IGNORE
                                                                      : &all->statuses[all->next]);
        if (error != MPI_SUCCESS) {
            leave_others(all);
            return error;
        }
        if (done == MPI_UNDEFINED)
            return complete_inactive(all);
        if (done != 0)
            break;
        error = poll_another(all);
        if (error != MPI_SUCCESS)
            return error;
        sg_turn_idle();
    }
    set_error(all, all->next, MPI_SUCCESS);
    return MPI_SUCCESS;
}

static int wait_all(int count, MPI_Request *requests, MPI_Status *statuses)
{
    struct all all = {.count = count, .requests = requests, .statuses = statuses};
    int error = MPI_SUCCESS;

    if (all.count <= 0 || requests == NULL)
        return sg_real.Waitall(all.count, all.requests, all.statuses);
    for (int i = 0; i < all.count; i++)
        sg_request_wait(all.requests[i]);
    for (; all.next < all.count && error == MPI_SUCCESS; all.next++)
        error = complete_next(&all);
    return error;
}

/* ---- all functions ---- */

int sg_test_loop_run(enum sg_function function, const sg_word *words)
{
    switch (function) {
    case SG_FUNCTION_Send:
    case SG_FUNCTION_Send_c:
    case SG_FUNCTION_Ssend:
    case SG_FUNCTION_Ssend_c:
    case SG_FUNCTION_Rsend:
    case SG_FUNCTION_Rsend_c:
        return send(function, words);
    case SG_FUNCTION_Recv:
    case SG_FUNCTION_Recv_c:
        return check_and_receive(function, words);
    case SG_FUNCTION_Mrecv:
    case SG_FUNCTION_Mrecv_c:
        return receive_matched(function, words);
    case SG_FUNCTION_Sendrecv:
    case SG_FUNCTION_Sendrecv_c:
        return send_and_receive(function, words);
    case SG_FUNCTION_Sendrecv_replace:
    case SG_FUNCTION_Sendrecv_replace_c:
        return send_and_replace(function, words);
    case SG_FUNCTION_Probe:
        return await((int)words[0], (int)words[1], (MPI_Comm)words[2], (MPI_Status *)words[3]);
    case SG_FUNCTION_Mprobe:
        return probe_matched((int)words[0], (int)words[1], (MPI_Comm)words[2],
                             (MPI_Message *)words[3], (MPI_Status *)words[4]);
    case SG_FUNCTION_Waitall:
        return wait_all((int)words[0], (MPI_Request *)words[1], (MPI_Status *)words[2]);
    case SG_FUNCTION_Waitany:
        return wait_any((int)words[0], (MPI_Request *)words[1], (int *)words[2],
                        (MPI_Status *)words[3]);
    case SG_FUNCTION_Waitsome:
        return wait_some((int)words[0], (MPI_Request *)words[1], (int *)words[2], (int *)words[3],
                         (MPI_Status *)words[4]);
    default: /* a collective, by its nonblocking form */
        return run_begun(function, words, (MPI_Comm)words[sg_functions[function].words - 1],
                         MPI_STATUS_IGNORE);
    }
}
