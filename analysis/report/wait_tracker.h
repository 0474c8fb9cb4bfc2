/* Finds the wait states of a run from its events, told in the order of time over all threads
 * (locations): which calls they are in, which messages they begin and complete, which collectives
 * they take part in. Knows nothing of archives.
 *
 * Messages match by communicator, sender, receiver and tag: the nth send with the receive that was
 * posted nth among those that received from there. As sender and tag of a receive are known only
 * when it is complete, receives are looked at in the order of their posts, and one that is complete
 * waits for those before it; but not for more than SG_WAITSTATE_HELD of its rank behind one that
 * does not complete.
 *
 * Memory depends on what is outstanding (sends that are not received, receives and collectives that
 * are not complete, epochs that are not over, locks that are held), and on call sites, not on the
 * number of events. Nothing told is trusted: what does not fit is left out. A rank is one of
 * MPI_COMM_WORLD, below the number of ranks that the aggregate has; locations are numbered from 0.
 *
 * Functions that return a status: SG_ERR_MEMORY, not logged, or what the listener returned. Not
 * thread-safe.
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

/* What a location calls. */
struct sg_waitstate_enter {
    struct sg_waitstate_end who;
    int64_t time_ns;
    bool only_tests;  /* MPI_Test and its kin */
    bool is_buffered; /* MPI_Bsend and its kin */
    bool is_probe;    /* MPI_Probe, MPI_Mprobe */
    enum sg_rma rma;  /* what it does on a window, if anything */
};

/* The sums and the skews outlive the tracker. */
enum sg_status sg_waitstate_tracker_create(struct sg_waitstate_sums *sums,
                                           struct sg_waitstate_skews *skews, uint32_t ranks,
                                           uint32_t locations, struct sg_waitstate_tracker **out);
/* To be told of matches, and of waits (NULL: of none), from now on; not to call the tracker. */
void sg_waitstate_tracker_listen(struct sg_waitstate_tracker *tracker,
                                 sg_waitstate_listener listener, sg_waitstate_waited waited,
                                 void *context);
/* Calls and waits from now on are told to the former, and complete collectives to the latter. */
void sg_waitstate_tracker_follow(struct sg_waitstate_tracker *tracker, struct sg_critical *critical,
                                 struct sg_cause_finder *causes);
void sg_waitstate_tracker_destroy(struct sg_waitstate_tracker *tracker);
/* A call within a call is part of the outer one. */
enum sg_status sg_waitstate_enter(struct sg_waitstate_tracker *tracker, uint32_t location,
                                  const struct sg_waitstate_enter *call);
enum sg_status sg_waitstate_leave(struct sg_waitstate_tracker *tracker, uint32_t location,
                                  int64_t time_ns);

/* In the location's call; without one they are left out. A request is a number that is not used
 * twice at a time on its rank, whichever of its threads completes it. */

/* A send that its call completes. */
enum sg_status sg_waitstate_send(struct sg_waitstate_tracker *tracker, uint32_t location,
                                 const struct sg_waitstate_message *message);
enum sg_status sg_waitstate_isend(struct sg_waitstate_tracker *tracker, uint32_t location,
                                  const struct sg_waitstate_message *message, uint64_t request);
enum sg_status sg_waitstate_sent(struct sg_waitstate_tracker *tracker, uint32_t location,
                                 uint64_t request);
/* A receive that its call posted, and has completed. */
enum sg_status sg_waitstate_receive(struct sg_waitstate_tracker *tracker, uint32_t location,
                                    const struct sg_waitstate_message *message, int64_t time_ns);
enum sg_status sg_waitstate_post(struct sg_waitstate_tracker *tracker, uint32_t location,
                                 uint64_t request);
enum sg_status sg_waitstate_received(struct sg_waitstate_tracker *tracker, uint32_t location,
                                     const struct sg_waitstate_message *message, uint64_t request,
                                     int64_t time_ns);
enum sg_status sg_waitstate_cancelled(struct sg_waitstate_tracker *tracker, uint32_t location,
                                      uint64_t request);
/* A collective that its call completes. */
enum sg_status sg_waitstate_collective(struct sg_waitstate_tracker *tracker, uint32_t location,
                                       const struct sg_waitstate_collective *collective);
enum sg_status sg_waitstate_begin_collective(struct sg_waitstate_tracker *tracker,
                                             uint32_t location, uint64_t request);
enum sg_status sg_waitstate_end_collective(struct sg_waitstate_tracker *tracker, uint32_t location,
                                           const struct sg_waitstate_collective *collective,
                                           uint64_t request);

/* Calls on windows, which are numbered from 0 below UINT32_MAX. */

/* At the end of a call that synchronises with a group. */
enum sg_status sg_waitstate_synchronise(struct sg_waitstate_tracker *tracker, uint32_t location,
                                        const struct sg_waitstate_group *group);
enum sg_status sg_waitstate_request_lock(struct sg_waitstate_tracker *tracker, uint32_t location,
                                         const struct sg_waitstate_lock *lock);
/* At the end of the call that releases it. */
enum sg_status sg_waitstate_release_lock(struct sg_waitstate_tracker *tracker, uint32_t location,
                                         const struct sg_waitstate_lock *lock);
/* An operation on a target, by its rank in the window's communicator; and that it is complete
 * there. Its number is as a request's. */
enum sg_status sg_waitstate_operation(struct sg_waitstate_tracker *tracker, uint32_t location,
                                      uint32_t window, uint32_t target, uint64_t operation);
void sg_waitstate_operated(struct sg_waitstate_tracker *tracker, uint32_t location,
                           uint64_t operation, int64_t time_ns);

struct sg_waitstate_counts {
    uint64_t messages;
    uint64_t unmatched_sends, unmatched_receives;
    uint64_t violations, largest_violation_ns;
    /* Objects held now, and at most: calls, messages, collectives, epochs, locks. */
    uint64_t live, live_max;
};

/* After the last event: what is not complete is dropped, and what waited for it counted. */
enum sg_status sg_waitstate_tracker_finish(struct sg_waitstate_tracker *tracker,
                                           struct sg_waitstate_counts *out);

#endif
