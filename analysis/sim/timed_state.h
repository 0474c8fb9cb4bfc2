/* A timed world: its endpoints, its processes, what is in flight, and functions on them that all
 * its parts use. From the bottom up the parts are state.c, chunks.c (a call's instances),
 * node_level.c, actions.c (cost of actions), endpoint.c (who handles what when), arrivals.c (what
 * the network delivers) and world.c (a run).
 */
#ifndef SG_SIM_TIMED_STATE_H
#define SG_SIM_TIMED_STATE_H

#include "sim/sim_host.h"
#include "sim/timed_queue.h"

/* How a call is cut into instances of its protocol, as shim/internode/chunk.c does. Pure functions.
 */

struct sg_chunking {
    uint32_t count; /* of chunks */
    uint32_t bytes; /* of each but the last */
    /* Of these, so many are under way at once, each over at its FINISH; 0: one by one. */
    uint32_t width;
};

struct sg_chunking sg_chunking_of(const struct sg_world_setup *setup);
/* Of an instance, numbered from 1. */
uint32_t sg_chunking_bytes(const struct sg_chunking *chunking, uint32_t call_bytes, uint32_t seq);

#define NONE UINT32_MAX
#define NEVER UINT64_MAX

/* Kinds of queue entries; the comment says what index is. */
enum {
    EVENT_WORK_END,  /* process: its computation may be over */
    EVENT_ARRIVE,    /* item: a message's first byte is at its endpoint */
    EVENT_READY,     /* item: its last one is */
    EVENT_MULTICAST, /* item: at all endpoints */
    EVENT_WAKE,      /* endpoint: handles what waits */
    EVENT_TIMER,     /* endpoint * SG_TIMERS + id */
    EVENT_ACCESS     /* item: a one-sided action at its target's adapter */
};

/* The payload of a message in flight, shared by its receivers. */
struct parts {
    uint32_t references, count;
    struct sg_value values[];
};

/* What is in flight or waits to be handled. base.own: the next in an inbox or in the free list. */
struct item {
    struct parts *parts; /* of a message; what a WRITE writes, or a READ's reply */
    struct sg_flight base;
};

enum phase {
    PHASE_DELAY,
    PHASE_CALL,
    PHASE_CATCHUP,
    PHASE_REST,
    PHASE_PROGRAM, /* at the end of its computation the program goes on */
    PHASE_WAIT     /* for sg_world_resume */
};

struct process {
    uint64_t work_end_ns; /* of its computation */
    uint64_t entry_ns;    /* of its last call */
    uint32_t iteration;
    uint32_t chunk; /* the call's next one */
    uint8_t phase;
    bool stays; /* until its chunks are finished; now held until some more are */
    bool held;
    /* Of a program. */
    uint32_t posted;
    uint64_t posted_ns; /* its last post takes until then */
    struct sg_algo_call call;
};

/* A post of a program: with the protocol, or waiting for room. */
struct posted {
    struct sg_algo_post post;
    int32_t process;
    uint32_t next; /* that waits, or is free; NONE */
};

/* Posts of one endpoint: sends, and receives and probes. */
struct posting {
    uint32_t under_way[2];
    uint32_t first[2], last[2]; /* of those that wait; NONE */
};

struct endpoint {
    uint64_t busy_ns;    /* until then its processor handles the protocol */
    uint64_t send_ns;    /* until then its adapter sends */
    uint64_t receive_ns; /* until then its adapter receives */
    uint64_t timer_ns[SG_TIMERS];
    uint64_t wake_ns; /* of the EVENT_WAKE that is pending; NEVER */
    uint32_t inbox_first, inbox_last;
    uint32_t inbox_solicited;
    int32_t calling;          /* local processes in a call */
    int32_t resting;          /* local processes past their catch-up */
    int32_t holder;           /* the process that a handler interrupts */
    uint32_t finished;        /* instances: all up to this one, */
    uint64_t finished_beyond; /* and by bit those after it */
    bool in_handler;          /* progress is under way in an interrupt */
    bool completed;           /* COMPLETE was among the actions */
};

/* For endpoints of one-sided protocols. */
struct onesided {
    uint64_t self_ns; /* when the last access to own memory takes effect */
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
    unsigned char *memory; /* of each endpoint: state, cells and, with data, values */
    size_t stride;
    struct sg_algo_needs needs; /* the most of any endpoint */
    struct sg_algo_call call;   /* of each instance, but for its bytes */
    struct sg_chunking chunking;
    struct onesided *onesided;
    struct node_level *node_level; /* with more than one rank per node */

    struct posting *postings; /* by endpoint, where the protocol takes posts */
    struct posted *posted;
    uint32_t posted_used, posted_capacity, posted_free;

    struct item *items;
    uint32_t items_used, items_capacity, items_free;

    struct sg_host host;
    /* the time up to which the present endpoint's actions have been carried out */
    uint64_t cursor_ns;

    /* the iteration */
    uint32_t iteration;
    int32_t remaining; /* processes that have not finished it */
    uint64_t last_entry_ns, last_exit_ns, root_exit_ns, first_start_ns;
    bool draining, drained; /* the iterations are over; on_drain has been called */

    uint32_t credits;            /* 0: without data */
    struct sg_payload payload;   /* of the present endpoint */
    struct sg_host_endpoint fed; /* that endpoint */
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

/* Word-wise FNV-1a: the history. */
static inline void note(struct world *world, uint64_t word)
{
    world->result.history = (world->result.history ^ word) * UINT64_C(0x100000001b3);
}

/* Logs the first failure only. */
void sg_world_fail(struct world *world, enum sg_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void sg_world_push(struct world *world, uint64_t time_ns, uint32_t kind, uint32_t index);
/* Items: alloc copies; NONE, with the failure noted, when memory runs out. */
uint32_t sg_item_alloc(struct world *world, const struct item *item);
/* Allocates an item and pushes an event for it. */
void sg_item_push(struct world *world, uint64_t time_ns, uint32_t kind, const struct item *item);
void sg_item_release(struct world *world, uint32_t index);
/* Releases the parts that an item refers to. */
void sg_parts_release(struct parts *parts);
/* Posts: alloc copies; NONE, with the failure noted, when memory runs out. */
uint32_t sg_posted_alloc(struct world *world, int32_t process, const struct sg_algo_post *post);
void sg_posted_release(struct world *world, uint32_t index);

static inline int posting_kind(const struct sg_algo_post *post)
{
    return post->kind != SG_POST_SEND;
}

/* The random delay of a message, in addition to its latency. */
uint64_t sg_world_jitter_ns(struct world *world, int32_t to);
/* Adds a measured iteration's processor time, in a call or in a handler. */
void sg_world_charge(struct world *world, uint64_t ns, bool blocked);

static inline uint64_t later(uint64_t left_ns, uint64_t right_ns)
{
    return left_ns > right_ns ? left_ns : right_ns;
}

/* Whose send_ns and receive_ns are those of the endpoint's adapter: the first that shares it. */
static inline struct endpoint *sg_world_adapter(struct world *world, int32_t endpoint)
{
    int32_t sharing = world->setup->endpoints_per_adapter;

    return &world->endpoints[sharing > 1 ? endpoint / sharing * sharing : endpoint];
}

/* ---- what the host sees of an endpoint. Payloads are symbolic: they cost no virtual time; they
 * show whether every endpoint gets the same result and what it is made of. */

/* The memory that one endpoint takes. */
size_t sg_world_endpoint_bytes(const struct world *world);
/* Returns the endpoint, and its buffers as *payload. */
struct sg_host_endpoint sg_world_endpoint(struct world *world, int32_t endpoint,
                                          struct sg_payload *payload);
/* Makes it the present endpoint, with a message's parts or none. */
void sg_world_feed(struct world *world, int32_t endpoint, const struct parts *parts);
/* ... with its call. */
void sg_world_feed_call(struct world *world, int32_t endpoint);
/* A copy of values that are sent; NULL if there are none, or when memory runs out, which is noted.
 */
struct parts *sg_parts_new(struct world *world, const struct sg_value *values, uint32_t count);
/* Notes that the protocol is wrong, unless `wrong` is NULL. */
void sg_world_check(struct world *world, const char *wrong);
/* At a FINISH: is the result complete? */
void sg_world_check_result(struct world *world, int32_t endpoint, uint32_t seq);

/* The chunks of a call, one after the other or several side by side: when a process goes on to the
 * next one, and when it leaves.
 */

/* The process is through with a chunk at time_ns, but for the wait for its end where chunks go side
 * by side and it stays for that. */
void sg_chunk_left(struct world *world, int32_t process, uint64_t time_ns, bool stays);
/* An instance is finished at this endpoint. */
void sg_chunk_finished(struct world *world, int32_t endpoint, uint32_t seq);
/* Processes that wait for what has been finished go on, at time_ns. */
void sg_chunks_go_on(struct world *world, int32_t endpoint, uint64_t time_ns);

#endif
