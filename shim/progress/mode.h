/* The modes of this process. The means of a mode, a handler or a thread, are made when a call first
 * asks for it. */
#ifndef SG_PROGRESS_MODE_H
#define SG_PROGRESS_MODE_H

#include "progress/progress.h"
#include "progress/progress_table.h"

/* What the means of the modes call. */
struct sg_progress_looks {
    void (*by_signal)(void);             /* in a signal handler: async-signal-safe */
    void (*by_helper)(bool signals_too); /* signals_too: also handles what a signal was sent for */
    uint64_t (*helper_due_ns)(void); /* when the helper checks without a ring; UINT64_MAX: never */
    void (*by_listener)(void);       /* when an adapter signals something */
    /* What this process has armed for a signal is now the thread's or, with poll, nobody's. */
    void (*hand_over)(enum sg_progress_mode to);
};

/* The highest mode that a rule asks for, or STAGGER_PROGRESS. */
enum sg_progress_mode sg_progress_mode_choose(const struct sg_ruleset *rules,
                                              enum sg_progress_mode configured);

/* From now on modes are available, until sg_progress_stop or sg_progress_forget. */
void sg_progress_mode_start(struct sg_progress_table *table, uint32_t own, int signal_number,
                            bool remote, const struct sg_progress_looks *looks);

/* The highest mode up to the requested one that works here, with its means ready; look_again:
 * checks that they still are. Not async-signal-safe. */
enum sg_progress_mode sg_progress_mode_ready(enum sg_progress_mode asked, bool look_again);

/* Starts the helper thread, in whatever mode. False: it cannot be started. */
bool sg_progress_mode_thread(void);

/* By the helper thread: if a signal is not handled it takes over for good, and a line says so. */
void sg_progress_mode_watch(void);

#endif
