/* What MMDS kept (docs/decisions/0038): of each process computation granularity and communication
 * overhead, and of chosen functions the distributions of latency and bytes. Sums over the ranks
 * that kept them.
 */
#ifndef SG_REPORT_PROFILE_MMDS_H
#define SG_REPORT_PROFILE_MMDS_H

#include "core/bins.h"
#include "core/status.h"
#include "trace/record.h"

#include <stdbool.h>
#include <stdint.h>

struct sg_mmds_points {
    uint64_t count, sum, min, max; /* ns or bytes; with a count of 0 all are 0 */
};

struct sg_mmds_distribution {
    uint8_t of;            /* enum sg_distribution */
    bool is_first_thread;  /* the others are apart in granularity and overhead */
    uint32_t function;     /* number in the table; where sg_mmds_is_of_function() */
    const char *primitive; /* "MPI_Send", or of sg_mmds_names; once the table is finished */
    struct sg_mmds_points points;
    uint32_t to_doubling; /* bins */
    uint64_t *bins;       /* sg_bins_count() counts; owned */
};

/* Zeroed: nothing was kept. */
struct sg_mmds {
    uint32_t rank_count; /* that kept it */
    uint64_t run_ns;     /* of their first threads, as far as these were followed */
    struct sg_mmds_distribution *distributions;
    uint32_t distribution_count;
};

/* By enum sg_distribution: "Comp Granularity" and "Comm Overhead". */
extern const char *const sg_mmds_names[];

static inline bool sg_mmds_is_kind(uint8_t of)
{
    return of >= SG_DISTRIBUTION_GRANULARITY && of <= SG_DISTRIBUTION_BYTES;
}

static inline bool sg_mmds_is_of_function(uint8_t of)
{
    return of == SG_DISTRIBUTION_LATENCY || of == SG_DISTRIBUTION_BYTES;
}

/* Adds to the distribution of the same thing; a copy where there is none yet. One with other bins
 * than those so far is left out. SG_ERR_MEMORY only. */
enum sg_status sg_mmds_add(struct sg_mmds *mmds, const struct sg_mmds_distribution *more);
void sg_mmds_clear(struct sg_mmds *mmds);

/* Granularity and overhead: all 0 where there are none. */
struct sg_mmds_points sg_mmds_points_of(const struct sg_mmds *mmds, enum sg_distribution of,
                                        bool is_first_thread);
/* Of the first threads. */
uint64_t sg_mmds_sum_ns(const struct sg_mmds *mmds);
/* Run time that is in neither of the two, as while recording is off. */
int64_t sg_mmds_gap_ns(const struct sg_mmds *mmds);

#endif
