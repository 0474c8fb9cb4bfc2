/* The processes of a machine that ring each other, in one shared segment for each machine. */
#ifndef SG_PROGRESS_PROGRESS_TABLE_H
#define SG_PROGRESS_PROGRESS_TABLE_H

#include "core/exchange.h"
#include "core/status.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A process, on a separate cache line: senders write it. */
struct sg_process_slot {
    _Alignas(64) _Atomic uint32_t rung; /* 1: the helper thread must check; a futex */
    _Atomic uint32_t signalled;         /* 1: a signal is in flight */
    _Atomic uint32_t lost;              /* 1: a signal found no thread, and the helper must check */
    _Atomic int32_t process, thread;    /* thread: last to arm a doorbell for a signal */
    _Atomic uint64_t wakes_ns;          /* next check without a ring; 0: at once */
};

struct sg_progress_table {
    uint64_t nonce;
    _Atomic uint32_t warned; /* a line about a signal that the application uses has been logged */
    struct sg_process_slot slots[];
};

/* Collective over the exchange. *table is NULL if no machine has several nodes and there are no
 * remote messages, and on every rank if some rank could not map it, which has been logged. *own:
 * the number of this process's slot. */
enum sg_status sg_progress_table_share(const struct sg_exchange *exchange, bool remote,
                                       struct sg_progress_table **table, uint32_t *own);

#endif
