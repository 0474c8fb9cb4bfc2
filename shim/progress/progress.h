/* Asynchronous progress: who handles what arrives at an endpoint while its processes compute.
 *
 *   poll     nobody: a call leaves nothing to be done at its endpoint
 *   thread   a sleeping helper thread
 *   signal   a real-time signal to the thread that left its call last
 *
 * An endpoint has a bell. It is armed by a rank that leaves a call while instances are outstanding;
 * whoever sends to an endpoint that is armed, and of which no rank is inside a call, rings it. Of
 * an endpoint's processes the one that armed it last is rung. Who is inside a call looks before it
 * leaves and needs no ring.
 *
 * A rule names the mode for its calls, or leaves it to STAGGER_PROGRESS. Where instances of several
 * rules are outstanding at an endpoint, it is armed in the highest of their modes; a process may
 * have one endpoint that is armed for its thread and another for a signal.
 *
 * Between machines a sender sees nothing of that: there the adapter rings, by a descriptor of each
 * client's (adapter.c), whenever a message comes that asks for it. A thread is told, in the
 * mode signal too: libraries of adapters take locks, which a handler must not.
 *
 * What is rung is the process, not the endpoint: a process has a word that its thread sleeps on and
 * one for its signals, in a table that the processes of the machine share, and the bell names it. A
 * word that is rung already is not rung again before its process has looked: at most one signal of
 * ours is ever on its way to a process.
 *
 * Floating point: what is computed here has the rounding and flush modes that the application's
 * thread had when it armed the bell, in every mode, and not those of the code that a signal
 * happens to interrupt (which may be libm, in a mode of its own). Exceptions are masked and leave
 * no flags.
 */
#ifndef SG_PROGRESS_PROGRESS_H
#define SG_PROGRESS_PROGRESS_H

#include "core/exchange.h"
#include "core/status.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* From low to high: the order of the words of STAGGER_PROGRESS and of a rule's `progress`. */
enum sg_progress_mode { SG_PROGRESS_POLL, SG_PROGRESS_THREAD, SG_PROGRESS_SIGNAL };

/* An endpoint's, in shared memory. Kept by the endpoint but for armed, rings, answered, handled and
 * ignored. */
struct sg_progress_bell {
    _Atomic uint32_t pending;         /* whoever handles something is to look again */
    _Atomic uint32_t inside;          /* ranks in a call, of those that serve the endpoint */
    _Atomic uint32_t outstanding;     /* instances */
    _Atomic uint32_t posted;          /* of these, the ones that nobody needs to be in a call for */
    _Atomic uint32_t armed;           /* by whom, and in which mode; 0: not armed */
    _Atomic uint64_t next_timer_ns;   /* the least that is set; 0: none */
    _Atomic uint64_t rings, answered; /* signals sent for it, and those that have come */
    _Atomic uint64_t handled, ignored; /* those that brought something, and those that did not */
};

/* Of a process's part in an endpoint: the modes of arithmetic when it armed the bell. */
struct sg_progress_float {
    _Atomic uint32_t mxcsr, x87;
};

struct sg_choice;
struct sg_progress_client;
struct sg_ruleset;
struct sg_transport;
struct sg_transport_wire;

/* What progress does for an endpoint. */
struct sg_progress_ops {
    /* Handles what has arrived, if nobody else is at it; who is at it looks again. Any thread, any
     * signal handler. True: it was something. */
    bool (*poll)(struct sg_progress_client *client);
    /* Posts of this process go on as far as they can. Not in a signal handler. */
    void (*advance)(struct sg_progress_client *client);
    /* In a thread of the application: whether the others are still there. May end the job. */
    void (*check)(struct sg_progress_client *client);
};

/* A process's part in an endpoint: filled by its owner before sg_progress_add. */
struct sg_progress_client {
    const struct sg_progress_ops *ops;
    struct sg_progress_bell *bell;
    bool serves;         /* false: other processes of the endpoint's handle all that arrives */
    bool has_companions; /* the endpoint has other processes */
    bool is_polled;      /* what posts of the endpoint's wait for rings nobody */
    _Atomic bool waits;  /* a post of this process waits for a place */
    /* Where messages come from other machines; else NULL. */
    const struct sg_transport_wire *wire;
    struct sg_transport *transport;
    /* Kept by progress. */
    _Atomic bool is_listened; /* a thread waits for the transport's descriptor */
    struct sg_progress_float arithmetic;
};

/* Collective over the exchange (world ranks), in MPI_Init after sg_placement_start. wired: messages
 * come from other machines, too. configured: STAGGER_PROGRESS's. Where rules or it ask for more
 * than poll and that cannot be had, one line says so, and it is poll on every rank; where they ask
 * for a signal between machines, one line says that it is a thread. */
enum sg_status sg_progress_start(const struct sg_exchange *exchange, const struct sg_ruleset *rules,
                                 bool wired, enum sg_progress_mode configured, int signal_number);

/* What a rule's choice asks for, after sg_progress_start; of a communicator between machines a
 * thread in the place of a signal. */
enum sg_progress_mode sg_progress_asked(const struct sg_choice *choice, bool between_machines);

/* In MPI_Finalize: the helper thread ends. Bells that are still rung are nobody's. */
void sg_progress_stop(void);

/* In the child of a fork, which has no part in what its parent shares. */
void sg_progress_forget(void);

/* Every endpoint that this process is a part of, in no order. False: there are too many. After
 * remove no thread and no handler of this process is in the client, nor will be. */
bool sg_progress_add(struct sg_progress_client *client);
void sg_progress_remove(struct sg_progress_client *client);

/* In an intercepted call, and while anything is waited for. */
void sg_progress_poll(void);

/* Whether somebody comes for what arrives when a call that asks for that mode has left. Not
 * async-signal-safe. */
bool sg_progress_comes(enum sg_progress_mode asked);

/* Whether that is asked for where a rule's choice runs: alike on all ranks. */
bool sg_progress_is_to_come(const struct sg_choice *choice);

/* After a post, which may wait for a place or for what rings nobody, while the program goes on to
 * something else: then the helper thread looks after it, in any mode. Not async-signal-safe. */
void sg_progress_look_after(const struct sg_progress_client *client);

/* This process feeds an endpoint for others of its ranks, who ring it by the number that this gives
 * them: its helper thread looks, in any mode. Not async-signal-safe, serve. */
uint32_t sg_progress_serve(void);
void sg_progress_ring_master(uint32_t number);

/* In what this thread makes progress right now. Async-signal-safe. */
enum sg_progress_by { SG_PROGRESS_BY_CALL, SG_PROGRESS_BY_THREAD, SG_PROGRESS_BY_SIGNAL };
enum sg_progress_by sg_progress_by(void);

/* By one of an endpoint's processes, inside a call: as it leaves with instances outstanding, of
 * which asked is the highest mode, and when it has entered. */
void sg_progress_arm(struct sg_progress_client *client, enum sg_progress_mode asked);
void sg_progress_disarm(struct sg_progress_client *client);
/* When it has left: no rank of the endpoint may be inside any more. */
void sg_progress_left(struct sg_progress_client *client);

/* By a sender, when the message is in place and followed by a full barrier; async-signal-safe. */
void sg_progress_ring(struct sg_progress_bell *bell);

#endif
