/* The state of a timed world (its endpoints, its processes and the items in flight) and the
 * functions on it that all parts use. From the bottom up the parts are timed_state.c (which also
 * cuts calls into chunks), node_level.c, timed_endpoint.c (costs of actions, and which process
 * handles an event when) and timed_world.c (network arrivals and a run from beginning to end). */
#ifndef SG_SIM_TIMED_STATE_H
#define SG_SIM_TIMED_STATE_H

#include "sim/sim_host.h"
#include "sim/timed_queue.h"

/* Cuts a call into instances of its protocol, as shim/internode/chunk.c does. Pure functions. */

struct sg_chunking {
    uint32_t count; /* number of chunks */
    uint32_t bytes; /* size of each chunk except the last */
    /* Number of chunks under way at once, each over at its FINISH; 0: one after another. */
    uint32_t width;
};

struct sg_chunking sg_chunking_of(const struct sg_world_setup *setup);
/* Bytes of an instance; seq counts from 1. */
uint32_t sg_chunking_bytes(const struct sg_chunking *chunking, uint32_t call_bytes, uint32_t seq);

#define NONE UINT32_MAX
#define NEVER UINT64_MAX

/* Kinds of queue entries; each comment begins with the meaning of index. */
enum {
    EVENT_WORK_END,  /* process: its computation may be over */
    EVENT_ARRIVE,    /* item: its first byte is at its endpoint */
    EVENT_READY,     /* item: its last byte is */
    EVENT_MULTICAST, /* item: at all endpoints */
    EVENT_WAKE,      /* endpoint: handles its inbox */
    EVENT_TIMER,     /* endpoint * SG_TIMERS + id */
    EVENT_ACCESS     /* item: a one-sided action at its target's adapter */
};

/* The payload of a message in flight, shared by its receivers. */
struct parts {
    uint32_t references, count;
    struct sg_value values[];
};

/* An item in flight or waiting in an inbox. base.own: next item in the inbox or in the free
 * list. */
struct item {
    struct parts *parts; /* a message's parts, or the value of a WRITE or of a READ's reply */
    struct sg_flight base;
};

enum phase {
    PHASE_DELAY,
    PHASE_CALL,
    PHASE_CATCHUP,
    PHASE_REST,
    PHASE_PROGRAM, /* computes; the program continues at the end */
    PHASE_WAIT     /* waits for sg_world_resume */
};

struct process {
    uint64_t work_end_ns; /* end of its computation */
    uint64_t entry_ns;    /* start of its last call */
    uint32_t iteration;
    uint32_t chunk; /* number of the call's next chunk */
    uint8_t phase;
    bool stays; /* waits for chunks to finish; now held until more are */
    bool held;
    /* Used by programs only. */
    uint32_t posted;
    uint64_t posted_ns; /* end of processing of its last post */
    struct sg_algo_call call;
};

/* A program's post: with the protocol, or waiting because parameters.posts are under way. */
struct posted {
    struct sg_algo_post post;
    int32_t process;
    uint32_t next; /* next waiting or free post; NONE */
};

/* One endpoint's posts: [0] sends, [1] receives and probes. */
struct posting {
    uint32_t under_way[2];
    uint32_t first[2], last[2]; /* queue of waiting posts; NONE */
};

struct endpoint {
    uint64_t busy_ns;    /* its processor handles the protocol until then */
    uint64_t send_ns;    /* its adapter sends until then */
    uint64_t receive_ns; /* its adapter receives until then */
    uint64_t timer_ns[SG_TIMERS];
    uint64_t wake_ns; /* time of the pending EVENT_WAKE; NEVER */
    uint32_t inbox_first, inbox_last;
    uint32_t inbox_solicited;
    int32_t calling;          /* local processes in a call */
    int32_t resting;          /* local processes past their catch-up */
    int32_t holder;           /* process that a handler interrupts */
    uint32_t finished;        /* all instances up to this one have finished */
    uint64_t finished_beyond; /* bit n: instance finished + 1 + n has finished */
    bool in_handler;          /* an interrupt handler makes progress */
    bool completed;           /* COMPLETE was among the actions */
};

/* State of endpoints of one-sided protocols. */
struct onesided {
    uint64_t self_ns; /* time at which the last access to own memory takes effect */
    struct sg_host_watch watches[SG_WATCHES];
};

struct world {
    const struct sg_world_setup *setup;
    struct sg_network network;
    struct sg_queue queue;
    uint64_t now_ns;

    /* the network's times, in ns */
    uint64_t latency_ns, overhead_ns, signal_ns, local_ns, loopback_ns;

    struct endpoint *endpoints;
    struct process *processes;
    int32_t process_count;
    unsigned char *memory; /* per endpoint: state, cells and, with data, values */
    size_t stride;
    struct sg_algo_needs needs; /* maximum over all endpoints */
    struct sg_algo_call call;   /* of each instance, except its bytes */
    struct sg_chunking chunking;
    struct onesided *onesided;
    struct node_level *node_level; /* NULL with one rank per node */

    struct posting *postings; /* per endpoint, if the protocol takes posts */
    struct posted *posted;
    uint32_t posted_used, posted_capacity, posted_free;

    struct item *items;
    uint32_t items_used, items_capacity, items_free;

    struct sg_host host;
    /* the present endpoint's actions have been carried out up to this time */
    uint64_t cursor_ns;

    /* the current iteration */
    uint32_t iteration;
    int32_t remaining; /* processes that have not finished the iteration */
    uint64_t last_entry_ns, last_exit_ns, root_exit_ns, first_start_ns;
    bool draining, drained; /* the iterations are over; on_drain has been called */

    uint32_t credits;            /* 0: without data */
    struct sg_payload payload;   /* buffers of the present endpoint */
    struct sg_host_endpoint fed; /* the present endpoint */
    struct sg_host_peers peers;

    /* sums over the measured iterations */
    uint64_t cpu_ns, wait_ns, delay_ns, root_latency_ns, signals, ignored, fetch_adds,
        own_fetch_adds;
    uint64_t requests[SG_ACTION_KINDS];
    uint64_t early_before, late_before;
    struct sg_world_result result;
    uint64_t multicast_number, message_number;
    enum sg_status status; /* the first failure */
};

static inline struct sg_algo_head *head_of(struct world *world, int32_t endpoint)
{
    return (void *)(world->memory + (size_t)endpoint * world->stride);
}

static inline bool measuring(const struct world *world)
{
    return world->iteration >= world->setup->warmup && !world->draining;
}

/* Adds a word to the history: word-wise FNV-1a. */
static inline void note(struct world *world, uint64_t word)
{
    world->result.history = (world->result.history ^ word) * UINT64_C(0x100000001b3);
}

/* Logs the first failure only. */
void sg_world_fail(struct world *world, enum sg_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void sg_world_push(struct world *world, uint64_t time_ns, uint32_t kind, uint32_t index);
/* Copies the item; NONE, with the failure recorded, when memory runs out. */
uint32_t sg_item_alloc(struct world *world, const struct item *item);
/* Allocates an item and pushes an event for it. */
void sg_item_push(struct world *world, uint64_t time_ns, uint32_t kind, const struct item *item);
void sg_item_release(struct world *world, uint32_t index);
/* Drops one reference to the parts. */
void sg_parts_release(struct parts *parts);
/* Copies the post; NONE, with the failure recorded, when memory runs out. */
uint32_t sg_posted_alloc(struct world *world, int32_t process, const struct sg_algo_post *post);
void sg_posted_release(struct world *world, uint32_t index);

static inline int posting_kind(const struct sg_algo_post *post)
{
    return post->kind != SG_POST_SEND;
}

/* A message's random delay, in addition to its latency. */
uint64_t sg_world_jitter_ns(struct world *world, int32_t to);
/* Adds processor time in a call (blocked) or in a handler to the measured iteration. */
void sg_world_charge(struct world *world, uint64_t ns, bool blocked);

static inline uint64_t later(uint64_t left_ns, uint64_t right_ns)
{
    return left_ns > right_ns ? left_ns : right_ns;
}

/* The endpoint's adapter: the send_ns and receive_ns of the first endpoint that shares it. */
static inline struct endpoint *sg_world_adapter(struct world *world, int32_t endpoint)
{
    int32_t sharing = world->setup->endpoints_per_adapter;

    return &world->endpoints[sharing > 1 ? endpoint / sharing * sharing : endpoint];
}

/* ---- the host's view of an endpoint. Payloads are symbolic and cost no virtual time; they show
 * whether every endpoint gets the same result and which contributions it has. */

/* Bytes of memory per endpoint. */
size_t sg_world_endpoint_bytes(const struct world *world);
/* Returns the endpoint, and its buffers in *payload. */
struct sg_host_endpoint sg_world_endpoint(struct world *world, int32_t endpoint,
                                          struct sg_payload *payload);
/* Makes it the present endpoint, with a message's parts or none. */
void sg_world_feed(struct world *world, int32_t endpoint, const struct parts *parts);
/* The same, and puts its contribution to the next call into the operand. */
void sg_world_feed_call(struct world *world, int32_t endpoint);
/* Copies values that are sent; NULL if there are none, or when memory runs out, which is
 * recorded. */
struct parts *sg_parts_new(struct world *world, const struct sg_value *values, uint32_t count);
/* Fails the run with the protocol's fault, unless `wrong` is NULL. */
void sg_world_check(struct world *world, const char *wrong);
/* At a FINISH: checks that the result is complete. */
void sg_world_check_result(struct world *world, int32_t endpoint, uint32_t seq);

/* ---- chunks of a call, one after another or several at once: when a process goes on to the next
 * chunk, and when it leaves */

/* The process has done its part of a chunk at time_ns. With `stays`, and if chunks overlap, it also
 * waits for the chunk to finish. */
void sg_chunk_left(struct world *world, int32_t process, uint64_t time_ns, bool stays);
/* An instance is finished at this endpoint. */
void sg_chunk_finished(struct world *world, int32_t endpoint, uint32_t seq);
/* Processes that wait for finished chunks go on at time_ns. */
void sg_chunks_go_on(struct world *world, int32_t endpoint, uint64_t time_ns);

/* The node level of timed runs: which process of an endpoint delivers the call to the protocol, and
 * when each process leaves. */

enum sg_status sg_node_level_setup(struct world *world);
void sg_node_level_clear(struct world *world);
/* Memory of one endpoint's node level. */
double sg_node_level_bytes(const struct world *world);
/* A process arrives at its call at *time_ns. True: it is the last and delivers the call, at the
 * updated *time_ns. False: it has left, waits, or arrives again after a completion, at an
 * EVENT_WORK_END. */
bool sg_node_level_arrive(struct world *world, int32_t process, uint64_t *time_ns);
/* True if every rank gets the result in its buffer without a copy by the protocol. */
bool sg_node_level_places_result(const struct world *world);
/* The endpoint's call is complete at time_ns. */
void sg_node_level_complete(struct world *world, int32_t endpoint, uint64_t time_ns);

/* The processors and adapters of endpoints: which process handles an event, when, and at what cost.
 *
 * While a local process is in a call or idle, it polls, and the endpoint handles arrivals at once.
 * While all compute, a solicited arrival interrupts the process that made the last call, if
 * instances are outstanding and the mode has interrupts. The handler then takes everything that
 * waits, and later arrivals cause no second interrupt while it runs. Everything else waits for the
 * next call. */

void sg_endpoint_deliver(struct world *world, const struct item *item);
void sg_endpoint_wake(struct world *world, int32_t endpoint);
void sg_endpoint_timer(struct world *world, uint32_t index);
/* The process enters its call now. */
void sg_endpoint_enter(struct world *world, int32_t process);
/* The process arrives at the node level at time_ns, after it has polled. */
void sg_endpoint_arrive(struct world *world, int32_t process, uint64_t time_ns);
/* A local process becomes idle and polls. */
void sg_endpoint_rest(struct world *world, int32_t endpoint);
/* The process polls from now on; sg_world_resume decrements the endpoint's `calling` again. */
void sg_endpoint_poll(struct world *world, int32_t process);
/* The process posts. */
void sg_endpoint_post(struct world *world, int32_t process, const struct sg_algo_post *post);
/* Feeds MPI_Comm_free. */
void sg_endpoint_drain(struct world *world, int32_t endpoint);

/* ---- costs
 *
 * A handler's actions cost virtual time on the endpoint's processor, one after another: an overhead
 * for each message and access, and a time per byte for copies and reductions. They also decide when
 * their messages arrive. The adapter sends one message after another, G for each byte, and receives
 * in the same way (timed_world.c).
 *
 * One-sided actions take o at the initiator, and L plus G for each byte to the target's adapter,
 * which needs no processor. An endpoint reads and writes its own memory without the adapter, at the
 * cost of a copy. An atomic access uses the adapter even there, because adapters' atomics are
 * atomic only among themselves. */

extern const struct sg_host_scheduler sg_timed_scheduler;

/* Ends a watch and returns its notice. */
struct item sg_world_notice(const struct sg_host_endpoint *endpoint, uint32_t id);

#endif
