/* The shared memory of a machine's ranks: whether they can share any, and how much of it the job
 * uses there (STAGGER_MEMORY).
 *
 * The maker of a segment charges its bytes to the machine's account and returns them when it unmaps
 * the segment; other ranks unmap theirs at the latest in the next collective set-up. If the account
 * does not cover a segment, one line per machine says so, and its user does without it, on all
 * ranks alike.
 */
#ifndef SG_INTRANODE_MEMORY_H
#define SG_INTRANODE_MEMORY_H

#include "core/exchange.h"
#include "intranode/segment.h"

#include <stdbool.h>

/* Collective over the exchange, in MPI_Init, after sg_placement_start. If a rank cannot map what
 * another rank of its machine has made, the whole job uses no shared memory, and one line says
 * which rank and why. */
enum sg_status sg_memory_start(const struct sg_exchange *exchange, uint64_t limit_bytes);

/* Alike on all ranks. */
bool sg_memory_is_shared(void);

/* A segment on this rank's account. what: its purpose, for the line. SG_ERR_MISSING: the account
 * does not cover it, which has been logged. SG_ERR_SYSTEM: errno tells why; nothing is logged. */
enum sg_status sg_memory_create(size_t size_bytes, const char *what, void **segment,
                                struct sg_segment_ticket *ticket);
/* Unmaps it; the maker's bytes go back to the account. */
void sg_memory_free(void *segment, size_t size_bytes, bool is_maker);

/* Collective, in MPI_Init: a segment for each group of ranks, made by its first rank, a world rank
 * that all of the group pass. what NULL: on no account. SG_OK: mapped on all ranks. SG_ERR_MISSING:
 * on none; *first_failed is the lowest rank that could not map it; on that rank errno tells why, 0:
 * a line has been logged. */
enum sg_status sg_memory_map(const struct sg_exchange *exchange, int first, size_t size_bytes,
                             const char *what, void **segment, int *first_failed);

#endif
