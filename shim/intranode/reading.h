/* Ranks of a node read each other's memory (process_vm_readv), for the single copy of large
 * operands. MPI_Init finds out whether they can, for all ranks or none.
 *
 * Linux with Yama lets a process be read by its ancestors alone, and by the descendants of one
 * process that it names itself (prctl(2), PR_SET_PTRACER). Where a first try fails, each rank names
 * the nearest ancestor that the ranks of its node have in common, the launcher's process on that
 * node: during a second try; and then from the first call in which the rank is read to
 * MPI_Finalize. Where reading works without that, by the system's setting or because MPICH has
 * opened the process, no rank names a process.
 */
#ifndef SG_INTRANODE_READING_H
#define SG_INTRANODE_READING_H

#include "core/exchange.h"
#include "intranode/method.h"

#include <stdbool.h>

/* Collective over the exchange (world ranks), after sg_memory_start. is_wanted: alike on all. */
enum sg_status sg_reading_start(const struct sg_exchange *exchange, bool is_wanted);

/* Reads memory of a communicator's ranks, which share this node; malloc'ed. *out NULL: not every
 * rank of every node can read the others of its node. False: no memory. */
bool sg_reading_reader(const int *world_ranks, int ranks, struct sg_node_reader **out);

/* In every call in which others read this process, before they do; the first has a system call. */
void sg_reading_open(void);

/* When no rank reads any more. */
void sg_reading_stop(void);

#endif
