/* The posts of an endpoint, in its machine's segment: carries out the actions of a protocol for
 * messages, in whichever process runs it. Also follows the slices of such protocols.
 *
 * A post's buffer is in the memory of one process. If another process has to fill a slot from it or
 * drain a slot into it, it leaves that as work in the segment and rings the owner: the owner's
 * helper thread does the work, or its thread that waits in a call of this library. All of it runs
 * under the endpoint's lock.
 */
#ifndef SG_BCS_LIVE_SHARED_POSTS_H
#define SG_BCS_LIVE_SHARED_POSTS_H

#include "algos/algo.h"
#include "internode/communicator.h"

#include <stdatomic.h>

/* ---- a message that a protocol carries, as its process has posted it ---- */

/* A send, a receive or a probe. The poster fills the first part, and keeps the struct and its
 * buffer until it is done. */
struct sg_carried_message {
    enum sg_post_kind kind;
    int peer;       /* rank, or SG_ANY */
    int tag;        /* or SG_ANY */
    uint32_t bytes; /* of the message; for a receive, its capacity */
    void *buffer;
    /* Nobody waits for it: it is freed with its copy of the data when it is over. */
    bool is_detached;
    /* Once done, for a receive or probe: the message that it matched. */
    enum sg_outcome outcome;
    int source, source_tag;
    uint32_t source_bytes; /* received; for a probe, in the message */
    _Atomic bool done;
    _Atomic bool is_lost; /* its communicator is gone: it never completes */
    /* Used by messages.c. */
    struct sg_carried_message *next;
};

/* Limit of FILLs and DRAINs that a protocol has under way at an endpoint. */
#define SG_POSTS_WORK_MAX 64

struct sg_posts_rank {
    _Atomic uint32_t news;   /* work for it, or work done for it */
    _Atomic uint32_t inside; /* it waits for a message: no need to ring it */
    _Atomic uint32_t queues; /* it has queued posts */
    uint32_t helper;         /* progress helper to ring */
};

struct sg_posts_work {
    uint32_t handle, offset, bytes, tag;
    uint16_t slot;
    bool fills;
};

struct sg_posts_entry {
    bool is_over;
    uint32_t outcome; /* enum sg_outcome */
    int32_t source;   /* endpoint */
    uint32_t source_local;
    int32_t tag;
    uint32_t bytes;
};

/* One per endpoint; ranks by local number, and entries by handle, follow it. */
struct sg_posts {
    bool has_stopped; /* no more events are delivered */
    uint32_t work_count;
    struct sg_posts_work work[SG_POSTS_WORK_MAX];
};

/* The process-local part. */
struct sg_messages {
    uint32_t protocol;
    uint32_t quota;        /* limit of a rank's sends, and of its receives */
    uint64_t number;       /* of its last post */
    uint32_t under_way[2]; /* sends; receives and probes */
    uint64_t steps;        /* of its messages: pieces copied, and ends */
    size_t detached_bytes;
    struct sg_carried_message *first[2], *last[2]; /* queued: sends; receives and probes */
    struct sg_carried_message *ended; /* detached, for the application's thread to free */
    uint32_t next_place;
    struct sg_carried_message *place[]; /* by handle within the rank; NULL: free */
};

/* Returns the messages that each endpoint may send at a time. */
uint32_t sg_posts_count(int endpoints);
/* Returns the messages in flight between two endpoints, of the protocol for messages. */
uint32_t sg_posts_inflight(int endpoints);

/* Handles of a rank: for sends, for receives, and one for a look. */
static inline uint32_t sg_posts_places(uint32_t quota)
{
    return 2 * quota + 1;
}

/* Memory of an endpoint's posts, and access to its parts. */
size_t sg_posts_bytes(int endpoints, int locals_max);
struct sg_posts *sg_posts_of(const struct sg_internode *internode);
struct sg_posts_rank *sg_posts_rank(const struct sg_internode *internode, int local);
struct sg_posts_entry *sg_posts_entry(const struct sg_internode *internode, uint32_t handle);
/* Carry out FILL, DRAIN and DELIVER. data: the slot's. */
void sg_posts_access(const struct sg_delivery *delivery, const struct sg_action *action,
                     void *data);
void sg_posts_deliver(const struct sg_delivery *delivery, const struct sg_action *action);
/* Called by the owner. Returns true after one piece of its work; a REPLY with that tag answers it.
 */
bool sg_posts_do_work(struct sg_internode *internode, uint32_t *tag);
/* Ends those of its posts that other processes found to be over. */
void sg_posts_end_over(struct sg_internode *internode);

/* ---- slices of protocols that have them ----
 *
 * Follows slices as they begin and end at an endpoint: the collectives in each, and, if EMDS is on,
 * the report to the trace (mpi/user_lines.h). Adds what the protocol cannot know: ranks that
 * waited, and processor time by routine.
 *
 * The caller holds the endpoint's lock; may be in a signal handler.
 */

/* Call in MPI_Init. told: report slices; timed: measure the time of handlers. */
void sg_slices_start(bool told, bool timed);
/* Call around the handler and the actions of an event. */
void sg_slices_begin_event(struct sg_delivery *delivery);
void sg_slices_end_event(struct sg_delivery *delivery, const struct sg_actions *actions);
/* Carry out BEGIN_SLICE and END_SLICE. */
void sg_slices_begin(const struct sg_delivery *delivery, const struct sg_actions *actions);
void sg_slices_end(struct sg_delivery *delivery, const struct sg_actions *actions);

#endif
