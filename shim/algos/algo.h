/* The contract of the protocols between nodes: state machines without I/O.
 *
 * A protocol runs one kind of collective among the endpoints 0..size-1 of one communicator. At each
 * endpoint it has a state, and functions that take (state, event) and write actions into an array
 * that the caller owns. The caller, an event loop, carries the actions out in order before it feeds
 * the next event: the engine live, the simulator in virtual time, the explorer in any order
 * (architecture.md, "endpoints"; docs/decisions/04).
 *
 * A protocol never blocks, allocates, logs, reads a clock or touches payload. Its state holds no
 * pointer and lives in zeroed memory of needs.state_bytes bytes, aligned to 64, at any address: any
 * process that maps it may run it, one at a time, also in a signal handler.
 *
 * struct sg_data names data; slots are payload buffers of the endpoint, of sg_algo_slot_bytes()
 * bytes each, that belong to the protocol alone.
 *
 * An event loop guarantees:
 *   - CALL: the n-th CALL at every endpoint belongs to the same instance: operation, root, bytes
 *     and flags are equal everywhere. No second CALL comes before the COMPLETE of the first.
 *   - SEND arrives exactly once, after any time, in any order. MULTICAST may be lost, repeated and
 *     reordered, for each receiver independently.
 *   - WRITEs, FETCH_ADD and READ of one endpoint to one target take effect in the order issued and
 *     need no processor of the target; FETCH_ADD is atomic. FETCH_ADD and READ answer by a REPLY.
 *     But data may arrive later than accesses issued after them: a protocol that has learnt from a
 *     cell that they were written names the WRITE's stamp where it first uses the data (COPY,
 *     REDUCE, AWAIT), and before that action the event loop waits until all of them have arrived.
 *   - The message of a MESSAGE event, with its parts, exists until the handler's actions have been
 *     carried out.
 *   - WRITE and WRITE_RESULT send the data as it is when they are carried out.
 *   - A timer fires once and not before its time; it may be arbitrarily late, and events that cross
 *     it may make it stale: the protocol checks.
 *   - POST, for protocols with SG_ALGO_POSTS if parameters.posts is above 0: numbers of one rank's
 *     posts increase. At most parameters.posts sends of an endpoint have no DELIVER yet, and at
 *     most as many receives and probes: others wait in the event loop. A handle names one post
 *     until its DELIVER. Any process that can reach the post's buffer carries out FILL and DRAIN,
 *     after any time, and they answer by a REPLY. */
#ifndef SG_ALGOS_ALGO_H
#define SG_ALGOS_ALGO_H

#include "algos/parameters.h"
#include "core/hash.h"
#include "core/slice.h"
#include "core/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SG_ENDPOINTS_MAX (1 << 24)
/* Most partial results in one message: a token of a deterministic allreduce has the most. */
#define SG_PARTS_MAX 64
/* Most actions that one event may cause, for any setup that needs() accepts. */
#define SG_ACTIONS_MAX 256

/* ---- data ------------------------------------------------------------------------------------ */

enum sg_data_kind {
    SG_DATA_NONE,
    SG_DATA_OPERAND, /* contribution of the current CALL (in a broadcast, the root's): until its
                      * COMPLETE */
    SG_DATA_RESULT,  /* the CALL's result: until its FINISH */
    SG_DATA_SLOT,    /* slot `index` of this endpoint */
    SG_DATA_PART     /* part `index` of the current message: only in this handler's actions */
};

struct sg_data {
    uint16_t kind;  /* enum sg_data_kind */
    uint16_t index; /* of a slot or part; of a result: instance modulo the setup's credits */
};

/* ---- setup ----------------------------------------------------------------------------------- */

struct sg_algo_setup {
    int32_t rank; /* this endpoint */
    int32_t size; /* endpoints, 1..SG_ENDPOINTS_MAX */
    struct sg_algo_parameters parameters;
};

/* Resources that a setup needs at one endpoint. */
struct sg_algo_needs {
    uint32_t state_bytes;
    uint32_t slots;
    uint32_t cells; /* 64-bit words that others access by FETCH_ADD, WRITE_CELL and READ_CELLS */
    uint32_t parts; /* most parts of one message */
    uint32_t slot_bytes; /* best size of a call's pieces; 0: no preference */
    uint32_t part_bytes; /* capacity of a part of a message; 0: a slot's */
    uint32_t in_parts;   /* 1 << enum sg_operation: operations whose data travel only in messages */
    uint32_t receivers;  /* most endpoints to which one endpoint sends a broadcast's data; 0: no
                          * broadcasts */
};

/* Sizes of a slot, of a part, and of the pieces into which a call of that operation is cut. Each
 * piece is an instance. */
uint32_t sg_algo_slot_bytes(const struct sg_algo_needs *needs);
uint32_t sg_algo_part_bytes(const struct sg_algo_needs *needs);
uint32_t sg_algo_chunk_bytes(const struct sg_algo_needs *needs, enum sg_operation operation);

/* ---- events ---------------------------------------------------------------------------------- */

/* Properties of an instance's operation. */
enum {
    SG_CALL_EXACT = 1, /* any association and order give the same bits (integer sum, max, ...) */
    SG_CALL_COMMUTATIVE = 2, /* the order of operands does not matter */
    /* The caller does not wait for the result: a root's COMPLETE comes at once and its FINISH later
     * (bypass, handoff), or everybody's (srm); nobody lingers. */
    SG_CALL_SPLIT = 4,
    SG_CALL_LONG = 8, /* one of several pieces of a call */
    /* The operation is a user's function, which the event loop can run only while this endpoint is
     * in the call: no REDUCE before the CALL, nor after COMPLETE (of a split call: FINISH). */
    SG_CALL_USER = 16
};

/* The last local arriver enters a collective. */
struct sg_algo_call {
    enum sg_operation operation;
    uint32_t flags; /* SG_CALL_* */
    uint32_t bytes; /* of the contribution; 0 in a barrier, and then no data is named */
    /* endpoint that gets a reduce's result, or is the only one that contributes to a broadcast,
     * whose result all others get; -1: none */
    int32_t root;
    uint32_t site; /* number below SG_SITES of the call site, the same everywhere: for history */
};

#define SG_SITES 8

/* Header of every message. `kind` and the numbers are the protocol's own. */
struct sg_header {
    uint32_t seq; /* low half of the protocol's instance number: see sg_count_told */
    uint8_t kind;
    uint8_t operation; /* enum sg_operation: receivers verify it */
    uint8_t flags;
    uint8_t parts;
    uint32_t bytes; /* of each part */
    uint32_t number[5];
};

/* Restores a count from the low half in a message: the value nearest to the receiver's own. No
 * message of any protocol belongs to an instance 2^31 away from the receiver's: rings of instances
 * bound how far endpoints run ahead, and transports drop older messages. */
static inline uint64_t sg_count_told(uint64_t own, uint32_t told)
{
    return own + (uint64_t)(int64_t)(int32_t)(told - (uint32_t)own);
}

/* The count's index in a ring. Most counts fit in 32 bits, which divide faster. */
static inline uint32_t sg_count_place(uint64_t count, uint32_t places)
{
    return count >> 32 == 0 ? (uint32_t)count % places : (uint32_t)(count % places);
}

struct sg_message {
    int32_t from;
    bool multicast;
    struct sg_header header;
};

enum sg_post_kind {
    SG_POST_SEND,
    SG_POST_RECEIVE,
    SG_POST_PROBE, /* delivered like a receive in its place, but leaves it the message */
    SG_POST_IPROBE /* delivered at once: the message that a receive could match, or none */
};

/* In a receive or probe: any source, any tag. */
#define SG_ANY (-1)

/* A rank of this endpoint sends, receives or probes a message. */
struct sg_algo_post {
    enum sg_post_kind kind;
    uint32_t handle;     /* assigned by the event loop */
    uint64_t number;     /* of this rank's posts, from 1, increasing: their order */
    int32_t peer;        /* the other endpoint, possibly this one; or SG_ANY */
    uint16_t local;      /* rank, counted within its endpoint */
    uint16_t peer_local; /* ... of the other rank */
    int32_t tag;         /* or SG_ANY */
    uint32_t bytes;      /* of the message; of a receive, its capacity */
};

enum sg_event_kind {
    SG_EVENT_CALL,
    SG_EVENT_MESSAGE,
    SG_EVENT_TIMER,
    SG_EVENT_REPLY,
    SG_EVENT_POST /* goes to on_call */
};

struct sg_event {
    enum sg_event_kind kind;
    uint64_t time_ns; /* on the endpoint's clock; never decreases */
    union {
        struct sg_algo_call call;
        struct sg_message message;
        struct {
            uint32_t id;
            uint64_t value; /* of a watch: the cell's content */
        } timer;
        struct {
            uint32_t tag;
            uint64_t value[8]; /* of FETCH_ADD [0]; of READ_CELLS, the cells read */
        } reply;
        struct sg_algo_post post;
    };
};

/* ---- actions --------------------------------------------------------------------------------- */

enum sg_action_kind {
    SG_ACTION_SEND,       /* sends header and parts to endpoint `to` */
    SG_ACTION_MULTICAST,  /* sends header and parts to every other endpoint, unreliably */
    SG_ACTION_COPY,       /* from -> into */
    SG_ACTION_REDUCE,     /* left op right -> into, element by element; into may be either */
    SG_ACTION_AWAIT,      /* waits until the data `from` written with `stamp` have arrived */
    SG_ACTION_SET_TIMER,  /* timer `id` (below SG_TIMERS) fires at time_ns, not as set before */
    SG_ACTION_STOP_TIMER, /* timer `id` need not fire */
    SG_ACTION_COMPLETE,   /* the current call may return; its result is there unless it is split */
    SG_ACTION_FINISH, /* instance `seq` has left this endpoint; a split call's result is there */
    /* For measurements, actions.slice: the slice begins here (number, first, NCOLLMSM are
     * known). */
    SG_ACTION_BEGIN_SLICE,
    SG_ACTION_END_SLICE, /* ... and ends here */
    /* One-sided, for endpoints with SG_ALGO_ONE_SIDED. `to` may be the endpoint itself. */
    SG_ACTION_WRITE,        /* data `from` -> slot `remote` of `to` */
    SG_ACTION_WRITE_RESULT, /* data `from` -> result `remote` of `to`, which has called that
                             * instance and not FINISHed it */
    SG_ACTION_WRITE_CELL,   /* value -> cell `remote` of `to` */
    SG_ACTION_FETCH_ADD,    /* cell `remote` of `to` += value; REPLY with the old value and `tag` */
    SG_ACTION_READ, /* slot `remote` of `to` -> data `into`; REPLY with `tag` once it has arrived */
    SG_ACTION_READ_CELLS, /* reads `count` (at most 8) cells from `remote` of `to`; REPLY with
                           * `tag` */
    SG_ACTION_WATCH, /* a TIMER event `id` (below SG_WATCHES) once the own cell `remote` differs
                      * from `value`, seen while this endpoint polls (solicited: also while it is
                      * armed); replaces the previous watch `id` */
    /* For posts (SG_ALGO_POSTS). */
    SG_ACTION_FILL,    /* the send's bytes from `offset` -> slot; REPLY with `tag` */
    SG_ACTION_DRAIN,   /* slot -> the receive's buffer at `offset`; REPLY with `tag` */
    SG_ACTION_DELIVER, /* the post is over; its buffer belongs to the application again */
    SG_ACTION_KINDS
};

enum sg_outcome {
    SG_OUTCOME_WHOLE,
    SG_OUTCOME_TRUNCATED, /* the message was longer than its receive */
    SG_OUTCOME_NOTHING    /* IPROBE: there is no such message */
};

/* A protocol distinguishes timers from watches by their ids. */
#define SG_TIMERS 4
#define SG_WATCHES 32

struct sg_action {
    uint8_t kind;   /* enum sg_action_kind */
    bool solicited; /* SEND, MULTICAST, WATCH: interrupts armed receivers; READ, FILL, DRAIN: the
                     * REPLY interrupts this endpoint */
    uint16_t id;    /* of a timer */
    int32_t to;     /* target */
    union {
        struct {
            struct sg_header header;
            uint32_t parts_at; /* index of the parts: the next header.parts entries of
                                * actions.parts */
        } send;
        struct {
            struct sg_data from, left, right, into;
            uint32_t bytes;
            /* If stamp is not 0: `from` (in a REDUCE, one of its operands) was written by a WRITE
             * with this stamp or, if `to` is an endpoint, by a READ of its slot `remote`. */
            uint32_t remote;
            uint64_t seq; /* REDUCE: instance whose operation it is */
            uint64_t stamp;
        } data;
        struct {
            uint64_t time_ns;
        } timer;
        struct {
            uint64_t seq;
        } instance;
        struct {
            struct sg_data from, into;
            uint32_t bytes, remote, count, tag;
            uint64_t value; /* WRITE, WRITE_RESULT, and READ of the same data: the stamp, which
                             * differs from that of the slot's last use; 0: never awaited */
        } access;
        struct {
            uint32_t handle, offset, bytes, tag;
            struct sg_data slot;
        } post; /* FILL and DRAIN */
        struct {
            uint32_t handle;
            uint32_t outcome; /* enum sg_outcome */
            /* Receive or probe: the matching message. */
            int32_t source;
            uint32_t source_local;
            int32_t tag;
            uint32_t bytes; /* received; for a probe, the message's size */
        } delivery;
    };
};

/* Rare states, for tests and statistics that need to know that they occurred. */
enum sg_mark {
    SG_MARK_EARLY,                 /* a contribution arrived before the call */
    SG_MARK_LATE,                  /* a contribution arrived after the call returned */
    SG_MARK_CREDIT_OUT,            /* a call waits for a credit */
    SG_MARK_POOL_OUT,              /* a call waits for a pull buffer */
    SG_MARK_PULLED,                /* a large contribution was pulled */
    SG_MARK_LINGER_PAID,           /* a child arrived while its parent lingered */
    SG_MARK_LINGER_VAIN,           /* the linger ended in vain */
    SG_MARK_TOKEN_ACK_CROSS,       /* a token met an endpoint that had acknowledged */
    SG_MARK_TOKEN_MOVED,           /* a token went down a level */
    SG_MARK_TOKENS_MEET,           /* a token's holder has received the pieces of the others, too */
    SG_MARK_PREDICTED,             /* a token began and ended at the predicted endpoint */
    SG_MARK_PREDICT_WRONG,         /* ... or ended elsewhere */
    SG_MARK_RELEASE_LOST,          /* a release was missed and asked for */
    SG_MARK_RELEASE_ANSWERED,      /* ... and answered */
    SG_MARK_RELEASE_FORWARDED,     /* ... and requested further up */
    SG_MARK_RELEASE_REPEATED,      /* a release arrived twice */
    SG_MARK_RELEASE_EARLY,         /* a release arrived before its instance's call, out of order */
    SG_MARK_SECOND_CLIMBED,        /* the second arriver climbed on (handoff) */
    SG_MARK_SPLIT_FINISHED,        /* a split call finished after it had returned */
    SG_MARK_STROBE_REPEATED,       /* a strobe was not over in time */
    SG_MARK_SLICE_OVERRUN,         /* ... and ended in a later slice */
    SG_MARK_BUDGET_OUT,            /* instances that all have called wait for the next slice */
    SG_MARK_CALLED_CROSSES_STROBE, /* a call was reported during a strobe */
    SG_MARK_PASSED_ON,             /* a broadcast's data were passed on before the call */
    SG_MARK_UNEXPECTED,            /* a message's descriptor waits for its receive */
    SG_MARK_REFUSED,               /* ... had no capacity to wait */
    SG_MARK_HELD_BACK,             /* ... was refused because an earlier one was refused */
    SG_MARK_CUT,                   /* a message continues in a later slice */
    SG_MARK_EXCHANGE,              /* later posts belong to the next exchange of descriptors */
    SG_MARK_COUNT
};

extern const char *const sg_mark_names[SG_MARK_COUNT];

/* Output of a handler. The caller sets list, capacity and parts, and zeroes the rest. */
struct sg_actions {
    struct sg_action *list;
    uint32_t capacity, count;
    struct sg_data *parts; /* SG_ACTIONS_MAX * 2 entries */
    uint32_t parts_count;
    uint64_t marks; /* 1 << enum sg_mark */
    /* With a BEGIN_SLICE or END_SLICE: points into the endpoint's state, valid until its next
     * event. */
    const struct sg_slice *slice;
    uint8_t routine; /* 1 + enum sg_slice_routine: work that the event caused; 0: unrelated to
                      * slices */
};

/* ---- protocols ------------------------------------------------------------------------------- */

/* First member of every state. Counts are of this endpoint since its init. */
struct sg_algo_head {
    /* instances not over here, plus 1 while messages of instances not called yet must be handled:
     * while above 0 and outside a call, the endpoint must be armed */
    uint32_t outstanding;
    uint32_t in_call; /* 1: a CALL has no COMPLETE yet */
    uint64_t seq;     /* number of CALLs, plus parameters.first */
    uint32_t early, late, stalls, copies, forwarded;
};

/* Services that a protocol needs beyond SEND.
 *   POLLED     waits for replies and watches without notification; while split calls are
 *              outstanding, the event loop must poll by itself
 *   PIPELINED  every split call is COMPLETE at once, so the pieces of a LONG one run concurrently
 *   USER       takes calls with SG_CALL_USER
 *   SLICES     reports its slices, which count from parameters.epoch_ns
 *   POSTS      carries messages if parameters.posts is above 0; then it uses one-sided accesses,
 *              to any endpoint including itself
 *   ADDS       uses FETCH_ADD */
enum {
    SG_ALGO_MULTICAST = 1,
    SG_ALGO_ONE_SIDED = 2,
    SG_ALGO_POLLED = 4,
    SG_ALGO_PIPELINED = 8,
    SG_ALGO_USER = 16,
    SG_ALGO_SLICES = 32,
    SG_ALGO_POSTS = 64,
    SG_ALGO_ADDS = 128
};

struct sg_algo {
    const char *name;
    uint32_t operations; /* 1 << enum sg_operation */
    uint32_t uses;       /* SG_ALGO_* */
    const struct sg_parameter *parameters;
    /* False: the protocol does not support the setup. */
    bool (*needs)(const struct sg_algo_setup *setup, struct sg_algo_needs *needs);
    void (*init)(void *state, const struct sg_algo_setup *setup);
    void (*on_call)(void *state, const struct sg_event *event, struct sg_actions *actions);
    void (*on_message)(void *state, const struct sg_event *event, struct sg_actions *actions);
    void (*on_timer)(void *state, const struct sg_event *event, struct sg_actions *actions);
    void (*on_reply)(void *state, const struct sg_event *event, struct sg_actions *actions);
    /* MPI_Comm_free, MPI_Finalize: no CALL will come. Does what is needed so that every endpoint
     * reaches outstanding == 0 while messages are still delivered. */
    void (*on_drain)(void *state, const struct sg_event *event, struct sg_actions *actions);
    /* Lists the endpoints that this one ever names in a SEND or an access, for calls of that
     * operation and root (-1: none): including answers, repeats, returned credits and drains, and
     * itself if it accesses its own memory; excluding those that only a MULTICAST reaches. In
     * increasing order; returns their number, or -1 if `capacity` is too small. Pure and symmetric:
     * if a lists b, b lists a. For an operation that does not commute, a reduce also lists those of
     * root 0, and root and 0 each other. SG_PEERS_OF_ALL_ROOTS: those of all roots, perhaps more.
     * Takes no more than the logarithm of size, times what fits into `capacity`. */
    int (*peers)(const struct sg_algo_setup *setup, enum sg_operation operation, int32_t root,
                 int32_t *out, int capacity);
};

static inline bool sg_algo_takes_posts(const struct sg_algo *algo,
                                       const struct sg_algo_parameters *parameters)
{
    return (algo->uses & SG_ALGO_POSTS) && parameters->posts > 0;
}

static inline bool sg_algo_is_one_sided(const struct sg_algo *algo,
                                        const struct sg_algo_parameters *parameters)
{
    return (algo->uses & SG_ALGO_ONE_SIDED) || sg_algo_takes_posts(algo, parameters);
}

/* sg_algo_bypass, ..., the protocols among the algorithms (algos/parameters.h). */
#define SG_ALGO_PROTOCOL(name) extern const struct sg_algo sg_algo_##name;
#define SG_ALGO_NO_PROTOCOL(name)
#define SG_ALGO_DECLARE(number, name, protocol, ...) SG_ALGO_##protocol(name)
SG_ALGORITHMS(SG_ALGO_DECLARE)

/* As a root of `peers`. */
#define SG_PEERS_OF_ALL_ROOTS (-2)

/* All protocols, ended by NULL. */
extern const struct sg_algo *const sg_algos[];

/* ---- decisions: an endpoint's actions on an event, in a form that event loops can compare ----
 *
 * If the simulator gets the events of a live run in the same order, it decides the same. Pure; any
 * thread, any signal handler. */

/* Follows the kinds of enum sg_event_kind: on_drain. */
#define SG_DECISION_DRAIN (SG_EVENT_POST + 1)

/* Every member is set, and padding is zeroed. */
struct sg_decision {
    uint64_t communicator;
    uint32_t protocol; /* number within the communicator */
    uint32_t algo;     /* index in sg_algos */
    int32_t rank, size;
    struct sg_algo_parameters parameters;
    uint32_t kind; /* enum sg_event_kind without POST, or SG_DECISION_DRAIN */
    uint32_t timer;
    struct sg_algo_call call;
    struct sg_message message;
    uint32_t tag;       /* of a REPLY */
    uint64_t values[8]; /* ... its values; for a watch's TIMER, the first one */
    uint32_t count;     /* number of actions */
    uint64_t hash;      /* hash of the actions */
};

static inline uint64_t sg_decision_add(uint64_t hash, uint64_t value)
{
    return sg_hash_mix(hash ^ value);
}

static inline uint64_t sg_decision_add_data(uint64_t hash, struct sg_data data)
{
    return sg_decision_add(hash, (uint64_t)data.kind << 16 | data.index);
}

static inline uint64_t sg_decision_add_send(uint64_t hash, const struct sg_actions *actions,
                                            const struct sg_action *action)
{
    const struct sg_header *header = &action->send.header;

    hash = sg_hash_bytes(hash, header, sizeof *header);
    for (uint32_t i = 0; i < header->parts; i++)
        hash = sg_decision_add_data(hash, actions->parts[action->send.parts_at + i]);
    return sg_decision_add(hash, action->solicited);
}

/* Hashes the effects of the actions; omits times, which differ between clocks. */
static inline uint64_t sg_decision_hash(const struct sg_actions *actions)
{
    uint64_t hash = SG_HASH_START;

    for (uint32_t i = 0; i < actions->count; i++) {
        const struct sg_action *action = &actions->list[i];

        hash = sg_decision_add(hash, action->kind);
        switch ((enum sg_action_kind)action->kind) {
        case SG_ACTION_SEND:
            hash = sg_decision_add(hash, (uint32_t)action->to);
            hash = sg_decision_add_send(hash, actions, action);
            break;
        case SG_ACTION_MULTICAST:
            hash = sg_decision_add_send(hash, actions, action);
            break;
        case SG_ACTION_REDUCE:
            hash = sg_decision_add_data(hash, action->data.left);
            hash = sg_decision_add_data(hash, action->data.right);
            hash = sg_decision_add_data(hash, action->data.into);
            hash = sg_decision_add(hash, (uint64_t)action->data.seq << 32 | action->data.bytes);
            break;
        case SG_ACTION_COPY:
        case SG_ACTION_AWAIT:
            hash = sg_decision_add_data(hash, action->data.from);
            hash = sg_decision_add_data(hash, action->data.into);
            hash = sg_decision_add(hash, action->data.bytes);
            break;
        case SG_ACTION_FINISH:
            hash = sg_decision_add(hash, action->instance.seq);
            break;
        case SG_ACTION_WRITE:
        case SG_ACTION_WRITE_RESULT:
        case SG_ACTION_WRITE_CELL:
        case SG_ACTION_FETCH_ADD:
        case SG_ACTION_READ:
        case SG_ACTION_READ_CELLS:
        case SG_ACTION_WATCH:
            hash = sg_decision_add(hash, (uint64_t)(uint32_t)action->to << 32 | action->id);
            hash =
                sg_decision_add(hash, (uint64_t)action->access.remote << 32 | action->access.tag);
            hash =
                sg_decision_add(hash, (uint64_t)action->access.bytes << 32 | action->access.count);
            hash = sg_decision_add(hash, action->access.value);
            hash = sg_decision_add_data(hash, action->access.from);
            hash = sg_decision_add_data(hash, action->access.into);
            break;
        default:
            hash = sg_decision_add(hash, action->id);
        }
    }
    return hash;
}

#endif
