/* What `stagger run` says of a run that has just ended: the lines of its report that are worth
 * reading at once, on standard error.
 */
#ifndef SG_CLI_REPORT_COMMAND_H
#define SG_CLI_REPORT_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

/* Whether this process is a rank, or another one that a launcher of MPI programs started. */
bool sg_brief_is_rank(void);
/* Says it of the newest run in `where` that was started under this name (core/launch.h); nothing
 * where there is none. Reading may take a twentieth of the time that the run took, 0.2 s and at
 * most 10 s: what takes longer is left to `stagger report`. After sg_child_start. */
void sg_brief_tell(const char *where, const char *launch, uint64_t took_ns);

#endif
