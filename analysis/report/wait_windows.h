/* Matches what origins and targets tell of MPI_Win_start, complete, post and wait: between an
 * origin and a target, on a window, the nth start with the nth post. A call waits for the last of
 * the ranks that it synchronises with.
 *
 * Where recording was off for a while one side lacks some. Then later ones match wrongly, but a
 * start or complete that was over before the post, and a wait before the complete, did not wait for
 * it: nothing is told rather than something wrong.
 *
 * As in tracker.h. Functions that return a status: SG_ERR_MEMORY only, not logged.
 */
#ifndef SG_REPORT_WAIT_WINDOWS_H
#define SG_REPORT_WAIT_WINDOWS_H

#include "core/status.h"
#include "report/wait_skews.h"

struct sg_waitstate_epochs {
    struct sg_waitstate_settling *settling;
    struct sg_link_table open;
    uint64_t begun;
};

/* What the call is to the group its function says; nothing of other functions. */
enum sg_status sg_waitstate_epochs_add(struct sg_waitstate_epochs *epochs,
                                       struct sg_waitstate_call *call,
                                       const struct sg_waitstate_group *group);
/* Those that are not over: tells what is known of them. */
enum sg_status sg_waitstate_epochs_finish(struct sg_waitstate_epochs *epochs);

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
