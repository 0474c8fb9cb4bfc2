/* The modes that a process can have. The means of a mode, a handler or a thread, are made when a
 * call first asks for it. */
#ifndef SG_PROGRESS_MODE_H
#define SG_PROGRESS_MODE_H

#include "progress/progress.h"
#include "progress/table.h"

/* What those do for whom the means are made. */
struct sg_progress_looks {
    void (*by_signal)(void);             /* in a signal handler: async-signal-safe */
    void (*by_helper)(bool signals_too); /* signals_too: handles what is a signal's, too */
    uint64_t (*helper_due_ns)(void); /* when the helper looks without a ring; UINT64_MAX: never */
    void (*by_listener)(void);       /* when an adapter tells of something */
    /* What this process has armed for a signal is the thread's or, with poll, nobody's. */
    void (*hand_over)(enum sg_progress_mode to);
};

/* The highest mode that a rule, or what they leave it to, asks for. */
enum sg_progress_mode sg_progress_mode_choose(const struct sg_ruleset *rules,
                                              enum sg_progress_mode configured);

/* From now on modes can be had, until sg_progress_stop or sg_progress_forget. */
void sg_progress_mode_start(struct sg_progress_table *table, uint32_t own, int signal_number,
                            bool remote, const struct sg_progress_looks *looks);

/* The highest mode up to what is asked for that works here, its means made ready; look_again: they
 * may be gone. Not async-signal-safe. */
enum sg_progress_mode sg_progress_mode_ready(enum sg_progress_mode asked, bool look_again);

/* The helper thread, in whatever mode. False: it cannot be had. */
bool sg_progress_mode_thread(void);

/* By the helper thread: where a signal stays unheard it takes over for good, and a line says so. */
void sg_progress_mode_watch(void);

#endif
