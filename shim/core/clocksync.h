/* Clock offsets between machines: global = local + offset, where global is rank 0's clock.
 *
 * One leader a machine (its lowest rank) exchanges time stamps with rank 0; of all round trips the
 * shortest gives the offset, and half of it bounds the error. Ranks of one machine (one boot, one
 * time namespace) share their leader's result; rank 0's machine has offset 0.
 *
 * Collective over the exchange; not from a signal handler.
 */
#ifndef SG_CORE_CLOCKSYNC_H
#define SG_CORE_CLOCKSYNC_H

#include "core/exchange.h"
#include "core/status.h"

#include <stdint.h>

struct sg_clock_offset {
    uint64_t local_ns;     /* when it was measured, on the local clock */
    int64_t offset_ns;     /* to add to a local time */
    uint64_t error_ns;     /* half the shortest round trip */
    uint64_t deviation_ns; /* standard deviation of the round trips */
};

/* clock_ns is the clock measured (sg_clock_ns; tests pass their own). */
enum sg_status sg_clocksync_measure(const struct sg_exchange *exchange, uint64_t machine,
                                    uint64_t (*clock_ns)(void), struct sg_clock_offset *out);

/* Identifies the clock this process reads: hash of the boot id and the time namespace. */
uint64_t sg_clocksync_machine(void);

#endif
