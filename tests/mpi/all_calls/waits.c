/* Waits for requests of all kinds. */
#include "all_calls.h"

#include <string.h>

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

void try_waits(MPI_Comm comm)
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

void try_persistent(MPI_Comm comm)
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

void try_cancelled(MPI_Comm comm)
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

void try_generalized(MPI_Comm comm)
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

void try_nonblocking(MPI_Comm comm)
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
