/* Skew by call site of the collectives that MPICH carried out: the spread of their members'
 * arrivals, and the last member. As for the library's own collectives (report/aggregate.h), each
 * member's call counts for its own call site, and the instance for the site that most members
 * called from. A nonblocking collective counts at the call that started it.
 *
 * The header also declares calls with unsettled waits, and the messages and collectives that
 * locations report.
 *
 * Memory grows with call sites, and for each with its communicators and the ranks that are last;
 * not with instances. Functions that return a status return SG_OK or SG_ERR_MEMORY, which they do
 * not log. Not thread-safe.
 */
#ifndef SG_REPORT_WAIT_SKEWS_H
#define SG_REPORT_WAIT_SKEWS_H

#include "core/status.h"
#include "report/cause_finder.h"
#include "report/critical_path.h"
#include "report/filter.h"
#include "report/wait_sums.h"
#include "trace/export/vocabulary.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sg_waitstate_call;

struct sg_waitstate_skews;

/* The waits of a collective: members that wait, and members waited for. */
enum sg_waitstate_pattern {
    SG_PATTERN_NONE, /* nobody waits */
    SG_PATTERN_BARRIER,
    SG_PATTERN_NXN,
    SG_PATTERN_BROADCAST, /* from the root */
    SG_PATTERN_REDUCE,    /* to the root */
    SG_PATTERN_SCAN,
    SG_PATTERN_NEIGHBORS, /* waits for its sources */
    /* on windows */
    SG_PATTERN_FENCE,
    SG_PATTERN_CREATE,
    SG_PATTERN_FREE,
    /* known by the function of the call */
    SG_PATTERN_FILE,
    SG_PATTERN_COMM,
    SG_PATTERN_INIT,
    SG_PATTERN_FINALIZE,
};

/* A member of a collective that all members have entered. */
struct sg_waitstate_member {
    struct sg_waitstate_call *completing; /* NULL: not known yet */
    struct sg_waitstate_end who;          /* the call that began it */
    int64_t begin_ns;
    uint32_t skew; /* 1 + the row that its wait counts for; 0: none */
    bool receives;
    const uint32_t *sources; /* as in struct sg_waitstate_collective */
    uint32_t source_count;
};

/* Arguments as for sg_waitstate_sums_create(). An instance counts if the filter takes its call site
 * with its communicator, its first arrival, and any of its ranks. */
enum sg_status sg_waitstate_skews_create(const struct sg_aggregate *aggregate,
                                         const struct sg_filter *filter, struct sg_places *places,
                                         struct sg_waitstate_skews **out);
void sg_waitstate_skews_destroy(struct sg_waitstate_skews *skews);
/* Adds a complete instance of at least two members, on a communicator of the aggregate, and sets
 * the members' rows. */
enum sg_status sg_waitstate_skews_add(struct sg_waitstate_skews *skews, uint32_t comm,
                                      struct sg_waitstate_member *members, uint32_t count);
/* Adds the rows to the result. */
enum sg_status sg_waitstate_skews_finish(struct sg_waitstate_skews *skews,
                                         struct sg_waitstates *states);

/* An MPI call that may have waited. It is kept until it has returned and every cause of its wait is
 * known. Its wait lasts from its begin to the latest of these causes.
 *
 * Functions that return a status return SG_OK or SG_ERR_MEMORY, which they do not log. Not
 * thread-safe.
 */

struct sg_waitstate_call {
    struct sg_waitstate_end who;
    int64_t enter_ns, leave_ns; /* leave_ns: valid if has_left */
    bool has_left;
    bool only_tests;                 /* never waits */
    bool is_buffered;                /* begins sends that wait for no receive */
    bool is_synchronous;             /* begins sends that wait for their receive, however small */
    bool is_probe;                   /* waits for the message that is received next */
    bool is_question;                /* waits for requests that later calls complete */
    uint32_t questions;              /* the number of calls behind asked */
    struct sg_waitstate_call *asked; /* a call that asked before for what this one completes */
    enum sg_rma rma;                 /* its operation on a window */
    enum sg_waitstate_pattern named; /* SG_PATTERN_NONE: its function has none */
    uint32_t holders;                /* its location until it returns, and pending causes */
    /* The latest cause of the wait; until_ns == enter_ns: none. */
    int64_t until_ns;
    enum sg_waitstate_kind kind;
    uint32_t comm;
    struct sg_waitstate_end other;
    uint32_t skew; /* as in struct sg_waitstate */
    /* The latest targets that were late; ready_ns == enter_ns: none. */
    struct sg_waitstate_target {
        int64_t ready_ns;
        struct sg_waitstate_end who;
    } targets[2];
    struct sg_history *history; /* NULL: none */
    uint32_t needs;             /* the calls without whose begin it could not end: its list there */
};

/* A possible cause of a call's wait. */
struct sg_waitstate_cause {
    enum sg_waitstate_kind kind;
    int64_t ready_ns;
    struct sg_waitstate_end other;
    uint32_t comm;
    uint32_t skew;
    /* True if the cause ended the call. Otherwise a call that left before the other side was ready
     * waited for something else, or not at all. */
    bool is_bounded;
    bool is_among_needs; /* the call's needs have it already */
};

struct sg_waitstate_call *sg_waitstate_call_new(const struct sg_waitstate_end *who,
                                                int64_t enter_ns);
/* Adds a holder; NULL is allowed. */
struct sg_waitstate_call *sg_waitstate_call_hold(struct sg_waitstate_call *call);
/* Offers a cause to the call, before the holder that knows it releases the call, and to those that
 * asked before it. */
void sg_waitstate_call_offer(struct sg_waitstate_call *call,
                             const struct sg_waitstate_cause *cause);

/* Settles calls once the causes of their waits are known, and finds late senders in wrong order:
 * each rank has a list of the messages on their way to it, the oldest first.
 *
 * Functions that return a status return SG_OK or SG_ERR_MEMORY, which they do not log. Not
 * thread-safe.
 */

/* A message that is not received yet. */
struct sg_waitstate_underway {
    struct sg_waitstate_underway *older, *newer; /* to the same rank */
    int64_t sent_ns;
};

/* A wait for a late sender while an older message, which may yet be received, was under way. */
struct sg_waitstate_suspect {
    int64_t sent_ns, leave_ns;
    uint64_t wait_ns;
    uint32_t row;
};

/* A received message; it may be matched before one that was received earlier. */
struct sg_waitstate_taken {
    int64_t sent_ns, received_ns;
};

/* Number of suspects, and of received messages, remembered for each rank. A suspect that is pushed
 * out counts as in order. */
#define SG_WAITSTATE_SUSPECTS 32

struct sg_waitstate_receiver {
    struct sg_waitstate_underway *oldest, *newest;
    struct sg_waitstate_suspect suspects[SG_WAITSTATE_SUSPECTS];
    uint32_t suspect_count, next; /* next: slot to overwrite; the oldest once the array is full */
    struct sg_waitstate_taken taken[SG_WAITSTATE_SUSPECTS];
    uint32_t taken_count; /* all that were received so far */
};

/* Receives each wait, whatever the filter takes. A status other than SG_OK ends the tracking. */
typedef enum sg_status (*sg_waitstate_waited)(void *context, const struct sg_waitstate *wait);

struct sg_waitstate_settling {
    struct sg_waitstate_sums *sums;
    struct sg_waitstate_skews *skews;
    struct sg_critical *critical;   /* NULL: no critical path wanted */
    struct sg_cause_finder *causes; /* NULL: no causes wanted */
    sg_waitstate_waited waited;     /* NULL: none */
    void *waited_context;
    struct sg_waitstate_receiver *receivers; /* by rank */
    uint64_t live, live_max;                 /* see struct sg_waitstate_counts */
};

enum sg_status sg_waitstate_settling_start(struct sg_waitstate_settling *settling,
                                           struct sg_waitstate_sums *sums,
                                           struct sg_waitstate_skews *skews, uint32_t ranks);
void sg_waitstate_settling_clear(struct sg_waitstate_settling *settling);

/* Count the objects that are held, and their maximum. */
static inline void sg_waitstate_born(struct sg_waitstate_settling *settling)
{
    if (++settling->live > settling->live_max)
        settling->live_max = settling->live;
}

static inline void sg_waitstate_gone(struct sg_waitstate_settling *settling)
{
    settling->live--;
}

/* Releases a holder of the call; the last one counts and frees it. NULL is allowed. */
enum sg_status sg_waitstate_let_go(struct sg_waitstate_settling *settling,
                                   struct sg_waitstate_call *call);
void sg_waitstate_set_out(struct sg_waitstate_settling *settling, uint32_t rank,
                          struct sg_waitstate_underway *message);
void sg_waitstate_take_off(struct sg_waitstate_settling *settling, uint32_t rank,
                           struct sg_waitstate_underway *message);
/* Records that the rank received a message sent at sent_ns. */
void sg_waitstate_took(struct sg_waitstate_settling *settling, uint32_t rank, int64_t sent_ns,
                       int64_t received_ns);

/* ---- messages, collectives and window synchronisation, as a location reports its part -------- */

/* The most complete receives of a rank that may wait for one that was posted before them. */
#define SG_WAITSTATE_HELD 256

/* A message, as seen at one of its ends. */
struct sg_waitstate_message {
    uint32_t comm;
    uint32_t peer; /* in MPI_COMM_WORLD */
    uint32_t tag;
    /* Earlier messages with the same communicator, ranks and tag that this end did not report;
     * receives count in the order of posts. */
    uint32_t gap;
    uint64_t bytes;
    bool is_complete; /* a send that was complete when the call that began it returned */
};

/* A message whose ends were matched. Call times are the begins of the calls. */
struct sg_waitstate_matched {
    uint32_t from, to; /* locations: where the send began, and where the receive was completed */
    int64_t sent_ns;   /* the call that began the send */
    int64_t completing_ns; /* the call that completed the receive */
    int64_t received_ns;
};

/* Receives each match. A status other than SG_OK ends the tracking. */
typedef enum sg_status (*sg_waitstate_listener)(void *context,
                                                const struct sg_waitstate_matched *matched);

struct sg_waitstate_collective {
    enum sg_waitstate_pattern pattern;
    uint32_t comm;
    uint32_t window; /* 1 + the number of its window; 0: none */
    uint64_t seq;    /* number on the communicator or window, the same for all members */
    /* Ranks in the communicator. An intercommunicator numbers the first group, then the second. */
    uint32_t size, member;
    uint32_t root;       /* SG_WAITSTATE_NO_ROOT: no root, or the member does not know it */
    uint32_t first_size; /* size of the first group; 0: one group only */
    bool has_data;
    bool receives; /* receives data from others */
    /* Members give their counts (MPI_Alltoallv and similar), so some may exchange nothing. */
    bool has_counts;
    bool is_direct; /* with has_counts: no data pass through a third member */
    /* The members whose data it receives, for SG_PATTERN_NEIGHBORS, or with has_counts. NULL: none,
     * or with has_counts: not known. The array outlives the tracker's last event. */
    const uint32_t *sources;
    uint32_t source_count;
};

#define SG_WAITSTATE_NO_ROOT UINT32_MAX

/* The ranks that a call on a window synchronises with. */
struct sg_waitstate_group {
    uint32_t window, comm;
    const uint32_t *ranks; /* in MPI_COMM_WORLD */
    uint32_t count;
};

/* All targets. */
#define SG_WAITSTATE_ALL UINT32_MAX

struct sg_waitstate_lock {
    uint32_t window, comm;
    uint32_t target;     /* rank in the communicator, or SG_WAITSTATE_ALL */
    bool is_exclusive;   /* set in a request */
    uint32_t rank_there; /* the target's rank in MPI_COMM_WORLD; not for all targets */
    /* For all targets: their ranks in MPI_COMM_WORLD, in an array that outlives the tracker's last
     * event. */
    const uint32_t *ranks;
    uint32_t rank_count;
};

/* Matches sends with receives, and gives the calls at both ends the causes of their waits.
 *
 * Rules as in report/wait_tracker.h, which keeps track of locations. Functions that return a status
 * return SG_OK, SG_ERR_MEMORY, not logged, or the listener's status.
 */

struct sg_channel;
struct sg_waitstate_message_end;

struct sg_waitstate_receives; /* of a rank, in the order of their posts */

struct sg_waitstate_messages {
    struct sg_waitstate_settling *settling;
    sg_waitstate_listener listener; /* NULL: none */
    void *listener_context;
    struct sg_channel *channels;
    struct sg_waitstate_message_end *requests;
    struct sg_waitstate_receives *receives; /* by rank */
    struct sg_waitstate_message_end *ends;  /* all ends that are held */
    /* By sender and receiver: 1 + the most bytes of a send that needed no receive (at most
     * UINT32_MAX). */
    struct sg_map eager;
    uint32_t rank_count;
    uint64_t matched, unmatched_sends, unmatched_receives;
    uint64_t violations, largest_violation_ns;
};

enum sg_status sg_waitstate_messages_start(struct sg_waitstate_messages *messages,
                                           struct sg_waitstate_settling *settling, uint32_t ranks);
/* Drops the ends that are not matched. */
enum sg_status sg_waitstate_messages_finish(struct sg_waitstate_messages *messages);
void sg_waitstate_messages_clear(struct sg_waitstate_messages *messages);
/* A send begun by a call. Without a request the same call completes it. */
enum sg_status sg_waitstate_messages_send(struct sg_waitstate_messages *messages,
                                          struct sg_waitstate_call *call,
                                          const struct sg_waitstate_message *message,
                                          const uint64_t *request);
enum sg_status sg_waitstate_messages_sent(struct sg_waitstate_messages *messages,
                                          struct sg_waitstate_call *call, uint64_t request);
/* The call waits for the buffered sends of its rank that are not received yet. */
void sg_waitstate_messages_flush(const struct sg_waitstate_messages *messages,
                                 struct sg_waitstate_call *call);
/* A receive posted by a call. probe: the call that waited for the message before, or NULL. */
enum sg_status sg_waitstate_messages_post(struct sg_waitstate_messages *messages,
                                          struct sg_waitstate_call *call,
                                          struct sg_waitstate_call *probe, uint64_t request);
enum sg_status sg_waitstate_messages_received(struct sg_waitstate_messages *messages,
                                              struct sg_waitstate_call *call,
                                              const struct sg_waitstate_message *message,
                                              uint64_t request, int64_t time_ns);
/* A receive posted and completed by one call. */
enum sg_status sg_waitstate_messages_receive(struct sg_waitstate_messages *messages,
                                             struct sg_waitstate_call *call,
                                             struct sg_waitstate_call *probe,
                                             const struct sg_waitstate_message *message,
                                             int64_t time_ns);
enum sg_status sg_waitstate_messages_cancelled(struct sg_waitstate_messages *messages,
                                               uint32_t rank, uint64_t request);

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

/* Waits for a lock on a target's memory: MPI_Win_lock, lock_all, and unlock; and for a target that
 * makes no call in which the library could carry out an operation on its memory.
 *
 * A library may return from MPI_Win_lock before it has the lock, and acquire it when the first
 * operation under it must complete. A lock is therefore known to be held only once an operation
 * under it is complete at its target, as reported by a flush or the unlock. Of two ranks whose
 * locks exclude each other, A had its lock before B if A's is known to be held at a time when B had
 * not begun to unlock. B then got its lock when A had begun to unlock, or later: B's MPI_Win_lock,
 * or the call that completed B's first operation, waited until then if it lasted beyond. If neither
 * is known to be first, or both are, as with MPI_MODE_NOCHECK, no wait is reported.
 *
 * A target's calls are remembered once an operation names it: the latest SG_WAITSTATE_RETURNS times
 * at which it entered MPI, with no other thread of it in MPI.
 *
 * Rules as in report/wait_tracker.h. Functions that return a status return SG_OK or SG_ERR_MEMORY,
 * which they do not log.
 */

struct sg_waitstate_unlocking; /* of one rank */
struct sg_waitstate_presence;  /* likewise */

#define SG_WAITSTATE_RETURNS 32u

struct sg_waitstate_locks {
    struct sg_waitstate_settling *settling;
    struct claim *claims;   /* by window, target and rank */
    struct target *targets; /* by window and target */
    struct claim *awaited;  /* those with a pending operation, by it and rank */
    struct sg_waitstate_unlocking *unlocking;
    struct sg_waitstate_presence *presence;
    uint32_t rank_count;
};

enum sg_status sg_waitstate_locks_start(struct sg_waitstate_locks *locks,
                                        struct sg_waitstate_settling *settling, uint32_t ranks);
/* Drops the locks that are still held. */
enum sg_status sg_waitstate_locks_finish(struct sg_waitstate_locks *locks);
void sg_waitstate_locks_clear(struct sg_waitstate_locks *locks);
/* Report the begin and the end of each call. */
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
/* Report an operation of a rank on a target, and its completion there. rank_there: the target's in
 * MPI_COMM_WORLD. */
enum sg_status sg_waitstate_locks_operation(struct sg_waitstate_locks *locks, uint32_t rank,
                                            uint32_t window, uint32_t target, uint32_t rank_there,
                                            uint64_t operation);
/* Operations complete at their origin, too. */
void sg_waitstate_locks_completed(struct sg_waitstate_locks *locks, struct sg_waitstate_call *call,
                                  uint64_t operation, int64_t time_ns, bool is_there);

/* ---- collectives ----
 *
 * Zeroed but for the settling: none. Functions return SG_OK or SG_ERR_MEMORY, not logged.
 */

struct sg_waitstate_collectives {
    struct sg_waitstate_settling *settling;
    struct sg_waitstate_instance *instances;
    struct sg_waitstate_request *requests;
};

/* A collective that the same call completes. */
enum sg_status sg_waitstate_collectives_add(struct sg_waitstate_collectives *collectives,
                                            struct sg_waitstate_call *call,
                                            const struct sg_waitstate_collective *collective);
/* A nonblocking one: its request, and the call that completes it. */
enum sg_status sg_waitstate_collectives_begin(struct sg_waitstate_collectives *collectives,
                                              const struct sg_waitstate_call *call,
                                              uint64_t number);
enum sg_status sg_waitstate_collectives_end(struct sg_waitstate_collectives *collectives,
                                            struct sg_waitstate_call *call,
                                            const struct sg_waitstate_collective *collective,
                                            uint64_t number);
/* Drops incomplete collectives and releases their calls. */
enum sg_status sg_waitstate_collectives_finish(struct sg_waitstate_collectives *collectives);

#endif
