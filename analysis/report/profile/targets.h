/* One-sided operations by origin and target, as their origins counted: what MPI_Put and its kin
 * moved. MPI_Get_accumulate, MPI_Fetch_and_op and MPI_Compare_and_swap put and get.
 *
 * Memory grows with pairs of ranks. Not thread-safe.
 */
#ifndef SG_REPORT_PROFILE_TARGETS_H
#define SG_REPORT_PROFILE_TARGETS_H

#include "core/status.h"
#include "report/map.h"

#include <stdint.h>

/* Ranks are of MPI_COMM_WORLD. */
struct sg_call_target {
    uint32_t origin, target;
    uint64_t puts, put_bytes; /* accumulates, too */
    uint64_t gets, got_bytes;
};

/* Zeroed: there are none. */
struct sg_call_targets {
    struct sg_call_target *rows;
    uint32_t count;
    struct sg_call_target others; /* sums, on communicators whose members are not known */
    struct sg_map row_by_pair;
};

/* Adds to the row of origin and target. SG_ERR_MEMORY only, not logged. */
enum sg_status sg_call_targets_add(struct sg_call_targets *targets,
                                   const struct sg_call_target *more);
void sg_call_targets_add_others(struct sg_call_targets *targets, const struct sg_call_target *more);
/* The most bytes first. */
void sg_call_targets_sort(struct sg_call_targets *targets);
void sg_call_targets_clear(struct sg_call_targets *targets);

#endif
