/* The contract of the protocols between nodes: state machines without I/O.
 *
 * A protocol runs one kind of collective among the endpoints 0..size-1 of one communicator. At each
 * endpoint it has a state, and functions that take (state, event) and write actions into an array
 * that the caller owns. The caller, its host, carries the actions out in their order before it
 * feeds the next event: live the engine, in virtual time the simulator, in any order the explorer
 * (architecture.md, "endpoints"; docs/decisions/0007-protocols-without-io.md).
 *
 * A protocol never blocks, allocates, logs, reads a clock or touches payload. Its state holds no
 * pointer and lives in zeroed memory of state_bytes() bytes, aligned to 64, at any address: any
 * process that maps it may run it, one at a time, in a signal handler too.
 *
 * Data is named by struct sg_data; slots are payload buffers of the endpoint, of setup.slot_bytes
 * bytes each, that belong to the protocol alone.
 *
 * What a host promises:
 *   - CALL: the n-th CALL at every endpoint is of the same instance: operation, root, bytes and
 *     flags are equal everywhere. No second CALL before the first has its COMPLETE.
 *   - SEND arrives exactly once, after any time, in any order. MULTICAST may be lost, repeated and
 *     reordered, for each receiver apart.
 *   - WRITEs, FETCH_ADD and READ of one endpoint to one target take effect in the order issued,
 *     need no processor of the target, and FETCH_ADD is atomic. FETCH_ADD and READ answer by a
 *     REPLY. But data may come later than what is issued behind it: a protocol that has learnt of
 *     its writing by a cell names the WRITE's stamp where it first uses the data (COPY, REDUCE,
 *     AWAIT), and before that action the host waits until all of it is there.
 *   - The message of a MESSAGE event, its parts included, is there until the handler's actions have
 *     been carried out.
 *   - What WRITE and WRITE_RESULT send is the data as it is then.
 *   - A timer fires once, not before its time; it may be late by any time, and events that cross
 *     make it stale: the protocol checks.
 *   - POST, of protocols that say SG_ALGO_POSTS and with parameters.posts above 0: numbers of one
 *     rank's posts increase; of the sends of one endpoint that have no DELIVER yet there are never
 *     more than parameters.posts, and of its receives and probes as many: others wait at the host.
 *     A handle names one post until its DELIVER. FILL and DRAIN are carried out by whoever can
 *     reach the post's buffer, after any time, and answer by a REPLY.
 */
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
/* Partial results in one message: a token of a deterministic allreduce has the most. */
#define SG_PARTS_MAX 64
/* The most actions one event may cause, for any setup that limits() accepts. */
#define SG_ACTIONS_MAX 256

/* ---- data ------------------------------------------------------------------------------------ */

enum sg_data_kind {
    SG_DATA_NONE,
    SG_DATA_OPERAND, /* what the CALL under way contributes (in a broadcast: its root's): until its
                        COMPLETE */
    SG_DATA_RESULT,  /* where its result goes: until its FINISH */
    SG_DATA_SLOT,    /* slot `index` of this endpoint */
    SG_DATA_PART     /* part `index` of the message being handled: in this handler's actions only */
};

struct sg_data {
    uint16_t kind;  /* enum sg_data_kind */
    uint16_t index; /* of a slot or part; of a result: instance modulo setup.credits, see CALL */
};

/* ---- set-up ---------------------------------------------------------------------------------- */

struct sg_algo_setup {
    int32_t rank; /* this endpoint */
    int32_t size; /* endpoints, 1..SG_ENDPOINTS_MAX */
    struct sg_algo_parameters parameters;
};

/* What a setup takes at one endpoint. */
struct sg_algo_needs {
    uint32_t state_bytes;
    uint32_t slots;
    uint32_t cells; /* 64-bit words that FETCH_ADD, WRITE_CELL and READ_CELLS of others reach */
    uint32_t parts; /* the most of one message */
    uint32_t slot_bytes; /* what its calls are best cut into; 0: nothing in particular */
    uint32_t part_bytes; /* the most that a part of a message carries; 0: a slot */
    uint32_t in_parts;   /* 1 << enum sg_operation: those whose data go in messages alone */
    uint32_t receivers;  /* of a broadcast's data from one endpoint, at most; 0: there are none */
};

/* Of slots, and what a call of that operation is cut into: what exceeds it goes in as many
 * instances. */
uint32_t sg_algo_slot_bytes(const struct sg_algo_needs *needs);
uint32_t sg_algo_part_bytes(const struct sg_algo_needs *needs);
uint32_t sg_algo_chunk_bytes(const struct sg_algo_needs *needs, enum sg_operation operation);

/* ---- events ---------------------------------------------------------------------------------- */

/* Properties of an instance's operation. */
enum {
    SG_CALL_EXACT = 1, /* any association and order give the same bits (integer sum, max, ...) */
    SG_CALL_COMMUTATIVE = 2, /* the order of operands does not matter */
    /* The result is not waited for: a root's COMPLETE comes at once and its FINISH later (bypass,
     * handoff), or everybody's (srm); nobody lingers. */
    SG_CALL_SPLIT = 4,
    SG_CALL_LONG = 8, /* one of several parts of a call */
    /* The operation is a function of the user's, which the host can run only while this endpoint is
     * in the call: no REDUCE before the CALL, nor after COMPLETE (of a split call: FINISH). */
    SG_CALL_USER = 16
};

/* A collective is entered here, by its last local arriver. */
struct sg_algo_call {
    enum sg_operation operation;
    uint32_t flags; /* SG_CALL_* */
    uint32_t bytes; /* of the contribution; 0 in a barrier, and then no data is ever named */
    /* the endpoint that gets the result of a reduce, or alone contributes to a broadcast, in which
     * all others get the result; -1 */
    int32_t root;
    uint32_t site; /* a number below SG_SITES for the call site, alike everywhere: history */
};

#define SG_SITES 8

/* What travels with every message beside its parts. `kind` and the numbers are the protocol's own.
 */
struct sg_header {
    uint32_t seq; /* the low half of the protocol's count of instances: sg_count_told */
    uint8_t kind;
    uint8_t operation; /* enum sg_operation: receivers compare */
    uint8_t flags;
    uint8_t parts;
    uint32_t bytes; /* of each part */
    uint32_t number[5];
};

/* The count of which a message tells the low half, nearest to the receiver's own. Whatever the
 * protocol, no message is of an instance that is 2^31 away from the receiver's: rings of instances
 * bound how far one endpoint is ahead of another, and transports drop what is older. */
static inline uint64_t sg_count_told(uint64_t own, uint32_t told)
{
    return own + (uint64_t)(int64_t)(int32_t)(told - (uint32_t)own);
}

/* The count's place in a ring. Most counts are short, and short ones divide faster. */
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
    SG_POST_PROBE, /* delivered as the receive in its place would be, which it leaves the message */
    SG_POST_IPROBE /* delivered at once: what a receive could be matched with, or nothing */
};

/* Of a receive or probe: any source, any tag. */
#define SG_ANY (-1)

/* A message is sent, received or asked for by a rank of this endpoint. */
struct sg_algo_post {
    enum sg_post_kind kind;
    uint32_t handle;     /* the host's */
    uint64_t number;     /* of this rank's posts, from 1, ever greater: their order */
    int32_t peer;        /* the other endpoint, this one too; or SG_ANY */
    uint16_t local;      /* the rank, counted within its endpoint */
    uint16_t peer_local; /* ... the other one */
    int32_t tag;         /* or SG_ANY */
    uint32_t bytes;      /* of the message; of a receive, the most that it takes */
};

enum sg_event_kind {
    SG_EVENT_CALL,
    SG_EVENT_MESSAGE,
    SG_EVENT_TIMER,
    SG_EVENT_REPLY,
    SG_EVENT_POST /* to on_call */
};

struct sg_event {
    enum sg_event_kind kind;
    uint64_t time_ns; /* of the endpoint's clock, never going back */
    union {
        struct sg_algo_call call;
        struct sg_message message;
        struct {
            uint32_t id;
            uint64_t value; /* of a watch: what the cell holds */
        } timer;
        struct {
            uint32_t tag;
            uint64_t value[8]; /* of FETCH_ADD [0], of READ_CELLS as many as asked for */
        } reply;
        struct sg_algo_post post;
    };
};

/* ---- actions --------------------------------------------------------------------------------- */

enum sg_action_kind {
    SG_ACTION_SEND,      /* header and parts to endpoint `to` */
    SG_ACTION_MULTICAST, /* header and parts to every other endpoint, unreliably */
    SG_ACTION_COPY,      /* from -> into */
    SG_ACTION_REDUCE,    /* left op right -> into, element by element; into may be either */
    SG_ACTION_AWAIT,     /* nothing, once the data `from` that was written under `stamp` is there */
    SG_ACTION_SET_TIMER, /* timer `id` (below SG_TIMERS) fires at time_ns; replaces its last time */
    SG_ACTION_STOP_TIMER, /* timer `id` need not fire */
    SG_ACTION_COMPLETE, /* the call under way may return; its result is there unless it is split */
    SG_ACTION_FINISH, /* instance `seq` has left this endpoint; of a split call: the result is there
                       */
    /* For whoever measures, actions.slice: it begins here (number, first, NCOLLMSM are known). */
    SG_ACTION_BEGIN_SLICE,
    SG_ACTION_END_SLICE, /* ... and is over here */
    /* One-sided, for endpoints that say SG_ALGO_ONE_SIDED. `to` may be the endpoint itself. */
    SG_ACTION_WRITE,        /* data `from` -> slot `remote` of `to` */
    SG_ACTION_WRITE_RESULT, /* data `from` -> result `remote` of `to`, which has called its instance
                               and not FINISHed it */
    SG_ACTION_WRITE_CELL,   /* value -> cell `remote` of `to` */
    SG_ACTION_FETCH_ADD, /* cell `remote` of `to` += value; REPLY with what was there and `tag` */
    SG_ACTION_READ, /* slot `remote` of `to` -> data `into`; REPLY with `tag` once it is there */
    SG_ACTION_READ_CELLS, /* `count` (at most 8) cells from `remote` of `to`; REPLY with `tag` */
    SG_ACTION_WATCH, /* an event TIMER `id` (below SG_WATCHES) once own cell `remote` is no longer
                        `value`, seen while this endpoint polls (solicited: while it is armed, too);
                        replaces the last watch `id` */
    /* Of posts (SG_ALGO_POSTS). */
    SG_ACTION_FILL,    /* the send's bytes from `offset` on -> slot; REPLY with `tag` */
    SG_ACTION_DRAIN,   /* slot -> the receive's buffer from `offset` on; REPLY with `tag` */
    SG_ACTION_DELIVER, /* the post is over; its buffer is the application's again */
    SG_ACTION_KINDS
};

enum sg_outcome {
    SG_OUTCOME_WHOLE,
    SG_OUTCOME_TRUNCATED, /* the message was longer than its receive */
    SG_OUTCOME_NOTHING    /* of an IPROBE: there is no such message */
};

/* A protocol tells timers from watches by their ids. */
#define SG_TIMERS 4
#define SG_WATCHES 32

struct sg_action {
    uint8_t kind;   /* enum sg_action_kind */
    bool solicited; /* of SEND, MULTICAST, WATCH: armed receivers are interrupted for it; of READ,
                       FILL, DRAIN: so is this endpoint for the REPLY */
    uint16_t id;    /* of a timer */
    int32_t to;     /* the target */
    union {
        struct {
            struct sg_header header;
            uint32_t parts_at; /* the parts: header.parts entries of actions.parts from here on */
        } send;
        struct {
            struct sg_data from, left, right, into;
            uint32_t bytes;
            /* Not 0: `from` (of REDUCE: one of its operands) is what a WRITE with this stamp put
             * there, or, where `to` is an endpoint, what a READ of its slot `remote` brought. */
            uint32_t remote;
            uint64_t seq; /* of REDUCE: the instance whose operation it is */
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
            uint64_t value; /* of WRITE, WRITE_RESULT, and READ of what they wrote: the stamp, which
                               differs from that of the slot's last use; 0: it is never awaited */
        } access;
        struct {
            uint32_t handle, offset, bytes, tag;
            struct sg_data slot;
        } post; /* of FILL and DRAIN */
        struct {
            uint32_t handle;
            uint32_t outcome; /* enum sg_outcome */
            /* Of a receive or probe: what it was matched with. */
            int32_t source;
            uint32_t source_local;
            int32_t tag;
            uint32_t bytes; /* received; of a probe, the message's */
        } delivery;
    };
};

/* Rare states, for whoever wants to know that they were reached. */
enum sg_mark {
    SG_MARK_EARLY,             /* a contribution before the call */
    SG_MARK_LATE,              /* one after the call returned */
    SG_MARK_CREDIT_OUT,        /* a call waits for a credit */
    SG_MARK_POOL_OUT,          /* a call waits for a pull buffer */
    SG_MARK_PULLED,            /* a large contribution was pulled */
    SG_MARK_LINGER_PAID,       /* a child came while its parent lingered */
    SG_MARK_LINGER_VAIN,       /* the linger ran out */
    SG_MARK_TOKEN_ACK_CROSS,   /* a token met an endpoint that had acknowledged */
    SG_MARK_TOKEN_MOVED,       /* a token went down a level */
    SG_MARK_TOKENS_MEET,       /* a token's holder has got the pieces of the others, too */
    SG_MARK_PREDICTED,         /* a token began at the predicted endpoint and ended there */
    SG_MARK_PREDICT_WRONG,     /* ... and ended elsewhere */
    SG_MARK_RELEASE_LOST,      /* a release was asked for */
    SG_MARK_RELEASE_ANSWERED,  /* ... and answered */
    SG_MARK_RELEASE_FORWARDED, /* ... and asked further up */
    SG_MARK_RELEASE_REPEATED,  /* a release came twice */
    SG_MARK_RELEASE_EARLY,   /* a release came before the call of the next instance, out of order */
    SG_MARK_SECOND_CLIMBED,  /* the second arriver climbed on (handoff) */
    SG_MARK_SPLIT_FINISHED,  /* a split call finished after it had returned */
    SG_MARK_STROBE_REPEATED, /* a strobe was not over in time */
    SG_MARK_SLICE_OVERRUN,   /* ... and ended in a later slice */
    SG_MARK_BUDGET_OUT,      /* instances that all have called wait for the next slice */
    SG_MARK_CALLED_CROSSES_STROBE, /* a call was told of while a strobe was under way */
    SG_MARK_PASSED_ON,             /* a broadcast's data were passed on before the call */
    SG_MARK_UNEXPECTED,            /* a message's descriptor waits for its receive */
    SG_MARK_REFUSED,               /* ... had no room to wait in */
    SG_MARK_HELD_BACK,             /* ... was refused because an earlier one was */
    SG_MARK_CUT,                   /* a message goes on in a later slice */
    SG_MARK_EXCHANGE,              /* posts from now on are for another exchange of descriptors */
    SG_MARK_COUNT
};

extern const char *const sg_mark_names[SG_MARK_COUNT];

/* Where a handler writes. The caller sets list, capacity and parts and zeroes the rest. */
struct sg_actions {
    struct sg_action *list;
    uint32_t capacity, count;
    struct sg_data *parts; /* SG_ACTIONS_MAX * 2 entries */
    uint32_t parts_count;
    uint64_t marks; /* 1 << enum sg_mark */
    /* With a BEGIN_SLICE or END_SLICE: in the endpoint's state, until its next event. */
    const struct sg_slice *slice;
    uint8_t routine; /* 1 + enum sg_slice_routine: what the event was for; 0: nothing of slices */
};

/* ---- protocols ------------------------------------------------------------------------------- */

/* Every state begins with this. Counts are of this endpoint since its init. */
struct sg_algo_head {
    /* instances not over here, and 1 while messages of instances not called yet are to be handled:
     * while above 0 and outside a call, be armed */
    uint32_t outstanding;
    uint32_t in_call; /* a CALL has no COMPLETE yet */
    uint64_t seq;     /* CALLs taken, and parameters.first */
    uint32_t early, late, stalls, copies, forwarded;
};

/* What a protocol asks of its host beyond SEND. POLLED: it waits for replies and watches, of which
 * nobody is told; while calls that are SPLIT are outstanding, somebody is to look by itself.
 * PIPELINED: every SPLIT call is COMPLETE at once, so that the parts of a LONG one go on side by
 * side. USER: it takes calls that are SG_CALL_USER. SLICES: it tells of its slices, which count
 * from parameters.epoch_ns. POSTS: with parameters.posts above 0 it carries messages; then it
 * accesses others one-sidedly, and names any endpoint, itself too. ADDS: by FETCH_ADD, too. */
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
    /* False: such a setup is not for this protocol. */
    bool (*needs)(const struct sg_algo_setup *setup, struct sg_algo_needs *needs);
    void (*init)(void *state, const struct sg_algo_setup *setup);
    void (*on_call)(void *state, const struct sg_event *event, struct sg_actions *actions);
    void (*on_message)(void *state, const struct sg_event *event, struct sg_actions *actions);
    void (*on_timer)(void *state, const struct sg_event *event, struct sg_actions *actions);
    void (*on_reply)(void *state, const struct sg_event *event, struct sg_actions *actions);
    /* MPI_Comm_free, MPI_Finalize: no CALL will come; what is needed so that every endpoint comes
     * to outstanding == 0 while messages are still delivered. */
    void (*on_drain)(void *state, const struct sg_event *event, struct sg_actions *actions);
    /* The endpoints that this one ever names in SEND or in an access for calls of that operation
     * and root (-1: none): in answers, repeats, returned credits and drains, too; this one itself
     * where it accesses own memory; not those that a MULTICAST reaches. In increasing order; their
     * number, or -1 where `capacity` is too small. Pure, and symmetric: who names one is named by
     * it. Of an operation that does not commute, a reduce also names those of root 0, and root and
     * 0 each other. */
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

extern const struct sg_algo sg_algo_bypass, sg_algo_adaptive, sg_algo_tree, sg_algo_dissemination,
    sg_algo_pairwise, sg_algo_handoff, sg_algo_srm, sg_algo_bcs;

/* All of them, ended by NULL. */
extern const struct sg_algo *const sg_algos[];

/* What an endpoint did on an event, in a form that the hosts of algo.h can compare: the simulator
 * that is fed the events of a live run in the same order decides the same.
 *
 * Pure; in any thread, in a signal handler too.
 */

/* After the kinds of enum sg_event_kind: on_drain. */
#define SG_DECISION_DRAIN (SG_EVENT_POST + 1)

/* Every member is set, padding is zeroed. */
struct sg_decision {
    uint64_t communicator;
    uint32_t protocol; /* of the communicator */
    uint32_t algo;     /* index in sg_algos */
    int32_t rank, size;
    struct sg_algo_parameters parameters;
    uint32_t kind; /* enum sg_event_kind without POST, or SG_DECISION_DRAIN */
    uint32_t timer;
    struct sg_algo_call call;
    struct sg_message message;
    uint32_t tag;       /* of a REPLY */
    uint64_t values[8]; /* ... its; of a TIMER by a watch, the first */
    uint32_t count;     /* actions */
    uint64_t hash;      /* of them */
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

/* Of what the actions do; times, which differ from clock to clock, are left out. */
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
