/* Every blocking call there is, with data that is the same in every run: for each a line with
 * the rank, the call, its error class and a digest of what it gave, so that two runs can be
 * compared.
 *
 *     all_calls NAME [threads]
 *
 * The lines of rank N are in the file NAME.N. The directory for MPI's files is TMPDIR's.
 * Statuses begin with a mark in MPI_ERROR, which shows where a call has touched it.
 */
#include "mpi_test.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MARK = 4711, COUNT = 37, LARGE = 60000, RANKS_MAX = 128 };

static int rank, size;
static FILE *out;
static MPI_Status *volatile ignored = MPI_STATUSES_IGNORE; /* a compiler warns of its address */

static uint64_t digest(const void *data, size_t bytes)
{
    const unsigned char *at = data;
    uint64_t hash = UINT64_C(14695981039346656037);

    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ at[i]) * UINT64_C(1099511628211);
    return hash;
}

static int class_of(int error)
{
    int class;

    MPI_Error_class(error, &class);
    return class;
}

static void tell(const char *call, int error, const void *data, size_t bytes)
{
    fprintf(out, "%d %s: class %d, %016llx\n", rank, call, class_of(error),
            (unsigned long long)digest(data, bytes));
}

static MPI_Status marked(void)
{
    MPI_Status status;

    memset(&status, 0x55, sizeof status);
    status.MPI_ERROR = MARK;
    return status;
}

static void tell_status(const char *call, const MPI_Status *status, MPI_Datatype type)
{
    int count = -7, cancelled = -7;

    MPI_Get_count(status, type, &count);
    MPI_Test_cancelled(status, &cancelled);
    fprintf(out, "%d %s: source %d, tag %d, count %d, cancelled %d, error %d\n", rank, call,
            status->MPI_SOURCE, status->MPI_TAG, count, cancelled,
            status->MPI_ERROR == MARK ? MARK : class_of(status->MPI_ERROR));
}

/* Data of a rank for another one and a call. */
static void fill(int *data, int count, int from, int call)
{
    for (int i = 0; i < count; i++)
        data[i] = from * 1000003 + call * 7919 + i * 31;
}

/* ---- messages ---- */

typedef int (*sender)(const void *, int, MPI_Datatype, int, int, MPI_Comm);

static void send_ring(const char *name, sender send, int count, int tag, MPI_Comm comm)
{
    int *data = calloc((size_t)count + 1, sizeof *data);
    int right = (rank + 1) % size, left = (rank + size - 1) % size, error = MPI_SUCCESS;
    MPI_Status status = marked();

    /* Rank 0 receives first, so that each of the others waits for one that sends. */
    if (rank != 0) {
        fill(data, count, rank, tag);
        error = send(data, count, MPI_INT, right, tag, comm);
    }
    MUST(MPI_Recv(data, count + 1, MPI_INT, tag % 2 ? MPI_ANY_SOURCE : left,
                  tag % 3 ? MPI_ANY_TAG : tag, comm, &status));
    tell(name, error, data, (size_t)count * sizeof *data);
    tell_status(name, &status, MPI_INT);
    if (rank == 0) {
        fill(data, count, rank, tag);
        MUST(send(data, count, MPI_INT, right, tag, comm));
    }
    MPI_Barrier(comm);
    free(data);
}

/* A ready send's receive is there. */
static int ready_send(const void *data, int count, MPI_Datatype type, int to, int tag,
                      MPI_Comm comm)
{
    return MPI_Rsend(data, count, type, to, tag, comm);
}

static void try_ready(MPI_Comm comm)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    int from[COUNT], into[COUNT];
    MPI_Request request;
    MPI_Status status = marked();

    fill(from, COUNT, rank, 90);
    MUST(MPI_Irecv(into, COUNT, MPI_INT, left, 90, comm, &request));
    MPI_Barrier(comm);
    tell("rsend", ready_send(from, COUNT, MPI_INT, right, 90, comm), from, sizeof from);
    tell("rsend, wait", MPI_Wait(&request, &status), into, sizeof into);
    tell_status("rsend, wait", &status, MPI_INT);
}

static void try_buffered(MPI_Comm comm)
{
    int right = (rank + 1) % size, bytes = COUNT * (int)sizeof(int) + MPI_BSEND_OVERHEAD;
    int from[COUNT], into[COUNT];
    void *room = malloc((size_t)bytes), *back;

    fill(from, COUNT, rank, 91);
    MPI_Buffer_attach(room, bytes);
    tell("bsend", MPI_Bsend(from, COUNT, MPI_INT, right, 91, comm), from, sizeof from);
    MUST(MPI_Recv(into, COUNT, MPI_INT, MPI_ANY_SOURCE, 91, comm, MPI_STATUS_IGNORE));
    tell("bsend, recv", MPI_SUCCESS, into, sizeof into);
    tell("buffer_detach", MPI_Buffer_detach(&back, &bytes), &bytes, sizeof bytes);
    free(room);
}

static void try_sendrecv(int count, int tag, MPI_Comm comm)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    int *from = calloc((size_t)count, sizeof *from), *into = calloc((size_t)count, sizeof *into);
    MPI_Status status = marked();
    MPI_Datatype pairs;

    fill(from, count, rank, tag);
    tell("sendrecv",
         MPI_Sendrecv(from, count, MPI_INT, right, tag, into, count, MPI_INT, left, tag, comm,
                      &status),
         into, (size_t)count * sizeof *into);
    tell_status("sendrecv", &status, MPI_INT);
    status = marked();
    tell("sendrecv_replace",
         MPI_Sendrecv_replace(into, count, MPI_INT, right, tag, MPI_ANY_SOURCE, MPI_ANY_TAG, comm,
                              &status),
         into, (size_t)count * sizeof *into);
    tell_status("sendrecv_replace", &status, MPI_INT);
    MPI_Barrier(comm); /* what comes the other way is not for any source */
    MPI_Type_vector(count / 4, 2, 4, MPI_INT, &pairs);
    MPI_Type_commit(&pairs);
    tell("sendrecv_replace of a vector",
         MPI_Sendrecv_replace(into, 1, pairs, left, tag, right, tag, comm, MPI_STATUS_IGNORE), into,
         (size_t)count * sizeof *into);
    MPI_Type_free(&pairs);
    MPI_Barrier(comm);
    status = marked();
    tell("sendrecv with nobody",
         MPI_Sendrecv(from, count, MPI_INT, MPI_PROC_NULL, tag, into, count, MPI_INT, MPI_PROC_NULL,
                      tag, comm, &status),
         into, (size_t)count * sizeof *into);
    tell_status("sendrecv with nobody", &status, MPI_INT);
    status = marked();
    tell("sendrecv_replace with nobody",
         MPI_Sendrecv_replace(into, count, MPI_INT, MPI_PROC_NULL, tag, MPI_PROC_NULL, tag, comm,
                              &status),
         into, (size_t)count * sizeof *into);
    tell_status("sendrecv_replace with nobody", &status, MPI_INT);
    free(from);
    free(into);
}

static void try_probes(int count, MPI_Comm comm)
{
    int right = (rank + 1) % size;
    int *from = calloc((size_t)count, sizeof *from), *into = calloc((size_t)count, sizeof *into);
    MPI_Request requests[2];
    MPI_Status status = marked();
    MPI_Message message;

    fill(from, count, rank, 95);
    MPI_Isend(from, count, MPI_INT, right, 95, comm, &requests[0]);
    MPI_Isend(from, count / 2, MPI_INT, right, 96, comm, &requests[1]);
    tell("probe", MPI_Probe(MPI_ANY_SOURCE, 96, comm, &status), NULL, 0);
    tell_status("probe", &status, MPI_INT);
    status = marked();
    tell("mprobe", MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &message, &status), NULL, 0);
    tell_status("mprobe", &status, MPI_INT);
    status = marked();
    tell("mrecv", MPI_Mrecv(into, count, MPI_INT, &message, &status), into,
         (size_t)count * sizeof *into);
    tell_status("mrecv", &status, MPI_INT);
    fprintf(out, "%d mrecv: message %s\n", rank, message == MPI_MESSAGE_NULL ? "null" : "left");
    MUST(MPI_Recv(into, count, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE));
    MUST(MPI_Waitall(2, requests, ignored));
    status = marked();
    tell("mprobe of nobody", MPI_Mprobe(MPI_PROC_NULL, 1, comm, &message, &status), NULL, 0);
    tell("mrecv of nobody", MPI_Mrecv(into, count, MPI_INT, &message, &status), NULL, 0);
    tell_status("mrecv of nobody", &status, MPI_INT);
    status = marked();
    tell("probe of nobody", MPI_Probe(MPI_PROC_NULL, 1, comm, &status), NULL, 0);
    tell_status("probe of nobody", &status, MPI_INT);
    status = marked();
    tell("recv of nobody", MPI_Recv(into, 1, MPI_INT, MPI_PROC_NULL, 1, comm, &status), NULL, 0);
    tell_status("recv of nobody", &status, MPI_INT);
    tell("send to nobody", MPI_Send(from, 1, MPI_INT, MPI_PROC_NULL, 1, comm), NULL, 0);
    free(from);
    free(into);
}

/* Messages of one sender overtake none of their own. */
static void try_order(MPI_Comm comm)
{
    enum { MESSAGES = 60 };
    int right = (rank + 1) % size, into[MESSAGES], large[8000];
    MPI_Request requests[MESSAGES];
    MPI_Status status;

    memset(large, 0, sizeof large);
    for (int i = 0; i < MESSAGES; i++) {
        large[0] = i * size + rank;
        MUST(MPI_Isend(&large, 1, MPI_INT, right, i % 3, comm, &requests[i]));
        MUST(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
    }
    for (int i = 0; i < MESSAGES; i += 2) {
        MUST(MPI_Irecv(&into[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &requests[i]));
        MUST(MPI_Recv(&into[i + 1], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status));
        MUST(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
    }
    tell("order", MPI_SUCCESS, into, sizeof into);
}

static void try_large_counts(MPI_Comm comm)
{
#if MPI_VERSION >= 4
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    int from[COUNT], into[COUNT];
    MPI_Request request;
    MPI_Message message;
    MPI_Status status = marked();

    fill(from, COUNT, rank, 99);
    if (rank == 0) {
        MUST(MPI_Send_c(from, COUNT, MPI_INT, right, 99, comm));
        MUST(MPI_Recv_c(into, COUNT, MPI_INT, left, 99, comm, &status));
    } else {
        MUST(MPI_Recv_c(into, COUNT, MPI_INT, left, 99, comm, &status));
        MUST(MPI_Ssend_c(from, COUNT, MPI_INT, right, 99, comm));
    }
    tell("recv_c", MPI_SUCCESS, into, sizeof into);
    tell_status("recv_c", &status, MPI_INT);
    tell("sendrecv_c",
         MPI_Sendrecv_c(from, COUNT, MPI_INT, left, 98, into, COUNT, MPI_INT, right, 98, comm,
                        &status),
         into, sizeof into);
    tell("sendrecv_replace_c",
         MPI_Sendrecv_replace_c(from, COUNT, MPI_INT, left, 97, right, 97, comm, &status), from,
         sizeof from);
    MUST(MPI_Isend(from, COUNT, MPI_INT, right, 96, comm, &request));
    MUST(MPI_Mprobe(left, 96, comm, &message, &status));
    tell("mrecv_c", MPI_Mrecv_c(into, COUNT, MPI_INT, &message, &status), into, sizeof into);
    MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    tell("bcast_c", MPI_Bcast_c(into, COUNT, MPI_INT, size - 1, comm), into, sizeof into);
    tell("reduce_c", MPI_Reduce_c(from, into, COUNT, MPI_INT, MPI_SUM, 0, comm), into, sizeof into);
    tell("allreduce_c", MPI_Allreduce_c(from, into, COUNT, MPI_INT, MPI_MAX, comm), into,
         sizeof into);
    tell("scan_c", MPI_Scan_c(from, into, COUNT, MPI_INT, MPI_SUM, comm), into, sizeof into);
#endif
}

/* ---- waits ---- */

/* Waits for four receives, the third of no data at all; between them a null request. */
static void begin_four(int into[4][COUNT], MPI_Request requests[5], MPI_Request sends[4],
                       int from[COUNT], MPI_Comm comm)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;

    for (int i = 0; i < 4; i++)
        MPI_Irecv(into[i], COUNT, MPI_INT, i == 1 ? MPI_ANY_SOURCE : left, 70 + i, comm,
                  &requests[i < 2 ? i : i + 1]);
    requests[2] = MPI_REQUEST_NULL;
    for (int i = 3; i >= 0; i--)
        MPI_Isend(from, i == 2 ? 0 : COUNT - i, MPI_INT, right, 70 + i, comm, &sends[i]);
}

static void try_waits(MPI_Comm comm)
{
    int into[4][COUNT], from[COUNT], index = -5, done = -5, indices[5], seen[5] = {0};
    MPI_Request requests[5], sends[4];
    MPI_Status statuses[5], status;

    fill(from, COUNT, rank, 70);
    memset(into, 0, sizeof into);
    begin_four(into, requests, sends, from, comm);
    for (int i = 0; i < 5; i++)
        statuses[i] = marked();
    tell("waitall", MPI_Waitall(5, requests, statuses), into, sizeof into);
    for (int i = 0; i < 5; i++)
        tell_status("waitall", &statuses[i], MPI_INT);
    MUST(MPI_Waitall(4, sends, statuses));

    memset(into, 0, sizeof into);
    begin_four(into, requests, sends, from, comm);
    MUST(MPI_Waitall(5, requests, ignored));
    tell("waitall, ignoring", MPI_SUCCESS, into, sizeof into);
    MUST(MPI_Waitall(4, sends, ignored));

    memset(into, 0, sizeof into);
    begin_four(into, requests, sends, from, comm);
    for (int i = 0; i < 4; i++) {
        status = marked();
        MUST(MPI_Waitany(5, requests, &index, &status));
        seen[index]++;
        statuses[index] = status;
    }
    tell("waitany", MPI_SUCCESS, into, sizeof into);
    tell("waitany, which", MPI_SUCCESS, seen, sizeof seen);
    for (int i = 0; i < 5; i++) {
        if (i != 2)
            tell_status("waitany", &statuses[i], MPI_INT);
    }
    status = marked();
    MUST(MPI_Waitany(5, requests, &index, &status));
    fprintf(out, "%d waitany of none: %d\n", rank, index == MPI_UNDEFINED);
    tell_status("waitany of none", &status, MPI_INT);
    MUST(MPI_Waitall(4, sends, ignored));

    memset(into, 0, sizeof into);
    memset(seen, 0, sizeof seen);
    begin_four(into, requests, sends, from, comm);
    for (int left = 4; left > 0; left -= done) {
        MUST(MPI_Waitsome(5, requests, &done, indices, ignored));
        REQUIRE(done > 0);
        for (int i = 0; i < done; i++)
            seen[indices[i]]++;
    }
    tell("waitsome", MPI_SUCCESS, into, sizeof into);
    tell("waitsome, which", MPI_SUCCESS, seen, sizeof seen);
    MUST(MPI_Waitsome(5, requests, &done, indices, statuses));
    fprintf(out, "%d waitsome of none: %d\n", rank, done == MPI_UNDEFINED);
    MUST(MPI_Waitsome(0, requests, &done, indices, statuses));
    fprintf(out, "%d waitsome of nothing: %d\n", rank, done == MPI_UNDEFINED);
    MUST(MPI_Waitall(4, sends, ignored));
    MUST(MPI_Waitall(0, NULL, ignored));
    status = marked();
    MUST(MPI_Wait(&requests[2], &status));
    tell_status("wait for none", &status, MPI_INT);
}

static void try_persistent(MPI_Comm comm)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size, index;
    int from[COUNT] = {0}, into[COUNT] = {0};
    MPI_Request requests[2];
    MPI_Status statuses[2];

    MUST(MPI_Send_init(from, COUNT, MPI_INT, right, 60, comm, &requests[0]));
    MUST(MPI_Recv_init(into, COUNT, MPI_INT, left, 60, comm, &requests[1]));
    statuses[0] = statuses[1] = marked();
    MUST(MPI_Waitall(2, requests, statuses));
    tell_status("waitall of inactive ones", &statuses[0], MPI_INT);
    tell_status("waitall of inactive ones", &statuses[1], MPI_INT);
    statuses[0] = marked();
    MUST(MPI_Wait(&requests[1], &statuses[0]));
    tell_status("wait of an inactive one", &statuses[0], MPI_INT);
    MUST(MPI_Waitany(2, requests, &index, &statuses[0]));
    fprintf(out, "%d waitany of inactive ones: %d\n", rank, index == MPI_UNDEFINED);
    for (int i = 0; i < 3; i++) {
        fill(from, COUNT, rank, 60 + i);
        MUST(MPI_Startall(2, requests));
        statuses[0] = statuses[1] = marked();
        tell("waitall of persistent ones", MPI_Waitall(2, requests, statuses), into, sizeof into);
        tell_status("waitall of persistent ones", &statuses[1], MPI_INT);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void try_cancelled(MPI_Comm comm)
{
    int into;
    MPI_Request request;
    MPI_Status status = marked();

    MUST(MPI_Irecv(&into, 1, MPI_INT, MPI_ANY_SOURCE, 55, comm, &request));
    MUST(MPI_Cancel(&request));
    MUST(MPI_Wait(&request, &status));
    MPI_Test_cancelled(&status, &into);
    fprintf(out, "%d wait for a cancelled one: %d, error %d\n", rank, into, status.MPI_ERROR);
}

static int on_query(void *state, MPI_Status *status)
{
    MPI_Status_set_elements(status, MPI_INT, *(int *)state);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = 3;
    status->MPI_TAG = 4;
    return MPI_SUCCESS;
}

static int on_free(void *state)
{
    return MPI_SUCCESS;
}

static int on_cancel(void *state, int complete)
{
    return MPI_SUCCESS;
}

/* Others wait for it, behind one that comes after it only. */
static int on_poll(void *state, MPI_Status *status);

struct step {
    int elements, sent;
    MPI_Request request;
    MPI_Comm comm;
};

static int on_poll(void *state, MPI_Status *status)
{
    struct step *step = state;

    if (!step->sent)
        PMPI_Send(&step->elements, 1, MPI_INT, (rank + 1) % size, 51, step->comm);
    if (!step->sent)
        PMPI_Grequest_complete(step->request);
    step->sent = 1;
    return MPI_SUCCESS;
}

static int on_wait(int count, void **states, double timeout_s, MPI_Status *status)
{
    for (int i = 0; i < count; i++)
        on_poll(states[i], status);
    return MPI_SUCCESS;
}

static void try_generalized(MPI_Comm comm)
{
    struct step step = {.elements = 5, .comm = comm};
    MPI_Request requests[2];
    MPI_Status statuses[2] = {marked(), marked()};
    int into = 0;

    MUST(MPI_Irecv(&into, 1, MPI_INT, MPI_ANY_SOURCE, 51, comm, &requests[0]));
    MUST(MPIX_Grequest_start(on_query, on_free, on_cancel, on_poll, on_wait, &step, &requests[1]));
    step.request = requests[1];
    tell("waitall with a generalized one", MPI_Waitall(2, requests, statuses), &into, sizeof into);
    tell_status("waitall with a generalized one", &statuses[0], MPI_INT);
    tell_status("waitall with a generalized one", &statuses[1], MPI_INT);
}

static void try_nonblocking(MPI_Comm comm)
{
    int from[COUNT], sums[3][COUNT];
    MPI_Request requests[4];

    fill(from, COUNT, rank, 40);
    for (int i = 0; i < 3; i++)
        MUST(MPI_Iallreduce(from, sums[i], COUNT, MPI_INT, MPI_SUM, comm, &requests[i]));
    MUST(MPI_Ibarrier(comm, &requests[3]));
    tell("waitall of collectives", MPI_Waitall(4, requests, ignored), sums, sizeof sums);
    MUST(MPI_Iallreduce(MPI_IN_PLACE, from, COUNT, MPI_INT, MPI_MAX, comm, &requests[0]));
    tell("wait of a collective", MPI_Wait(&requests[0], MPI_STATUS_IGNORE), from, sizeof from);
}

/* ---- collectives ---- */

static void try_collectives(MPI_Comm comm)
{
    enum { VALUES = 1000 };
    static double values[VALUES], sums[VALUES];
    int ranks, me, counts[RANKS_MAX], starts[RANKS_MAX], bytes[RANKS_MAX], total = 0;
    int *from, *into;
    size_t room;
    MPI_Datatype types[RANKS_MAX];

    MPI_Comm_size(comm, &ranks);
    MPI_Comm_rank(comm, &me);
    for (int i = 0; i < ranks; i++) {
        counts[i] = i % 5;
        starts[i] = total;
        bytes[i] = total * (int)sizeof(int);
        types[i] = MPI_INT;
        total += counts[i];
    }
    room = (size_t)ranks * COUNT * sizeof *from;
    from = malloc(room);
    into = calloc(1, room);
    fill(from, ranks * COUNT, me, 20);
#define TRY(call)                                                                                  \
    do {                                                                                           \
        memset(into, 0, room);                                                                     \
        tell(#call, call, into, room);                                                             \
    } while (0)
    TRY(MPI_Barrier(comm));
    for (int root = 0; root<ranks; root += ranks> 1 ? ranks - 1 : 1) {
        TRY((memcpy(into, from, room), MPI_Bcast(into, COUNT, MPI_INT, root, comm)));
        TRY(MPI_Gather(from, COUNT, MPI_INT, into, COUNT, MPI_INT, root, comm));
        TRY(MPI_Gather(me == root ? MPI_IN_PLACE : from, COUNT, MPI_INT, into, COUNT, MPI_INT, root,
                       comm));
        TRY(MPI_Gatherv(from, counts[me], MPI_INT, into, counts, starts, MPI_INT, root, comm));
        TRY(MPI_Scatter(from, COUNT, MPI_INT, into, COUNT, MPI_INT, root, comm));
        TRY(MPI_Scatterv(from, counts, starts, MPI_INT, into, counts[me], MPI_INT, root, comm));
        TRY(MPI_Reduce(from, into, COUNT, MPI_INT, MPI_SUM, root, comm));
    }
    TRY(MPI_Allgather(from, COUNT, MPI_INT, into, COUNT, MPI_INT, comm));
    TRY((memcpy(into, from, room),
         MPI_Allgather(MPI_IN_PLACE, COUNT, MPI_INT, into, COUNT, MPI_INT, comm)));
    TRY(MPI_Allgatherv(from, counts[me], MPI_INT, into, counts, starts, MPI_INT, comm));
    TRY(MPI_Alltoall(from, COUNT, MPI_INT, into, COUNT, MPI_INT, comm));
    TRY((memcpy(into, from, room),
         MPI_Alltoall(MPI_IN_PLACE, COUNT, MPI_INT, into, COUNT, MPI_INT, comm)));
    for (int i = 0; i < ranks; i++) {
        counts[i] = (i + me) % 3;
        starts[i] = 3 * i;
        bytes[i] = 3 * i * (int)sizeof(int);
    }
    TRY(MPI_Alltoallv(from, counts, starts, MPI_INT, into, counts, starts, MPI_INT, comm));
    TRY(MPI_Alltoallw(from, counts, bytes, types, into, counts, bytes, types, comm));
    for (int i = 0; i < ranks; i++)
        counts[i] = i % 4;
    TRY(MPI_Reduce_scatter(from, into, counts, MPI_INT, MPI_SUM, comm));
    TRY(MPI_Reduce_scatter_block(from, into, 3, MPI_INT, MPI_MAX, comm));
    TRY(MPI_Scan(from, into, COUNT, MPI_INT, MPI_SUM, comm));
    TRY((memset(into, 0, room),
         MPI_Exscan(from, into, me == 0 ? COUNT : COUNT, MPI_INT, MPI_MAX, comm)));
    TRY(MPI_Allreduce(from, into, COUNT, MPI_INT, MPI_BXOR, comm));
    TRY((memcpy(into, from, room),
         MPI_Allreduce(MPI_IN_PLACE, into, COUNT, MPI_INT, MPI_MIN, comm)));
    TRY(MPI_Allreduce(from, into, 0, MPI_INT, MPI_SUM, comm));
    TRY(MPI_Bcast(into, 0, MPI_INT, 0, comm));
    /* Their last bits tell in which order they were added. */
    for (int i = 0; i < VALUES; i++)
        values[i] = 1.0 / (1 + i + 7 * me);
    tell("reduce of doubles",
         MPI_Reduce(values, sums, VALUES, MPI_DOUBLE, MPI_SUM, ranks - 1, comm), sums,
         me == ranks - 1 ? sizeof sums : 0);
    tell("allreduce of doubles", MPI_Allreduce(values, sums, VALUES, MPI_DOUBLE, MPI_SUM, comm),
         sums, sizeof sums);
    tell("scan of doubles", MPI_Scan(values, sums, VALUES, MPI_DOUBLE, MPI_SUM, comm), sums,
         sizeof sums);
    tell("reduce_scatter_block of doubles",
         MPI_Reduce_scatter_block(values, sums, VALUES / ranks, MPI_DOUBLE, MPI_SUM, comm), sums,
         (size_t)(VALUES / ranks) * sizeof *sums);
    free(from);
    free(into);
}

static void try_neighbours(void)
{
    int dims[1] = {size}, periods[1] = {1}, from[2 * COUNT], into[2 * COUNT];
    int counts[2] = {3, 5}, starts[2] = {0, 8}, right = (rank + 1) % size;
    int left = (rank + size - 1) % size;
    MPI_Aint bytes[2] = {0, 40};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    MPI_Comm ring, graph;
    const size_t room = sizeof into;

    fill(from, 2 * COUNT, rank, 30);
    tell("cart_create", MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &ring), NULL, 0);
    tell("dist_graph_create_adjacent",
         MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right,
                                        MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph),
         NULL, 0);
    TRY(MPI_Neighbor_allgather(from, COUNT, MPI_INT, into, COUNT, MPI_INT, ring));
    TRY(MPI_Neighbor_allgatherv(from, 3, MPI_INT, into, (int[2]){3, 3}, starts, MPI_INT, ring));
    TRY(MPI_Neighbor_alltoall(from, COUNT, MPI_INT, into, COUNT, MPI_INT, ring));
    TRY(MPI_Neighbor_alltoallv(from, counts, starts, MPI_INT, into, (int[2]){5, 3}, starts, MPI_INT,
                               ring));
    TRY(MPI_Neighbor_alltoallw(from, counts, bytes, types, into, (int[2]){5, 3}, bytes, types,
                               ring));
    TRY(MPI_Neighbor_allgather(from, COUNT, MPI_INT, into, COUNT, MPI_INT, graph));
    MPI_Comm_free(&ring);
    MPI_Comm_free(&graph);
}

/* ---- communicators ---- */

static int copies;

static int on_copy(MPI_Comm comm, int key, void *extra, void *in, void *copy, int *flag)
{
    copies++;
    *(void **)copy = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static void try_communicators(void)
{
    MPI_Comm copy, half, halves, both, group_comm, nodes;
    MPI_Group group, other;
    int keyval, flag, value = 7, result;
    void *found;

    MPI_Comm_create_keyval(on_copy, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, &value);
    tell("comm_dup", MPI_Comm_dup(MPI_COMM_WORLD, &copy), &copies, sizeof copies);
    MPI_Comm_get_attr(copy, keyval, &found, &flag);
    MPI_Comm_compare(copy, MPI_COMM_WORLD, &result);
    fprintf(out, "%d comm_dup: attribute %d, %d\n", rank, flag && found == &value,
            result == MPI_CONGRUENT);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval);
    MPI_Comm_free_keyval(&keyval);
    try_collectives(copy);

    tell("comm_split", MPI_Comm_split(copy, rank % 2, -rank, &half), NULL, 0);
    try_collectives(half);
    MPI_Comm_group(copy, &group);
    MPI_Group_excl(group, 1, (int[1]){0}, &other);
    tell("comm_create", MPI_Comm_create(copy, other, &group_comm), NULL, 0);
    if (group_comm != MPI_COMM_NULL) {
        try_collectives(group_comm);
        MPI_Comm_free(&group_comm);
        tell("comm_create_group", MPI_Comm_create_group(copy, other, 5, &group_comm), NULL, 0);
        MPI_Comm_free(&group_comm);
    }
    MPI_Group_free(&group);
    MPI_Group_free(&other);
    tell("comm_split_type",
         MPI_Comm_split_type(copy, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &nodes), NULL, 0);
    MPI_Comm_free(&nodes);

    if (size > 1) {
        int in[COUNT], all[RANKS_MAX * COUNT] = {0}, remote;
        int root = rank % 2 ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;

        fill(in, COUNT, rank, 33);
        tell("intercomm_create",
             MPI_Intercomm_create(half, 0, MPI_COMM_WORLD,
                                  rank % 2 ? (size - 1) / 2 * 2 : (size - 2) / 2 * 2 + 1, 9,
                                  &halves),
             NULL, 0);
        MPI_Comm_remote_size(halves, &remote);
        MPI_Comm_rank(half, &result);
        root = rank % 2 ? 0 : result == 0 ? MPI_ROOT : MPI_PROC_NULL;
        tell("bcast between groups", MPI_Bcast(in, COUNT, MPI_INT, root, halves), in, sizeof in);
        tell("allgather between groups",
             MPI_Allgather(in, COUNT, MPI_INT, all, COUNT, MPI_INT, halves), all, sizeof all);
        tell("allreduce between groups", MPI_Allreduce(in, all, COUNT, MPI_INT, MPI_SUM, halves),
             all, sizeof all);
        tell("barrier between groups", MPI_Barrier(halves), &remote, sizeof remote);
        tell("comm_dup between groups", MPI_Comm_dup(halves, &both), NULL, 0);
        MPI_Comm_free(&both);
        tell("intercomm_merge", MPI_Intercomm_merge(halves, rank % 2, &both), NULL, 0);
        try_collectives(both);
        MPI_Comm_free(&both);
        MPI_Comm_free(&halves);
    }
    MPI_Comm_free(&half);
    MPI_Comm_free(&copy);
}

/* ---- one-sided, files ---- */

static void try_windows(void)
{
    int room[RANKS_MAX] = {0}, value = 100 + rank, right = (rank + 1) % size;
    int left = (rank + size - 1) % size, got = -1;
    MPI_Group all, to, from;
    MPI_Win window;

    tell("win_create",
         MPI_Win_create(room, sizeof room, sizeof *room, MPI_INFO_NULL, MPI_COMM_WORLD, &window),
         NULL, 0);
    MUST(MPI_Win_fence(0, window));
    MUST(MPI_Put(&value, 1, MPI_INT, right, rank, 1, MPI_INT, window));
    tell("win_fence", MPI_Win_fence(0, window), room, sizeof room);
    MPI_Barrier(MPI_COMM_WORLD); /* none writes before all have read */
    MUST(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, window));
    MUST(MPI_Accumulate(&value, 1, MPI_INT, right, rank, 1, MPI_INT, MPI_SUM, window));
    MUST(MPI_Win_flush(right, window));
    tell("win_unlock", MPI_Win_unlock(right, window), NULL, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    MUST(MPI_Win_lock_all(0, window));
    MUST(MPI_Get(&got, 1, MPI_INT, right, rank, 1, MPI_INT, window));
    MUST(MPI_Win_flush_all(window));
    tell("win_flush_all", MPI_SUCCESS, NULL, 0); /* 4.0.2 may have fetched nothing */
    MUST(MPI_Win_unlock_all(window));
    MPI_Barrier(MPI_COMM_WORLD);
    if (size > 1) {
        MPI_Comm_group(MPI_COMM_WORLD, &all);
        MPI_Group_incl(all, 1, &right, &to);
        MPI_Group_incl(all, 1, &left, &from);
        MUST(MPI_Win_post(from, 0, window));
        MUST(MPI_Win_start(to, 0, window));
        MUST(MPI_Put(&value, 1, MPI_INT, right, size + rank, 1, MPI_INT, window));
        MUST(MPI_Win_complete(window));
        tell("win_wait", MPI_Win_wait(window), room, sizeof room);
        MPI_Group_free(&all);
        MPI_Group_free(&to);
        MPI_Group_free(&from);
    }
    tell("win_free", MPI_Win_free(&window), NULL, 0);
}

static void try_files(void)
{
    const char *directory = getenv("TMPDIR");
    char name[4096];
    int from[COUNT], into[COUNT] = {0};
    MPI_File file;
    MPI_Request request;
    MPI_Status status;

    snprintf(name, sizeof name, "%s/all_calls.data", directory ? directory : "/tmp");
    fill(from, COUNT, rank, 50);
    tell("file_open",
         MPI_File_open(MPI_COMM_WORLD, name,
                       MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                       &file),
         NULL, 0);
    MUST(MPI_File_set_view(file, rank * (MPI_Offset)sizeof from, MPI_INT, MPI_INT, "native",
                           MPI_INFO_NULL));
    tell("file_write_all", MPI_File_write_all(file, from, COUNT, MPI_INT, &status), NULL, 0);
    MUST(MPI_File_sync(file));
    tell("file_read_at_all", MPI_File_read_at_all(file, 0, into, COUNT, MPI_INT, &status), into,
         sizeof into);
    memset(into, 0, sizeof into);
    MUST(MPI_File_iread_at(file, 0, into, COUNT, MPI_INT, &request));
    tell("file_iread_at, waitall", MPI_Waitall(1, &request, &status), into, sizeof into);
    memset(into, 0, sizeof into);
    MUST(MPI_File_iread_at_all(file, 0, into, COUNT, MPI_INT, &request));
    tell("file_iread_at_all, wait", MPI_Wait(&request, &status), into, sizeof into);
    tell("file_close", MPI_File_close(&file), NULL, 0);
}

/* ---- errors ---- */

static struct {
    int calls, class;
    MPI_Comm comm;
} raised;

static void on_error(MPI_Comm *comm, int *error, ...)
{
    raised.calls++;
    raised.class = class_of(*error);
    raised.comm = *comm;
}

static void tell_error(const char *call, int error, MPI_Comm comm, const MPI_Status *status)
{
    fprintf(out, "%d %s: class %d, raised %d times, class %d, on %s\n", rank, call, class_of(error),
            raised.calls, raised.class,
            raised.calls == 0               ? "none"
            : raised.comm == comm           ? "the communicator"
            : raised.comm == MPI_COMM_WORLD ? "the world"
                                            : "another");
    if (status != NULL)
        tell_status(call, status, MPI_INT);
    memset(&raised, 0, sizeof raised);
}

/* Messages longer than who receives them has room for, small and large. */
static void try_truncated(MPI_Comm comm, int count, int tag)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size, error;
    int *from = calloc((size_t)count, sizeof *from), *into = calloc((size_t)count, sizeof *into);
    MPI_Request sends[3], requests[3];
    MPI_Status status = marked(), statuses[3];
    MPI_Message message;

    MPI_Isend(from, count, MPI_INT, right, tag, comm, &sends[0]);
    error = MPI_Recv(into, count / 2, MPI_INT, left, tag, comm, &status);
    tell_error("truncated recv", error, comm, NULL);
    fprintf(out, "%d truncated recv: source %d, tag %d, error %d\n", rank, status.MPI_SOURCE,
            status.MPI_TAG, status.MPI_ERROR == MARK);
    MPI_Wait(&sends[0], MPI_STATUS_IGNORE);

    error = MPI_Sendrecv(from, count, MPI_INT, right, tag, into, count / 2, MPI_INT, left, tag,
                         comm, MPI_STATUS_IGNORE);
    tell_error("truncated sendrecv", error, comm, NULL);
    status = marked();
    if (rank == 0)
        error =
            MPI_Sendrecv_replace(into, count / 2, MPI_INT, right, tag, left, tag, comm, &status);
    else
        error = MPI_Sendrecv(from, count, MPI_INT, right, tag, into, count, MPI_INT, left, tag,
                             comm, &status);
    tell_error("truncated sendrecv_replace", error, comm, NULL);
    fprintf(out, "%d truncated sendrecv_replace: error %d\n", rank,
            status.MPI_ERROR == MARK ? MARK : class_of(status.MPI_ERROR));

    MPI_Isend(from, count, MPI_INT, right, tag, comm, &sends[0]);
    MPI_Mprobe(left, tag, comm, &message, MPI_STATUS_IGNORE);
    error = MPI_Mrecv(into, count / 2, MPI_INT, &message, MPI_STATUS_IGNORE);
    tell_error("truncated mrecv", error, comm, NULL);
    MPI_Wait(&sends[0], MPI_STATUS_IGNORE);

    MPI_Irecv(into, count / 2, MPI_INT, left, tag, comm, &requests[0]);
    MPI_Isend(from, count, MPI_INT, right, tag, comm, &sends[0]);
    error = MPI_Wait(&requests[0], &status);
    tell_error("truncated irecv, wait", error, comm, NULL);
    MPI_Wait(&sends[0], MPI_STATUS_IGNORE);

    for (int i = 0; i < 3; i++) {
        statuses[i] = marked();
        MPI_Irecv(into, i == 1 ? count / 2 : count, MPI_INT, left, tag + i, comm, &requests[i]);
    }
    for (int i = 0; i < 3; i++)
        MPI_Isend(from, count, MPI_INT, right, tag + i, comm, &sends[i]);
    error = MPI_Waitall(3, requests, statuses);
    tell_error("truncated irecv, waitall", error, comm, NULL);
    for (int i = 0; i < 3; i++)
        fprintf(out, "%d truncated irecv, waitall, %d: error %d, %s\n", rank, i,
                statuses[i].MPI_ERROR == MARK ? MARK : class_of(statuses[i].MPI_ERROR),
                requests[i] == MPI_REQUEST_NULL ? "null" : "left");
    MPI_Waitall(3, requests, ignored);
    MPI_Waitall(3, sends, ignored);
    memset(&raised, 0, sizeof raised);

    for (int some = 0; some < 2; some++) {
        int index, done;

        MPI_Irecv(into, count / 2, MPI_INT, left, tag, comm, &requests[0]);
        MPI_Isend(from, count, MPI_INT, right, tag, comm, &sends[0]);
        statuses[0] = marked();
        error = some ? MPI_Waitsome(1, requests, &done, &index, statuses)
                     : MPI_Waitany(1, requests, &index, statuses);
        tell_error(some ? "truncated irecv, waitsome" : "truncated irecv, waitany", error, comm,
                   NULL);
        fprintf(out, "%d its status: error %d\n", rank,
                statuses[0].MPI_ERROR == MARK ? MARK : class_of(statuses[0].MPI_ERROR));
        MPI_Wait(&sends[0], MPI_STATUS_IGNORE);
    }
    MPI_Barrier(comm);
    free(from);
    free(into);
}

static void try_errors(void)
{
    MPI_Errhandler handler;
    MPI_Comm copy;

    if (size == 1)
        return;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
    try_truncated(copy, COUNT, 200);
    try_truncated(copy, LARGE, 210);
    MPI_Comm_create_errhandler(on_error, &handler);
    MPI_Comm_set_errhandler(copy, handler);
    try_truncated(copy, COUNT, 220);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    try_truncated(copy, COUNT, 230);
    try_truncated(MPI_COMM_WORLD, LARGE, 240);
    /* What follows with such handlers is as without. */
    send_ring("ring with handlers", MPI_Ssend, LARGE, 11, copy);
    try_sendrecv(LARGE, 12, copy);
    try_collectives(copy);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    try_collectives(copy);
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&copy);
}

int main(int argc, char **argv)
{
    char name[4096];
    int provided;
    MPI_Comm copy;

    MPI_Init_thread(&argc, &argv, argc > 2 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    REQUIRE(size > 1 && size <= RANKS_MAX / 2);
    REQUIRE(argc > 1);
    snprintf(name, sizeof name, "%s.%d", argv[1], rank);
    out = fopen(name, "w");
    REQUIRE(out != NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    if (size > 1) {
        send_ring("send", MPI_Send, COUNT, 1, copy);
        send_ring("send of nothing", MPI_Send, 0, 2, copy);
        send_ring("send of much", MPI_Send, LARGE, 3, MPI_COMM_WORLD);
        send_ring("ssend", MPI_Ssend, COUNT, 4, MPI_COMM_WORLD);
        send_ring("ssend of much", MPI_Ssend, LARGE, 5, copy);
    }
    try_ready(copy);
    try_buffered(copy);
    try_sendrecv(COUNT, 6, copy);
    try_sendrecv(LARGE, 7, copy);
    try_probes(COUNT, copy);
    try_probes(LARGE, copy);
    try_order(copy);
    try_waits(copy);
    try_persistent(copy);
    try_cancelled(copy);
    try_generalized(copy);
    try_nonblocking(copy);
    try_nonblocking(MPI_COMM_WORLD);
    try_collectives(MPI_COMM_WORLD);
    try_collectives(MPI_COMM_SELF);
    try_large_counts(copy);
    try_neighbours();
    try_communicators();
    try_windows();
    try_files();
    try_errors();
    MPI_Comm_free(&copy);
    REQUIRE(fclose(out) == 0);
    MPI_Finalize();
    return 0;
}
