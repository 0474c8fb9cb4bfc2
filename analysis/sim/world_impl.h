/* The parts of a world, shared by world.c (iterations), endpoint.c (who handles what when),
 * carry.c (what actions do) and access.c (one-sided actions).
 */
#ifndef SG_SIM_WORLD_IMPL_H
#define SG_SIM_WORLD_IMPL_H

#include "sim/payload.h"
#include "sim/queue.h"
#include "sim/world.h"

#define NONE UINT32_MAX
#define NEVER UINT64_MAX

/* Kinds of queue entries; index says of what. */
enum {
    EVENT_WORK_END,  /* process: its computation may be over */
    EVENT_ARRIVE,    /* item: a message's first byte is at its endpoint */
    EVENT_READY,     /* item: its last one is */
    EVENT_MULTICAST, /* item: at all endpoints */
    EVENT_WAKE,      /* endpoint: looks at what waits */
    EVENT_TIMER,     /* endpoint * SG_TIMERS + id */
    EVENT_ACCESS     /* item: a one-sided action at its target's adapter */
};

enum { ITEM_MESSAGE, ITEM_REPLY, ITEM_TIMER, ITEM_WATCH, ITEM_ACCESS };

/* The payload of a message in flight, shared by its receivers. */
struct parts {
    uint32_t references, count;
    struct sg_value values[];
};

/* What is in flight or waits to be handled. */
struct item {
    uint32_t next; /* in an inbox or the free list */
    int32_t endpoint;
    uint8_t kind;
    bool solicited;
    uint16_t id; /* of a timer or watch; of an access: enum sg_action_kind */
    int32_t from;
    struct parts *parts;
    union {
        struct sg_message message;
        struct {
            uint64_t value[8];
            uint32_t tag;
            struct sg_data into; /* of a READ, whose data is in parts */
        } reply;
        struct {
            uint64_t value;
            uint32_t bytes, remote, count, tag;
            struct sg_data into;
        } access;
    };
};

enum phase { PHASE_DELAY, PHASE_CALL, PHASE_CATCHUP, PHASE_REST };

struct process {
    uint64_t work_end_ns; /* of its computation */
    uint64_t entry_ns;    /* of its last call */
    uint32_t iteration;
    uint8_t phase;
};

struct endpoint {
    uint64_t busy_ns;    /* until then its processor handles the protocol */
    uint64_t send_ns;    /* until then its adapter sends */
    uint64_t receive_ns; /* until then its adapter receives */
    uint64_t timer_ns[SG_TIMERS];
    uint64_t wake_ns; /* of the EVENT_WAKE that is pending; NEVER */
    uint32_t inbox_first, inbox_last;
    uint32_t inbox_solicited;
    int32_t calling; /* local processes in a call */
    int32_t resting; /* local processes past their catch-up */
    int32_t holder;  /* the process that a handler interrupts */
    bool in_handler; /* progress is under way in an interrupt */
    bool completed;  /* COMPLETE was among the actions */
};

/* Of endpoints of one-sided protocols. */
struct watch {
    uint64_t value;
    uint32_t cell; /* NONE: none */
    bool solicited;
};

struct onesided {
    uint64_t self_ns; /* the last access to own memory takes effect then */
    struct watch watches[SG_WATCHES];
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
    unsigned char *states;
    size_t state_stride;
    struct sg_algo_needs needs;
    uint64_t *cells;
    struct onesided *onesided;
    struct node_level *node_level; /* with more than one rank per node */

    struct item *items;
    uint32_t items_used, items_capacity, items_free;

    struct sg_action *list;
    struct sg_actions actions;

    /* the iteration */
    uint32_t iteration;
    int32_t remaining; /* processes that are not through with it */
    uint64_t last_entry_ns, last_exit_ns, root_exit_ns, first_start_ns;
    bool draining;

    /* payloads, with data */
    struct sg_value *values; /* slots, operand and results of each endpoint */
    uint32_t values_stride, credits;
    struct sg_payload payload; /* of the endpoint being fed */

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
    return (void *)(world->states + (size_t)endpoint * world->state_stride);
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

/* Items: alloc copies; NONE and a failure noted when memory runs out. */
uint32_t sg_item_alloc(struct world *world, const struct item *item);
void sg_item_release(struct world *world, uint32_t index);
/* Lets go of the parts that an item refers to. */
void sg_parts_release(struct parts *parts);

/* endpoint.c */
void sg_endpoint_deliver(struct world *world, const struct item *item);
void sg_endpoint_wake(struct world *world, int32_t endpoint);
void sg_endpoint_timer(struct world *world, uint32_t index);
/* The process enters its call now. */
void sg_endpoint_enter(struct world *world, int32_t process);
/* It arrives at the node level at time_ns, once it has polled. */
void sg_endpoint_arrive(struct world *world, int32_t process, uint64_t time_ns);
/* A local process is at rest, and polls. */
void sg_endpoint_rest(struct world *world, int32_t endpoint);
/* Feeds MPI_Comm_free. */
void sg_endpoint_drain(struct world *world, int32_t endpoint);

/* carry.c: carries the actions out from start_ns on; returns when the processor is done. */
uint64_t sg_carry_out(struct world *world, int32_t endpoint, uint64_t start_ns);

/* access.c */
uint64_t sg_access_issue(struct world *world, int32_t endpoint, const struct sg_action *action,
                         uint64_t time_ns);
void sg_access_effect(struct world *world, const struct item *item);
uint64_t sg_access_cell(const struct world *world, int32_t endpoint, uint32_t cell);
void sg_access_watch(struct world *world, int32_t endpoint, const struct sg_action *action);

/* world_memory.c */
enum sg_status sg_world_open(const struct sg_world_setup *setup, struct world *world);
void sg_world_close(struct world *world);
double sg_world_bytes(const struct world *world);

/* world.c: a measured iteration's processor time, in a call or in a handler. */
void sg_world_charge(struct world *world, uint64_t ns, bool blocked);
/* The process leaves its call at time_ns. */
void sg_world_exit(struct world *world, int32_t process, uint64_t time_ns);

/* values.c: payloads, with data. */
enum sg_status sg_values_setup(struct world *world);
void sg_values_load(struct world *world, int32_t endpoint, struct parts *parts);
void sg_values_call(struct world *world, int32_t endpoint);
void sg_values_action(struct world *world, int32_t endpoint, const struct sg_action *action);
struct parts *sg_values_gather(struct world *world, const struct sg_action *action);
/* At the target: of a WRITE, its parts; of a READ, into *answer. */
void sg_values_access(struct world *world, const struct item *item, struct parts **answer);
/* A READ's answer is in the initiator's memory. */
void sg_values_land(struct world *world, const struct item *reply);
void sg_values_clear(struct world *world);
void sg_values_check(struct world *world, int32_t endpoint, uint32_t seq);

#endif
