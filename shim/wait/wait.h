/* Waiting: a ladder of spinning, yielding and sleeping, that keeps MPICH's progress going all the
 * while.
 *
 * MPICH must be driven while we wait: a peer may be in MPI_Recv for a large message of ours, and
 * the rendezvous completes only in our MPI calls. Every rung ends after a bounded time in a poke
 * (PMPI_Iprobe on our duplicate of MPI_COMM_WORLD), and no sleep is longer than that time.
 *
 * How long a rung lasts depends on whether the ranks of this machine have a processor each.
 */
#ifndef SG_WAIT_WAIT_H
#define SG_WAIT_WAIT_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct sg_wait {
    uint32_t steps;
    uint64_t begin_ns;  /* when it had lasted for some microseconds; 0: it has not */
    uint64_t yields_ns; /* when it began to yield, or MPICH last had something to do; 0: not yet */
};

/* Where waiters of one group sleep, in memory they share. */
struct sg_wait_queue {
    _Atomic uint32_t *sleepers;
    _Atomic uint32_t *wake; /* futex */
    /* When a waiter has something to do by itself, by core/clock.h; 0: nothing. NULL: never. */
    const _Atomic uint64_t *timer_ns;
};

/* In MPI_Init, after sg_processors_start. world is the communicator to poke. */
void sg_wait_start(MPI_Comm world);

/* One step of waiting. True once in a while (a few microseconds apart at least), when the caller
 * should look at what takes so long. `ready` is asked again right before a sleep. */
bool sg_wait_step(struct sg_wait *wait, const struct sg_wait_queue *queue,
                  bool (*ready)(void *context), void *context);

/* The same for one who has other things to do: it never sleeps. */
void sg_wait_brief(struct sg_wait *wait);

/* How long the slow rungs have lasted; 0 while on the first. */
uint64_t sg_wait_elapsed_ns(const struct sg_wait *wait);

/* After something that others may wait for. Best effort: a waiter that is missed wakes by itself
 * within a sleep. */
void sg_wait_wake(const struct sg_wait_queue *queue);

#endif
