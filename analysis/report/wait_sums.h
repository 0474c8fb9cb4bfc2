/* Sums up wait states: by kind and place, by pair of places, and by rank.
 *
 * Memory grows with places and pairs of them, and with the ranks that are waited for at each; not
 * with waits. Functions that return a status: SG_ERR_MEMORY only, not logged. Not thread-safe.
 */
#ifndef SG_REPORT_WAIT_SUMS_H
#define SG_REPORT_WAIT_SUMS_H

#include "core/status.h"
#include "report/report.h"

#include <stdbool.h>
#include <stdint.h>

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

/* Numbers for the places that calls are at: function and call site. All that sums up by place uses
 * one table of them.
 *
 * Functions that return a status: SG_ERR_MEMORY only, not logged. Not thread-safe.
 */

struct sg_aggregate;

struct sg_places;

/* No place, as before a thread's first call. */
#define SG_NO_PLACE UINT32_MAX

/* Where a rank is. */
struct sg_waitstate_end {
    uint32_t function; /* sg_places_function() */
    uint32_t site;     /* index in the aggregate */
    uint32_t rank;     /* in MPI_COMM_WORLD */
    uint32_t location; /* its thread; sums do not tell threads apart */
};

/* The aggregate has the call sites, and outlives the places. */
enum sg_status sg_places_create(const struct sg_aggregate *aggregate, struct sg_places **out);
void sg_places_destroy(struct sg_places *places);
/* The number of a function of this name, which is copied. */
enum sg_status sg_places_function(struct sg_places *places, const char *name, uint32_t *out);
/* The number of the place where the rank is, from 0; -1: out of memory. */
int64_t sg_places_find(struct sg_places *places, const struct sg_waitstate_end *end);
/* The call site of a place, as an index of the aggregate. */
uint32_t sg_places_site(const struct sg_places *places, uint32_t place);
/* Sets function and names; nothing of SG_NO_PLACE. Texts are those of places and aggregate. */
void sg_places_name(const struct sg_places *places, uint32_t place, struct sg_waitstate_place *out);

struct sg_aggregate;

struct sg_filter;

struct sg_waitstate_sums;

/* One wait. */
struct sg_waitstate {
    enum sg_waitstate_kind kind;
    struct sg_waitstate_end at, other; /* who waits, and for whom */
    uint32_t comm;                     /* index in the aggregate */
    int64_t begin_ns;                  /* since the run's start */
    uint64_t wait_ns;
    uint32_t skew; /* the row of waitstates/skews.h that it counts for; 0: none */
};

#define SG_WAITSTATE_LEFT_OUT UINT32_MAX

/* The aggregate has the communicators; it, the places and the filter (NULL: none) outlive the
 * sums. Only waits whose place, communicator, waiting rank and begin the filter takes are counted.
 */
enum sg_status sg_waitstate_sums_create(const struct sg_aggregate *aggregate,
                                        const struct sg_filter *filter, struct sg_places *places,
                                        struct sg_waitstate_sums **out);
void sg_waitstate_sums_destroy(struct sg_waitstate_sums *sums);
/* *row, where row is not NULL: what the wait counts for, or SG_WAITSTATE_LEFT_OUT. */
enum sg_status sg_waitstate_sums_add(struct sg_waitstate_sums *sums,
                                     const struct sg_waitstate *wait, uint32_t *row);
/* A wait that was added to the row turned out to be in wrong order. */
void sg_waitstate_sums_wrong_order(struct sg_waitstate_sums *sums, uint32_t row, uint64_t wait_ns);
/* By function, then by call site. */
int sg_waitstate_compare_places(const struct sg_waitstate_place *a,
                                const struct sg_waitstate_place *b);
/* The result, of which the figures of messages and the skews are missing; it refers to the
 * aggregate and the places, which it may own. The sums are empty afterwards, and to be destroyed.
 */
enum sg_status sg_waitstate_sums_finish(struct sg_waitstate_sums *sums, struct sg_waitstates **out);

#endif
