/* Every order of a small scenario, equivalent ones too, with at most one fault; only states already
 * seen are not walked again. What the reduced walk is compared with. */
#ifndef SG_SIM_EXPLORE_UNREDUCED_H
#define SG_SIM_EXPLORE_UNREDUCED_H

#include "sim/explore_exhaustive.h"

struct sg_unreduced;

/* As in explore_reduced.h. */
struct sg_unreduced *sg_unreduced_create(struct sg_explore_world *world);
void sg_unreduced_destroy(struct sg_unreduced *unreduced);
bool sg_unreduced_walk(struct sg_unreduced *unreduced, uint32_t faults,
                       struct sg_explore_counts *counts);
void sg_unreduced_show(struct sg_unreduced *unreduced, FILE *out);

#endif
