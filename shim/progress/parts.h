/* Shared by the files of shim/progress. */
#ifndef SG_PROGRESS_PARTS_H
#define SG_PROGRESS_PARTS_H

#include "progress/progress.h"

/* A process, in the table of its machine. A line of its own: senders write it. */
struct sg_progress_cell {
    _Alignas(64) _Atomic uint32_t rung; /* 1: the helper thread has to look; a futex */
    _Atomic uint32_t signalled;         /* 1: a signal is on its way */
    _Atomic uint32_t lost;              /* 1: one found no thread, and the helper is to look */
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

/* What has arrived for this process's endpoints, while none of their ranks is inside a call. The
 * caller has set its word to 0. By signal: async-signal-safe, and only what comes from this
 * machine. */
void sg_progress_attend_by_signal(void);
/* What is a signal's, too: else that is left to it. */
void sg_progress_attend_by_thread(bool signals_too);

/* By the helper thread: posts of this process's go on. */
void sg_progress_advance(void);

/* What this process has armed for a signal is the thread's, or, with poll, nobody's. */
void sg_progress_hand_over(enum sg_progress_mode to);

/* The highest mode that a rule, or what they leave it to, asks for. */
enum sg_progress_mode sg_progress_mode_choose(const struct sg_ruleset *rules,
                                              enum sg_progress_mode configured);
/* From now on modes can be had, until sg_progress_stop or sg_progress_forget. */
void sg_progress_mode_start(struct sg_progress_table *table, uint32_t own, int signal_number);
/* The highest mode up to what is asked for that works here, its means made ready; look_again: they
 * may be gone. Not async-signal-safe. */
enum sg_progress_mode sg_progress_mode_ready(enum sg_progress_mode asked, bool look_again);

/* The helper thread, in whatever mode. False: it cannot be had. */
bool sg_progress_mode_thread(void);
/* By the helper thread: where a signal stays unheard it takes over for good, and a line says so. */
void sg_progress_mode_watch(void);

/* When the helper thread is to look without a ring: the next timer of an endpoint that this process
 * armed is due, a post waits for a place, or a bell is armed for a signal. UINT64_MAX: never. */
uint64_t sg_progress_next_ns(void);

/* Clients between machines, if there are to be any: expect. The thread that listens to their
 * descriptors. False: errno tells. */
void sg_progress_wire_expect(void);
bool sg_progress_wire_start(void);
void sg_progress_wire_stop(void);
void sg_progress_wire_remove(struct sg_progress_client *client);
/* By a rank that leaves a call, before its last look. */
void sg_progress_wire_arm(struct sg_progress_client *client);
/* How often the helper thread looks after signals while a bell is armed for one. */
#define SG_PROGRESS_WATCH_NS UINT64_C(250000000)

/* The helper thread of this process. False: errno tells. */
bool sg_progress_thread_start(struct sg_progress_cell *own);
void sg_progress_thread_stop(struct sg_progress_cell *own);
/* A futex wake of the cell; async-signal-safe. */
void sg_progress_thread_wake(struct sg_progress_cell *cell);

/* In MPI_Init: which signal it will be. */
void sg_progress_signal_start(struct sg_progress_cell *own, int number);
/* False: the signal has another's handler. */
bool sg_progress_signal_install(void);
bool sg_progress_signal_is_ours(void);
/* From now on this thread is sent the signal. False: it has it blocked. */
bool sg_progress_signal_expect(void);
/* By the helper thread, at least as often as SG_PROGRESS_WATCH_NS says: a signal was sent, and
 * nobody is going to handle it. */
bool sg_progress_signal_is_unheard(uint64_t now_ns);
/* In the child of a fork: the signals do what they would without us. */
void sg_progress_signal_forget(void);
/* False: it has not been sent. Async-signal-safe. */
bool sg_progress_signal_send(const struct sg_progress_cell *to, int signal);

#endif
