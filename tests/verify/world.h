/* The explorer's world: endpoints with their states and buffers, processes that make calls, and
 * flights between them. It is the host of algo.h for the most hostile networks; steps.h and its
 * users choose which of the possible steps comes next.
 *
 * Everything that changes is in one block of memory (the arena), in the list of flights, and in the
 * fields up to `violation`, so that a world can be saved and restored. */
#ifndef SG_VERIFY_WORLD_H
#define SG_VERIFY_WORLD_H

#include "sim/sim_host.h"
#include "verify/scenario.h"

#define SG_EXPLORE_FLIGHTS_MAX 2048
#define SG_EXPLORE_VIOLATION_BYTES 240
/* Guard bytes around every state, which detect a handler's writes out of bounds. */
#define SG_EXPLORE_GUARD_BYTES 64
#define SG_EXPLORE_GUARD 0xa5

/* Rare states of the host, numbered after the protocols' marks. */
enum sg_explore_mark {
    SG_HOST_SIGNAL = SG_MARK_COUNT, /* a computing process was interrupted */
    SG_HOST_SIGNAL_IN_PROGRESS,     /* a signal's message was taken while progress was under way */
    SG_HOST_LOST,                   /* a multicast was lost */
    SG_HOST_REPEATED,               /* a multicast came again */
    SG_HOST_OVERTAKEN,              /* a message arrived before an earlier one */
    SG_HOST_TIMER_EARLY,            /* a timer fired while messages were in flight */
    SG_HOST_DRAIN_OUTSTANDING,      /* a drain began with instances outstanding */
    SG_HOST_CROSSED_CALL,           /* a message of a later instance came before its call */
    SG_HOST_MARK_COUNT
};

enum sg_explore_process_state {
    SG_PROCESS_COMPUTING,
    SG_PROCESS_ENTERING, /* polls, then calls */
    SG_PROCESS_IN_CALL,
    SG_PROCESS_DRAINING /* has made all its calls */
};

struct sg_explore_process {
    int32_t state;
    int32_t next;        /* next instance of the scenario in which it is a member */
    int32_t comm;        /* of the current call */
    uint32_t held_until; /* takes no step before this one */
};

/* The state of a post at its endpoint. */
struct sg_explore_posted {
    uint32_t exchange; /* first exchange that it takes part in, from 1 */
    int32_t message;   /* the send whose bytes a receive got, or that was delivered; -1 */
    int32_t source, tag;
    uint32_t source_local;
    uint32_t chunks, bytes; /* of that message: a bit each; total */
    bool made, fed, delivered;
};

/* An endpoint's posts, by index in the scenario. */
struct sg_explore_posts {
    uint32_t exchanges; /* that have begun at this endpoint */
    struct sg_explore_posted posted[];
};

struct sg_explore_endpoint {
    unsigned char *spare;         /* destination when the state is relocated */
    struct sg_host_endpoint host; /* the host's view */
    struct sg_payload payload;
    struct sg_explore_posts *posts; /* NULL: the scenario has none */
    struct sg_value operand;
    uint64_t *cells;
    uint64_t finished; /* bit n: instance n */
    int32_t comm, rank;
    uint64_t first; /* the protocol gives instance n the number first + n */
    struct sg_algo_needs needs;
    uint64_t timer_ns[SG_TIMERS]; /* SG_TIMER_UNSET */
    struct sg_host_watch watches[SG_WATCHES];
    uint32_t calls, completes;
    uint32_t fired;    /* number of timers that fired */
    uint64_t ahead_ns; /* its clock minus the world's, after timers that fired early */
    bool changed;      /* since `hash` was computed */
    uint64_t hash;     /* of all this, updated by the exhaustive walk */
};

/* A flight with its values; elements from values_count on are not kept. base.own is the step before
 * which it does not arrive. */
struct sg_explore_flight {
    struct sg_flight base;
    int32_t comm;
    bool repeated;
    uint32_t values_count;
    struct sg_value values[SG_PARTS_MAX];
};

struct sg_explore_world {
    const struct sg_explore_scenario *scenario;
    FILE *trace; /* receives the steps as text; or NULL */
    int32_t endpoints_count;
    /* of each process; -1: not a member */
    int32_t rank[SG_EXPLORE_COMMS_MAX][SG_EXPLORE_NODES_MAX];
    struct sg_value expected[SG_EXPLORE_INSTANCES_MAX]; /* count 0: not computed yet */
    struct sg_host_peers peers[SG_EXPLORE_COMMS_MAX];   /* over all calls of the scenario */

    unsigned char *arena;
    size_t arena_bytes, arena_capacity;
    struct sg_explore_process *processes;
    struct sg_explore_endpoint *endpoints; /* by communicator, then rank */
    uint16_t *in_flight;                   /* number of messages by endpoint and receiving rank */

    struct sg_explore_flight *flights;
    /* indices in flights, in the order of sending; unused ones follow */
    uint16_t live[SG_EXPLORE_FLIGHTS_MAX];
    uint32_t live_count;

    uint64_t now_ns;
    uint64_t history; /* hash of all events */
    uint32_t step;
    uint32_t launched; /* number of flights so far */
    uint64_t polls;    /* bit p: process p handles nothing while it computes */
    char violation[SG_EXPLORE_VIOLATION_BYTES]; /* the first; empty: none */

    uint64_t marks[SG_HOST_MARK_COUNT];
    struct sg_host host;
};

/* Allocates memory that every world needs, once; the world is then opened for one scenario after
 * another. The caller owns the scenarios. */
bool sg_explore_world_create(struct sg_explore_world *world);
bool sg_explore_world_open(struct sg_explore_world *world,
                           const struct sg_explore_scenario *scenario);
void sg_explore_world_destroy(struct sg_explore_world *world);
const struct sg_algo_head *sg_explore_head(const struct sg_explore_endpoint *endpoint);
struct sg_explore_endpoint *sg_explore_endpoint_of(struct sg_explore_world *world, int32_t comm,
                                                   int32_t rank);
struct sg_explore_process *sg_explore_process_of(struct sg_explore_world *world,
                                                 const struct sg_explore_endpoint *endpoint);
size_t sg_explore_posts_bytes(const struct sg_explore_scenario *scenario);
/* Records the first violation: "endpoint 3 of communicator 0 <text>". */
void sg_explore_violate(struct sg_explore_world *world, const struct sg_explore_endpoint *endpoint,
                        const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Writes a line of the trace, if there is one. */
void sg_explore_say(struct sg_explore_world *world, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Appends a copy of the flight to the list; NULL (and a violation) when there are too many. */
struct sg_explore_flight *sg_explore_launch(struct sg_explore_world *world, int32_t comm,
                                            const struct sg_flight *flight);
/* The scenario's index of an endpoint's seq-th instance, from 1; -1: there is none. */
int32_t sg_explore_instance_at(const struct sg_explore_world *world, int32_t comm, uint32_t seq);

#endif
