/* Tests how many iterations ("turns") MPICH makes until it has caught up. Its queues are this
 * file's. */
#include "lib/unit.h"
#include "mpi/real.h"
#include "wait/catch_up.h"
#include "wait/turn.h"

#define PIECES 40
#define BURST 4 /* pieces that a turn of a network library brings */

/* A MPICH, and what has come to its only rank. */
static struct {
    bool has_queue;    /* of its own, for messages to itself, too; else all is the network's */
    bool is_seen;      /* a hook sees its turns */
    bool has_no_place; /* to send */
    int queued, ahead; /* pieces in the queue; those before the message to itself, or -1 */
    int in_network;
    int turns;
} mpich;

struct sg_real sg_real;
atomic_bool sg_turn_spins = true;
__thread struct sg_turns sg_turns;

void sg_turn_idle_slowly(void)
{
}

static void make_turn(void)
{
    int taken = mpich.in_network < BURST ? mpich.in_network : BURST;

    mpich.turns++;
    mpich.in_network -= taken;
    if (mpich.is_seen)
        sg_turn_seen(taken > 0);
    if (mpich.queued > 0) {
        mpich.queued--;
        mpich.ahead -= mpich.ahead >= 0;
    }
}

static int comm_rank(MPI_Comm comm, int *rank)
{
    (void)comm;
    *rank = 0;
    return MPI_SUCCESS;
}

enum { RECEIVED = 1, SENT };

static int irecv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                 MPI_Request *request)
{
    (void)buffer, (void)count, (void)type, (void)from, (void)tag, (void)comm;
    *request = RECEIVED;
    return MPI_SUCCESS;
}

static int isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                 MPI_Request *request)
{
    (void)buffer, (void)count, (void)type, (void)to, (void)tag, (void)comm;
    *request = SENT;
    mpich.ahead = mpich.queued;
    if (mpich.has_queue && !mpich.has_no_place)
        mpich.queued++;
    return MPI_SUCCESS;
}

static bool is_over(void)
{
    return !mpich.has_no_place && (!mpich.has_queue || mpich.ahead < 0);
}

static int test(MPI_Request *request, int *flag, MPI_Status *status)
{
    (void)status;
    if (!is_over())
        make_turn();
    *flag = is_over();
    if (*flag)
        *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

static int wait_for(MPI_Request *request, MPI_Status *status)
{
    (void)status;
    while (!is_over())
        make_turn();
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

static int probe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    (void)source, (void)tag, (void)comm, (void)status;
    make_turn();
    *flag = 0;
    return MPI_SUCCESS;
}

static int end(MPI_Request *request)
{
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

static int cancel(MPI_Request *request)
{
    (void)request;
    return MPI_SUCCESS;
}

static void start(bool has_queue, bool is_seen)
{
    memset(&mpich, 0, sizeof mpich);
    mpich.has_queue = has_queue;
    mpich.is_seen = is_seen;
    mpich.ahead = -1;
    sg_real.Comm_rank = comm_rank;
    sg_real.Irecv = irecv;
    sg_real.Isend = isend;
    sg_real.Test = test;
    sg_real.Wait = wait_for;
    sg_real.Iprobe = probe;
    sg_real.Cancel = cancel;
    sg_real.Request_free = end;
    sg_catch_up_start(MPI_COMM_WORLD);
    mpich.turns = 0;
}

TEST("MPICH polls once, and only after messages bypassed it")
{
    start(true, true);
    mpich.queued = PIECES;
    sg_catch_up();
    EXPECT(mpich.turns == 0);
    sg_catch_up_owe();
    sg_catch_up();
    sg_catch_up();
    EXPECT(mpich.queued == 0, mpich.turns <= PIECES + 2);
    sg_catch_up_stop();
}

TEST("all messages in MPICH's own queue are taken")
{
    for (int seen = 0; seen < 2; seen++) {
        start(true, seen);
        mpich.queued = 100 * PIECES;
        mpich.in_network = PIECES;
        sg_catch_up_owe();
        sg_catch_up();
        EXPECT(mpich.queued == 0, mpich.in_network == 0);
        sg_catch_up_stop();
    }
}

TEST("polls of a network continue until one brings nothing")
{
    start(false, true);
    mpich.in_network = 100 * PIECES;
    sg_catch_up_owe();
    sg_catch_up();
    EXPECT(mpich.in_network == 0, mpich.turns == 100 * PIECES / BURST + 1);
    mpich.turns = 0;
    sg_catch_up_owe();
    sg_catch_up();
    EXPECT(mpich.turns == 1);
    sg_catch_up_stop();
}

TEST("without a hook to observe the network there are enough polls")
{
    start(false, false);
    mpich.in_network = 64;
    sg_catch_up_owe();
    sg_catch_up();
    EXPECT(mpich.in_network == 0, mpich.turns <= 66);
    sg_catch_up_stop();
}

/* ... for as long as others take nothing of what it has sent. */
TEST("without capacity to send the polls are bounded, and take all messages")
{
    start(true, true);
    mpich.has_no_place = true;
    mpich.queued = PIECES;
    sg_catch_up_owe();
    sg_catch_up();
    EXPECT(mpich.queued == 0);
    mpich.has_no_place = false;
    mpich.queued = PIECES;
    mpich.ahead = 1;
    sg_catch_up_owe();
    sg_catch_up();
    EXPECT(mpich.queued == 0);
    mpich.has_no_place = true;
    sg_catch_up_owe();
    sg_catch_up();
    sg_catch_up_stop();
    EXPECT(atomic_load(&sg_catch_up_state) == SG_CAUGHT_UP);
}
