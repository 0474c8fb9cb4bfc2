/* Ranks of a node that read each other's memory (process_vm_readv), for the single copy of large
 * operands. Found out in MPI_Init, for all ranks or none.
 *
 * Linux with Yama lets a process be read by its ancestors alone, and by the descendants of one
 * process that it names itself (prctl(2), PR_SET_PTRACER). Where a first try says that reading does
 * not work as it is, each rank names the nearest ancestor that the ranks of its node have in
 * common, the launcher's process on that node: while reading is tried again; and then from the
 * first call in which it is read to MPI_Finalize. Where reading works as it is, by the system's
 * setting or because MPICH has opened the process, nothing is named, and nothing taken back.
 */
#ifndef SG_INTRANODE_READING_H
#define SG_INTRANODE_READING_H

#include "core/exchange.h"

#include <stdbool.h>

/* Collective over the exchange (world ranks), after sg_memory_start. is_wanted: alike on all. */
enum sg_status sg_reading_start(const struct sg_exchange *exchange, bool is_wanted);

/* The process of a rank of this node where every rank of every node can read every other of its
 * node; else 0. */
int sg_reading_process_of(int world_rank);

/* Room for what is read of all ranks of this node, of one call at a time. NULL: no memory. */
unsigned char *sg_reading_scratch(void);

/* Before others read this process: in every call with it. A system call in the first. */
void sg_reading_open(void);

/* When none will any more. */
void sg_reading_stop(void);

#endif
