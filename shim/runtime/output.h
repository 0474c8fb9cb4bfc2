/* Makes the output directory and this rank's log in it, on all ranks or on none.
 *
 * Collective over the exchange; only in MPI_Init.
 */
#ifndef SG_RUNTIME_OUTPUT_H
#define SG_RUNTIME_OUTPUT_H

#include "runtime/settings.h"

/* Rank 0 chooses and makes the directory, never one with entries, and writes stagger.conf; every
 * rank creates its log. If any rank fails, no rank records, and one line says why. *shared is false
 * if ranks do not see the same directory. */
enum sg_status sg_output_open(struct sg_process *process, bool *shared);

/* Call after sg_log_close: removes this rank's log. */
void sg_output_remove_log(const struct sg_process *process);

#endif
