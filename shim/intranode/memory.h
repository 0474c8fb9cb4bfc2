/* Shared memory of a machine's ranks: probes whether they can share any, limits the job's use of it
 * (STAGGER_MEMORY), makes segments, and numbers nodes and machines.
 *
 * The maker of a segment charges its bytes to the machine's account and returns them when it unmaps
 * the segment; other ranks unmap theirs at the latest in the next collective set-up. If the account
 * does not cover a segment, one line per machine reports it, and its user does without it, on all
 * ranks alike.
 */
#ifndef SG_INTRANODE_MEMORY_H
#define SG_INTRANODE_MEMORY_H

#include "core/exchange.h"
#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A shared segment without a name: a memfd with allocated blocks, which the other ranks of the
 * machine open through /proc/PID/fd. However a process ends, nothing is left behind.
 *
 * Not thread-safe for one segment; makes system calls, at set-up only.
 */

/* Identifies a segment for the ranks that open it; the maker sends it. */
struct sg_segment_ticket {
    uint64_t size_bytes;
    uint64_t nonce;  /* the user writes it into the segment and compares */
    uint64_t domain; /* sg_segment_domain of its maker */
    int32_t pid;
    int32_t file;
};

/* Returns the identity of the process namespace: processes of one machine with the same one can
 * share segments. 0: not known (no /proc). */
uint64_t sg_segment_domain(void);
/* Makes and maps a zeroed segment of mode 0600. SG_ERR_SYSTEM: errno has the reason; nothing is
 * logged. */
enum sg_status sg_segment_create(size_t size_bytes, void **segment,
                                 struct sg_segment_ticket *ticket);
/* The same in two steps: others may open what has been offered, and use it when it is filled; only
 * the first used_bytes have memory. If filling fails the segment is sealed. */
enum sg_status sg_segment_offer(size_t size_bytes, struct sg_segment_ticket *ticket);
enum sg_status sg_segment_fill(const struct sg_segment_ticket *ticket, size_t used_bytes,
                               void **segment);
/* Maps a segment in another process of the same user, until the maker seals it. */
enum sg_status sg_segment_open(const struct sg_segment_ticket *ticket, void **segment);
/* Called by the maker when all have mapped it: no process can open it any more. */
void sg_segment_seal(const struct sg_segment_ticket *ticket);
void sg_segment_unmap(void *segment, size_t size_bytes);

/* Collective over the exchange, in MPI_Init, after sg_placement_start. If a rank cannot map what
 * another rank of its machine has made, the whole job uses no shared memory, and one line says
 * which rank and why. used_bytes: what the machine's ranks share already. */
enum sg_status sg_memory_start(const struct sg_exchange *exchange, uint64_t limit_bytes,
                               uint64_t used_bytes);
/* Identical on all ranks. */
bool sg_memory_is_shared(void);
/* Makes a segment on this rank's account. what: its purpose, for the log. SG_ERR_MISSING: the
 * account does not cover it, which has been logged. SG_ERR_SYSTEM: errno has the reason; nothing is
 * logged. */
enum sg_status sg_memory_create(size_t size_bytes, const char *what, void **segment,
                                struct sg_segment_ticket *ticket);
/* Unmaps the segment; the maker returns its bytes to the account. */
void sg_memory_free(void *segment, size_t size_bytes, bool is_maker);
/* Collective, in MPI_Init: maps a segment for each group of ranks, made by its first rank. All
 * ranks of the group pass that world rank. what NULL: charged to no account. SG_OK: mapped on all
 * ranks. SG_ERR_MISSING: mapped on none; *first_failed is the lowest rank that could not map it, on
 * which errno has the reason; 0: it has been logged. */
enum sg_status sg_memory_map(const struct sg_exchange *exchange, int first, size_t size_bytes,
                             const char *what, void **segment, int *first_failed);

/* Placement: a node is one machine, or a group of STAGGER_RANKS_PER_NODE of its ranks in rank order
 * (virtual nodes, for tests and for the papers' one process a node). */

/* Collective over the exchange, in MPI_Init. machine: the same for ranks that can share memory;
 * containers on one machine count as several machines. ranks_per_node 0: all ranks of a machine. */
enum sg_status sg_placement_start(const struct sg_exchange *exchange, uint64_t machine,
                                  int ranks_per_node);
/* Number of a world rank's node, identical on all ranks. */
int sg_placement_node(int world_rank);
/* Number of its machine, likewise. */
int sg_placement_machine(int world_rank);
/* Number of the world's ranks on a node. */
int sg_placement_node_size(int node, int world_size);

#endif
