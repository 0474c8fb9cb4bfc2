/* Rare states: which protocols can reach which, and whether they were reached. */
#ifndef SG_SIM_EXPLORE_MARKS_H
#define SG_SIM_EXPLORE_MARKS_H

#include "sim/explore/world.h"

#define SG_EXPLORE_ALGOS_MAX 8

/* Prints the counts of the marks that some of the protocols can reach; returns how many of these
 * were never reached. */
uint32_t sg_explore_print_marks(const uint64_t *marks, const struct sg_algo *const *algos,
                                uint32_t algos_count, FILE *out);

#endif
