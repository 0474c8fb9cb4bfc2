/* Carries out blocking calls as nonblocking ones and a loop of tests, each of which may yield the
 * processor: for an MPICH whose progress no hook reaches (wait/hook.h).
 *
 * Messages and waits: each rank decides for itself, whenever others want its processor.
 * Collectives: all ranks or none, because MPI does not match a blocking one with a nonblocking one;
 * the ranks agree in MPI_Init, and only communicators inside MPI_COMM_WORLD take part.
 *
 * Errors go to the communicator's handler, once, as from the blocking call. If MPICH raises a
 * nonblocking call's errors elsewhere, the handlers are set aside during a test.
 *
 * Any thread; not from a signal handler. No lock is held while a thread waits.
 */
#ifndef SG_INTERCEPT_TEST_LOOP_H
#define SG_INTERCEPT_TEST_LOOP_H

#include "core/status.h"
#include "mpi/real.h"
#include "profile/counted_functions.h"
#include "runtime/settings.h"
#include "wait/turn.h"

#include <mpi.h>

/* Constant from MPI_Init to MPI_Finalize. */
struct sg_test_loop {
    atomic_bool messages, collectives;
    bool threads; /* several may call MPI at once */
};

extern struct sg_test_loop sg_test_loop;

/* Collective over all ranks, in MPI_Init. are_direct: true if no other tool has a function that a
 * loop replaces; the tool would miss those calls. */
enum sg_status sg_test_loop_start(const struct sg_exchange *exchange, bool (*are_direct)(void));
/* Call in MPI_Finalize: blocking calls are MPICH's from here on. */
void sg_test_loop_stop(void);

/* Returns true if the calling thread is to carry out a message or a wait by a loop; its wait has
 * then begun. */
static inline bool sg_test_loop_begin(void)
{
    if (__builtin_expect(!atomic_load_explicit(&sg_test_loop.messages, memory_order_relaxed), 1) ||
        !sg_process_running() || (sg_turn_mode() == SG_WAIT_AUTO && !sg_turn_is_contested()))
        return false;
    sg_turn_begin_wait();
    return true;
}

/* The same for a collective on the communicator; covers returns the same on all its ranks. */
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

/* The same for a reduction. MPICH may associate the operands of the nonblocking form differently,
 * so only reductions in which that does not show qualify. */
bool sg_test_loop_begin_reduction(MPI_Comm comm, MPI_Datatype datatype, MPI_Op op);
/* Completes the request that a nonblocking call on the communicator returned. error: that call's,
 * which it has raised. The status may be MPI_STATUS_IGNORE. */
int sg_test_loop_complete(int error, MPI_Request *request, MPI_Comm comm, MPI_Status *status);

/* Carries out a call of a function that a loop may carry out (sg_function_facts.may_loop), once one
 * of the functions above has returned true for it. Results, statuses and errors are the function's.
 * Any thread; not from a signal handler. */
int sg_test_loop_run(enum sg_function function, const sg_word *words);
/* The same for MPI_Wait. */
int sg_test_loop_wait(sg_word request, sg_word status);

#endif
