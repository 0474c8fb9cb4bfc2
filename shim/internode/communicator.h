/* A communicator over several nodes as one process sees it, and addresses in its machine's segment.
 *
 * Also the words through which ranks of a machine agree, the endpoint's counters for the trace, and
 * the record of decisions for a test.
 */
#ifndef SG_INTERNODE_COMMUNICATOR_H
#define SG_INTERNODE_COMMUNICATOR_H

#include "core/grouping.h"
#include "internode/internode.h"
#include "internode/layout.h"
#include "mpi/user_lines.h"
#include "transport/transport.h"
#include "wait/wait.h"

/* The reduction of an operand with a user's operation: beyond enum sg_reduction. */
#define SG_INTERNODE_USERS 0xff
#define SG_INTERNODE_SCRATCH_BYTES 1024

/* A protocol's offsets in the segment, and its strides between endpoints. */
struct sg_internode_protocol {
    const struct sg_algo *algo; /* NULL: the rule names none, or is for other communicators */
    struct sg_algo_setup setup; /* setup.rank: this endpoint */
    struct sg_algo_needs needs;
    enum sg_progress_mode progress; /* mode that the rule asks for */
    uint32_t slot_bytes;            /* size of slots and results */
    uint32_t slot_stride;           /* distance between slots */
    size_t at, stride;
    size_t cells_at, slots_at, results_at; /* offsets in a region */
};

struct sg_messages;

struct sg_internode_auto;

/* This process's call in an instance, as its log identifies it. */
struct sg_instance_name {
    uint64_t position;
    struct sg_call_name call;
};

/* A request to the coordinator; a process has one at a time. */
struct sg_coordinator_request {
    uint8_t stage;         /* see coordinator.c */
    bool is_under_way;     /* sent, and its answer has not been used */
    _Atomic bool is_there; /* the answer has arrived */
    bool is_waiting;       /* the rank waits for other ranks */
    bool is_telling;       /* the rank reports the quarter `told` */
    uint64_t value, told;
};

static inline void sg_internode_keep_answer(struct sg_coordinator_request *asking, uint64_t value)
{
    asking->value = value;
    /* Release: pairs with ask in coordinator.c, in another thread of this process. */
    atomic_store_explicit(&asking->is_there, true, memory_order_release);
}

struct sg_internode {
    struct sg_internode_header *header;
    bool is_maker; /* this process made the segment */
    struct sg_wait_queue wait_queue;
    int rank, ranks;
    int endpoint, endpoints;
    int local, locals; /* this rank's number among the endpoint's ranks, and the number of them */
    int servers;       /* the first ones, which deliver CALLs and receive messages */
    int locals_max, servers_max;
    struct sg_grouping by_endpoint; /* ranks; the runs are in the segment */
    struct sg_grouping by_machine;  /* endpoints, likewise */
    int machine, index; /* this machine, and the number of this endpoint among its endpoints */
    int here;           /* largest number of endpoints on one machine */
    uint32_t depth;
    uint32_t slot_bytes;        /* largest of all protocols: size of contributions */
    uint64_t position;          /* chunks begun */
    _Atomic uint64_t arrived;   /* chunks that have arrived, in order */
    uint64_t left, left_beyond; /* chunks left: all before it; after it, those in the mask */
    uint64_t chosen;            /* calls with an agreed choice */
    /* By all ranks of this machine, and of this endpoint, as last seen. */
    uint64_t all_chosen, all_entered, all_left;
    /* some rank was too far behind: rules by call site have ended */
    bool is_far_ahead;
    const struct sg_ruleset *rules;
    int protocol_count;
    struct sg_internode_protocol protocols[SG_INTERNODE_PROTOCOLS_MAX];
    enum sg_progress_mode progress_low, progress_high; /* of the protocols */
    bool is_polled;                                    /* some protocol is SG_ALGO_POLLED */
    bool is_one_sided;                                 /* some is, or there is a coordinator */
    size_t coordinator_at; /* if there is one; only the one on endpoint 0's machine is used */
    size_t runs_at, rank_states_at, endpoints_at, contributions_at, transport_at, size_bytes;
    /* not complete; see nonblocking.c */
    struct sg_nonblocking *first_nonblocking, *last_nonblocking;
    _Atomic uint32_t nonblocking_count; /* number of incomplete nonblocking calls */
    _Atomic size_t kept_bytes;          /* bytes of those whose callers have left */
    _Atomic uint32_t users;             /* threads working on a nonblocking call */
    struct sg_chunk_window *behind;     /* a blocking call that began after nonblocking ones */
    bool draining, sees_to_it;
    int messages_protocol;               /* carries its messages; -1: MPICH does */
    size_t posts_at;                     /* by endpoint; see posts.h */
    struct sg_messages *messages;        /* NULL: carries no messages */
    struct sg_internode_auto *automatic; /* NULL: no rule has `auto` */
    struct sg_progress_client client;
    struct sg_instance_name
        names[SG_INTERNODE_INSTANCES_MAX]; /* by ring slot; under the endpoint's lock */
    struct sg_comm_log log;                /* for reports of slices */
    const struct sg_transport_ops *ops;
    struct sg_transport_setup transport_setup;
    struct sg_transport *transport;
    /* Several machines: */
    const struct sg_transport_remote_ops *remote; /* else NULL */
    struct sg_transport_location location;
    bool has_coordinator; /* rules distinguish call sites, and ranks can agree */
    struct sg_coordinator_request asking;
    bool runs_users;                                                /* runs users' operations */
    struct sg_user_fold user;                                       /* of the call in progress */
    _Alignas(16) unsigned char scratch[SG_INTERNODE_SCRATCH_BYTES]; /* scratch memory of `user` */
    struct sg_internode_links *links;                               /* connections: connect.c */
    const char *(*host_of)(const struct sg_exchange *exchange, int rank);
    _Atomic uint64_t probed_ns;
    bool noted;
};

/* True if this rank delivers CALLs and receives messages. Others leave that to the ranks that do.
 */
static inline bool sg_internode_serves(const struct sg_internode *internode)
{
    return internode->local < internode->servers;
}

static inline void *sg_internode_at(const struct sg_internode *internode, size_t offset)
{
    return (unsigned char *)internode->header + offset;
}

/* Returns the number of an endpoint among those of its machine. */
static inline int sg_internode_index(const struct sg_internode *internode, int endpoint)
{
    return endpoint == internode->endpoint
               ? internode->index
               : sg_grouping_place(&internode->by_machine, endpoint).number;
}

/* Rank states of this machine are numbered by endpoint and local rank. Some numbers are unused, if
 * endpoints differ in size. */
static inline int sg_internode_states(const struct sg_internode *internode)
{
    return internode->here * internode->locals_max;
}

static inline struct sg_rank_state *sg_internode_state(const struct sg_internode *internode,
                                                       int number)
{
    return (struct sg_rank_state *)sg_internode_at(internode, internode->rank_states_at) + number;
}

/* This endpoint's are consecutive. */
static inline int sg_internode_first_state(const struct sg_internode *internode)
{
    return internode->index * internode->locals_max;
}

static inline struct sg_rank_state *sg_internode_own_state(const struct sg_internode *internode)
{
    return sg_internode_state(internode, sg_internode_first_state(internode) + internode->local);
}

/* rank: one of this machine's. */
static inline struct sg_rank_state *sg_internode_rank_state(const struct sg_internode *internode,
                                                            int rank)
{
    struct sg_group_place place = sg_grouping_place(&internode->by_endpoint, rank);

    return sg_internode_state(internode,
                              sg_internode_index(internode, place.group) * internode->locals_max +
                                  place.number);
}

/* The number of the state's rank in the communicator; -1: there is no such rank. */
static inline int sg_internode_rank_of(const struct sg_rank_state *state)
{
    return state->rank - 1;
}

/* root: a rank, or -1, as for calls without a root. */
static inline int sg_internode_root_endpoint(const struct sg_internode *internode, int root)
{
    return root >= 0 ? sg_grouping_place(&internode->by_endpoint, root).group : -1;
}

/* endpoint: one of this machine's. */
static inline struct sg_endpoint *sg_internode_endpoint(const struct sg_internode *internode,
                                                        int endpoint)
{
    return (struct sg_endpoint *)sg_internode_at(internode, internode->endpoints_at) +
           sg_internode_index(internode, endpoint);
}

static inline struct sg_internode_instance *
sg_internode_instance_at(const struct sg_internode *internode, uint64_t position)
{
    return &sg_internode_endpoint(internode, internode->endpoint)
                ->instances[position % internode->depth];
}

/* With the endpoint's lock. Finds the instance with a protocol's number; NULL: not known any more.
 */
static inline struct sg_internode_instance *
sg_endpoint_find_instance(const struct sg_internode *internode, uint32_t protocol, uint64_t seq)
{
    struct sg_endpoint *endpoint = sg_internode_endpoint(internode, internode->endpoint);

    for (uint32_t i = 0; i < internode->depth; i++) {
        struct sg_internode_instance *place = &endpoint->instances[i];

        if (place->arrived > 0 && place->protocol == protocol && place->protocol_seq == seq)
            return place;
    }
    return NULL;
}

static inline void *sg_internode_contribution(const struct sg_internode *internode,
                                              uint64_t position, int local)
{
    size_t index = ((size_t)internode->index * internode->depth + position % internode->depth) *
                       (size_t)internode->locals_max +
                   (size_t)local;

    return sg_internode_at(internode, internode->contributions_at + index * internode->slot_bytes);
}

/* For an endpoint on another machine, returns the address that it would have on this one. */
static inline unsigned char *sg_internode_region(const struct sg_internode *internode,
                                                 uint32_t protocol, int endpoint)
{
    const struct sg_internode_protocol *info = &internode->protocols[protocol];

    return sg_internode_at(internode, info->at + (size_t)sg_internode_index(internode, endpoint) *
                                                     info->stride);
}

/* Type of an instance's operands, by the low half of its number. Messages describe it, because
 * operands may be combined before this endpoint's own CALL. */
static inline struct sg_operand_type *
sg_internode_operand_type(const struct sg_internode *internode, uint32_t protocol, uint32_t seq)
{
    return &sg_internode_endpoint(internode, internode->endpoint)
                ->operand_types[protocol][seq % SG_INTERNODE_INSTANCES_MAX];
}

static inline void *sg_internode_result(const struct sg_internode *internode, uint32_t protocol,
                                        uint64_t seq)
{
    const struct sg_internode_protocol *info = &internode->protocols[protocol];
    uint32_t index = sg_count_place(seq, info->setup.parameters.credits);

    return sg_internode_region(internode, protocol, internode->endpoint) + info->results_at +
           (size_t)index * info->slot_stride;
}

/* Words that the first rank to reach an item writes for the other ranks of its machine.
 *
 * All ranks reach items in the same order, numbered from 0. Item n has a word in the segment, at n
 * modulo the number of words. It contains n + 1 (the low 24 bits, which is more than the words can
 * be apart), the first rank, and that rank's value, which the others read. A word is written again
 * only when all ranks have read it.
 *
 *   choices      calls whose operation has rules by call site, including those that go to MPICH
 *   openings     quarters of the choices' words (agree.c)
 *   signatures   instances (chunk.c)
 */

#define SG_INTERNODE_VALUE_BITS 16
#define SG_INTERNODE_VALUE_MASK 0xffffu
#define SG_INTERNODE_RANK_BITS 24
#define SG_INTERNODE_NUMBER_AT (SG_INTERNODE_VALUE_BITS + SG_INTERNODE_RANK_BITS)

struct sg_internode_found {
    uint32_t brought;
    int rank;
};

static inline uint64_t sg_internode_word_of(uint64_t number, int rank, uint32_t brings)
{
    return (number + 1) << SG_INTERNODE_NUMBER_AT | (uint64_t)rank << SG_INTERNODE_VALUE_BITS |
           brings;
}

/* True if the word contains item `number`. */
static inline bool sg_internode_is_of(uint64_t word, uint64_t number)
{
    return (word ^ (number + 1) << SG_INTERNODE_NUMBER_AT) >> SG_INTERNODE_NUMBER_AT == 0;
}

static inline struct sg_internode_found sg_internode_found_in(uint64_t word)
{
    return (struct sg_internode_found){
        (uint32_t)(word & SG_INTERNODE_VALUE_MASK),
        (int)(word >> SG_INTERNODE_VALUE_BITS & ((1 << SG_INTERNODE_RANK_BITS) - 1))};
}

/* True if some rank has reached the item. */
static inline bool sg_internode_is_taken(const _Atomic uint64_t *word, uint64_t number)
{
    /* Acquire: the writer described its call before. */
    return sg_internode_is_of(atomic_load_explicit(word, memory_order_acquire), number);
}

/* Precondition: all ranks have read the word's former value. */
static inline struct sg_internode_found sg_internode_meet(const struct sg_internode *internode,
                                                          _Atomic uint64_t *word, uint64_t number,
                                                          uint32_t brings)
{
    uint64_t wanted = sg_internode_word_of(number, internode->rank, brings);
    /* Acquire, here and below: as above. */
    uint64_t seen = atomic_load_explicit(word, memory_order_acquire);

    /* A faster rank writes the same number: no rank gets a whole ring ahead of another. */
    if (!sg_internode_is_of(seen, number) &&
        atomic_compare_exchange_strong_explicit(word, &seen, wanted, memory_order_acq_rel,
                                                memory_order_acquire))
        seen = wanted;
    return sg_internode_found_in(seen);
}

/* Ranks of this machine, by the numbers of their states, and the member of struct sg_rank_state
 * that counts the items that they have read. */
struct sg_internode_readers {
    int first, end;
    size_t read_at;
};

/* True if all these ranks have read `count` items. all_read: a count that all of them are known to
 * have reached. */
static inline bool sg_internode_is_read_by_all(const struct sg_internode *internode,
                                               struct sg_internode_readers readers,
                                               uint64_t *all_read, uint64_t count)
{
    uint64_t least = UINT64_MAX;

    if (*all_read >= count)
        return true;
    for (int number = readers.first; number < readers.end; number++) {
        const struct sg_rank_state *state = sg_internode_state(internode, number);
        const _Atomic uint64_t *read = (const void *)((const char *)state + readers.read_at);
        uint64_t now;

        if (sg_internode_rank_of(state) < 0)
            continue;
        /* Acquire: the rank has finished reading. */
        now = atomic_load_explicit(read, memory_order_acquire);
        least = now < least ? now : least;
    }
    *all_read = least;
    return least >= count;
}

/* Counters of the effects of events at an endpoint, for the trace. Under the endpoint's lock, also
 * in a signal handler, except for sg_internode_read_counters. */

/* Counts an event's changes to a protocol's head. */
void sg_endpoint_count(struct sg_endpoint *endpoint, const struct sg_algo_head *before,
                       const struct sg_algo_head *after, uint64_t marks);
/* Records a late contribution: begin before its actions are carried out, which may end the
 * instance, and end after. False: its instance is not known. */
bool sg_endpoint_begin_late(struct sg_internode *internode, uint32_t protocol,
                            const struct sg_event *event, struct sg_late *late);
void sg_endpoint_end_late(struct sg_internode *internode, struct sg_late *late);
/* Takes the counts since the last call of it. At a call's end, without the lock. */
void sg_internode_read_counters(struct sg_internode *internode,
                                struct sg_call_statistics *statistics);

/* For a test, in a build with SG_INTERNODE_DECISIONS=1: appends the effect of each event to the
 * file decisions-COMMUNICATOR-ENDPOINT in the working directory (struct sg_decision, algos/algo.h).
 * tests/internode/replay.c compares. */

#if SG_INTERNODE_DECISIONS

/* With the endpoint's lock. drain: on_drain, without an event. */
void sg_decisions_record(const struct sg_internode *internode, uint32_t protocol,
                         const struct sg_event *event, bool drain,
                         const struct sg_actions *actions);

#else

static inline void sg_decisions_record(const struct sg_internode *internode, uint32_t protocol,
                                       const struct sg_event *event, bool drain,
                                       const struct sg_actions *actions)
{
}

#endif

/* An event at an endpoint, while its actions are carried out. */
struct sg_delivery {
    struct sg_internode *internode;
    uint32_t protocol;
    const struct sg_event *event;
    const unsigned char *parts; /* of a message */
    bool told;                  /* the slice that it ended is reported (bcs/live/shared_posts.c) */
    uint64_t busy_ns;           /* likewise: thread processor time accounted up to now */
};

#endif
