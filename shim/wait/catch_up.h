/* Lets MPICH catch up with messages that arrived during the library's collectives.
 *
 * MPICH's collectives make progress, so a message sent before a barrier is in its queue of
 * unexpected messages after the barrier, and one MPI_Iprobe finds it. The library's collectives
 * make none unless they wait. Each of them therefore marks MPICH as behind when it ends, which
 * costs one load; the next call that reports events (a test, a probe) first lets MPICH catch up.
 *
 * Any thread; not from a signal handler.
 */
#ifndef SG_WAIT_CATCH_UP_H
#define SG_WAIT_CATCH_UP_H

#include <mpi.h>
#include <stdatomic.h>

/* One state for the process: the thread that tests need not be the one that was in the collective.
 */
enum sg_catch_up { SG_CAUGHT_UP, SG_BEHIND, SG_CATCHING_UP };
extern _Atomic enum sg_catch_up sg_catch_up_state;

/* In MPI_Init, while no other thread calls MPI, and in MPI_Finalize. world is the library's
 * duplicate of MPI_COMM_WORLD. */
void sg_catch_up_start(MPI_Comm world);
void sg_catch_up_stop(void);

/* Called at the end of a library operation that synchronizes this rank with others. */
static inline void sg_catch_up_owe(void)
{
    /* Relaxed: a program that tests in another thread synchronizes the two. The load keeps the line
     * shared among threads. */
    if (atomic_load_explicit(&sg_catch_up_state, memory_order_relaxed) != SG_BEHIND)
        atomic_store_explicit(&sg_catch_up_state, SG_BEHIND, memory_order_relaxed);
}

void sg_catch_up_now(void);
/* Called before a call that reports events. */
static inline void sg_catch_up(void)
{
    if (__builtin_expect(
            atomic_load_explicit(&sg_catch_up_state, memory_order_relaxed) != SG_CAUGHT_UP, 0))
        sg_catch_up_now();
}

#endif
