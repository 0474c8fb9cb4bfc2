/* Sums up wait states by place, by kind and place, by pair of places, and by rank.
 *
 * Memory grows with places, with pairs of them, and with the ranks awaited at each; not with waits.
 * Functions that return a status return SG_OK or SG_ERR_MEMORY, which they do not log. Not
 * thread-safe.
 */
#ifndef SG_REPORT_WAIT_SUMS_H
#define SG_REPORT_WAIT_SUMS_H

#include "core/status.h"
#include "report/filter.h"
#include "report/report.h"

#include <stdbool.h>
#include <stdint.h>

/* Wait states: the time that ranks spent in MPI calls because another rank had not yet done its
 * part, with the rank and the call at fault. The definitions are Scalasca's, so that its users
 * recognise the figures.
 *
 * With the waiting call entered at E and left at L, and the other side ready at T, the wait is
 * min(T, L) - E where T > E:
 *   late sender      of a call that completes a receive; T: the call that began the send was
 *                    entered
 *   late receiver    of a call that completes a send and ends after T: the call that posted the
 *                    receive was entered. Not of buffered sends, nor of eager ones: those complete
 *                    when the call that began them returned, and those that are not larger than one
 *                    between the same ranks that completed before its receive was posted
 *   wait at barrier, wait at NxN
 *                    of each member; T: the last member entered
 *   late broadcast   of each member but the root (bcast, scatter); T: the root entered
 *   early reduce     of the root (reduce, gather); T: the last of the others entered
 *   early scan       of each member (scan, exscan); T: the last member of a lower rank entered
 *   late neighbor    of a neighborhood collective; T: as for all collectives
 *   wait at fence, wait at create, wait at free
 *                    of each member of a window's communicator, if none left before T; T: the last
 *                    member entered the fence, or the call that makes or frees the window
 *   wait at file     of each member of a file's communicator, if none left before T; T: the last
 *                    member entered the call that all of them make on the file
 *   wait at communicator
 *                    likewise, of a call that makes communicators
 *   wait at init, wait at finalize
 *                    likewise, of MPI_Init and MPI_Finalize
 *   all collectives  T is at least when the last member entered that entered before L: whatever the
 *                    algorithm, the member was in the collective while that one was not. Where
 *                    members exchange data themselves, as in a neighborhood or MPI_Alltoallv: the
 *                    last of those that it exchanges data with
 *   late post        of MPI_Win_start or complete, if it ends after T; T: the last of the targets
 *                    entered MPI_Win_post
 *   early wait       of MPI_Win_wait; T: the last of the origins entered MPI_Win_complete
 *   lock contention  of MPI_Win_lock, lock_all, or the first flush or unlock that completes an
 *                    operation under the lock, if it ends after T; T: the last that held the lock
 *                    before entered MPI_Win_unlock (report/wait_windows.h)
 *   late target      of MPI_Win_lock, lock_all (for the last of its targets), or a call that
 *                    completes an operation under a lock, if it ends after T; T: the target
 *                    entered its next call, and was in none for most of the time until then.
 *                    Without hardware for it, the library carries out operations in calls of their
 *                    target
 *
 * A call has one wait, whatever it completes: for the last cause. Only a wait for a lock is a late
 * target's first, as long as that is late: the target could have granted the lock to nobody, and
 * the holder may have waited for it, too. A test waits if its thread tested in vain before it, and
 * did little else: E is then the begin of the first such test. Other tests do not wait.
 * A late sender is in wrong order if a message that was sent earlier to the same rank is received
 * by a later call. MPI_Probe and MPI_Mprobe wait for the message that is received next on their
 * thread, or with their handle; loops of MPI_Request_get_status for the requests that their
 * thread completes next; MPI_Buffer_detach and similar for the receivers of the rank's
 * buffered sends that are not eager.
 *
 * A nonblocking collective waits in the call that completes it; T is when the calls that start it
 * were entered, for a persistent one MPI_Start. Collectives that the library carries out (barrier,
 * reduce, allreduce, bcast) are measured as in report/quantiles.h, and wait at the starting call.
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
    SG_WAITSTATE_LATE_TARGET,
    SG_WAITSTATE_FILE,
    SG_WAITSTATE_COMM,
    SG_WAITSTATE_INIT,
    SG_WAITSTATE_FINALIZE,
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
    /* Only the call site is set. For skews also the communicator, calls, instances, skew, last
     * rank, wait and the time of the worst instance. Columns of report/report_columns.h read it. */
    struct sg_report_site site;
    const char *function; /* "MPI_Recv" */
};

/* All waits of a kind at a place. */
struct sg_waitstate_row {
    struct sg_waitstate_place at; /* first: columns use it as the row's call site */
    enum sg_waitstate_kind kind;
    struct sg_waitstate_figures of;
    uint64_t wrong_order_waits, wrong_order_ns; /* the waits among them in wrong order */
};

/* The waits of a kind at a place for calls at another place. */
struct sg_waitstate_pair {
    struct sg_waitstate_place at;
    struct sg_waitstate_place other;
    enum sg_waitstate_kind kind;
    struct sg_waitstate_figures of;
    uint32_t ranks;      /* number of ranks awaited there */
    uint32_t rank;       /* the rank awaited longest; the lowest of several */
    uint64_t rank_waits; /* waits for that rank */
    uint64_t rank_ns;
};

#define SG_WAITSTATE_LATE 3

struct sg_waitstate_late {
    uint32_t rank;
    uint64_t wait_ns; /* of others, for this rank */
};

/* All waits in a function at a call site, of every kind. Calls of a function in one line of a file
 * count as one call site. */
struct sg_waitstate_site {
    struct sg_waitstate_place at; /* must be first; of several places the one with most waiting */
    uint32_t places;
    struct sg_waitstate_figures of;
    uint32_t ranks; /* number of ranks awaited there */
    uint32_t late_count;
    struct sg_waitstate_late late[SG_WAITSTATE_LATE]; /* the ranks awaited longest */
    struct sg_waitstate_place other;                  /* the call at fault for most of the wait */
    struct sg_waitstate_figures other_of;             /* the waits for it, of one kind */
};

struct sg_waitstate_rank {
    uint32_t rank;
    struct sg_waitstate_figures waited; /* waits of the rank for others */
    struct sg_waitstate_figures caused; /* waits of others for the rank */
};

struct sg_places; /* declared below */

struct sg_waitstates {
    struct sg_waitstate_row *rows; /* by sum of waits, the longest first, like the pairs */
    struct sg_waitstate_pair *pairs;
    struct sg_waitstate_site *sites; /* likewise */
    uint32_t row_count, pair_count, site_count;
    /* Collectives that MPICH carried out, the longest sum of waits first. */
    struct sg_waitstate_place *skews;
    uint32_t skew_count;
    struct sg_waitstate_rank *ranks; /* by rank in MPI_COMM_WORLD */
    uint32_t rank_count;
    uint64_t *waited_ns; /* sg_waitstates_waited() */
    uint32_t waited_count;
    struct sg_map waited_by_key;
    struct sg_waitstate_figures total;
    uint64_t messages; /* messages whose send and receive are both known */
    uint64_t unmatched_sends, unmatched_receives;
    uint64_t clock_violations; /* messages received before they were sent */
    uint64_t largest_violation_ns;
    struct sg_places *places; /* owned unless NULL; holds the names of functions */
};

void sg_waitstates_free(struct sg_waitstates *states);
/* Time that the rank itself waited at a call site, given by its index in the aggregate. */
uint64_t sg_waitstates_waited(const struct sg_waitstates *states, uint32_t site, uint32_t rank);

/* Numbers for the places of calls: function and call site. All sums by place share one such table.
 *
 * Functions that return a status return SG_OK or SG_ERR_MEMORY, which they do not log. Not
 * thread-safe.
 */

struct sg_aggregate;

struct sg_places;

/* No place, as before a thread's first call. */
#define SG_NO_PLACE UINT32_MAX

/* The place of a rank. */
struct sg_waitstate_end {
    uint32_t function; /* number from sg_places_function() */
    uint32_t site;     /* index in the aggregate */
    uint32_t rank;     /* in MPI_COMM_WORLD */
    uint32_t location; /* its thread; sums do not distinguish threads */
};

/* The aggregate holds the call sites and outlives the places. */
enum sg_status sg_places_create(const struct sg_aggregate *aggregate, struct sg_places **out);
void sg_places_destroy(struct sg_places *places);
/* Returns the number of the function with this name, which is copied. */
enum sg_status sg_places_function(struct sg_places *places, const char *name, uint32_t *out);
/* The number of the rank's place, from 0; -1: out of memory. */
int64_t sg_places_find(struct sg_places *places, const struct sg_waitstate_end *end);
/* The call site of a place, as an index in the aggregate. */
uint32_t sg_places_site(const struct sg_places *places, uint32_t place);
/* Sets function and names in *out, or nothing for SG_NO_PLACE. The places and the aggregate own the
 * texts. */
void sg_places_name(const struct sg_places *places, uint32_t place, struct sg_waitstate_place *out);

struct sg_aggregate;

struct sg_filter;

struct sg_waitstate_sums;

/* One wait. */
struct sg_waitstate {
    enum sg_waitstate_kind kind;
    struct sg_waitstate_end at, other; /* the waiting call, and the awaited one */
    uint32_t comm;                     /* index in the aggregate */
    int64_t begin_ns;                  /* since the run's start */
    uint64_t wait_ns;
    uint32_t skew; /* 1 + the row of the skews (report/wait_skews.h) that it counts for; 0: none */
};

#define SG_WAITSTATE_LEFT_OUT UINT32_MAX

/* The aggregate holds the communicators. The aggregate, the places and the filter (NULL: none)
 * outlive the sums. A wait counts if the filter takes its place, communicator, waiting rank and
 * begin.
 */
enum sg_status sg_waitstate_sums_create(const struct sg_aggregate *aggregate,
                                        const struct sg_filter *filter, struct sg_places *places,
                                        struct sg_waitstate_sums **out);
void sg_waitstate_sums_destroy(struct sg_waitstate_sums *sums);
/* Sets *row, unless row is NULL, to the row of the wait, or to SG_WAITSTATE_LEFT_OUT. */
enum sg_status sg_waitstate_sums_add(struct sg_waitstate_sums *sums,
                                     const struct sg_waitstate *wait, uint32_t *row);
/* Marks a wait that was added to the row as in wrong order. */
void sg_waitstate_sums_wrong_order(struct sg_waitstate_sums *sums, uint32_t row, uint64_t wait_ns);
/* True if both are calls of one function in one line of a file; without lines, at one call site. */
bool sg_waitstate_is_same_line(const struct sg_waitstate_place *a,
                               const struct sg_waitstate_place *b);
/* Sums up rows of one kind in one line. Updates the count. malloc'ed; NULL: out of memory. */
struct sg_waitstate_row *sg_waitstate_rows_by_line(const struct sg_waitstate_row *rows,
                                                   uint32_t *count);
/* Sorts by function, then by call site. */
int sg_waitstate_compare_places(const struct sg_waitstate_place *a,
                                const struct sg_waitstate_place *b);
/* Makes the result, without figures of messages and skews. It refers to the aggregate and to the
 * places, which it may own. The sums are empty afterwards and must be destroyed.
 */
enum sg_status sg_waitstate_sums_finish(struct sg_waitstate_sums *sums, struct sg_waitstates **out);

#endif
