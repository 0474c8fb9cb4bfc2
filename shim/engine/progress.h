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
 * span's (progress_wire.c), whenever a message comes that asks for it.
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
#ifndef SG_ENGINE_PROGRESS_H
#define SG_ENGINE_PROGRESS_H

#include "core/exchange.h"
#include "core/status.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* From low to high: the order of the words of STAGGER_PROGRESS and of a rule's `progress`. */
enum sg_progress_mode { SG_PROGRESS_POLL, SG_PROGRESS_THREAD, SG_PROGRESS_SIGNAL };

/* In shared memory. */
struct sg_progress_bell {
    _Atomic uint32_t armed;           /* by whom, and in which mode; 0: not armed */
    _Atomic uint64_t rings, answered; /* signals sent for it, and those that have been handled */
};

/* Of a process's part in an endpoint: the modes of arithmetic when it armed the bell. */
struct sg_progress_float {
    _Atomic uint32_t mxcsr, x87;
};

/* Of a process's part in an endpoint whose messages come from other machines: how it is told of
 * them. */
struct sg_progress_wire {
    _Atomic uint32_t mode; /* by what, when it is armed; SG_PROGRESS_POLL: not at all */
    int thread;            /* that gets the signals */
};

struct sg_span;
struct sg_choice;
struct sg_ruleset;

/* Collective over the exchange (world ranks), in MPI_Init after sg_placement_start. wired: messages
 * come from other machines, too. configured: STAGGER_PROGRESS's. Where rules or it ask for more
 * than poll and that cannot be had, one line says so, and it is poll on every rank. */
enum sg_status sg_progress_start(const struct sg_exchange *exchange, const struct sg_ruleset *rules,
                                 bool wired, enum sg_progress_mode configured, int signal_number);

/* What a rule's choice asks for; after sg_progress_start. */
enum sg_progress_mode sg_progress_asked(const struct sg_choice *choice);

/* In MPI_Finalize: the helper thread ends. Bells that are still rung are nobody's. */
void sg_progress_stop(void);

/* In the child of a fork, which has no part in what its parent shares. */
void sg_progress_forget(void);

/* Every span that this process is a part of, in no order. False: there are too many. After remove
 * no thread and no handler of this process is in the span, nor will be. */
bool sg_progress_add(struct sg_span *span);
void sg_progress_remove(struct sg_span *span);

/* In an intercepted call, and while anything is waited for. */
void sg_progress_poll(void);

/* Whether somebody comes for what arrives when a call that asks for that mode has left. Not
 * async-signal-safe. */
bool sg_progress_comes(enum sg_progress_mode asked);

/* Whether that is asked for where a rule's choice runs: alike on all ranks. */
bool sg_progress_is_to_come(const struct sg_choice *choice);

/* A post of this process waits for a place, and the program may go on to something else: the helper
 * thread looks after it, in any mode. Not async-signal-safe. */
void sg_progress_look_after(void);

/* This process feeds an endpoint for others of its ranks, who ring it by the number that this gives
 * them: its helper thread looks, in any mode. Not async-signal-safe, serve. */
uint32_t sg_progress_serve(void);
void sg_progress_ring_master(uint32_t number);

/* In what this thread makes progress right now. Async-signal-safe. */
enum sg_progress_by { SG_PROGRESS_BY_CALL, SG_PROGRESS_BY_THREAD, SG_PROGRESS_BY_SIGNAL };
enum sg_progress_by sg_progress_by(void);

/* By one of an endpoint's processes, inside a call: as it leaves with instances outstanding, of
 * which asked is the highest mode, and when it has entered. */
void sg_progress_arm(struct sg_span *span, enum sg_progress_mode asked);
void sg_progress_disarm(struct sg_span *span);

/* By a sender, when the message is in place and followed by a full barrier; async-signal-safe. */
void sg_progress_ring(struct sg_progress_bell *bell);

#endif
