/* One thread's sums over the intervals that were sampled, by the sites at both ends, in the log.
 *
 * The thread adds without locks; memory grows with the pairs of sites that there are.
 */
#ifndef SG_CAUSES_SUMS_H
#define SG_CAUSES_SUMS_H

#include "causes/reader.h"
#include "trace/log.h"

#include <stdbool.h>
#include <stdint.h>

struct sg_causes_sums {
    struct sg_record_interval_sum **slots; /* open addressing, at most half full; NULL: free */
    uint32_t capacity, used;
};

/* False: there is no room for this pair of sites. */
bool sg_causes_sums_add(struct sg_causes_sums *sums, struct sg_log *log, uint16_t thread,
                        uint32_t left, uint32_t entered, const struct sg_reading *interval);

/* All to zero. */
void sg_causes_sums_reset(const struct sg_causes_sums *sums);

/* Lets go of the log. */
void sg_causes_sums_clear(struct sg_causes_sums *sums);

#endif
