/* Shared by the files shim/engine/progress*.c. */
#ifndef SG_ENGINE_PROGRESS_IMPL_H
#define SG_ENGINE_PROGRESS_IMPL_H

#include "engine/progress.h"

/* A process, in the table of its machine. A line of its own: senders write it. */
struct sg_progress_cell {
    _Alignas(64) _Atomic uint32_t rung; /* 1: the helper thread has to look; a futex */
    _Atomic uint32_t signalled;         /* 1: a signal is on its way */
    _Atomic int32_t process, thread;    /* thread: that armed a bell for a signal last */
    _Atomic uint64_t wakes_ns;          /* the helper thread does without a ring; 0: at once */
};

struct sg_progress_table {
    uint64_t nonce;
    _Atomic uint32_t warned; /* about a signal that is the application's: once a machine */
    struct sg_progress_cell cells[];
};

/* Collective. *table is NULL where no machine has several nodes, and on every rank where some rank
 * could not have it; then one line has said so. *own: this process's cell. */
enum sg_status sg_progress_table_share(const struct sg_exchange *exchange, bool wired,
                                       struct sg_progress_table **table, uint32_t *own);

/* What has arrived for this process's endpoints, while none of their ranks is inside a call.
 * Async-signal-safe; the caller has set its word to 0. */
void sg_progress_attend(bool by_signal);

/* By the helper thread: posts of this process's go on. */
void sg_progress_advance(void);

/* What this process has armed for a signal is the thread's, or, with poll, nobody's. */
void sg_progress_hand_over(enum sg_progress_mode to);

/* Whether a rule, or what they leave it to, asks for more than poll. */
bool sg_progress_mode_choose(const struct sg_ruleset *rules, enum sg_progress_mode configured);
/* From now on modes can be had, until sg_progress_stop or sg_progress_forget. */
void sg_progress_mode_start(struct sg_progress_table *table, uint32_t own, int signal_number);
/* The highest mode up to what is asked for that works here, its means made ready; look_again: they
 * may be gone. Not async-signal-safe. */
enum sg_progress_mode sg_progress_mode_ready(enum sg_progress_mode asked, bool look_again);

/* The helper thread, in whatever mode. False: it cannot be had. */
bool sg_progress_mode_thread(void);

/* When the helper thread is to look without a ring: the next timer of an endpoint that this process
 * armed is due, or a post waits for a place. UINT64_MAX: never. */
uint64_t sg_progress_next_ns(void);

/* Spans between machines, if there are to be any: expect. The thread that listens to the
 * descriptors of those in mode thread. False: errno tells. */
void sg_progress_wire_expect(void);
bool sg_progress_wire_start(void);
void sg_progress_wire_stop(void);
void sg_progress_wire_remove(struct sg_span *span);
/* By a rank that leaves a call, before its last look; and when one enters. */
void sg_progress_wire_arm(struct sg_span *span, enum sg_progress_mode mode, int signal, int thread);
void sg_progress_wire_quiet(struct sg_span *span);
/* The helper thread of this process. False: errno tells. */
bool sg_progress_thread_start(struct sg_progress_cell *own);
void sg_progress_thread_stop(struct sg_progress_cell *own);
/* A futex wake of the cell; async-signal-safe. */
void sg_progress_thread_wake(struct sg_progress_cell *cell);

/* False: the signal has another's handler. */
bool sg_progress_signal_install(struct sg_progress_cell *own, int number);
bool sg_progress_signal_is_ours(void);
/* In the child of a fork: the signals do what they would without us. */
void sg_progress_signal_forget(void);
/* False: it has not been sent. Async-signal-safe. */
bool sg_progress_signal_send(const struct sg_progress_cell *to, int signal);

#endif
