/* The cost of one call site's instances, in the order in which they ended: what a comparison draws
 * its intervals from.
 *
 * Exact up to SG_SERIES_ROOM instances. Beyond that every two neighbours are merged into one
 * sample, so that a sample stands for several consecutive instances: memory stays bounded, the sums
 * stay exact, and a slow phase that neighbours share does not count as independent evidence.
 */
#ifndef SG_COMPARE_SERIES_H
#define SG_COMPARE_SERIES_H

#include "core/status.h"

#include <stdint.h>

#define SG_SERIES_ROOM 512u /* even */

enum sg_measured {
    SG_MEASURED_BLOCKED,
    SG_MEASURED_WAIT,
    SG_MEASURED_PROCESSOR, /* blocked, and handling late contributions outside of calls */
    SG_MEASURED_COUNT
};

struct sg_sample {
    uint64_t calls;
    uint64_t ns[SG_MEASURED_COUNT]; /* sums over the calls */
};

/* Zero-initialised is empty. */
struct sg_series {
    struct sg_sample *samples;
    uint32_t count;
    uint64_t per_sample; /* instances in each sample but the last; 0: no instance yet */
    uint64_t in_last;    /* instances in the last */
    uint64_t instances;
    struct sg_sample sum;
};

/* One instance. SG_ERR_MEMORY only (not logged). */
enum sg_status sg_series_add(struct sg_series *series, const struct sg_sample *sample);

/* A cost that belongs to no particular instance: added to the last one; dropped if there is none.
 */
void sg_series_add_processor(struct sg_series *series, uint64_t ns);

void sg_series_clear(struct sg_series *series);

#endif
