/* The shared segment of a communicator over several nodes: what lies where.
 *
 *   header | coordinator | rank states, by rank | endpoints | contributions, by endpoint, ring
 *   place and local rank | regions, by protocol and endpoint: state, cells, slots, results | the
 *   transport's
 *
 * Each machine has a segment for its own ranks and endpoints, which are numbered within the
 * machine. All segments have the layout of the machine with the most of them, so a transport finds
 * another machine's data at the offsets that they have here.
 *
 * A protocol here is an algorithm with its parameters: one for each rule that names one. Positions
 * count the communicator's instances, alike on all ranks; instance p has place p modulo depth at
 * each endpoint. The place is used again when the protocol has FINISHed it there and every local
 * rank has left it. Processes map the segment at different addresses: it holds offsets and indices
 * only, which communicator.h turns into addresses.
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
/* Replies that an event gets at once; and for each protocol the READ_CELLS that wait. */
#define SG_INTERNODE_REPLIES_MAX (16 + SG_INTERNODE_PROTOCOLS_MAX * SG_INTERNODE_INSTANCES_MAX / 8)

/* The transport's tag for a message or reply: the protocol, or one of these two instead. A note
 * alone is for no protocol; the other is a reply to a question to the coordinator. */
#define SG_INTERNODE_NOTE_ONLY 0xffu
#define SG_INTERNODE_COORDINATOR_ONLY 0xfeu
/* In addition to the protocol: the reply waits for the next poll. */
#define SG_INTERNODE_WAITS 0x100u

/* Words that the first rank to reach a thing writes for the others (agree.c). Nonblocking calls
 * choose, too, and must not wait: the words of choices are reused by quarters, and a quarter that
 * cannot be opened ends rules by call site. */
#define SG_INTERNODE_SIGNATURES 256
#ifndef SG_INTERNODE_CHOICES /* tests have fewer */
#define SG_INTERNODE_CHOICES 4096
#endif
#define SG_INTERNODE_QUARTER (SG_INTERNODE_CHOICES / 4)
#define SG_INTERNODE_OPENINGS 8

/* Words hold a rank, and messages an endpoint + 1, in 16 bits. */
#define SG_INTERNODE_RANKS_MAX 65535

/* With more endpoints than this none is connected to all others, and there is no coordinator. */
#define SG_COORDINATOR_ENDPOINTS_MAX 64

/* The words of all machines, at endpoint 0, the coordinator (coordinator.c). */
struct sg_coordinator {
    _Atomic uint64_t tickets[SG_INTERNODE_CHOICES]; /* machines that have asked, ever */
    _Atomic uint64_t decided[SG_INTERNODE_CHOICES]; /* words like those of a machine */
    _Atomic uint64_t opening_tickets[SG_INTERNODE_OPENINGS];
    _Atomic uint64_t openings[SG_INTERNODE_OPENINGS];
    _Atomic uint64_t passed[SG_INTERNODE_OPENINGS]; /* machines that have read the quarter, ever */
};

/* A rank: its call, for messages to the user, and its progress. */
struct sg_rank_state {
    _Atomic uint64_t position; /* entered so far */
    _Atomic uint64_t left;     /* left so far */
    _Atomic uint64_t chosen;   /* choices read so far */
    _Atomic uint64_t unmet;    /* position + 1 where it, whose call failed, awaits the others */
    struct sg_call_info call;  /* the last one entered */
};

/* A call as the rank has made it that was the first to reach its first instance: for ranks that
 * come to another one (disagree.c). On one machine. */
struct sg_first_call {
    uint64_t bytes, count; /* as the call's, and as the plan's */
    int32_t root;
    uint8_t operation, protocol, reduction, element;
    bool in_place, nonblocking, chose; /* chose: it took a word of choices */
    unsigned char reserved[21];
    _Atomic uint64_t number; /* position + 1, written last */
    /* Low bits of position + 1, above a rank that came to another call, above the class of the
     * error that it is for those who did not. */
    _Atomic uint64_t dissent;
};
_Static_assert(sizeof(struct sg_first_call) == 64, "first call");

struct sg_internode_instance {
    uint64_t position; /* valid where arrived > 0 */
    uint64_t protocol_seq;
    uint32_t arrived; /* local ranks */
    uint32_t protocol;
    uint32_t bytes;
    int32_t root; /* endpoint; -1 */
    uint8_t operation, flags;
    uint8_t reduction, element; /* of the operands; where bytes > 0 */
    uint16_t signature;         /* see consistency.h */
    bool told;                  /* other machines have been told that it is waited for */
    bool stays;                 /* the last local rank stays in its call until the end */
    uint64_t ready;             /* position + 1: its CALL may be delivered, in its turn */
    _Atomic uint64_t slice;     /* 1 + the one that it runs in; 0: none */
    uint64_t left_ns;           /* time of its CALL's completion, or of the last late message */
    _Atomic uint64_t finished;  /* position + 1 once the protocol has left it */
};

/* The instance that belongs to a number in messages. */
struct sg_operand_type {
    uint32_t seq; /* its low half, as messages tell it */
    uint8_t reduction, element;
    uint32_t note; /* for other machines; 0: none. See consistency.h */
};

struct sg_endpoint_reply {
    uint32_t protocol, tag;
    bool waits; /* for the next poll: a protocol that polls cells does so once a poll */
    uint64_t value[8];
};

/* What a protocol watches: one of its own cells. */
struct sg_internode_watch {
    uint32_t protocol, id, cell;
    uint64_t value;
};

/* Another machine's note about an instance that has not been entered here. */
struct sg_remote_note {
    uint32_t note;
    int32_t from;
};

/* Counters since the last call that took them for its statistics, of whichever local rank. */
struct sg_endpoint_counters {
    _Atomic uint64_t late, early, stalls, copies, moves, repeats, handler_ns;
};

/* Of a protocol's slice, since it began or, of processor time, since the last one ended. */
struct sg_endpoint_slice {
    uint64_t routine_ns[SG_ROUTINES];
    uint32_t blocked;   /* ranks that waited when it began */
    uint32_t first_seq; /* of the first collective in it, as logs call it; UINT32_MAX: none */
};

struct sg_endpoint {
    _Atomic uint32_t lock; /* 1: held */
    struct sg_doorbell doorbell;
    /* 1 + the process slot of the rank that serves it for the others; 0: none */
    _Atomic uint32_t master;
    _Atomic uint32_t draining;  /* local ranks that have come to drain */
    _Atomic uint64_t delivered; /* CALLs delivered */
    _Atomic uint64_t completed; /* CALLs completed */
    /* instances whose CALL is ready and that are not over, whose operation is the user's; under
     * the lock. See endpoint.h */
    _Atomic uint32_t users;
    struct sg_endpoint_counters counters;
    struct sg_endpoint_slice slices[SG_INTERNODE_PROTOCOLS_MAX];
    uint64_t slices_kept;                                   /* that have records */
    uint64_t timers[SG_INTERNODE_PROTOCOLS_MAX][SG_TIMERS]; /* 0: not set */
    struct sg_operand_type operand_types[SG_INTERNODE_PROTOCOLS_MAX]
                                        [SG_INTERNODE_INSTANCES_MAX]; /* by seq */
    uint32_t reply_count;
    struct sg_endpoint_reply replies[SG_INTERNODE_REPLIES_MAX];
    _Atomic uint32_t watch_count;
    struct sg_internode_watch watches[SG_INTERNODE_WATCHES_MAX];
    struct sg_internode_instance instances[SG_INTERNODE_INSTANCES_MAX];
    struct sg_remote_note remote_note[SG_INTERNODE_INSTANCES_MAX]; /* by position */
    /* 1 + an endpoint that is in another call, and the position above; 0: none. */
    _Atomic uint64_t foreign;
    /* The handler's actions, while they are carried out. */
    struct sg_action actions[SG_ACTIONS_MAX];
    struct sg_data parts[2 * SG_ACTIONS_MAX];
};

struct sg_internode_header {
    uint64_t magic, nonce;
    uint64_t size_bytes;
    _Atomic uint32_t sleepers;
    _Atomic uint32_t wake;
    _Atomic bool has_nonblocking; /* there have been any */
    _Atomic uint64_t stall_reported;
    _Atomic uint64_t warned[SG_NODE_WARNED]; /* see mpi/user_lines.h */
    _Atomic uint64_t choices[SG_INTERNODE_CHOICES];
    _Atomic uint64_t signatures[SG_INTERNODE_SIGNATURES];
    _Atomic uint64_t openings[SG_INTERNODE_OPENINGS];
    _Atomic uint64_t told;    /* quarters that this machine has told the coordinator it has read */
    _Atomic bool has_dissent; /* some call has had any */
    _Alignas(64) struct sg_first_call first_calls[SG_INTERNODE_SIGNATURES]; /* as signatures */
};

#endif
