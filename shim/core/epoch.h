/* From where slices of buffered coscheduling are counted: the same moment on all machines, by the
 * clock offsets that MPI_Init measures (docs/decisions/0048-bcs.md).
 */
#ifndef SG_CORE_EPOCH_H
#define SG_CORE_EPOCH_H

#include "core/clocksync.h"
#include "core/exchange.h"

/* Collective over the exchange: rank 0's time now, as the clock of this rank's machine has it.
 * clocks NULL: they are measured here. Any status but SG_OK: *epoch_ns is this rank's time now. */
enum sg_status sg_epoch_agree(const struct sg_exchange *exchange, uint64_t machine,
                              uint64_t (*clock_ns)(void), const struct sg_clocksync *clocks,
                              uint64_t *epoch_ns);

#endif
