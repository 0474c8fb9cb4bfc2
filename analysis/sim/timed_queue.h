/* The event queue: a 4-ary heap on (time, number), where number counts the pushes. So the order is
 * total, and the same pushes give the same pops. Amortised O(log n), 24 bytes an entry.
 */
#ifndef SG_SIM_TIMED_QUEUE_H
#define SG_SIM_TIMED_QUEUE_H

#include "algos/algo.h"
#include "sim/network.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sg_queue_entry {
    uint64_t time_ns;
    uint64_t number;
    uint32_t kind;  /* the caller's */
    uint32_t index; /* the caller's */
};

/* Zeroed before first use. */
struct sg_queue {
    struct sg_queue_entry *list;
    size_t count, capacity;
    uint64_t pushed;
};

/* False when memory runs out. */
bool sg_queue_push(struct sg_queue *queue, uint64_t time_ns, uint32_t kind, uint32_t index);
/* The earliest entry; false when there is none. */
bool sg_queue_pop(struct sg_queue *queue, struct sg_queue_entry *entry);
void sg_queue_clear(struct sg_queue *queue);

/* The setup of a timed run, and its results. */

/* Of chunk_bytes: as the library cuts calls. */
#define SG_WORLD_CHUNKS_AUTO UINT32_MAX

enum sg_sim_mode { SG_SIM_SIGNAL, SG_SIM_THREAD, SG_SIM_POLL };

struct sg_lateness {
    int32_t first, last; /* ranks */
    uint64_t delay_ns;
};

/* For one iteration, sums over the processes. */
struct sg_world_cost {
    uint64_t blocked_ns;   /* in the call */
    uint64_t processor_ns; /* that, and time in handlers that interrupt computations */
};

struct world;

/* A program, in place of iterations: program.h has what it may do in these. */
struct sg_world_program {
    void *context;
    /* The process begins, or what it computed, waited for or called is over. */
    void (*resume)(void *context, struct world *world, int32_t process);
    /* A post of the process's is over; delivery->handle is as it was posted. If the process waits
     * for it, this calls sg_world_resume. */
    void (*deliver)(void *context, struct world *world, int32_t process,
                    const struct sg_action *delivery);
};

struct sg_world_setup {
    const struct sg_algo *algo;
    struct sg_algo_parameters parameters;
    const struct sg_network *network;
    enum sg_sim_mode mode;
    int32_t endpoints;
    int32_t ranks_per_node;        /* 1..SG_COMBINING_RANKS_MAX */
    enum sg_node_level node_level; /* AUTO: between nodes flat, in one node srm's */
    /* Endpoints on one node, which share its adapter; 0: 1. */
    int32_t endpoints_per_adapter;
    /* As MPICH receives: a message is copied into the receive's buffer, besides the copy that a
     * protocol makes of one that comes before its call. */
    bool mpich_copies;
    struct sg_algo_call call;
    /* Larger calls are cut into instances of at most so many bytes; 0: never. */
    uint32_t chunk_bytes;
    uint64_t seed;
    uint32_t warmup; /* iterations before the measured ones: history for predictions */
    uint32_t iterations;
    uint64_t skew_ns;
    const struct sg_lateness *late;
    uint32_t late_count;
    /* Recorded delays, by iteration, then process; NULL: those above. */
    const uint64_t *arrivals_ns;
    struct sg_world_cost *costs; /* for each measured iteration, zeroed by the caller; or NULL */
    uint64_t catchup_ns;
    bool free_running; /* no wait between iterations: for average latencies */
    bool data;         /* carries symbolic payloads, and compares the results */
    /* What processes do, instead of iterations of `call`, delays and catch-ups; without data. NULL:
     * these. `iterations` is 1. */
    const struct sg_world_program *program;
    /* Told of each slice that is over at an endpoint, where the protocol has slices; or NULL. */
    void (*slice)(void *context, int32_t endpoint, const struct sg_slice *slice);
    void *slice_context;
};

struct sg_world_result {
    double cpu_ns;   /* processor use: mean of processes and iterations, delays taken off */
    double wait_ns;  /* the least time of the root's call: last entry - its own, mean; reduce */
    double delay_ns; /* last exit - last entry, mean of iterations */
    double worst_delay_ns;
    double latency_ns; /* entry of the last rank to exit of the root (or of rank 0), mean */
    double period_ns;  /* of an iteration, mean; of a program, until its last process ends */
    double signals;    /* in a measured iteration: interrupts of computations */
    double ignored;    /* solicited messages that arrived during progress */
    double
        /* in a measured iteration: actions that an adapter carries out */
        requests[SG_ACTION_KINDS];
    double fetch_adds, own_fetch_adds; /* in a measured iteration: all, and those to own memory */
    double early, late;
    uint64_t stalls, copies, forwarded;
    uint64_t multicasts, lost;
    uint64_t marks[SG_MARK_COUNT];
    uint64_t events;
    uint64_t history;       /* FNV-1a of all events in order */
    uint64_t result;        /* hash of the results of all iterations, with data */
    double bytes_a_process; /* the most memory in use, without payloads */
    double seconds;         /* of processor time */
};

#endif
