/* Computes a slice when it begins (paper 001, sections 4.2 to 4.4): descriptors are exchanged
 * and matched, then messages move, then collectives run, each at the time that its microphase
 * allows. */
#ifndef SG_BCS_PROGRAM_PHASES_H
#define SG_BCS_PROGRAM_PHASES_H

#include "bcs/program_run.h"

/* Runs the slice that begins at the current time. */
void sg_sliced_begin(struct sg_sliced_state *slices);

#endif
