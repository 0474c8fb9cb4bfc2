/* Blocking calls as nonblocking ones and a loop of tests, each of which may give the processor
 * away: for an MPICH whose progress no hook reaches (wait/hook.h).
 *
 * Messages and waits: each rank for itself, whenever its processor is wanted by others.
 * Collectives: on all ranks or on none, because MPI does not match a blocking one with a
 * nonblocking one; the ranks agree in MPI_Init, and only communicators inside MPI_COMM_WORLD
 * take part.
 *
 * Errors go to the communicator's handler, once, as from the blocking call. Where MPICH raises
 * those of a nonblocking call elsewhere, the handlers are put aside during a test.
 *
 * Any thread; not from a signal handler. No lock is held while a thread waits.
 */
#ifndef SG_INTERCEPT_TEST_LOOP_H
#define SG_INTERCEPT_TEST_LOOP_H

#include "core/status.h"
#include "mpi/real.h"
#include "runtime/settings.h"
#include "wait/turn.h"

#include <mpi.h>

/* Constant from MPI_Init to MPI_Finalize. */
struct sg_test_loop {
    atomic_bool messages, collectives;
    bool threads; /* several may call MPI at a time */
};

extern struct sg_test_loop sg_test_loop;

/* Collective over all ranks, in MPI_Init. are_direct: whether none of the functions that are
 * carried out otherwise is another tool's, which would miss them. */
enum sg_status sg_test_loop_start(const struct sg_exchange *exchange, bool (*are_direct)(void));
/* In MPI_Finalize: from here on blocking calls are MPICH's. */
void sg_test_loop_stop(void);

/* Whether the calling thread is to carry out a message or a wait so; it begins one then. */
static inline bool sg_test_loop_begin(void)
{
    if (__builtin_expect(!atomic_load_explicit(&sg_test_loop.messages, memory_order_relaxed), 1) ||
        !sg_process_running() || (sg_turn_mode() == SG_WAIT_AUTO && !sg_turn_is_contested()))
        return false;
    sg_turn_begin_wait();
    return true;
}

/* ... and whether a collective on the communicator is, on all its ranks. */
bool sg_test_loop_covers(MPI_Comm comm);

static inline bool sg_test_loop_begin_collective(MPI_Comm comm)
{
    if (__builtin_expect(!atomic_load_explicit(&sg_test_loop.collectives, memory_order_relaxed),
                         1) ||
        !sg_process_running() || !sg_test_loop_covers(comm))
        return false;
    sg_turn_begin_wait();
    return true;
}

/* ... a reduction: MPICH may associate the operands of its nonblocking form otherwise, so only
 * those in which that does not show. */
bool sg_test_loop_begin_reduction(MPI_Comm comm, MPI_Datatype datatype, MPI_Op op);
/* Completes what the communicator's nonblocking call has begun; error: its own, which it has
 * raised. The status may be MPI_STATUS_IGNORE. */
int sg_test_loop_complete(int error, MPI_Request *request, MPI_Comm comm, MPI_Status *status);

/* Point-to-point calls and waits by loops of tests (test_loop.h): after sg_test_loop_begin only.
 *
 * Arguments, results, statuses and errors as of the MPI functions of these names, in words. Any
 * thread; not from a signal handler.
 */

#define SG_LOOP_ENVELOPE sg_word buffer, sg_word count, sg_word type
#define SG_LOOP_SEND(name)                                                                         \
    int sg_loop_##name(SG_LOOP_ENVELOPE, sg_word to, sg_word tag, sg_word comm);
#define SG_LOOP_OF_LENGTH(c)                                                                       \
    SG_LOOP_SEND(Send##c)                                                                          \
    SG_LOOP_SEND(Ssend##c)                                                                         \
    SG_LOOP_SEND(Rsend##c)                                                                         \
    int sg_loop_Recv##c(SG_LOOP_ENVELOPE, sg_word from, sg_word tag, sg_word comm,                 \
                        sg_word status);                                                           \
    int sg_loop_Mrecv##c(SG_LOOP_ENVELOPE, sg_word message, sg_word status);                       \
    int sg_loop_Sendrecv##c(SG_LOOP_ENVELOPE, sg_word to, sg_word send_tag, sg_word into,          \
                            sg_word into_count, sg_word into_type, sg_word from, sg_word tag,      \
                            sg_word comm, sg_word status);                                         \
    int sg_loop_Sendrecv_replace##c(SG_LOOP_ENVELOPE, sg_word to, sg_word send_tag, sg_word from,  \
                                    sg_word tag, sg_word comm, sg_word status);

SG_LOOP_OF_LENGTH()
SG_LOOP_OF_LENGTH(_c)

int sg_loop_Probe(sg_word from, sg_word tag, sg_word comm, sg_word status);
int sg_loop_Mprobe(sg_word from, sg_word tag, sg_word comm, sg_word message, sg_word status);
int sg_loop_Wait(sg_word request, sg_word status);
int sg_loop_Waitall(sg_word count, sg_word requests, sg_word statuses);
int sg_loop_Waitany(sg_word count, sg_word requests, sg_word index, sg_word status);
int sg_loop_Waitsome(sg_word count, sg_word requests, sg_word done, sg_word indices,
                     sg_word statuses);

#endif
