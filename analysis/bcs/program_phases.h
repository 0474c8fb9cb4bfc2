/* What a slice does, computed when it begins (paper 001, sections 4.2 to 4.4): descriptors are
 * exchanged and matched, then messages move, then collectives, each at the time that its microphase
 * allows.
 */
#ifndef SG_BCS_PROGRAM_PHASES_H
#define SG_BCS_PROGRAM_PHASES_H

#include "bcs/program_run.h"

/* The slice that begins now. */
void sg_sliced_begin(struct sg_sliced_state *slices);

#endif
