/* Calls that send and receive, and that wait for messages. */
#include "all_calls.h"

#include <stdlib.h>
#include <string.h>

void send_ring(const char *name, sender send, int count, int tag, MPI_Comm comm)
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

void try_ready(MPI_Comm comm)
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

void try_buffered(MPI_Comm comm)
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

void try_sendrecv(int count, int tag, MPI_Comm comm)
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

void try_probes(int count, MPI_Comm comm)
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
void try_order(MPI_Comm comm)
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

void try_large_counts(MPI_Comm comm)
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
