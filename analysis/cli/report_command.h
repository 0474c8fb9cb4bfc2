/* The summary that `stagger run` prints on standard error when its program has ended: the lines of
 * the report that are worth reading at once.
 */
#ifndef SG_CLI_REPORT_COMMAND_H
#define SG_CLI_REPORT_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

/* True if this process is a rank, or another process that an MPI launcher started. */
bool sg_brief_is_rank(void);
/* Prints the summary of the newest run in `where` that was started under this launch name
 * (core/launch.h); prints nothing if there is none. Reading may take a twentieth of took_ns, at
 * least 0.2 s and at most 10 s; a longer reading is left to `stagger report`. Call it after
 * sg_child_start. */
void sg_brief_tell(const char *where, const char *launch, uint64_t took_ns);

#endif
