/* Finds the wait states of a run from its events, reported in time order over all threads
 * (locations): the calls they enter and leave, the messages these begin and complete, and the
 * collectives they take part in. Independent of archives.
 *
 * Messages match by communicator, sender, receiver and tag: the nth send matches the receive that
 * was posted nth among those that received from there. The sender and tag of a receive are known
 * only on completion, so receives are taken in the order of their posts, and a complete one waits
 * for earlier posts. At most SG_WAITSTATE_HELD receives of a rank wait behind one that does not
 * complete.
 *
 * Memory depends on the outstanding objects (sends not received, incomplete receives and
 * collectives, open epochs, held locks) and on call sites, not on the number of events. Input is
 * untrusted: events that do not fit are left out. A rank is a rank of MPI_COMM_WORLD, below the
 * aggregate's number of ranks; locations are numbered from 0.
 *
 * Functions that return a status return SG_OK, SG_ERR_MEMORY, not logged, or the listener's status.
 * Not thread-safe.
 */
#ifndef SG_REPORT_WAIT_TRACKER_H
#define SG_REPORT_WAIT_TRACKER_H

#include "core/status.h"
#include "report/wait_skews.h"
#include "report/wait_sums.h"

#include <stdbool.h>
#include <stdint.h>

struct sg_cause_finder;

struct sg_critical;

struct sg_waitstate_tracker;

/* True for a function that a program calls again and again until something has come: MPI_Test and
 * similar. */
bool sg_waitstate_only_tests(const char *function);

/* The begin of a call. */
struct sg_waitstate_enter {
    struct sg_waitstate_end who;
    int64_t time_ns;
    bool only_tests;                 /* MPI_Test and similar */
    bool is_buffered;                /* MPI_Bsend and similar */
    bool is_synchronous;             /* MPI_Ssend and similar */
    bool is_probe;                   /* MPI_Probe, MPI_Iprobe and similar */
    bool is_question;                /* MPI_Request_get_status and similar */
    bool flushes;                    /* waits for buffered sends: MPI_Buffer_detach and similar */
    enum sg_rma rma;                 /* its operation on a window, if any */
    enum sg_waitstate_pattern named; /* of its collective, if the function determines it */
    /* The time before the begin for which its thread had tested in vain and done little else. It
     * belongs to the call, as far as no other call was in it. Only such a test waits. */
    uint64_t polled_ns;
};

/* Returns the members that only depend on the function; all others, and named, are 0. */
struct sg_waitstate_enter sg_waitstate_enter_of(const char *function);

/* The sums and the skews outlive the tracker. */
enum sg_status sg_waitstate_tracker_create(struct sg_waitstate_sums *sums,
                                           struct sg_waitstate_skews *skews, uint32_t ranks,
                                           uint32_t locations, struct sg_waitstate_tracker **out);
/* Sets the callbacks for matches and for waits (NULL: none) from now on. Callbacks must not call
 * the tracker. */
void sg_waitstate_tracker_listen(struct sg_waitstate_tracker *tracker,
                                 sg_waitstate_listener listener, sg_waitstate_waited waited,
                                 void *context);
/* From now on reports calls and waits to critical, and complete collectives to causes. */
void sg_waitstate_tracker_follow(struct sg_waitstate_tracker *tracker, struct sg_critical *critical,
                                 struct sg_cause_finder *causes);
void sg_waitstate_tracker_destroy(struct sg_waitstate_tracker *tracker);
/* A call within a call is part of the outer one. */
enum sg_status sg_waitstate_enter(struct sg_waitstate_tracker *tracker, uint32_t location,
                                  const struct sg_waitstate_enter *call);
enum sg_status sg_waitstate_leave(struct sg_waitstate_tracker *tracker, uint32_t location,
                                  int64_t time_ns);

/* The following events belong to the location's current call; without one they are ignored. A
 * request is a number that is unique on its rank while in use; any thread of the rank may complete
 * it. */

/* A send that the same call completes. */
enum sg_status sg_waitstate_send(struct sg_waitstate_tracker *tracker, uint32_t location,
                                 const struct sg_waitstate_message *message);
enum sg_status sg_waitstate_isend(struct sg_waitstate_tracker *tracker, uint32_t location,
                                  const struct sg_waitstate_message *message, uint64_t request);
enum sg_status sg_waitstate_sent(struct sg_waitstate_tracker *tracker, uint32_t location,
                                 uint64_t request);
/* A receive that the same call posted and completed. */
enum sg_status sg_waitstate_receive(struct sg_waitstate_tracker *tracker, uint32_t location,
                                    const struct sg_waitstate_message *message, int64_t time_ns);
enum sg_status sg_waitstate_post(struct sg_waitstate_tracker *tracker, uint32_t location,
                                 uint64_t request);
enum sg_status sg_waitstate_received(struct sg_waitstate_tracker *tracker, uint32_t location,
                                     const struct sg_waitstate_message *message, uint64_t request,
                                     int64_t time_ns);
enum sg_status sg_waitstate_cancelled(struct sg_waitstate_tracker *tracker, uint32_t location,
                                      uint64_t request);
/* A collective that the same call completes. */
enum sg_status sg_waitstate_collective(struct sg_waitstate_tracker *tracker, uint32_t location,
                                       const struct sg_waitstate_collective *collective);
enum sg_status sg_waitstate_begin_collective(struct sg_waitstate_tracker *tracker,
                                             uint32_t location, uint64_t request);
enum sg_status sg_waitstate_end_collective(struct sg_waitstate_tracker *tracker, uint32_t location,
                                           const struct sg_waitstate_collective *collective,
                                           uint64_t request);

/* Calls on windows, which are numbered from 0 below UINT32_MAX. */

/* Reported at the end of a call that synchronises with a group. */
enum sg_status sg_waitstate_synchronise(struct sg_waitstate_tracker *tracker, uint32_t location,
                                        const struct sg_waitstate_group *group);
enum sg_status sg_waitstate_request_lock(struct sg_waitstate_tracker *tracker, uint32_t location,
                                         const struct sg_waitstate_lock *lock);
/* Reported at the end of the call that releases the lock. */
enum sg_status sg_waitstate_release_lock(struct sg_waitstate_tracker *tracker, uint32_t location,
                                         const struct sg_waitstate_lock *lock);
/* The begin of an operation on a target, given by its rank in the window's communicator and in
 * MPI_COMM_WORLD, and its completion there. Operations are numbered like requests. */
enum sg_status sg_waitstate_operation(struct sg_waitstate_tracker *tracker, uint32_t location,
                                      uint32_t window, uint32_t target, uint32_t rank_there,
                                      uint64_t operation);
void sg_waitstate_operated(struct sg_waitstate_tracker *tracker, uint32_t location,
                           uint64_t operation, int64_t time_ns);
/* It is complete at its origin. */
void sg_waitstate_operated_here(struct sg_waitstate_tracker *tracker, uint32_t location,
                                uint64_t operation, int64_t time_ns);

struct sg_waitstate_counts {
    uint64_t messages;
    uint64_t unmatched_sends, unmatched_receives;
    uint64_t violations, largest_violation_ns;
    /* Objects held now, and at most: calls, messages, collectives, epochs, locks. */
    uint64_t live, live_max;
};

/* After the last event: drops incomplete objects, and counts the calls that waited for them. */
enum sg_status sg_waitstate_tracker_finish(struct sg_waitstate_tracker *tracker,
                                           struct sg_waitstate_counts *out);

#endif
