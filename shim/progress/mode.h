/* The modes available to this process. A mode's mechanism, a handler or a thread, is made when a
 * call first asks for it. */
#ifndef SG_PROGRESS_MODE_H
#define SG_PROGRESS_MODE_H

#include "progress/progress.h"
#include "progress/progress_table.h"

/* Callbacks of the mechanisms. */
struct sg_progress_looks {
    void (*by_signal)(void);             /* in a signal handler: async-signal-safe */
    void (*by_helper)(bool signals_too); /* signals_too: also serves doorbells armed for a signal */
    uint64_t (*helper_due_ns)(void);     /* next check without a ring; UINT64_MAX: never */
    void (*by_listener)(void);           /* when an adapter signals something */
    /* Rearms doorbells that this process has armed for a signal: for the thread or, with poll, not
     * at all. */
    void (*hand_over)(enum sg_progress_mode to);
};

/* Returns the highest mode that a rule or STAGGER_PROGRESS asks for. */
enum sg_progress_mode sg_progress_mode_choose(const struct sg_ruleset *rules,
                                              enum sg_progress_mode configured);

/* Makes modes available, until sg_progress_stop or sg_progress_forget. */
void sg_progress_mode_start(struct sg_progress_table *table, uint32_t own, int signal_number,
                            bool remote, const struct sg_progress_looks *looks);

/* Returns the highest mode up to the requested one that works here, with its mechanism ready.
 * look_again: checks that it still is. Not async-signal-safe. */
enum sg_progress_mode sg_progress_mode_ready(enum sg_progress_mode asked, bool look_again);

/* Starts the helper thread, in any mode. False: it cannot be started. */
bool sg_progress_mode_thread(void);

/* Called by the helper thread. If a signal stays unhandled, the thread takes over for good, and one
 * line reports it. */
void sg_progress_mode_watch(void);

#endif
