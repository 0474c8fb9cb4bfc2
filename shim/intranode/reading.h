/* Reads and writes the memory of other ranks of a node (process_vm_readv and writev), for the
 * single copy of large operands. MPI_Init probes whether reading works, for all ranks or none;
 * writing needs the same permission.
 *
 * Linux with Yama allows only a process's ancestors to read it, and the descendants of one process
 * that it names itself (prctl(2), PR_SET_PTRACER). If a first probe fails, each rank names the
 * nearest common ancestor of the ranks of its node, the launcher's process on that node: during a
 * second probe, and then from the first call in which the rank is read until MPI_Finalize. If
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
/* Makes an access to the memory of a communicator's ranks, which share this node; malloc'ed. *out
 * NULL: some rank of some node cannot read the others of its node. False: out of memory. */
bool sg_reading_access(const int *world_ranks, int ranks, struct sg_node_access **out);
/* Allows other ranks' access to this process. Called before it in every such call; the first time
 * it makes a system call. */
void sg_reading_open(void);
/* Ends that access, when no rank reads any more. */
void sg_reading_stop(void);

#endif
