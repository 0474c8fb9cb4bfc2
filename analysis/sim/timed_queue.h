/* The event queue of a timed run, and the run's setup and results.
 *
 * The queue is a 4-ary heap on (time, number), where number counts the pushes. So the order is
 * total, and the same pushes give the same pops. Amortised O(log n), 24 bytes per entry. */
#ifndef SG_SIM_TIMED_QUEUE_H
#define SG_SIM_TIMED_QUEUE_H

#include "algos/algo.h"
#include "core/status.h"
#include "sim/network.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sg_queue_entry {
    uint64_t time_ns;
    uint64_t number;
    uint32_t kind;  /* defined by the caller */
    uint32_t index; /* defined by the caller */
};

/* Zeroed before first use. */
struct sg_queue {
    struct sg_queue_entry *list;
    size_t count, capacity;
    uint64_t pushed;
};

/* False when memory runs out. */
bool sg_queue_push(struct sg_queue *queue, uint64_t time_ns, uint32_t kind, uint32_t index);
/* Removes the earliest entry; false when the queue is empty. */
bool sg_queue_pop(struct sg_queue *queue, struct sg_queue_entry *entry);
void sg_queue_clear(struct sg_queue *queue);

/* ---- setup and results */

/* Value of chunk_bytes: cut calls as the library does. */
#define SG_WORLD_CHUNKS_AUTO UINT32_MAX

enum sg_sim_mode { SG_SIM_SIGNAL, SG_SIM_THREAD, SG_SIM_POLL };

struct sg_lateness {
    int32_t first, last; /* ranks */
    uint64_t delay_ns;
};

/* Costs of one iteration, summed over the processes. */
struct sg_world_cost {
    uint64_t blocked_ns;   /* in the call */
    uint64_t processor_ns; /* blocked_ns plus time in handlers that interrupt computations */
};

struct world;

/* A program that runs instead of iterations; timed_measure.h lists the functions that its callbacks
 * may use. */
struct sg_world_program {
    void *context;
    /* The process begins, or has finished computing, waiting or calling. */
    void (*resume)(void *context, struct world *world, int32_t process);
    /* A post of the process is over; delivery->handle is the handle that was posted. If the process
     * waits for this post, the callback calls sg_world_resume. */
    void (*deliver)(void *context, struct world *world, int32_t process,
                    const struct sg_action *delivery);
};

struct sg_world_setup {
    const struct sg_algo *algo;
    struct sg_algo_parameters parameters;
    const struct sg_network *network;
    enum sg_sim_mode mode;
    int32_t endpoints;
    int32_t ranks_per_node; /* 1..SG_COMBINING_RANKS_MAX */
    /* AUTO: flat if there are several nodes, srm's choice on a single node */
    enum sg_node_level node_level;
    /* Endpoints on one node, which share its adapter; 0 means 1. */
    int32_t endpoints_per_adapter;
    /* MPICH's receive: copies each message into the receive's buffer, in addition to a protocol's
     * copy of a message that arrives before its call. */
    bool mpich_copies;
    struct sg_algo_call call;
    /* Larger calls are cut into instances of at most this size; 0: never. */
    uint32_t chunk_bytes;
    uint64_t seed;
    uint32_t warmup; /* iterations before the measured ones; they give predictions a history */
    uint32_t iterations;
    uint64_t skew_ns;
    const struct sg_lateness *late;
    uint32_t late_count;
    /* Recorded delays, by iteration, then process; NULL: use late and skew_ns only. */
    const uint64_t *arrivals_ns;
    struct sg_world_cost *costs; /* one per measured iteration, zeroed by the caller; or NULL */
    uint64_t catchup_ns;
    bool free_running; /* no wait between iterations, for average latencies */
    bool data;         /* carries symbolic payloads and checks the results */
    /* Runs on the processes instead of iterations of `call`, delays and catch-ups; excludes data
     * and needs `iterations` 1. NULL: iterations. */
    const struct sg_world_program *program;
    /* Called for each slice that ends at an endpoint, if the protocol has slices; or NULL. */
    void (*slice)(void *context, int32_t endpoint, const struct sg_slice *slice);
    void *slice_context;
};

struct sg_world_result {
    double cpu_ns; /* processor use: mean over processes and iterations, without delays */
    /* reduce: the least time of the root's call, which is last entry - root's entry, mean */
    double wait_ns;
    double delay_ns; /* last exit - last entry, mean over iterations */
    double worst_delay_ns;
    double latency_ns; /* entry of the last rank to exit of the root (or of rank 0), mean */
    /* length of an iteration, mean; for a program, time until its last process ends */
    double period_ns;
    double signals; /* interrupts of computations per measured iteration */
    double ignored; /* solicited messages that arrived during progress */
    double
        /* actions per measured iteration that an adapter carries out */
        requests[SG_ACTION_KINDS];
    /* per measured iteration: all, and those to the endpoint's own memory */
    double fetch_adds, own_fetch_adds;
    double early, late;
    uint64_t stalls, copies, forwarded;
    uint64_t multicasts, lost;
    uint64_t marks[SG_MARK_COUNT];
    uint64_t events;
    uint64_t history;       /* FNV-1a of all events in order */
    uint64_t result;        /* hash of the results of all iterations, with data */
    double bytes_a_process; /* peak memory use, without payloads */
    double seconds;         /* processor time */
};

/* Runs a communicator in virtual time: endpoints execute one protocol over a LogGP network, and
 * processes compute, call and are interrupted as in the measurements of papers 000 and 002.
 *
 * In an iteration every process computes for its own delay, makes one call, computes again for
 * catchup_ns, and waits until all others have done the same; this wait costs nothing and polls.
 * Delays are drawn uniformly from 0..skew_ns, fixed for the processes that are listed as late, or
 * both; or they come from a recorded run.
 *
 * The same setup gives the same history, identified by its hash. Virtual time is in ns. */

/* Logs one line on failure: the setup does not suit the protocol, or an iteration does not end. */
enum sg_status sg_world_run(const struct sg_world_setup *setup, struct sg_world_result *result);
/* True if the protocol accepts the setup; logs nothing. */
bool sg_world_accepts(const struct sg_world_setup *setup);

#endif
