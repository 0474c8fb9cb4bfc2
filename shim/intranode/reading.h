/* Reading the memory of other ranks of a node, and writing to it (process_vm_readv and writev), for
 * the single copy of large operands. MPI_Init finds out whether reading works, for all ranks or
 * none; writing takes the same permission.
 *
 * Linux with Yama lets a process be read by its ancestors only, and by the descendants of one
 * process that it names itself (prctl(2), PR_SET_PTRACER). If a first try fails, each rank names
 * the nearest common ancestor of the ranks of its node, the launcher's process on that node: during
 * a second try; and then from the first call in which the rank is read until MPI_Finalize. If
 * reading works without that, because of the system's setting or because MPICH has opened the
 * process, no rank names a process.
 */
#ifndef SG_INTRANODE_READING_H
#define SG_INTRANODE_READING_H

#include "core/exchange.h"
#include "intranode/method.h"

#include <stdbool.h>

/* Collective over the exchange (world ranks), after sg_memory_start. is_wanted: the same on all
 * ranks. */
enum sg_status sg_reading_start(const struct sg_exchange *exchange, bool is_wanted);
/* To the memory of a communicator's ranks, which share this node; malloc'ed. *out NULL: not every
 * rank of every node can read the others of its node. False: no memory. */
bool sg_reading_access(const int *world_ranks, int ranks, struct sg_node_access **out);
/* In every call in which others read or write this process, before they do; the first time it
 * makes a system call. */
void sg_reading_open(void);
/* When no rank reads any more. */
void sg_reading_stop(void);

#endif
