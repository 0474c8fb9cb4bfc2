/* The scenarios of the exhaustive walk: two instances of one protocol on one communicator, with
 * the parameters that change what it does and bounds as small as they go. */
#ifndef SG_SIM_EXPLORE_CASES_H
#define SG_SIM_EXPLORE_CASES_H

#include "sim/explore_scenario.h"

/* Case `index` of a protocol among so many processes, with a name to print; takes those from
 * *faults with which it has too many orders. False: no more. */
bool sg_explore_case(const struct sg_algo *algo, int32_t nodes, uint32_t index,
                     struct sg_explore_scenario *scenario, const char **name, uint32_t *faults);

#endif
