/* The posts of an endpoint, in its machine's segment: what the actions of a protocol that carries
 * messages do there, whichever process carries them out.
 *
 * A post's buffer is in the memory of one process. Another one that is to fill a slot from it, or
 * drain one into it, leaves that as work in the segment, and rings the owner: its helper thread
 * does it, or the thread that waits in a call of ours. All is done under the endpoint's lock.
 */
#ifndef SG_BCS_LIVE_SHARED_POSTS_H
#define SG_BCS_LIVE_SHARED_POSTS_H

#include "algos/algo.h"
#include "internode/delivery.h"

#include <stdatomic.h>

/* A message that a protocol carries, as its process has posted it. */

/* A send, a receive or a probe. The poster fills in the first part, and keeps it and its buffer
 * until it is done. */
struct sg_carried_message {
    enum sg_post_kind kind;
    int peer;       /* rank, or SG_ANY */
    int tag;        /* or SG_ANY */
    uint32_t bytes; /* of the message; of a receive, the most that it takes */
    void *buffer;
    /* Nobody waits for it: it and its copy of the data are freed when it is over. */
    bool is_detached;
    /* When it is done, of a receive or probe: what it was matched with. */
    enum sg_outcome outcome;
    int source, source_tag;
    uint32_t source_bytes; /* received; of a probe, the message's */
    _Atomic bool done;
    _Atomic bool is_lost; /* its communicator is gone: it never will be */
    /* Kept by messages.c. */
    struct sg_carried_message *next;
};

/* FILLs, and DRAINs, that a protocol has under way at an endpoint at most. */
#define SG_POSTS_WORK_MAX 64

struct sg_posts_rank {
    _Atomic uint32_t news;   /* something has been done for it, or is to be done by it */
    _Atomic uint32_t inside; /* it waits for a message: nobody has to ring */
    _Atomic uint32_t queues; /* it has posts that wait for room */
    uint32_t helper;         /* whom to ring */
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

/* By endpoint; behind it ranks, by local number, and entries, by handle. */
struct sg_posts {
    bool has_stopped; /* no event is delivered any more */
    uint32_t work_count;
    struct sg_posts_work work[SG_POSTS_WORK_MAX];
};

/* A process's own part. */
struct sg_messages {
    uint32_t protocol;
    uint32_t quota;        /* of a rank's sends, and of its receives */
    uint64_t number;       /* of its last post */
    uint32_t under_way[2]; /* of its sends, and of its receives and probes */
    uint64_t steps;        /* of its messages: pieces copied, and ends */
    size_t detached_bytes;
    struct sg_carried_message *first[2], *last[2]; /* those that wait for room */
    struct sg_carried_message *ended; /* detached, to be freed by the application's thread */
    uint32_t next_place;
    int *local_of;                      /* by rank */
    int *rank_at;                       /* by endpoint and local number */
    struct sg_carried_message *place[]; /* by handle within the rank; NULL: free */
};

/* Messages that endpoints, so many of them, send at a time, each. */
uint32_t sg_posts_count(int endpoints);
/* In flight between two endpoints, of the protocol's for messages. */
uint32_t sg_posts_inflight(int endpoints);

/* Handles of a rank: of sends, of receives, and one of a look. */
static inline uint32_t sg_posts_places(uint32_t quota)
{
    return 2 * quota + 1;
}

/* Of an endpoint. */
size_t sg_posts_bytes(int endpoints, int locals_max);
struct sg_posts *sg_posts_of(const struct sg_internode *internode);
struct sg_posts_rank *sg_posts_rank(const struct sg_internode *internode, int local);
struct sg_posts_entry *sg_posts_entry(const struct sg_internode *internode, uint32_t handle);
/* FILL, DRAIN and DELIVER. data: of the slot. */
void sg_posts_access(const struct sg_delivery *delivery, const struct sg_action *action,
                     void *data);
void sg_posts_deliver(const struct sg_delivery *delivery, const struct sg_action *action);
/* By the owner. True: one piece of its work has been done, which answers by a REPLY with that tag.
 */
bool sg_posts_do_work(struct sg_internode *internode, uint32_t *tag);
/* Ends those of its posts that others have found to be over. */
void sg_posts_end_over(struct sg_internode *internode);

/* Slices of protocols that have them, as they begin and end at an endpoint: which collectives ran
 * in which, and, where EMDS is on, what is told of them (mpi/trace_events.h). Adds what the
 * protocol cannot know: ranks that waited, and processor time by what it went to.
 *
 * With the endpoint's lock, in a signal handler, too.
 */

/* In MPI_Init: whether slices are told of, and the time of handlers is measured. */
void sg_slices_start(bool told, bool timed);
/* Around the handler and the actions of an event. */
void sg_slices_begin_event(struct sg_delivery *delivery);
void sg_slices_end_event(struct sg_delivery *delivery, const struct sg_actions *actions);
/* Carry out BEGIN_SLICE and END_SLICE. */
void sg_slices_begin(const struct sg_delivery *delivery, const struct sg_actions *actions);
void sg_slices_end(struct sg_delivery *delivery, const struct sg_actions *actions);

#endif
