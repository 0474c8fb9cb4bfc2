/* The mode `signal`: a real-time signal to the thread that armed a doorbell last. */
#ifndef SG_PROGRESS_SIGNAL_H
#define SG_PROGRESS_SIGNAL_H

#include "progress/progress_table.h"

/* Interval at which the helper thread checks signals while a doorbell is armed for one. */
#define SG_PROGRESS_WATCH_NS UINT64_C(250000000)

/* Sets the signal and its handler's action, in MPI_Init; look is async-signal-safe. */
void sg_progress_signal_start(struct sg_process_slot *own, int number, void (*look)(void));
/* False: the signal has another handler. */
bool sg_progress_signal_install(void);
bool sg_progress_signal_is_ours(void);
/* Directs the signal to this thread from now on. False: the thread blocks it, or has too little
 * stack for the handler. */
bool sg_progress_signal_expect(void);
/* Called by the helper thread, at least every SG_PROGRESS_WATCH_NS: true if a signal was sent that
 * nobody will handle. */
bool sg_progress_signal_is_unheard(uint64_t now_ns);
/* Called in the child of a fork: restores the signal's default action. */
void sg_progress_signal_forget(void);
/* False: not sent. Async-signal-safe. */
bool sg_progress_signal_send(const struct sg_process_slot *to);

#endif
