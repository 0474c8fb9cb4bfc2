/* Counts calls when all is known of their wait, and tells which late senders are in wrong order:
 * for each rank it knows the messages that are on their way to it, the oldest first.
 *
 * Functions that return a status: SG_ERR_MEMORY only, not logged. Not thread-safe.
 */
#ifndef SG_REPORT_WAITSTATES_SETTLE_H
#define SG_REPORT_WAITSTATES_SETTLE_H

#include "core/status.h"
#include "report/causes/finder.h"
#include "report/path/critical.h"
#include "report/waitstates/calls.h"
#include "report/waitstates/skews.h"

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

#endif
