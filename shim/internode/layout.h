/* Layout of the shared segment of a communicator over several nodes:
 *
 *   header | coordinator | runs of ranks and of endpoints | rank states, by endpoint and local
 *   rank | endpoints | regions, by protocol and endpoint: state, cells, slots, results | posts |
 *   contributions, by endpoint, ring slot and local rank | the transport's part
 *
 * Each machine has a segment for its own ranks and endpoints, which are numbered within the
 * machine. All segments have the layout of the machine with the most of them, so a transport finds
 * another machine's data at the offsets that they have here.
 *
 * A protocol here is an algorithm with its parameters: one for each rule that names one. Positions
 * count the communicator's instances, identically on all ranks; instance p has ring slot p modulo
 * depth at each endpoint. The slot is reused when the protocol has FINISHed it there and every
 * local rank has left it. Processes map the segment at different addresses: it holds only offsets
 * and indices, which communicator.h turns into addresses.
 */
#ifndef SG_INTERNODE_LAYOUT_H
#define SG_INTERNODE_LAYOUT_H

#include "algos/algo.h"
#include "intranode/method.h"
#include "progress/progress.h"

#include <stdatomic.h>

#define SG_INTERNODE_MAGIC UINT64_C(0x6e6170732d676773)
#define SG_INTERNODE_PROTOCOLS_MAX 64
#define SG_INTERNODE_INSTANCES_MAX 64
#define SG_INTERNODE_WATCHES_MAX (SG_INTERNODE_PROTOCOLS_MAX * SG_WATCHES)
/* Immediate replies to one event, and the deferred READ_CELLS of each protocol. */
#define SG_INTERNODE_REPLIES_MAX (16 + SG_INTERNODE_PROTOCOLS_MAX * SG_INTERNODE_INSTANCES_MAX / 8)

/* The transport's tag for a message or reply is the protocol, or one of these two: a note without a
 * protocol's message, or a reply to a request to the coordinator. */
#define SG_INTERNODE_NOTE_ONLY 0xffu
#define SG_INTERNODE_COORDINATOR_ONLY 0xfeu
/* Flag in addition to the protocol: the reply is deferred to the next poll. */
#define SG_INTERNODE_WAITS 0x100u

/* Numbers of words that the first rank to reach an item writes for the others (agree.c).
 * Nonblocking calls choose, too, and must not wait: the words of choices are reused by quarters,
 * and a quarter that cannot be opened ends rules by call site. */
#define SG_INTERNODE_SIGNATURES 256
#ifndef SG_INTERNODE_CHOICES /* tests define a smaller number */
#define SG_INTERNODE_CHOICES 4096
#endif
#define SG_INTERNODE_QUARTER (SG_INTERNODE_CHOICES / 4)
#define SG_INTERNODE_OPENINGS 8

/* Words hold a rank in 24 bits. */
#define SG_INTERNODE_RANKS_MAX ((1 << 24) - 1)

/* The words of all machines, at endpoint 0, the coordinator (coordinator.c). */
struct sg_coordinator {
    _Atomic uint64_t tickets[SG_INTERNODE_CHOICES]; /* machines that have asked, ever */
    _Atomic uint64_t decided[SG_INTERNODE_CHOICES]; /* words like those of a machine */
    _Atomic uint64_t opening_tickets[SG_INTERNODE_OPENINGS];
    _Atomic uint64_t openings[SG_INTERNODE_OPENINGS];
    _Atomic uint64_t passed[SG_INTERNODE_OPENINGS]; /* machines that have read the quarter, ever */
};

/* A rank's current call, for messages to the user, and its progress. */
struct sg_rank_state {
    int32_t rank; /* 1 + its number in the communicator, from set-up on; 0: there is no such rank */
    _Atomic uint64_t position; /* instances entered */
    _Atomic uint64_t left;     /* instances left */
    _Atomic uint64_t chosen;   /* choices read */
    _Atomic uint64_t unmet;    /* position + 1 while it awaits others after a failed call */
    struct sg_call_info call;  /* the last call entered */
};

/* A call as described by the rank that reached its first instance first, for ranks in another call
 * (disagree.c). On one machine. */
struct sg_first_call {
    uint64_t bytes, count; /* the call's bytes, and the plan's count */
    int32_t root;
    uint8_t operation, protocol, reduction, element;
    bool in_place, nonblocking, chose; /* chose: it used a word of choices */
    unsigned char reserved[21];
    _Atomic uint64_t number; /* position + 1; written last */
    /* From the top: low bits of position + 1, a rank that came to another call, and the error class
     * for ranks that came to this one. */
    _Atomic uint64_t dissent;
};
_Static_assert(sizeof(struct sg_first_call) == 64, "first call");

struct sg_internode_instance {
    uint64_t position; /* valid if arrived > 0 */
    uint64_t protocol_seq;
    uint32_t arrived; /* local ranks */
    uint32_t protocol;
    uint32_t bytes;
    int32_t root; /* endpoint, or -1 */
    uint8_t operation, flags;
    uint8_t reduction, element; /* of the operands; valid if bytes > 0 */
    uint16_t signature;         /* see chunk.h */
    bool told;                  /* other machines have been notified that ranks wait for it */
    bool stays;                 /* the last local rank stays in its call until the end */
    uint64_t ready;             /* position + 1: its CALL may be delivered, in order */
    _Atomic uint64_t slice;     /* 1 + the slice in which it runs; 0: none */
    uint64_t left_ns;           /* time of its CALL's COMPLETE, or of the last late message */
    _Atomic uint64_t finished;  /* position + 1 once the protocol has finished it */
};

/* Type of the operands of the instance with a number in messages. */
struct sg_operand_type {
    uint32_t seq; /* low half of the number, as in messages */
    uint8_t reduction, element;
    uint32_t note; /* for other machines; 0: none. See endpoint.c */
};

struct sg_endpoint_reply {
    uint32_t protocol, tag;
    bool waits; /* deferred to the next poll: a protocol that polls cells does so once a poll */
    uint64_t value[8];
};

/* A watch of a protocol on one of its own cells. */
struct sg_internode_watch {
    uint32_t protocol, id, cell;
    uint64_t value;
};

/* Another machine's note about an instance that has not been entered here. */
struct sg_remote_note {
    uint32_t note;
    int32_t from;
};

/* Counters since a local rank last took them for its call's statistics. */
struct sg_endpoint_counters {
    _Atomic uint64_t late, early, stalls, copies, moves, repeats, handler_ns;
};

/* A protocol's slice: counted since it began; processor time since the last one ended. */
struct sg_endpoint_slice {
    uint64_t routine_ns[SG_ROUTINES];
    uint32_t blocked;   /* ranks that waited when it began */
    uint32_t first_seq; /* sequence number in logs of its first collective; UINT32_MAX: none */
};

struct sg_endpoint {
    _Atomic uint32_t lock; /* 1: held */
    struct sg_doorbell doorbell;
    /* 1 + process slot of the first rank, which serves it for ranks that do not; 0: none */
    _Atomic uint32_t master;
    _Atomic uint32_t draining;  /* local ranks that have begun to drain */
    _Atomic uint64_t delivered; /* CALLs delivered */
    _Atomic uint64_t completed; /* CALLs completed */
    /* Unfinished instances with a user's operation whose CALL is ready; under the lock. See
     * endpoint.h */
    _Atomic uint32_t users;
    struct sg_endpoint_counters counters;
    struct sg_endpoint_slice slices[SG_INTERNODE_PROTOCOLS_MAX];
    uint64_t slices_kept;                                   /* slices that have records */
    uint64_t timers[SG_INTERNODE_PROTOCOLS_MAX][SG_TIMERS]; /* 0: not set */
    struct sg_operand_type operand_types[SG_INTERNODE_PROTOCOLS_MAX]
                                        [SG_INTERNODE_INSTANCES_MAX]; /* by seq */
    uint32_t reply_count;
    struct sg_endpoint_reply replies[SG_INTERNODE_REPLIES_MAX];
    _Atomic uint32_t watch_count;
    struct sg_internode_watch watches[SG_INTERNODE_WATCHES_MAX];
    struct sg_internode_instance instances[SG_INTERNODE_INSTANCES_MAX];
    struct sg_remote_note remote_note[SG_INTERNODE_INSTANCES_MAX]; /* by position */
    /* 1 + the position of a conflicting call, 0: none; and the endpoint that is in it. */
    _Atomic uint64_t foreign;
    int32_t foreign_from;
    /* The handler's actions, while they are carried out. */
    struct sg_action actions[SG_ACTIONS_MAX];
    struct sg_data parts[2 * SG_ACTIONS_MAX];
};

struct sg_internode_header {
    uint64_t magic, nonce;
    uint64_t size_bytes;
    _Atomic uint32_t sleepers;
    _Atomic uint32_t wake;
    _Atomic bool has_nonblocking; /* there has been a nonblocking call */
    _Atomic uint64_t stall_reported;
    _Atomic uint64_t warned[SG_NODE_WARNED]; /* see mpi/user_lines.h */
    _Atomic uint64_t choices[SG_INTERNODE_CHOICES];
    _Atomic uint64_t signatures[SG_INTERNODE_SIGNATURES];
    _Atomic uint64_t openings[SG_INTERNODE_OPENINGS];
    _Atomic uint64_t told;    /* quarters that this machine has reported as read */
    _Atomic bool has_dissent; /* some call has had dissent */
    _Alignas(64) struct sg_first_call first_calls[SG_INTERNODE_SIGNATURES]; /* by position */
};

#endif
