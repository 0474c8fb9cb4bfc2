/* Truncation errors, from messages that are too long, and the way they are raised. */
#include "all_calls.h"

#include <stdlib.h>
#include <string.h>

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
    /* The others may be complete or not. */
    for (int i = 0; i < 3; i++) {
        bool is_left = requests[i] != MPI_REQUEST_NULL;
        int class = statuses[i].MPI_ERROR == MARK ? MARK : class_of(statuses[i].MPI_ERROR);

        fprintf(out, "%d truncated irecv, waitall, %d: error %d\n", rank, i,
                i != 1 && class == (is_left ? MPI_ERR_PENDING : MPI_SUCCESS) ? 0 : class);
    }
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

void try_errors(void)
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
    /* These handlers do not affect later calls. */
    send_ring("ring with handlers", MPI_Ssend, LARGE, 11, copy);
    try_sendrecv(LARGE, 12, copy);
    try_collectives(copy);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    try_collectives(copy);
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&copy);
}
