/* The calibration of a recorded run: chooses the ranks to measure between, and writes the costs to
 * the logs.
 *
 * Collective over MPI_COMM_WORLD; only in MPI_Init, when every rank has its log open.
 */
#ifndef SG_RUNTIME_CALIBRATE_H
#define SG_RUNTIME_CALIBRATE_H

#include "runtime/process.h"

/* Best effort: a cost that cannot be measured is not recorded. */
void sg_calibrate_run(struct sg_process *process);

#endif
