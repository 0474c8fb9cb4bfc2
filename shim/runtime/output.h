/* The output directory and this rank's log in it: made by all ranks together, or by none.
 *
 * Collective over the exchange; from MPI_Init only.
 */
#ifndef SG_RUNTIME_OUTPUT_H
#define SG_RUNTIME_OUTPUT_H

#include "runtime/process.h"

/* Chooses and makes the directory (rank 0; never one that holds something), writes stagger.conf,
 * creates every rank's log. On any rank's failure all go without, and one line says why.
 * *shared is false when the ranks do not see one directory. */
enum sg_status sg_output_open(struct sg_process *process, bool *shared);

/* After sg_log_close: removes this rank's log. */
void sg_output_remove_log(const struct sg_process *process);

#endif
