/* Who waits for a lock on a target's memory, and for whom: MPI_Win_lock, lock_all, and unlock.
 *
 * A library may return from MPI_Win_lock before the lock is there, and get it when the first
 * operation under it must be complete. So a lock is known to be held only once an operation under
 * it is complete at its target, as a flush or the unlock says. Of two ranks whose locks exclude
 * each other, A had its lock before B if A's is known to be held at a time when B had not begun to
 * unlock. Then B got its lock when A had begun to unlock, or later: B's MPI_Win_lock, or the call
 * that completed B's first operation, waited until then if it lasted beyond. Where neither is known
 * to be before the other, and where both are, as with MPI_MODE_NOCHECK, nothing is told.
 *
 * As in tracker.h. Functions that return a status: SG_ERR_MEMORY only, not logged.
 */
#ifndef SG_REPORT_WAITSTATES_LOCKS_H
#define SG_REPORT_WAITSTATES_LOCKS_H

#include "core/status.h"
#include "report/waitstates/operations.h"
#include "report/waitstates/settle.h"
#include "report/waitstates/table.h"

struct sg_waitstate_unlocking; /* by rank */

struct sg_waitstate_locks {
    struct sg_waitstate_settling *settling;
    struct sg_link_table claims;  /* by window, target and rank */
    struct sg_link_table targets; /* by window and target */
    struct sg_link_table awaited; /* operations, by rank and number */
    struct sg_waitstate_unlocking *unlocking;
};

enum sg_status sg_waitstate_locks_start(struct sg_waitstate_locks *locks,
                                        struct sg_waitstate_settling *settling, uint32_t ranks);
/* Gives up what is held. */
enum sg_status sg_waitstate_locks_finish(struct sg_waitstate_locks *locks);
void sg_waitstate_locks_clear(struct sg_waitstate_locks *locks);

/* A call of MPI_Win_unlock or MPI_Win_unlock_all begins, and is over; nothing of others. */
void sg_waitstate_locks_enter(struct sg_waitstate_locks *locks,
                              const struct sg_waitstate_call *call);
void sg_waitstate_locks_leave(struct sg_waitstate_locks *locks,
                              const struct sg_waitstate_call *call);

enum sg_status sg_waitstate_locks_request(struct sg_waitstate_locks *locks,
                                          struct sg_waitstate_call *call,
                                          const struct sg_waitstate_lock *lock);
enum sg_status sg_waitstate_locks_release(struct sg_waitstate_locks *locks,
                                          struct sg_waitstate_call *call,
                                          const struct sg_waitstate_lock *lock);
/* An operation of a rank on a target, and that it is complete there. */
enum sg_status sg_waitstate_locks_operation(struct sg_waitstate_locks *locks, uint32_t rank,
                                            uint32_t window, uint32_t target, uint64_t operation);
void sg_waitstate_locks_completed(struct sg_waitstate_locks *locks, struct sg_waitstate_call *call,
                                  uint64_t operation, int64_t time_ns);

#endif
