/* Buffers for large operands: two chunks a rank, in one segment of the node, shared by all
 * communicators. A rank takes part in one large collective at a time (never under
 * MPI_THREAD_MULTIPLE), and leaves it only when nobody uses its buffers any more.
 */
#ifndef SG_INTRANODE_POOL_H
#define SG_INTRANODE_POOL_H

#include <stddef.h>
#include <stdint.h>

#ifndef SG_POOL_CHUNK_BYTES /* tests have smaller ones */
#define SG_POOL_CHUNK_BYTES (128u * 1024u)
#endif

/* A rank's share of the pool. */
struct sg_pool_rank {
    _Alignas(64) unsigned char chunk[2][SG_POOL_CHUNK_BYTES];
};

#endif
