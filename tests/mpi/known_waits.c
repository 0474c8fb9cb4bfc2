/* MPI calls that wait for known ranks, on 3 ranks, for tests/report/test_known_waits.py.
 *
 * Each function makes one kind of wait, ROUNDS times; a late rank computes until the others are
 * about to call, and for LATE_S. Names show the late side: late_* is the function at fault and
 * early_* the one that waits. Rank 2 takes part where it is named. Barriers separate the functions.
 */
#include "known.h"

#define ROUNDS 10

static int rank;
static int value, values[3];
static int theirs[3], sum;
static MPI_Request requests[3];

/* ---- rank 0 sends late, rank 1 receives early ------------------------------------------------ */

SITE(late_send(int others), be_late(others), MPI_Send(&value, 1, MPI_INT, 1, 1, WORLD))
SITE(early_recv(void), tell(0), MPI_Recv(&value, 1, MPI_INT, 0, 1, WORLD, IGNORE))
SITE(early_wildcard(void), tell(0),
     MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, IGNORE))
SITE(early_wait(void), MPI_Irecv(&value, 1, MPI_INT, 0, 1, WORLD, requests), tell(0),
     MPI_Wait(requests, IGNORE))
SITE(early_probe(void), tell(0), MPI_Probe(MPI_ANY_SOURCE, 1, WORLD, IGNORE),
     MPI_Recv(&value, 1, MPI_INT, 0, 1, WORLD, IGNORE))

NOINLINE static void early_test(void)
{
    int is_complete = 0;

    MPI_Irecv(&value, 1, MPI_INT, 0, 1, WORLD, requests);
    tell(0);
    while (!is_complete)
        MPI_Test(requests, &is_complete, IGNORE);
    STAY;
}

NOINLINE static void early_mprobe(void)
{
    MPI_Message message;

    tell(0);
    MPI_Mprobe(0, 1, WORLD, &message, IGNORE);
    MPI_Mrecv(&value, 1, MPI_INT, &message, IGNORE);
    STAY;
}

SITE(early_start(void), MPI_Recv_init(&value, 1, MPI_INT, 0, 1, WORLD, requests),
     MPI_Start(requests), tell(0), MPI_Wait(requests, IGNORE), MPI_Request_free(requests))
SITE(early_sendrecv(void), tell(0),
     MPI_Sendrecv(&value, 1, MPI_INT, 0, 2, values, 1, MPI_INT, 0, 1, WORLD, IGNORE))
SITE(late_sendrecv(void), be_late(1),
     MPI_Sendrecv(&value, 1, MPI_INT, 1, 1, values, 1, MPI_INT, 1, 2, WORLD, IGNORE))

/* A receive that is cancelled, and posted before the one that waits. */
SITE(early_with_cancelled(void), MPI_Irecv(values, 1, MPI_INT, 0, 9, WORLD, requests), tell(0),
     MPI_Recv(&value, 1, MPI_INT, 0, 1, WORLD, IGNORE), MPI_Cancel(requests),
     MPI_Wait(requests, IGNORE))

/* ---- of several ------------------------------------------------------------------------------ */

SITE(send_at_once(void), MPI_Send(&value, 1, MPI_INT, 1, 1, WORLD))

/* From ranks 0, on time, and 2, late. */
NOINLINE static void early_waitall(void)
{
    MPI_Status statuses[2];

    MPI_Irecv(&values[0], 1, MPI_INT, 0, 1, WORLD, &requests[0]);
    MPI_Irecv(&values[1], 1, MPI_INT, 2, 1, WORLD, &requests[1]);
    tell(2);
    MPI_Waitall(2, requests, statuses);
    STAY;
}

/* Rank 2's message is there, and received last. */
SITE(early_wrong_order(void), tell(0), MPI_Recv(&value, 1, MPI_INT, 0, 1, WORLD, IGNORE),
     MPI_Recv(&value, 1, MPI_INT, 2, 1, WORLD, IGNORE))

/* ---- late receivers -------------------------------------------------------------------------- */

SITE(early_ssend(void), tell(1), MPI_Ssend(&value, 1, MPI_INT, 1, 1, WORLD))
SITE(early_issend(void), MPI_Issend(&value, 1, MPI_INT, 1, 1, WORLD, requests), tell(1),
     MPI_Wait(requests, IGNORE))
SITE(late_recv(void), be_late(1), MPI_Recv(&value, 1, MPI_INT, 0, 1, WORLD, IGNORE))

/* ---- collectives: one rank is late ------------------------------------------------------ */

SITE(bcast(int late), hold_back(late), MPI_Bcast(values, 3, MPI_INT, late, WORLD))
SITE(gather(int late), hold_back(late),
     MPI_Gather(&value, 1, MPI_INT, values, 1, MPI_INT, 0, WORLD))
SITE(alltoall(int late), hold_back(late),
     MPI_Alltoall(values, 1, MPI_INT, theirs, 1, MPI_INT, WORLD))
SITE(scan(int late), hold_back(late), MPI_Scan(&value, &sum, 1, MPI_INT, MPI_SUM, WORLD))
SITE(ibcast(int late), hold_back(late), MPI_Ibcast(values, 3, MPI_INT, late, WORLD, requests),
     MPI_Wait(requests, IGNORE))

/* Rank 0 gives to rank 1, and rank 2 exchanges nothing. */
NOINLINE static void sparse(int late)
{
    const int sent[3] = {0, rank == 0, 0}, received[3] = {rank == 1, 0, 0}, at[3] = {0, 1, 2};

    hold_back(late);
    MPI_Alltoallv(values, sent, at, MPI_INT, theirs, received, at, MPI_INT, WORLD);
    STAY;
}

/* ---------------------------------------------------------------------------------------------- */

static void between(void (*early)(void), void (*late)(void))
{
    for (int i = 0; i < ROUNDS; i++) {
        if (rank == 1)
            early();
        else if (rank == 0)
            late();
        MPI_Barrier(WORLD);
    }
}

static void send_late(void)
{
    late_send(1);
    STAY;
}

static void from_two(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        if (rank == 0)
            send_at_once(), tell(2);
        else if (rank == 2)
            late_send(2);
        else
            early_waitall();
        MPI_Barrier(WORLD);
    }
}

static void in_wrong_order(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        if (rank == 2)
            send_at_once();
        MPI_Barrier(WORLD);
        if (rank == 0)
            late_send(1);
        else if (rank == 1)
            early_wrong_order();
        MPI_Barrier(WORLD);
    }
}

static void to_late_receivers(void (*early)(void))
{
    for (int i = 0; i < ROUNDS; i++) {
        if (rank == 0)
            early();
        else if (rank == 1)
            late_recv();
        MPI_Barrier(WORLD);
    }
}

static void all(void (*collective)(int late), int late)
{
    for (int i = 0; i < ROUNDS; i++) {
        collective(late);
        MPI_Barrier(WORLD);
    }
}

int main(int argc, char **argv)
{
    known_init(&argc, &argv, &rank);
    between(early_recv, send_late);
    between(early_wildcard, send_late);
    between(early_wait, send_late);
    between(early_test, send_late);
    between(early_probe, send_late);
    between(early_mprobe, send_late);
    between(early_start, send_late);
    between(early_sendrecv, late_sendrecv);
    between(early_with_cancelled, send_late);
    from_two();
    in_wrong_order();
    to_late_receivers(early_ssend);
    to_late_receivers(early_issend);
    all(bcast, 1);
    all(gather, 2);
    all(alltoall, 2);
    all(scan, 0);
    all(sparse, 0);
    all(sparse, 2);
    all(ibcast, 1);
    known_finalize();
    return 0;
}
