/* Matches MPI_Win_start, complete, post and wait: between an origin and a target, on a window, the
 * nth start matches the nth post. A call waits for the last of the ranks that it synchronises with.
 * The header also declares the matching of locks.
 *
 * If recording was off for a while, one side lacks epochs, and later ones match wrongly. A start or
 * complete that ended before the post, or a wait that ended before the complete, did not wait for
 * it, so that case reports no wait rather than a wrong one.
 *
 * Rules as in report/wait_tracker.h. Functions that return a status return SG_OK or SG_ERR_MEMORY,
 * which they do not log.
 */
#ifndef SG_REPORT_WAIT_WINDOWS_H
#define SG_REPORT_WAIT_WINDOWS_H

#include "core/status.h"
#include "report/wait_skews.h"

struct access;
struct claim;
struct target;

struct sg_waitstate_epochs {
    struct sg_waitstate_settling *settling;
    struct access *open;
};

/* Adds the call in the role of its function towards the group; ignores other functions. */
enum sg_status sg_waitstate_epochs_add(struct sg_waitstate_epochs *epochs,
                                       struct sg_waitstate_call *call,
                                       const struct sg_waitstate_group *group);
/* Ends the open epochs, with the causes known so far. */
enum sg_status sg_waitstate_epochs_finish(struct sg_waitstate_epochs *epochs);

/* Waits for a lock on a target's memory: MPI_Win_lock, lock_all, and unlock.
 *
 * A library may return from MPI_Win_lock before it has the lock, and acquire it when the first
 * operation under it must complete. A lock is therefore known to be held only once an operation
 * under it is complete at its target, as reported by a flush or the unlock. Of two ranks whose
 * locks exclude each other, A had its lock before B if A's is known to be held at a time when B had
 * not begun to unlock. B then got its lock when A had begun to unlock, or later: B's MPI_Win_lock,
 * or the call that completed B's first operation, waited until then if it lasted beyond. If neither
 * is known to be first, or both are, as with MPI_MODE_NOCHECK, no wait is reported.
 *
 * Rules as in report/wait_tracker.h. Functions that return a status return SG_OK or SG_ERR_MEMORY,
 * which they do not log.
 */

struct sg_waitstate_unlocking; /* of one rank */

struct sg_waitstate_locks {
    struct sg_waitstate_settling *settling;
    struct claim *claims;   /* by window, target and rank */
    struct target *targets; /* by window and target */
    struct claim *awaited;  /* those with a pending operation, by it and rank */
    struct sg_waitstate_unlocking *unlocking;
};

enum sg_status sg_waitstate_locks_start(struct sg_waitstate_locks *locks,
                                        struct sg_waitstate_settling *settling, uint32_t ranks);
/* Drops the locks that are still held. */
enum sg_status sg_waitstate_locks_finish(struct sg_waitstate_locks *locks);
void sg_waitstate_locks_clear(struct sg_waitstate_locks *locks);
/* Report the begin and the end of a call of MPI_Win_unlock or MPI_Win_unlock_all; ignore other
 * calls. */
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
/* Report an operation of a rank on a target, and its completion there. */
enum sg_status sg_waitstate_locks_operation(struct sg_waitstate_locks *locks, uint32_t rank,
                                            uint32_t window, uint32_t target, uint64_t operation);
void sg_waitstate_locks_completed(struct sg_waitstate_locks *locks, struct sg_waitstate_call *call,
                                  uint64_t operation, int64_t time_ns);

#endif
