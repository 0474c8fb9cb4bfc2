/* Skew by call site of the collectives that MPICH carried out: how far apart their members arrive,
 * and who is last. As for the library's own (report/aggregate.h), each member's call counts for its
 * own call site, and the instance as a whole for the site that most members called from; a
 * nonblocking one is at the call that started it.
 *
 * Memory grows with call sites, with the ranks that are last at each and with the communicators
 * that it is called on; not with instances. Functions that return a status: SG_ERR_MEMORY only, not
 * logged. Not thread-safe.
 */
#ifndef SG_REPORT_WAIT_SKEWS_H
#define SG_REPORT_WAIT_SKEWS_H

#include "core/status.h"
#include "report/cause_finder.h"
#include "report/critical_path.h"
#include "report/wait_sums.h"
#include "trace/export/rma_function.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sg_waitstate_call;

struct sg_waitstate_skews;

/* Of a collective of which all members have come. */
struct sg_waitstate_member {
    struct sg_waitstate_call *completing; /* NULL: it is not there yet */
    struct sg_waitstate_end who;          /* of the call that began it */
    int64_t begin_ns;
    uint32_t skew; /* the row that its wait counts for; 0: none */
    bool receives;
    const uint32_t *sources; /* as in struct sg_waitstate_collective */
    uint32_t source_count;
};

/* As sg_waitstate_sums_create(). An instance counts if the filter takes the site that it counts for
 * with its communicator, its first arrival, and any of its ranks. */
enum sg_status sg_waitstate_skews_create(const struct sg_aggregate *aggregate,
                                         const struct sg_filter *filter, struct sg_places *places,
                                         struct sg_waitstate_skews **out);
void sg_waitstate_skews_destroy(struct sg_waitstate_skews *skews);
/* A complete instance of two members or more, on a communicator of the aggregate: sets the members'
 * rows. */
enum sg_status sg_waitstate_skews_add(struct sg_waitstate_skews *skews, uint32_t comm,
                                      struct sg_waitstate_member *members, uint32_t count);
/* Adds the rows to the result. */
enum sg_status sg_waitstate_skews_finish(struct sg_waitstate_skews *skews,
                                         struct sg_waitstates *states);

/* Calls of MPI that may have waited: each is kept until it has returned and it is known what all
 * that it completed had to wait for. Then its wait is the latest of these times less its begin.
 *
 * Functions that return a status: SG_ERR_MEMORY only, not logged. Not thread-safe.
 */

struct sg_waitstate_call {
    struct sg_waitstate_end who;
    int64_t enter_ns, leave_ns; /* leave_ns: once it has returned */
    bool has_left;
    bool only_tests;  /* it never waits */
    bool is_buffered; /* it begins sends that wait for no receive */
    bool is_probe;    /* it waits for the message that is received next */
    enum sg_rma rma;  /* what it does on a window */
    uint32_t holders; /* its location, until it returns, and what is not known yet */
    /* The latest that it waited for; until_ns == enter_ns: nothing. */
    int64_t until_ns;
    enum sg_waitstate_kind kind;
    uint32_t comm;
    struct sg_waitstate_end other;
    uint32_t skew; /* as in struct sg_waitstate */
};

/* What a call waited for, or might have. */
struct sg_waitstate_cause {
    enum sg_waitstate_kind kind;
    int64_t ready_ns;
    struct sg_waitstate_end other;
    uint32_t comm;
    uint32_t skew;
    /* The call ended by this: otherwise, if it left before the other side was ready, it waited for
     * something else, or not at all. */
    bool is_bounded;
};

struct sg_waitstate_call *sg_waitstate_call_new(const struct sg_waitstate_end *who,
                                                int64_t enter_ns);
/* Adds a holder; NULL is no call. */
struct sg_waitstate_call *sg_waitstate_call_hold(struct sg_waitstate_call *call);
/* Takes what the call waited for, before the holder that knows it lets go. */
void sg_waitstate_call_offer(struct sg_waitstate_call *call,
                             const struct sg_waitstate_cause *cause);

/* Counts calls when all is known of their wait, and tells which late senders are in wrong order:
 * for each rank it knows the messages that are on their way to it, the oldest first.
 *
 * Functions that return a status: SG_ERR_MEMORY only, not logged. Not thread-safe.
 */

/* A message that is not received. */
struct sg_waitstate_underway {
    struct sg_waitstate_underway *older, *newer; /* to the same rank */
    int64_t sent_ns;
};

/* A late sender while an older message was under way, which may yet be received. */
struct sg_waitstate_suspect {
    int64_t sent_ns, leave_ns;
    uint64_t wait_ns;
    uint32_t row;
};

/* A message that was received; it may be matched before one that was received earlier. */
struct sg_waitstate_taken {
    int64_t sent_ns, received_ns;
};

/* Only so many of a rank are remembered: those that are pushed out count as in order. */
#define SG_WAITSTATE_SUSPECTS 32

struct sg_waitstate_receiver {
    struct sg_waitstate_underway *oldest, *newest;
    struct sg_waitstate_suspect suspects[SG_WAITSTATE_SUSPECTS];
    uint32_t suspect_count, next; /* next: the oldest when there is no more room */
    struct sg_waitstate_taken taken[SG_WAITSTATE_SUSPECTS];
    uint32_t taken_count; /* of all that were */
};

/* Is told of each wait, whatever the filter takes; what it returns ends the tracking if it is not
 * SG_OK. */
typedef enum sg_status (*sg_waitstate_waited)(void *context, const struct sg_waitstate *wait);

struct sg_waitstate_settling {
    struct sg_waitstate_sums *sums;
    struct sg_waitstate_skews *skews;
    struct sg_critical *critical;   /* NULL: no path is looked for */
    struct sg_cause_finder *causes; /* NULL: nor causes */
    sg_waitstate_waited waited;     /* NULL: nobody */
    void *waited_context;
    struct sg_waitstate_receiver *receivers; /* by rank */
    uint64_t live, live_max;                 /* see struct sg_waitstate_counts */
};

enum sg_status sg_waitstate_settling_start(struct sg_waitstate_settling *settling,
                                           struct sg_waitstate_sums *sums,
                                           struct sg_waitstate_skews *skews, uint32_t ranks);
void sg_waitstate_settling_clear(struct sg_waitstate_settling *settling);

/* Something that is held, and is no more. */
static inline void sg_waitstate_born(struct sg_waitstate_settling *settling)
{
    if (++settling->live > settling->live_max)
        settling->live_max = settling->live;
}

static inline void sg_waitstate_gone(struct sg_waitstate_settling *settling)
{
    settling->live--;
}

/* A holder of the call lets go; the last one's is counted and freed. NULL: no call. */
enum sg_status sg_waitstate_let_go(struct sg_waitstate_settling *settling,
                                   struct sg_waitstate_call *call);
void sg_waitstate_set_out(struct sg_waitstate_settling *settling, uint32_t rank,
                          struct sg_waitstate_underway *message);
void sg_waitstate_take_off(struct sg_waitstate_settling *settling, uint32_t rank,
                           struct sg_waitstate_underway *message);
/* The rank received what was sent then. */
void sg_waitstate_took(struct sg_waitstate_settling *settling, uint32_t rank, int64_t sent_ns,
                       int64_t received_ns);

/* A hash table of what is outstanding: its elements contain their link, and are removed when they
 * are done, so that the table's memory depends on the most that are outstanding at a time.
 *
 * The caller compares keys: elements of one hash come one after another. Zero-initialised is empty.
 * Not thread-safe.
 */

struct sg_table_link {
    struct sg_table_link *next; /* of the same bucket */
    uint64_t hash;
};

struct sg_link_table {
    struct sg_table_link **buckets;
    size_t bucket_count; /* a power of two, or 0 */
    size_t count;
};

/* SG_ERR_MEMORY only (not logged): nothing is changed. */
enum sg_status sg_link_table_add(struct sg_link_table *table, struct sg_table_link *link,
                                 uint64_t hash);
/* It is in the table. */
void sg_link_table_remove(struct sg_link_table *table, struct sg_table_link *link);
/* The first, and the next, of this hash; NULL: no more. */
struct sg_table_link *sg_link_table_first(const struct sg_link_table *table, uint64_t hash);
struct sg_table_link *sg_link_table_next(const struct sg_table_link *link);
/* Passes every element to release, after which the table is as at first. */
void sg_link_table_clear(struct sg_link_table *table,
                         void (*release)(void *context, struct sg_table_link *link), void *context);

/* Messages, collectives and what synchronises windows, as a location tells of its part in them. */

/* The most complete receives of a rank that wait for one that was posted before them. */
#define SG_WAITSTATE_HELD 256

/* A message, at one of its ends. */
struct sg_waitstate_message {
    uint32_t comm;
    uint32_t peer; /* in MPI_COMM_WORLD */
    uint32_t tag;
    uint32_t
        gap; /* others of the same communicator, ranks and tag before it, of which nothing is told
                     at this end: of receives in the order of posts */
};

/* A message whose ends were matched. Times of calls are those of their begin. */
struct sg_waitstate_matched {
    uint32_t from, to;     /* locations: where the send began, where the receive was completed */
    int64_t sent_ns;       /* of the call that began the send */
    int64_t completing_ns; /* of the call that completed the receive */
    int64_t received_ns;
};

/* Is told of each match; what it returns ends the tracking if it is not SG_OK. */
typedef enum sg_status (*sg_waitstate_listener)(void *context,
                                                const struct sg_waitstate_matched *matched);

enum sg_waitstate_pattern {
    SG_PATTERN_NONE, /* nobody waits */
    SG_PATTERN_BARRIER,
    SG_PATTERN_NXN,
    SG_PATTERN_BROADCAST, /* from the root */
    SG_PATTERN_REDUCE,    /* to the root */
    SG_PATTERN_SCAN,
    SG_PATTERN_NEIGHBORS, /* for its sources */
    /* on windows */
    SG_PATTERN_FENCE,
    SG_PATTERN_CREATE,
    SG_PATTERN_FREE,
};

struct sg_waitstate_collective {
    enum sg_waitstate_pattern pattern;
    uint32_t comm;
    uint32_t window; /* 1 + the number of the window that it is on; 0: none */
    uint64_t seq;    /* its number on the communicator, or window, the same for all members */
    /* Ranks in the communicator; of an intercommunicator those of the first group, then those of
     * the second. */
    uint32_t size, member;
    uint32_t root;       /* SG_WAITSTATE_NO_ROOT: there is none, or the member does not know it */
    uint32_t first_size; /* of the first group; 0: there is one group */
    bool has_data;
    bool receives; /* something from others */
    /* Of neighbors: the members whose data it gets. They outlive the tracker's last event. */
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
    uint32_t target;   /* its rank in the communicator, or SG_WAITSTATE_ALL */
    bool is_exclusive; /* of a request */
};

#endif
