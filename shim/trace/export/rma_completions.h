/* Which calls of a log complete which one-sided operations, and release which locks, as MPI's rules
 * say: a call that synchronises a window, or a target of it, completes what the rank began there
 * before it, on whatever thread.
 *
 *   at the origin   MPI_Win_flush_local, MPI_Win_complete, and an operation's own request
 *   at both ends    MPI_Win_fence, MPI_Win_flush, MPI_Win_unlock, MPI_Win_free; of what only gets
 *                   it is complete at both once it is complete at the origin
 */
#ifndef SG_TRACE_RMA_COMPLETIONS_H
#define SG_TRACE_RMA_COMPLETIONS_H

#include "core/status.h"
#include "trace/export/logread.h"
#include "trace/export/summary.h"

#include <stdint.h>

enum sg_rma_end {
    SG_RMA_END_LOCAL = 1,
    SG_RMA_END_REMOTE = 2,
    SG_RMA_END_LOCK = 4, /* of a lock */
};

struct sg_rma_completion {
    uint32_t by;   /* slot of the record that ends it */
    uint32_t of;   /* slot of the operation's, or the lock's, event */
    uint32_t ends; /* enum sg_rma_end */
};

struct sg_rma_completions {
    struct sg_rma_completion *items; /* by `by`, then `of` */
    uint32_t count;
};

/* Zeroed at first; to be cleared whatever it returns. Without windows it reads nothing. */
enum sg_status sg_rma_completions_find(struct sg_rma_completions *completions,
                                       struct sg_logread *log, const struct sg_summary *summary);
void sg_rma_completions_clear(struct sg_rma_completions *completions);

/* Those by a record: the first, and how many there are. */
const struct sg_rma_completion *sg_rma_completions_by(const struct sg_rma_completions *completions,
                                                      uint32_t slot, uint32_t *count);

#endif
