/* Finds the calls in a log that complete one-sided operations and release locks. By MPI's rules,
 * a call that synchronises a window, or one target of it, completes the operations that its rank
 * began there earlier, on any thread.
 *
 *    at the origin   MPI_Win_flush_local, MPI_Win_complete, and an operation's own request
 *    at both ends    MPI_Win_fence, MPI_Win_flush, MPI_Win_unlock, MPI_Win_free
 *
 * An operation that only gets is complete at both ends once it is complete at the origin. */
#ifndef SG_TRACE_RMA_COMPLETIONS_H
#define SG_TRACE_RMA_COMPLETIONS_H

#include "core/status.h"
#include "trace/export/logread.h"
#include "trace/export/summary.h"

#include <stdint.h>

enum sg_rma_end {
    SG_RMA_END_LOCAL = 1,
    SG_RMA_END_REMOTE = 2,
    SG_RMA_END_LOCK = 4, /* the lock is released */
};

struct sg_rma_completion {
    uint32_t by;   /* slot of the record that completes or releases it */
    uint32_t of;   /* slot of the event of the operation or lock */
    uint32_t ends; /* enum sg_rma_end */
};

struct sg_rma_completions {
    struct sg_rma_completion *items; /* sorted by `by`, then `of` */
    uint32_t count;
};

/* completions must be zeroed; clear it also on failure. Reads nothing if the log has no windows.
 * Returns SG_OK or SG_ERR_MEMORY. */
enum sg_status sg_rma_completions_find(struct sg_rma_completions *completions,
                                       struct sg_logread *log, const struct sg_summary *summary);
void sg_rma_completions_clear(struct sg_rma_completions *completions);

/* Returns the first of the completions by the record at slot, and sets *count to their number. */
const struct sg_rma_completion *sg_rma_completions_by(const struct sg_rma_completions *completions,
                                                      uint32_t slot, uint32_t *count);

#endif
