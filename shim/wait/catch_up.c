/* Runs MPICH's progress until it has handled all earlier arrivals. There are two ways to detect
 * that.
 *
 * MPICH's own shared memory (ch4 with shmmods=posix) has one queue for each rank, and a progress
 * iteration takes one piece out of it. Messages to oneself use it, too. So this rank sends itself a
 * message: when that arrives, so has everything queued before it. The send takes one of this rank's
 * cells; while others hold all of them, the message stays pending.
 *
 * Network libraries, and UCX inside a machine, report events, which a hook counts (hook.h):
 * progress stops after an iteration without any. If no hook sees the iterations, their number
 * exceeds the capacity of UCX's queue of a rank.
 */
#include "wait/catch_up.h"

#include "mpi/real.h"
#include "wait/turn.h"

#include <pthread.h>
#include <stdbool.h>

#define TAG 1
#define TURNS_UNSEEN 64
#define TURNS_MAX 4096

_Atomic enum sg_catch_up sg_catch_up_state;

/* Guards the variables below. A thread holds it for a bounded number of iterations. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool has_queue; /* messages to oneself use, or may use, a queue */
static MPI_Comm comm;
static int own_rank;
static MPI_Request received = MPI_REQUEST_NULL, sent = MPI_REQUEST_NULL;

static void send_to_itself(void)
{
    if (sg_real.Irecv(NULL, 0, MPI_BYTE, own_rank, TAG, comm, &received) != MPI_SUCCESS)
        received = MPI_REQUEST_NULL;
    else if (sg_real.Isend(NULL, 0, MPI_BYTE, own_rank, TAG, comm, &sent) != MPI_SUCCESS)
        sent = MPI_REQUEST_NULL;
}

/* Runs progress if the request is not complete. */
static bool is_here(MPI_Request *request)
{
    int done = 1;

    if (*request != MPI_REQUEST_NULL)
        sg_real.Test(request, &done, MPI_STATUS_IGNORE);
    return done;
}

static void turn(void)
{
    int flag;

    sg_real.Iprobe(own_rank, TAG, comm, &flag, MPI_STATUS_IGNORE);
}

/* UCX delivers a message to oneself at once: waiting for it takes no progress iteration. */
void sg_catch_up_start(MPI_Comm world)
{
    uint32_t seen = sg_turns.seen;

    comm = world;
    sg_real.Comm_rank(comm, &own_rank);
    send_to_itself();
    sg_real.Wait(&received, MPI_STATUS_IGNORE);
    sg_real.Wait(&sent, MPI_STATUS_IGNORE);
    has_queue = sg_turns.seen != seen;
    turn();
    has_queue = has_queue || sg_turns.seen == seen; /* no hook sees progress */
}

/* True if an iteration that began with these counts had no events. turns: iterations so far. */
static bool is_quiet(int turns, uint32_t seen, uint32_t events)
{
    return sg_turns.seen != seen ? sg_turns.events == events : turns >= TURNS_UNSEEN;
}

static void make_turns(void)
{
    bool is_out = false, has_come = !has_queue;

    for (int turns = 0; turns < TURNS_MAX; turns++) {
        uint32_t seen = sg_turns.seen, events = sg_turns.events;

        if (has_come)
            turn();
        else
            has_come = is_here(&received) && is_here(&sent) && is_out;
        if (has_come && is_quiet(turns, seen, events))
            return;
        if (!has_come && !is_out && received == MPI_REQUEST_NULL && sent == MPI_REQUEST_NULL) {
            send_to_itself();
            is_out = true;
        }
    }
}

void sg_catch_up_now(void)
{
    bool before;

    /* Progress has called back. */
    if (sg_turns.own)
        return;
    pthread_mutex_lock(&lock);
    if (atomic_load(&sg_catch_up_state) == SG_BEHIND) {
        enum sg_catch_up expected = SG_CATCHING_UP;

        /* Other threads that test meanwhile wait for the lock. A collective that ends from here on
         * marks MPICH as behind again: these iterations may be too early for it. */
        atomic_store(&sg_catch_up_state, SG_CATCHING_UP);
        before = sg_turn_begin_own();
        make_turns();
        sg_turn_end_own(before);
        atomic_compare_exchange_strong(&sg_catch_up_state, &expected, SG_CAUGHT_UP);
    }
    pthread_mutex_unlock(&lock);
}

void sg_catch_up_stop(void)
{
    for (int turns = 0; turns < TURNS_MAX && (!is_here(&received) || !is_here(&sent)); turns++)
        ;
    if (received != MPI_REQUEST_NULL) {
        sg_real.Cancel(&received);
        sg_real.Request_free(&received);
    }
    if (sent != MPI_REQUEST_NULL)
        sg_real.Request_free(&sent);
    atomic_store(&sg_catch_up_state, SG_CAUGHT_UP);
}
