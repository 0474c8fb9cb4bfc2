/* Asynchronous progress: who handles what arrives at an endpoint while its processes compute.
 *
 *   poll     the next collective of the application
 *   thread   a sleeping helper thread
 *   signal   a real-time signal to the endpoint's process
 *
 * An endpoint has a bell. It is armed while instances are outstanding and no rank of it is inside a
 * call; whoever sends to an armed endpoint rings it. Of an endpoint's processes the one that armed
 * it last is rung.
 */
#ifndef SG_ENGINE_PROGRESS_H
#define SG_ENGINE_PROGRESS_H

#include "core/status.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum sg_progress_mode { SG_PROGRESS_POLL, SG_PROGRESS_THREAD, SG_PROGRESS_SIGNAL };

/* In shared memory. */
struct sg_progress_bell {
    _Atomic uint32_t armed; /* 1 + enum sg_progress_mode of who armed it; 0: not */
    _Atomic uint32_t rung;  /* futex of the thread's */
    _Atomic int32_t process, thread;
    _Atomic uint64_t rings;
};

struct sg_span;

/* Once, in MPI_Init. */
void sg_progress_start(enum sg_progress_mode mode);

/* Every span that this process is a part of, in no order. */
bool sg_progress_add(struct sg_span *span);
void sg_progress_remove(struct sg_span *span);

/* In an intercepted call, and while anything is waited for. */
void sg_progress_poll(void);

/* By an endpoint's process, with instances outstanding, as it leaves a call. */
void sg_progress_arm(struct sg_progress_bell *bell);
void sg_progress_disarm(struct sg_progress_bell *bell);

/* By a sender; async-signal-safe. */
void sg_progress_ring(struct sg_progress_bell *bell);

#endif
