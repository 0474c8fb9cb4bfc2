/* Asynchronous progress: handles arrivals at an endpoint while its processes compute.
 *
 *   poll     nobody handles them: a call leaves no work at its endpoint
 *   thread   a helper thread, which sleeps until it is rung
 *   signal   a real-time signal to the thread that left its call last
 *
 * An endpoint has a doorbell. A rank that leaves a call while instances are outstanding arms it. A
 * sender to the endpoint rings it if it is armed and no rank of the endpoint is inside a call; the
 * ring goes to the process that armed it last. A rank inside a call polls before it leaves and
 * needs no ring.
 *
 * A rule sets the mode for its calls, or leaves it to STAGGER_PROGRESS. If instances of several
 * rules are outstanding, the highest of their modes applies; a process may have one endpoint that
 * is armed for its thread and another for a signal.
 *
 * Between machines a sender does not see the doorbell. Instead the adapter signals, by a descriptor
 * of each client (adapter.c), when a solicited message arrives. It signals a thread, also in mode
 * signal: adapter libraries take locks, which a handler must not.
 *
 * A ring goes to a process, not to an endpoint: the processes of a machine share a table, in which
 * each has a word that its helper thread sleeps on and one for its signals. A word that has been
 * rung is not rung again before its process has checked it: at most one of the library's signals is
 * in flight to a process.
 *
 * Floating point: in every mode, progress computes with the rounding and flush modes that the
 * application's thread had when it armed the doorbell, not with those of the code that a signal
 * interrupts (which may be libm, in a mode of its own). Exceptions are masked and leave no flags.
 */
#ifndef SG_PROGRESS_PROGRESS_H
#define SG_PROGRESS_PROGRESS_H

#include "core/exchange.h"
#include "core/status.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* From low to high, in the order of the words of STAGGER_PROGRESS and of a rule's `progress`. */
enum sg_progress_mode { SG_PROGRESS_POLL, SG_PROGRESS_THREAD, SG_PROGRESS_SIGNAL };

/* An endpoint's doorbell, in shared memory. The endpoint maintains it, except for armed, rings,
 * answered, handled and ignored. */
struct sg_doorbell {
    _Atomic uint32_t pending;          /* the holder of the endpoint must poll again */
    _Atomic uint32_t inside;           /* ranks in a call, of those that serve the endpoint */
    _Atomic uint32_t outstanding;      /* instances */
    _Atomic uint32_t nonblocking;      /* instances that do not need a rank in a call */
    _Atomic uint32_t armed;            /* process and mode; 0: not armed */
    _Atomic uint64_t next_timer_ns;    /* time of the first timer; 0: none */
    _Atomic uint64_t rings, answered;  /* signals sent for it, and signals counted as arrived */
    _Atomic uint64_t handled, ignored; /* signals that brought an event, and those that did not */
};

/* Floating-point modes of the thread that armed the doorbell last, for one process. */
struct sg_progress_float {
    _Atomic uint32_t words[2]; /* as in struct sg_cpu_float_modes */
};

struct sg_choice;
struct sg_progress_client;
struct sg_ruleset;
struct sg_transport;
struct sg_transport_remote_ops;

/* An endpoint's operations for progress. */
struct sg_progress_ops {
    /* Handles arrivals, unless another thread holds the endpoint; the holder polls again before it
     * unlocks. Any thread, any signal handler. True: an event was handled. */
    bool (*poll)(struct sg_progress_client *client);
    /* Advances nonblocking calls of this process as far as possible. Not in a signal handler. */
    void (*advance)(struct sg_progress_client *client);
    /* Checks whether the other ranks are still there. In an application thread; may abort the job.
     */
    void (*check)(struct sg_progress_client *client);
};

/* A process's part in an endpoint. Its owner fills it in before sg_progress_add. */
struct sg_progress_client {
    const struct sg_progress_ops *ops;
    struct sg_doorbell *doorbell;
    bool serves;             /* false: other processes of the endpoint handle all arrivals */
    bool has_companions;     /* the endpoint has other processes */
    bool is_polled;          /* nobody rings for the endpoint's nonblocking calls */
    _Atomic bool waits;      /* a nonblocking call of this process waits for a slot */
    _Atomic bool posts_wait; /* messages of it wait for capacity */
    const struct sg_transport_remote_ops *remote; /* NULL: no messages come from other machines */
    struct sg_transport *transport;
    /* Maintained by progress. */
    _Atomic bool is_listened; /* a thread waits for the transport's descriptor */
    struct sg_progress_float arithmetic;
};

/* Collective over the exchange (world ranks), in MPI_Init after sg_placement_start. remote:
 * messages also come from other machines. configured: from STAGGER_PROGRESS. If rules or
 * STAGGER_PROGRESS ask for a mode that is not available, one line reports it and every rank polls;
 * if they ask for a signal between machines, one line reports that a thread replaces it. */
enum sg_status sg_progress_start(const struct sg_exchange *exchange, const struct sg_ruleset *rules,
                                 bool remote, enum sg_progress_mode configured, int signal_number);

/* Returns the mode that a rule's choice asks for, after sg_progress_start; between machines a
 * thread instead of a signal. */
enum sg_progress_mode sg_progress_asked(const struct sg_choice *choice, bool between_machines);

/* Ends the helper thread, in MPI_Finalize. Later rings have no effect. */
void sg_progress_stop(void);

/* Called in the child of a fork, which has no part in its parent's shared memory. */
void sg_progress_forget(void);

/* For every endpoint of this process. False: there are too many. After remove no thread and no
 * handler of this process uses the client. */
bool sg_progress_add(struct sg_progress_client *client);
void sg_progress_remove(struct sg_progress_client *client);

/* Handles arrivals for all clients: in an intercepted call, and in every wait. */
void sg_progress_poll(void);

/* True if this process handles arrivals after a call that asks for that mode. Not
 * async-signal-safe. */
bool sg_progress_comes(enum sg_progress_mode asked);

/* True if a rule's choice asks for asynchronous progress: the same on all ranks. */
bool sg_progress_is_to_come(const struct sg_choice *choice);

/* Called after a nonblocking call. If it waits for a slot, or for something without a ring, the
 * helper thread checks it in any mode, because the program may do something else next. Not
 * async-signal-safe. */
void sg_progress_look_after(const struct sg_progress_client *client);

/* Makes this process's helper thread poll an endpoint for other ranks of it, in any mode, when they
 * ring the number that serve returns. Not async-signal-safe. */
uint32_t sg_progress_serve(void);
void sg_progress_ring_master(uint32_t number);

/* The kind of progress that this thread makes at the moment. Async-signal-safe. */
enum sg_progress_by { SG_PROGRESS_BY_CALL, SG_PROGRESS_BY_THREAD, SG_PROGRESS_BY_SIGNAL };
enum sg_progress_by sg_progress_by(void);

/* Called by a process of the endpoint, inside a call. arm: before it leaves with instances
 * outstanding; asked is the highest of their modes; false: nobody will be rung. disarm: when it has
 * entered. */
bool sg_progress_arm(struct sg_progress_client *client, enum sg_progress_mode asked);
void sg_progress_disarm(struct sg_progress_client *client);
/* Called after the process has armed and no longer counts as inside, before its last poll. An
 * adapter signals once: an earlier signal would be left to this rank, and nobody would arm it
 * again. */
void sg_progress_listen(struct sg_progress_client *client);
/* Called when the rank has left the call. */
void sg_progress_left(struct sg_progress_client *client);

/* Called by a sender when the message is in place, after a full barrier. Async-signal-safe. */
void sg_progress_ring(struct sg_doorbell *doorbell);

#endif
