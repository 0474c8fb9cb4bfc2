/* The calibration of a recorded run: between whom, and into its logs.
 *
 * Collective over MPI_COMM_WORLD; from MPI_Init only, where every rank has its log open.
 */
#ifndef SG_RUNTIME_CALIBRATE_H
#define SG_RUNTIME_CALIBRATE_H

#include "runtime/process.h"

/* Best effort: what fails is not recorded. */
void sg_calibrate_run(struct sg_process *process);

#endif
