/* The mode `signal`: a real-time signal to the thread that armed a doorbell last. */
#ifndef SG_PROGRESS_SIGNAL_H
#define SG_PROGRESS_SIGNAL_H

#include "progress/progress_table.h"

/* How often the helper thread checks signals while a doorbell is armed for one. */
#define SG_PROGRESS_WATCH_NS UINT64_C(250000000)

/* In MPI_Init: which signal it will be, and what its handler does; look is async-signal-safe. */
void sg_progress_signal_start(struct sg_process_slot *own, int number, void (*look)(void));
/* False: the signal has another handler. */
bool sg_progress_signal_install(void);
bool sg_progress_signal_is_ours(void);
/* From now on the signal is sent to this thread. False: the thread blocks it. */
bool sg_progress_signal_expect(void);
/* By the helper thread, at least as often as SG_PROGRESS_WATCH_NS says: whether a signal was sent
 * that nobody will handle. */
bool sg_progress_signal_is_unheard(uint64_t now_ns);
/* In the child of a fork: the signal does what it would do without the library. */
void sg_progress_signal_forget(void);
/* False: it has not been sent. Async-signal-safe. */
bool sg_progress_signal_send(const struct sg_process_slot *to);

#endif
