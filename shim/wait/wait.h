/* Waiting: a ladder of spinning, yielding and sleeping, which also drives MPICH's progress.
 *
 * MPICH must be driven meanwhile: a peer may be in MPI_Recv for a large message from this rank, and
 * the rendezvous completes only in this rank's MPI calls. Every rung ends after a bounded time in a
 * poke (PMPI_Iprobe on the library's duplicate of MPI_COMM_WORLD), and no sleep is longer than that
 * time.
 *
 * The length of a rung depends on whether each rank of this machine has a processor.
 */
#ifndef SG_WAIT_WAIT_H
#define SG_WAIT_WAIT_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct sg_wait {
    uint32_t steps;
    uint64_t begin_ns;  /* time at which it had lasted some microseconds; 0: not yet */
    bool is_woken;      /* another rank has ended its last sleep */
    uint64_t yields_ns; /* start of yielding, or MPICH's last event since; 0: not yet */
};

/* Shared memory in which a group of waiters sleeps. */
struct sg_wait_queue {
    _Atomic uint32_t *sleepers; /* their number; and whether a sleep may be long */
    _Atomic uint32_t *wake;     /* futex */
    /* Time, by core/clock.h, at which a waiter has work of its own; 0: none. NULL: never. */
    const _Atomic uint64_t *timer_ns;
    /* A rank that does what a sleeper waits for wakes it: a sleep may be long. */
    bool is_always_woken;
};

/* In MPI_Init, after sg_processors_start. world: the communicator to poke. */
void sg_wait_start(MPI_Comm world);

/* Runs one step of a wait. Returns true occasionally, at least a few microseconds apart, when the
 * caller should check a long wait. Calls `ready` again right before a sleep. */
bool sg_wait_step(struct sg_wait *wait, const struct sg_wait_queue *queue,
                  bool (*ready)(void *context), void *context);

/* As sg_wait_step, for a caller with other work: it never sleeps. */
void sg_wait_brief(struct sg_wait *wait);

/* Time spent on the slow rungs; 0 on the first. */
uint64_t sg_wait_elapsed_ns(const struct sg_wait *wait);

/* True if so many ranks wait for a processor that the next one should have it at once. */
bool sg_wait_is_crowded(const struct sg_wait_queue *queue);

/* After a change that others may wait for: true if there are sleepers. One that it misses wakes by
 * its timer, within 100 us; those that sleep for longer are not missed. */
bool sg_wait_has_sleepers(const struct sg_wait_queue *queue);
/* Wakes all sleepers. */
void sg_wait_wake(const struct sg_wait_queue *queue);
/* With long sleepers, wakes those that have slept for the longest; otherwise all. The woken ones
 * (is_woken) wake the next ones. */
void sg_wait_wake_first(const struct sg_wait_queue *queue, int count);

#endif
