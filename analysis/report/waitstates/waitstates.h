/* Wait states: the time that ranks spent in calls of MPI because another rank had not yet done its
 * part, with the rank and the call at fault. The definitions are Scalasca's, so that its users
 * recognise the figures.
 *
 * With the waiting call entered at E and left at L, and the other side ready at T, the wait is
 * min(T, L) - E where T > E:
 *   late sender      of a call that completes a receive; T: the call that began the send was
 *                    entered
 *   late receiver    of a call that completes a send and ends after T: the call that posted the
 *                    receive was entered. Not of buffered sends
 *   wait at barrier, wait at NxN
 *                    of each member; T: the last member entered
 *   late broadcast   of each member but the root (bcast, scatter); T: the root entered
 *   early reduce     of the root (reduce, gather); T: the last of the others entered
 *   early scan       of each member (scan, exscan); T: the last member of a lower rank entered
 *   late neighbor    of a neighborhood collective that ends after T; T: the last of the neighbors
 *                    whose data it gets entered
 *   wait at fence, wait at create, wait at free
 *                    of each member of a window's communicator, if none left before T; T: the last
 *                    member entered the fence, or the call that makes or frees the window
 *   late post        of MPI_Win_start or complete, if it ends after T; T: the last of the targets
 *                    entered MPI_Win_post
 *   early wait       of MPI_Win_wait; T: the last of the origins entered MPI_Win_complete
 *   lock contention  of MPI_Win_lock, lock_all, or the first flush or unlock that completes an
 *                    operation under the lock, if it ends after T; T: the last that held the lock
 *                    before entered MPI_Win_unlock (waitstates/locks.h)
 *
 * A call waits once, whatever it completes: for what came last. Calls that only test do not wait.
 * A late sender is in wrong order if a message that was sent earlier to the same rank is received
 * by a later call. MPI_Probe and MPI_Mprobe wait for the message that is received next on their
 * thread, or with their handle.
 *
 * A nonblocking collective waits in the call that completes it; its T is that of the calls that
 * start it, of a persistent one MPI_Start. Those that the library carries out (barrier, reduce,
 * allreduce, bcast) are measured as in report/measure.h, and wait at the call that starts them.
 */
#ifndef SG_REPORT_WAITSTATES_WAITSTATES_H
#define SG_REPORT_WAITSTATES_WAITSTATES_H

#include "report/report.h"

#include <stdint.h>

enum sg_waitstate_kind {
    SG_WAITSTATE_LATE_SENDER,
    SG_WAITSTATE_LATE_RECEIVER,
    SG_WAITSTATE_BARRIER,
    SG_WAITSTATE_NXN,
    SG_WAITSTATE_LATE_BROADCAST,
    SG_WAITSTATE_EARLY_REDUCE,
    SG_WAITSTATE_EARLY_SCAN,
    SG_WAITSTATE_LATE_NEIGHBOR,
    SG_WAITSTATE_FENCE,
    SG_WAITSTATE_CREATE,
    SG_WAITSTATE_FREE,
    SG_WAITSTATE_LATE_POST,
    SG_WAITSTATE_EARLY_WAIT,
    SG_WAITSTATE_LOCK,
    SG_WAITSTATE_KINDS
};

/* "late sender", ... */
extern const char *const sg_waitstate_names[SG_WAITSTATE_KINDS];

struct sg_waitstate_figures {
    uint64_t waits;
    uint64_t wait_ns, max_ns;
};

/* A function at a call site. */
struct sg_waitstate_place {
    /* The call site only, and of skews communicator, calls, instances, skew, last rank, wait and
     * the time of the worst: columns of report/columns.h take it. */
    struct sg_report_site site;
    const char *function; /* "MPI_Recv" */
};

/* All waits of a kind at a place. */
struct sg_waitstate_row {
    struct sg_waitstate_place at; /* first: it is the row's call site */
    enum sg_waitstate_kind kind;
    struct sg_waitstate_figures of;
    uint64_t wrong_order_waits, wrong_order_ns; /* among them */
};

/* Those for calls at another place. */
struct sg_waitstate_pair {
    struct sg_waitstate_place at;
    struct sg_waitstate_place other;
    enum sg_waitstate_kind kind;
    struct sg_waitstate_figures of;
    uint32_t ranks;      /* that were waited for there */
    uint32_t rank;       /* the one that was waited for longest; of several the lowest */
    uint64_t rank_waits; /* for it */
    uint64_t rank_ns;
};

struct sg_waitstate_rank {
    struct sg_waitstate_figures waited; /* by the rank for others */
    struct sg_waitstate_figures caused; /* by others for the rank */
};

struct sg_places; /* waitstates/places.h */

struct sg_waitstates {
    struct sg_waitstate_row *rows; /* the longest sum first, as are pairs */
    struct sg_waitstate_pair *pairs;
    uint32_t row_count, pair_count;
    /* Of the collectives that MPICH carried out, the longest sum of waits first. */
    struct sg_waitstate_place *skews;
    uint32_t skew_count;
    struct sg_waitstate_rank *ranks; /* by rank in MPI_COMM_WORLD */
    uint32_t rank_count;
    struct sg_waitstate_figures total;
    uint64_t messages; /* whose send and receive are known */
    uint64_t unmatched_sends, unmatched_receives;
    uint64_t clock_violations; /* messages received before they were sent */
    uint64_t largest_violation_ns;
    struct sg_places *places; /* owned, if not NULL: has the functions' names */
};

void sg_waitstates_free(struct sg_waitstates *states);

#endif
