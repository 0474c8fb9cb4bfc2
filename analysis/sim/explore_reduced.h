/* Every order of a small scenario but for equivalent ones, with at most one fault. */
#ifndef SG_SIM_EXPLORE_REDUCED_H
#define SG_SIM_EXPLORE_REDUCED_H

#include "sim/explore_exhaustive.h"

struct sg_reduced;

/* NULL when there is no memory. */
struct sg_reduced *sg_reduced_create(struct sg_explore_world *world);
void sg_reduced_destroy(struct sg_reduced *reduced);

/* Walks the scenario, for which the world has just been opened. The outcome is in the world's
 * violation, and in `counts`. False when there is no memory. */
bool sg_reduced_walk(struct sg_reduced *reduced, uint32_t faults, struct sg_explore_counts *counts);

/* The steps to the violation that it found, in words. */
void sg_reduced_show(struct sg_reduced *reduced, FILE *out);

#endif
